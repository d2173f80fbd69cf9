"""``novamas export``: a day, a table or a round of a journal, with its evidence."""

from __future__ import annotations

import argparse
import csv
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from controller.cli import Failed
from controller.cli.progress import Percent

if TYPE_CHECKING:
    from controller.journal.schema import Entry
    from controller.proof.evidence import Evidence

HELP = "write a day, a table or a round of a journal, with its evidence"


def arguments(parser: argparse.ArgumentParser) -> None:
    """JOURNAL [--day D] [--table T] [--session S] [--round N] [--format F]."""
    parser.add_argument("journal", type=Path, metavar="JOURNAL", help="the SQLite file; a daemon may be using it")
    parser.add_argument("--day", metavar="DAY", help="one day (UTC), as 2026-11-19")
    parser.add_argument("--table", metavar="ID", help="one table")
    parser.add_argument("--session", type=int, metavar="N", help="one session")
    parser.add_argument("--round", type=int, metavar="N", help="one round; of every session, unless one is named")
    parser.add_argument(
        "--format", choices=("jsonl", "csv"), default="jsonl", help="jsonl: every entry (default); csv: the events alone"
    )


def run(given: argparse.Namespace) -> int:
    """Entries to stdout. Gives 1 if none was found."""
    from controller.journal.schema import JournalUnusable
    from controller.proof.evidence import Evidence
    from controller.proof.export import COLUMNS, Wanted, as_json, as_row, excerpt
    from controller.proof.segment import Broken

    if given.day is not None and not re.fullmatch(r"\d{4}-\d\d-\d\d", given.day):
        raise Failed(f"--day {given.day}: a day is written as 2026-11-19")
    wanted = Wanted(given.day, given.table, given.session, given.round)
    try:
        evidence = Evidence(given.journal)
    except JournalUnusable as error:
        raise Failed(str(error)) from error
    for unreadable in evidence.unreadable:
        print(f"novamas: left out: {unreadable}", file=sys.stderr)
    found = 0
    table = csv.writer(sys.stdout, lineterminator="\n")
    if given.format == "csv":
        table.writerow(COLUMNS)
    with Percent("reading") as percent:
        try:
            for entry in excerpt(_shown(evidence, percent), wanted):
                if given.format == "jsonl":
                    print(as_json(entry).decode())
                elif entry.kind == "event":
                    table.writerow(as_row(entry))
                else:
                    continue
                found += given.table is None or entry.kind != "boot"
        except Broken as error:
            raise Failed(f"{error}; what comes after it is left out") from error
    if not found:
        raise Failed(f"{given.journal}: nothing of that kind in it")
    return 0 if not evidence.unreadable else 1


def _shown(evidence: Evidence, percent: Percent) -> Iterator[Entry]:
    total = evidence.size()
    for number, (_, entry) in enumerate(evidence.entries(), 1):
        percent.show(number, total)
        yield entry
