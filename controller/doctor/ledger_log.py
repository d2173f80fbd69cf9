"""Checks the log that a pair of jackpot controllers share, and whether the ledger of this machine
fits it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from common.standby.errors import StoreUnreachableError, StoreUnusableError
from common.standby.ledger_message import LEDGER_SUFFIX, LedgerMessage, ledger_log
from common.standby.log import RecordLog
from common.standby.seal import StructSigner
from controller.configuration.settings import Configuration, StandbyConfig
from controller.doctor.finding import Finding
from controller.doctor.replicas import too_few_replicas

ABOUT = "jackpots"
REPLY_TIMEOUT_SECONDS = 5.0
"""Maximum seconds to wait for each reply."""
BUSY_TIMEOUT_SECONDS = 2.0
"""Maximum seconds to wait for a ledger that is being written."""
COPY = (
    "stop the controller here, and copy the ledger of the other machine: "
    "docs/technician/carrousel-standby.md#when-the-store-or-a-ledger-is-lost"
)
PROMOTE = (
    "compare the ledgers of both machines with `novamas carrousel verify`, and begin the log again "
    "with the longer one: `novamas carrousel promote`"
)


class LedgerEnd(NamedTuple):
    """The id of a ledger, the position of its last entry, and its hash in hexadecimal."""

    id: str
    position: int
    hash: str


async def check(settings: StandbyConfig, configuration: Configuration) -> list[Finding]:
    """Check the log, without writing to it."""
    carrousel, site = configuration.carrousel, configuration.site.id
    seal = StructSigner(
        f"{site}/{carrousel.node}{LEDGER_SUFFIX}", lambda: None, carrousel.standby_keys
    )
    log = ledger_log(settings, carrousel.node, REPLY_TIMEOUT_SECONDS, seal)
    path = Path(carrousel.path)
    try:
        own = read_end(path)  # before the log, which is always written first
        bounds = await log.bounds()
        if not bounds.last:
            return list(assess(path, own, None, None))
        first, last = await log.read(bounds.first), await log.read(bounds.last)
        return [*assess(path, own, first, last), *await _check_replicas(settings, log)]
    except StoreUnusableError as error:
        return [Finding("fault", ABOUT, str(error), "neither controller can take over until then")]
    except StoreUnreachableError as error:
        return [Finding("warning", ABOUT, f"no answer from {error}", "look at the cluster")]
    except (OSError, sqlite3.Error) as error:
        do = "run this as root, on the machine of the controller"
        return [Finding("warning", ABOUT, f"{path} cannot be read: {error}", do)]
    finally:
        await log.close()


def read_end(path: Path) -> LedgerEnd | None:
    """Return the end of a ledger; None if there is none. Raises ``OSError`` and
    ``sqlite3.Error``.
    """
    if not path.exists():
        return None
    with closing(
        sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_TIMEOUT_SECONDS
        )
    ) as ledger:
        (name,) = ledger.execute("SELECT value FROM meta WHERE key = 'id'").fetchone()
        last = ledger.execute(
            "SELECT position, hash FROM entry ORDER BY position DESC LIMIT 1"
        ).fetchone()
    return LedgerEnd(name, 0, "") if last is None else LedgerEnd(name, last[0], last[1].hex())


def assess(
    path: Path, own: LedgerEnd | None, first: LedgerMessage | None, last: LedgerMessage | None
) -> Iterator[Finding]:
    """Assess the log from its first and its last entry, and the ledger at ``path``."""
    if last is None:
        if own is not None and own.position:
            what = f"there is no log, and the ledger has {own.position} entries"
            yield Finding("fault", ABOUT, what, PROMOTE)
        else:
            yield Finding("note", ABOUT, "there is no log yet; the first controller begins it")
        return
    writer = last.instance if last.term else f"`promote` at {last.instance}"
    ends = f"the log ends at entry {last.last}, by {writer}, term {last.term}"
    yield Finding("ok", ABOUT, ends)
    if own is None:
        if first is not None and first.position:
            begins = f"there is no ledger here, and the log begins after entry {first.position}"
            yield Finding("fault", ABOUT, begins, COPY)
        return
    if own.id != last.ledger:
        what = f"{path} is the ledger {own.id}, and that of the log is {last.ledger}"
        yield Finding("fault", ABOUT, what, COPY)
    elif own.position > last.last:
        what = f"{path} has {own.position} entries, and the log ends at {last.last}"
        yield Finding("fault", ABOUT, what, PROMOTE)
    elif first is not None and own.position < first.position:
        what = f"{path} has {own.position} entries, and the log begins after {first.position}"
        yield Finding("fault", ABOUT, what, COPY)
    elif own.position == last.last and own.hash and own.hash != last.last_hash:
        what = f"entry {own.position} of {path} is not that of the log"
        yield Finding("fault", ABOUT, what, COPY)
    elif own.position < last.last:
        what = f"{path} lacks {last.last - own.position} entries of the log"
        do = "if that remains, look at the log of the controller: it follows within a second"
        yield Finding("warning", ABOUT, what, do)
    else:
        yield Finding("ok", ABOUT, f"{path} has everything that the log has")


async def _check_replicas(settings: StandbyConfig, log: RecordLog[LedgerMessage]) -> list[Finding]:
    replicas, current = await log.replicas()
    return too_few_replicas(ABOUT, "log", log.name, settings.replicas, replicas, current)
