"""``python -m subscribers.carrousel.promote``: begins the log of a pair of controllers again with
the ledger of this machine. ``novamas carrousel promote`` starts it.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from contextlib import closing
from pathlib import Path

import msgspec

from common.command_line import end_process
from common.errors import NovamasError
from common.standby.ledger_message import LEDGER_SUFFIX, LedgerMessage, ledger_log
from common.standby.log import RecordLog
from common.standby.right import reply_timeout
from common.standby.seal import StructSigner
from common.standby.settings import instance_name
from subscribers.carrousel.checkpoints import signing_key
from subscribers.carrousel.schema import LedgerError
from subscribers.carrousel.settings import CarrouselSettings
from subscribers.carrousel.store import LedgerStore

NOT_CONFIRMED_STATUS = 3


def main(argv: list[str] | None = None) -> int:
    """Begin the log again. Return the exit status."""
    parser = argparse.ArgumentParser(prog="novamas carrousel promote", description=__doc__)
    parser.add_argument("--settings", required=True, metavar="JSON")
    parser.add_argument("--yes", action="store_true")
    arguments = parser.parse_args(argv)
    settings = msgspec.json.decode(arguments.settings, type=CarrouselSettings)
    try:
        if not Path(settings.ledger).exists():
            raise LedgerError(f"{settings.ledger}: missing; run this where the ledger is")
        return asyncio.run(_promote(settings, confirmed=arguments.yes))
    except (NovamasError, LedgerError, OSError) as error:
        sys.stderr.write(f"novamas carrousel promote: {error}\n")
        return 1


async def _promote(settings: CarrouselSettings, *, confirmed: bool) -> int:
    path, standby = Path(settings.ledger), settings.standby
    assert standby is not None
    with closing(LedgerStore(path)) as store:
        key = signing_key(path, None if settings.key is None else Path(settings.key))
        seal = StructSigner(
            f"{settings.site}/{settings.node}{LEDGER_SUFFIX}", lambda: key, standby.keys
        )
        log = ledger_log(standby, settings.node, reply_timeout(standby.lease), seal)
        try:
            last = await _last(log)
            sequence, known = (0, None) if last is None else last
            if known is not None and known.ledger == store.id and known.last >= store.head.position:
                raise LedgerError(
                    f"{path}: the log goes to entry {known.last}, and this ledger to "
                    f"{store.head.position}: nothing is lost. Start the controller; it follows "
                    "the log"
                )
            if not confirmed:
                sys.stdout.write(
                    f"{path}: ledger {store.id}, {store.head.position} entries\n"
                    f"{log.name}: {'empty' if known is None else f'ends at {known.last}'}\n"
                    "Compare the ledger of the other machine with `novamas carrousel verify`. To "
                    "begin the log with this one, add --yes; the other machine then needs a copy\n"
                )
                return NOT_CONFIRMED_STATUS
            message = LedgerMessage(
                ledger=store.id,
                term=0,
                instance=instance_name(standby),
                position=store.head.position,
                head=store.head.hash.hex(),
            )
            await _append(log, message, sequence)
        finally:
            await log.close()
    sys.stdout.write(f"{log.name}: begins again at entry {message.position} of {path}\n")
    return 0


async def _last(log: RecordLog[LedgerMessage]) -> tuple[int, LedgerMessage] | None:
    bounds = await log.bounds()
    message = await log.read(bounds.last) if bounds.last else None
    return None if message is None else (bounds.last, message)


async def _append(log: RecordLog[LedgerMessage], message: LedgerMessage, sequence: int) -> None:
    """Append the message; the first attempt may create the stream."""
    try:
        await log.append(message, sequence)
    except NovamasError:
        await log.append(message, sequence)


if __name__ == "__main__":
    end_process(main())
