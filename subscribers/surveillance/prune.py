"""``python -m subscribers.surveillance.prune``: removes records whose retention in the archive's
policy has ended. ``novamas surveillance prune`` starts it; the recorder does the same once a day.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import closing

import msgspec

from common import clock
from common.command_line import CommandLine, end_process
from common.contract.times import format_utc
from subscribers.surveillance.archive import Kind, RecordArchive
from subscribers.surveillance.errors import ArchiveError
from subscribers.surveillance.open_archive import open_archive
from subscribers.surveillance.retention import (
    DAY_SECONDS,
    STATE_NAME,
    decode_age,
    due_removals,
    last_mark,
    retained_ranges,
)
from subscribers.surveillance.upkeep import prune

EPILOG = """\
The policy is keep_days of [archive]. The age of a record is counted in days on
which a recorder ran, independent of the clock. Each removal is recorded as
`removal`.

exit status: 0 done, 1 the archive cannot be used, 2 wrong usage"""


class PruneSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of the program. They contain no secret."""

    archive: str
    site: str
    node: str
    keep_days: dict[Kind, int] = {}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return the exit status."""
    options = command_line().parse_args(arguments)
    settings = msgspec.json.decode(options.settings, type=PruneSettings)
    try:
        with closing(open_archive(settings.archive, read_only=options.dry_run)) as archive:
            _prune(archive, settings, dry_run=options.dry_run)
    except ArchiveError as error:
        sys.stderr.write(f"novamas surveillance prune: {error}\n")
        return 1
    return 0


def command_line() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = CommandLine(
        prog="novamas surveillance prune",
        description="Remove the records that are older than the archive's policy allows.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--settings", required=True, help=argparse.SUPPRESS)
    parser.add_argument("action", choices=("prune",), help=argparse.SUPPRESS)
    parser.add_argument("--dry-run", action="store_true", help="only print what would be removed")
    return parser


def _prune(archive: RecordArchive, settings: PruneSettings, *, dry_run: bool) -> None:
    """Remove what is due, or with ``dry_run`` only print it."""
    write = sys.stdout.write
    age, policy = decode_age(archive.load_value(STATE_NAME)), settings.keep_days
    if not policy:
        write("keep_days of [archive] is empty: everything is kept\n")
        return
    write(f"Recorded for {age.counted // DAY_SECONDS} days, as counted by the recorder.\n")
    if dry_run:
        removals = due_removals(archive, policy, age)
    else:
        now = format_utc(clock.wall())
        removals = prune(archive, policy, age, settings.site, settings.node, now)
    for kind, days in policy.items():
        due = next((removal for removal in removals if removal.removal.kind == kind), None)
        if due is not None:
            would = "would be removed" if dry_run else "removed"
            write(f"{kind}: {due.count:,} {would}, kept until {due.mark.time}\n")
        elif last_mark(age, days) is None:
            write(f"{kind}: nothing is {days} days old\n")
        else:
            write(f"{kind}: nothing left that is {days} days old\n")
    for spared in retained_ranges(archive):
        write(
            f"Table {spared.table} of {spared.site}: a round waits for a person; its session is "
            f"kept (records {spared.first} to {spared.last})\n"
        )


if __name__ == "__main__":
    end_process(main())
