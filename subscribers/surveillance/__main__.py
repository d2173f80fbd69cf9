"""``python -m subscribers.surveillance --settings JSON``: the recorder. ``novamas surveillance``
starts it with the settings of a configuration file.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from functools import partial

import msgspec

from common.command_line import end_process
from common.people.private_key import PrivateKeyError
from subscribers.essential import end_at_signal, ending_process
from subscribers.service_log import log_lines
from subscribers.statistics.watch import watch
from subscribers.surveillance.open_archive import open_archive
from subscribers.surveillance.service import SideTask, SurveillanceRecorder
from subscribers.surveillance.settings import SurveillanceSettings
from subscribers.surveillance.upkeep import run_upkeep
from subscribers.video.delivery import deliver_beside as deliveries


def main(argv: list[str] | None = None) -> int:
    """Run the recorder until a signal. Return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m subscribers.surveillance", description=__doc__)
    parser.add_argument(
        "--settings", required=True, metavar="JSON", help="written by novamas surveillance"
    )
    settings = msgspec.json.decode(parser.parse_args(argv).settings, type=SurveillanceSettings)
    log_lines(settings.log)
    failed: list[BaseException] = []
    try:
        asyncio.run(_run(settings))
    except* (PrivateKeyError, OSError) as errors:
        failed += errors.exceptions
    for error in failed:
        print(f"novamas surveillance: {error}", file=sys.stderr)  # noqa: T201
    return 1 if failed else 0


async def _run(settings: SurveillanceSettings) -> None:
    ending = asyncio.Event()
    end_at_signal(ending.set)
    side_tasks: dict[str, SideTask] = {
        "retention": partial(run_upkeep, settings),
        "statistics": watch(settings.archive),
    }
    if settings.bookmarks:
        open_site_archive = partial(open_archive, settings.archive)
        side_tasks["bookmarks"] = deliveries(settings.bookmarks, open_site_archive)
    with ending_process():
        await SurveillanceRecorder(settings, side_tasks).run(ending)


if __name__ == "__main__":
    end_process(main())
