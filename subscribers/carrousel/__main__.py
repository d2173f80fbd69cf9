"""``python -m subscribers.carrousel --settings JSON``: the jackpot controller. ``novamas
carrousel`` starts it with the settings from a configuration file.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import sys

import msgspec

from common.command_line import end_process
from common.people.private_key import PrivateKeyError
from subscribers.carrousel.pair import run_in_pair
from subscribers.carrousel.schema import LedgerError
from subscribers.carrousel.service import JackpotController
from subscribers.carrousel.settings import CarrouselSettings
from subscribers.carrousel.terms import find_flaws_in_configuration
from subscribers.essential import end_at_signal, ending_process
from subscribers.service_log import log_lines


def main(argv: list[str] | None = None) -> int:
    """Run until a signal. Return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m subscribers.carrousel", description=__doc__)
    parser.add_argument(
        "--settings", required=True, metavar="JSON", help="written by novamas carrousel"
    )
    parser.add_argument("--check", action="store_true", help="only check the settings")
    arguments = parser.parse_args(argv)
    settings = msgspec.json.decode(arguments.settings, type=CarrouselSettings)
    problems = [
        f"jackpot {jackpot.terms.jackpot}: {flaw}"
        for jackpot in settings.jackpots
        for flaw in find_flaws_in_configuration(jackpot.terms)
    ]
    for line in problems:
        print(line, file=sys.stderr)  # noqa: T201
    if problems or arguments.check:
        return 1 if problems else 0
    log_lines(settings.log)
    try:
        asyncio.run(_run(settings))
    except (PrivateKeyError, LedgerError, OSError) as error:
        print(f"novamas carrousel: {error}", file=sys.stderr)  # noqa: T201
        return 1
    return 0


async def _run(settings: CarrouselSettings) -> None:
    ending = asyncio.Event()
    end_at_signal(ending.set)
    with ending_process():
        if settings.standby is not None:
            await run_in_pair(settings, ending)
            return
        carrousel = JackpotController(settings)
        gc.freeze()  # objects made at start-up live as long as the process
        await carrousel.run(ending)


if __name__ == "__main__":
    end_process(main())
