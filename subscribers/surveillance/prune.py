"""``python -m subscribers.surveillance.prune``: removes what the policy of an archive says.
``novamas surveillance prune`` starts it; the recorder does the same once a day.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from contextlib import closing

import msgspec

from controller.contract.times import utc
from devices.command_line import CommandLine, end_process
from subscribers.surveillance.archive import Archive, Kind
from subscribers.surveillance.errors import ArchiveError
from subscribers.surveillance.open_archive import open_archive
from subscribers.surveillance.retention import DAY, STATE, due, last_mark, read, waiting
from subscribers.surveillance.upkeep import prune

EPILOG = """\
The policy is keep_days of [archive]. The age of a record is counted in days for
which a recorder ran, whatever the clock says. What is removed is recorded as
`removal`.

exit status: 0 done, 1 the archive cannot be used, 2 wrong usage"""


class PruneSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What the program is told. No secret is in it."""

    archive: str
    site: str
    node: str
    keep_days: dict[Kind, int] = {}


def main(words: Sequence[str] | None = None) -> int:
    """Returns the exit status."""
    given = command_line().parse_args(words)
    settings = msgspec.json.decode(given.settings, type=PruneSettings)
    try:
        with closing(open_archive(settings.archive, read_only=given.dry_run)) as archive:
            _prune(archive, settings, dry_run=given.dry_run)
    except ArchiveError as error:
        sys.stderr.write(f"novamas surveillance prune: {error}\n")
        return 1
    return 0


def command_line() -> argparse.ArgumentParser:
    """What it takes on the command line."""
    parser = CommandLine(
        prog="novamas surveillance prune",
        description="Remove from the archive what is older than its policy.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--settings", required=True, help=argparse.SUPPRESS)
    parser.add_argument("action", choices=("prune",), help=argparse.SUPPRESS)
    parser.add_argument("--dry-run", action="store_true", help="only say what would be removed")
    return parser


def _prune(archive: Archive, settings: PruneSettings, *, dry_run: bool) -> None:
    """Print what is done."""
    tell = sys.stdout.write
    count, policy = read(archive.recall(STATE)), settings.keep_days
    if not policy:
        tell("keep_days of [archive] is empty: everything is kept\n")
        return
    tell(f"Recorded for {count.counted // DAY} days, as the recorder counted.\n")
    if dry_run:
        done = due(archive, policy, count)
    else:
        now = utc(time.time())
        done = prune(archive, policy, count, settings.site, settings.node, now)
    for kind, days in policy.items():
        what = next((each for each in done if each.removal.kind == kind), None)
        if what is not None:
            would = "would be removed" if dry_run else "removed"
            tell(f"{kind}: {what.count:,} {would}, kept until {what.mark.time}\n")
        elif last_mark(count, days) is None:
            tell(f"{kind}: nothing is {days} days old\n")
        else:
            tell(f"{kind}: nothing is left that is {days} days old\n")
    for spared in waiting(archive):
        tell(
            f"Table {spared.table} of {spared.site}: a round waits for a person; its session stays "
            f"(records {spared.first} to {spared.last})\n"
        )


if __name__ == "__main__":
    end_process(main())
