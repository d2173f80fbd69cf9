"""``novamas export``: exports a day, a table or a round of a journal, with its evidence."""

from __future__ import annotations

import argparse
import csv
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from common.suggestions import unknown_word
from controller.cli import CommandLineError
from controller.cli.numbers import count
from controller.cli.progress import Percent

if TYPE_CHECKING:
    from common.chain.schema import Entry
    from controller.proof.evidence import Evidence
    from controller.proof.references import ReadingLookup


def arguments(parser: argparse.ArgumentParser) -> None:
    """JOURNAL [--day D] [--table T] [--session S] [--round N] [--format F], or JOURNAL --page D."""
    parser.add_argument(
        "journal", type=Path, metavar="JOURNAL", help="the SQLite file; a daemon may be using it"
    )
    parser.add_argument("--day", metavar="DAY", help="one day (UTC), as 2026-11-19")
    parser.add_argument("--table", metavar="ID", help="one table")
    parser.add_argument("--session", type=int, metavar="N", help="one session")
    parser.add_argument(
        "--round",
        type=int,
        metavar="N",
        help="one round, in every session unless --session is given",
    )
    parser.add_argument(
        "--format",
        choices=("jsonl", "csv"),
        default="jsonl",
        help="jsonl: every entry (default); csv: the events alone",
    )
    parser.add_argument(
        "--page",
        metavar="DAYS",
        help="write one HTML file that verifies itself without a network: a day (UTC), as "
        "2026-11-19, or a month, as 2026-11, with all tables",
    )
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="of the page (default: novamas-DAYS.html here); an existing file is replaced",
    )
    parser.add_argument(
        "--witness",
        type=Path,
        metavar="ARCHIVE",
        help="for the page: a subscriber's archive, whose checkpoints are added and whose events "
        "are compared",
    )
    parser.add_argument(
        "--unseal",
        type=Path,
        metavar="KEYFILE",
        help="for the page: the private key of surveillance, with which the audit proves sealed "
        "tables too; the page stays sealed",
    )
    cores = len(os.sched_getaffinity(0))
    parser.add_argument(
        "--jobs",
        type=count,
        default=cores,
        metavar="N",
        help=f"for the page: processes that audit the journal (default: one per core, {cores})",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the entries to stdout. Return 1 if a part of the journal was left out."""
    from common.chain.schema import JournalUnusableError
    from controller.proof.evidence import Evidence
    from controller.proof.export import COLUMNS, ExportFilter, as_json, as_row, excerpt
    from controller.proof.references import ReadingLookup
    from controller.proof.segment import BrokenSegmentError

    if arguments.page is not None:
        return _write_page(arguments)
    if arguments.day is not None and not re.fullmatch(r"\d{4}-\d\d-\d\d", arguments.day):
        raise CommandLineError(f"--day {arguments.day}: expected a day such as 2026-11-19")
    wanted = ExportFilter(arguments.day, arguments.table, arguments.session, arguments.round)
    try:
        evidence = Evidence(arguments.journal)
    except JournalUnusableError as error:
        raise CommandLineError(str(error)) from error
    left_out = [*evidence.unreadable, *evidence.broken]
    for part in left_out:
        print(f"novamas: left out: {part}", file=sys.stderr)
    printed, tables, readings = 0, set[str](), ReadingLookup()
    table = csv.writer(sys.stdout, lineterminator="\n")
    if arguments.format == "csv":
        table.writerow(COLUMNS)
    with Percent("reading", unless=sys.stdout) as percent:
        try:
            for entry in excerpt(_with_progress(evidence, percent, tables, readings), wanted):
                if arguments.format == "jsonl":
                    evidence_readings = (
                        readings.evidence_of(entry) if entry.kind == "event" else None
                    )
                    print(as_json(entry, evidence_readings).decode())
                elif entry.kind == "event":
                    table.writerow(as_row(entry))
                else:
                    continue
                printed += arguments.table is None or entry.kind != "boot"
        except BrokenSegmentError as error:
            raise CommandLineError(
                f"{error}; the entries after it are left out; `novamas verify` shows what is wrong"
            ) from error
    if not printed:
        raise CommandLineError(f"{arguments.journal}: {_no_match(arguments, tables)}")
    return 1 if left_out else 0


def _write_page(arguments: argparse.Namespace) -> int:
    """Write the page, and print its name and the digests to keep."""
    from common.errors import NovamasError
    from controller.cli.audit import read_unseal
    from controller.inspection.export import export_page
    from controller.inspection.page import digest, shell
    from controller.proof.outcome import ProofOutcome
    from controller.proof.witness import Witness

    if not re.fullmatch(r"\d{4}-\d\d(-\d\d)?", arguments.page):
        raise CommandLineError(
            f"--page {arguments.page}: expected a day such as 2026-11-19 or a month such as 2026-11"
        )
    if any(each is not None for each in (arguments.day, arguments.table, arguments.session)):
        raise CommandLineError(
            "--page has whole days of all tables, since one chain goes through them: leave out "
            "--day, --table and --session"
        )
    output = arguments.output or Path(f"novamas-{arguments.page}.html")
    try:
        witness = None if arguments.witness is None else Witness(arguments.witness)
        with Percent() as percent:
            header = export_page(
                arguments.journal,
                arguments.page,
                output,
                unseal=None if arguments.unseal is None else read_unseal(arguments.unseal),
                witness=witness,
                jobs=arguments.jobs,
                progress=percent.show_part,
            )
    except NovamasError as error:
        raise CommandLineError(str(error)) from error
    except OSError as error:
        raise CommandLineError(f"{error.filename or output}: {error.strerror}") from error
    stated = [each for each in (header.audit, header.witness) if each is not None]
    print(f"{output}: {header.days} of {header.site}; open it in a browser")
    for each in stated:
        print(f"found in the journal: {each.outcome}")
    print(f"code of the page, SHA-256: {digest(shell())}")
    return 0 if all(each.outcome == ProofOutcome.HOLDS for each in stated) else 1


def _no_match(arguments: argparse.Namespace, tables: set[str]) -> str:
    """Describe why no entry matches."""
    if not tables:
        return (
            "no matching entries; it has no entries of any table"
            if arguments.table is not None
            else "no matching entries"
        )
    if arguments.table is not None and arguments.table not in tables:
        return unknown_word("table", arguments.table, sorted(tables))
    kinds = {
        "--day": arguments.day,
        "--table": arguments.table,
        "--session": arguments.session,
        "--round": arguments.round,
    }
    filters = " ".join(f"{name} {value}" for name, value in kinds.items() if value is not None)
    ids = ", ".join(sorted(tables))
    return f"no matching entries for {filters or 'these options'}; its tables: {ids}"


def _with_progress(
    evidence: Evidence, percent: Percent, tables: set[str], readings: ReadingLookup
) -> Iterator[Entry]:
    """Yield every entry; collect the tables in ``tables`` and the readings in ``readings``."""
    total = evidence.size()
    for number, (_, entry) in enumerate(evidence.entries(), 1):
        percent.show(number, total)
        if entry.table:
            tables.add(entry.table)
        readings.on_entry(entry)
        yield entry
