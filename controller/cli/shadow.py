"""``novamas shadow``: compares the results of a table with the list of the system that the casino
already has, day by day, and signs the outcome.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Mapping
from datetime import date, time
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from common import clock
from common.contract.messages.messages import LANGUAGES
from common.contract.version import SOFTWARE
from common.new_file import replace_file
from controller.cli import CommandLineError
from controller.cli.configured import DEFAULT_CONFIG, configuration_at
from controller.cli.signer import open_signer, signer_arguments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from common.chain.schema import Entry
    from controller.configuration.settings import Configuration, TableConfig
    from controller.proof.evidence import Evidence
    from controller.shadow.report import DayReport, Explanation, JournalPart, MonthReport, Signed

EQUAL, DIFFERENT = 0, 3
ACTIONS = {
    "day": "compare TABLE on one day with a list of results, and sign the report",
    "explain": "sign an explanation of one difference in the report FILE",
    "month": "gather the reports of a month in FOLDER, and sign the outcome",
    "check": "check a signed FILE, and print it",
    "formats": "list the formats of lists that come with the program",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """ACTION [TARGET] and its options."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = (
        "actions:\n"
        + "\n".join(f"  {name:9}{what}" for name, what in ACTIONS.items())
        + "\n\nExit status: 0 equal, or all explained; 3 differences; 1 an error."
    )
    parser.add_argument("action", choices=tuple(ACTIONS), metavar="ACTION", help="see below")
    parser.add_argument("target", nargs="?", metavar="TARGET", help="a table, a file or a folder")
    parser.add_argument(
        "--config",
        type=Path,
        default=DEFAULT_CONFIG,
        metavar="CONFIG",
        help=f"the configuration of the daemon (default: {DEFAULT_CONFIG})",
    )
    parser.add_argument("--day", metavar="DAY", help="for day: the gaming day, as 2026-11-26")
    parser.add_argument("--list", type=Path, metavar="FILE", help="for day: the list (CSV)")
    parser.add_argument(
        "--format",
        metavar="NAME",
        help="for day: the list's format, one of `novamas shadow formats` or a TOML file",
    )
    parser.add_argument(
        "--list-table",
        metavar="NAME",
        help="for day: the table's name in the list, if it has several (default: TABLE)",
    )
    parser.add_argument(
        "--difference", type=int, metavar="N", help="for explain: its number in the report"
    )
    parser.add_argument("--words", metavar="TEXT", help="for explain: the explanation")
    parser.add_argument("--month", metavar="MONTH", help="for month: as 2026-11")
    parser.add_argument("--table", metavar="ID", help="for month: the table")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("shadow"),
        metavar="FOLDER",
        help="for day: where the report goes (default: shadow)",
    )
    parser.add_argument(
        "--language",
        choices=LANGUAGES,
        help="language of the paper (default: the table's, or that of its decree)",
    )
    signer_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the action."""
    from common.chain.schema import JournalUnusableError
    from common.people.register import PeopleError
    from controller.proof.segment import BrokenSegmentError
    from controller.shadow.list_format import ListFormatError
    from controller.shadow.listed import ListError
    from controller.shadow.report import ShadowFileError

    try:
        return HANDLERS[arguments.action](arguments)
    except (JournalUnusableError, BrokenSegmentError, ListFormatError, PeopleError) as error:
        raise CommandLineError(str(error)) from None
    except ListError as error:
        raise CommandLineError(f"{arguments.list}: {error}") from None
    except ShadowFileError as error:
        raise CommandLineError(f"{arguments.target}: {error}") from None


def _day(arguments: argparse.Namespace) -> int:
    """Compare a day."""
    from common.days import bounds
    from controller.proof.evidence import Evidence
    from controller.shadow.differences import SEARCH_MARGIN_SECONDS, compare
    from controller.shadow.list_format import read_format
    from controller.shadow.listed import read_list
    from controller.shadow.played import played_rounds
    from controller.shadow.report import DayReport, write_signed

    _require(arguments, "target", "day", "list", "format", "key")
    day, path, name = _date(arguments.day), arguments.list, arguments.format
    configuration = configuration_at(arguments.config)
    table = _table(configuration, arguments.target)
    signer = open_signer(arguments, configuration)
    begins = time.fromisoformat(configuration.web.day_begins if configuration.web else "06:00")
    begin, end = (moment.timestamp() for moment in bounds(day, begins))
    form, form_data = read_format(name)
    data = _read(path)
    listed = read_list(
        data, form, table=arguments.list_table or table.id, day=day, day_begins=begins
    )
    evidence = Evidence(Path(configuration.journal.path))
    parts: dict[str, JournalPart] = {}
    played = tuple(
        each
        for each in played_rounds(_noted(evidence, parts), table.id)
        if begin - SEARCH_MARGIN_SECONDS <= each.at < end + SEARCH_MARGIN_SECONDS
    )
    tolerance = float(form.clock_seconds)
    outcome = compare(played, listed, begin, end, tolerance)
    report = DayReport(
        site=configuration.site.id,
        table=table.id,
        game=table.game,
        decree=table.decree,
        day=day.isoformat(),
        begin=begin,
        end=end,
        list_name=path.name,
        list_sha256=sha256(data).hexdigest(),
        format_name=Path(name).name,
        format_sha256=sha256(form_data).hexdigest(),
        tolerance=tolerance,
        evidence=tuple(parts.values()),
        left_out=tuple(str(part) for part in (*evidence.unreadable, *evidence.broken)),
        played=played,
        listed=listed,
        same=outcome.same,
        fits=outcome.fits,
        offsets=outcome.offsets,
        differences=outcome.differences,
        software=SOFTWARE,
        by=signer.name,
        person=signer.person,
        made=_now(),
    )
    body = write_signed(report, signer.key)
    file = arguments.out / f"{table.id}-{day.isoformat()}.json"
    arguments.out.mkdir(mode=0o700, parents=True, exist_ok=True)
    return _put(arguments, configuration, file, body, report)


def _explain(arguments: argparse.Namespace) -> int:
    """Sign an explanation."""
    from controller.shadow.paper import describe
    from controller.shadow.report import DayReport, Explanation, read_as, write_signed

    _require(arguments, "target", "difference", "words", "key")
    path, number, words = Path(arguments.target), arguments.difference, arguments.words.strip()
    report, signed = read_as(_read(path), DayReport)
    if not 1 <= number <= len(report.differences):
        raise CommandLineError(f"{path}: no difference {number}; it has {len(report.differences)}")
    if not words or len(words) > MAX_WORDS:
        raise CommandLineError(f"--words: an explanation of 1 to {MAX_WORDS} characters", status=2)
    signer = open_signer(arguments, configuration_at(arguments.config))
    explanation = Explanation(
        report_sha256=signed.sha256,
        difference=number,
        words=words,
        by=signer.name,
        person=signer.person,
        made=_now(),
    )
    body = write_signed(explanation, signer.key)
    file = path.with_name(f"{path.stem}.explained-{number}-{sha256(body).hexdigest()[:8]}.json")
    replace_file(file, body)
    print(describe(report.differences[number - 1], arguments.language or "en"))
    print(file)
    return EQUAL


def _month(arguments: argparse.Namespace) -> int:
    """Gather a month."""
    from controller.shadow.report import MonthReport, follows, summarize, write_signed

    _require(arguments, "target", "month", "table", "key")
    folder, month, table = Path(arguments.target), arguments.month, arguments.table
    days = _days(month)
    configuration = configuration_at(arguments.config)
    _table(configuration, table)
    signer = open_signer(arguments, configuration)
    reports, explanations = _files(folder)
    summaries = {}
    for path, report, signed in reports:
        if report.table != table or report.day not in days:
            continue
        if report.site != configuration.site.id:
            raise CommandLineError(f"{path}: is of the site {report.site}")
        if not follows(report):
            raise CommandLineError(f"{path}: its differences do not follow from its results")
        if report.day in summaries:
            raise CommandLineError(f"{path}: a second report of {report.day}; remove one of them")
        summaries[report.day] = summarize(report, path.name, signed.sha256, explanations)
    outcome = MonthReport(
        site=configuration.site.id,
        table=table,
        month=month,
        days=tuple(summaries[day] for day in sorted(summaries)),
        missing=tuple(day for day in days if day not in summaries),
        software=SOFTWARE,
        by=signer.name,
        person=signer.person,
        made=_now(),
    )
    if not outcome.days:
        raise CommandLineError(f"{folder}: no report of table {table} in {month}")
    file = folder / f"{table}-{month}.json"
    return _put(arguments, configuration, file, write_signed(outcome, signer.key), outcome)


def _check(arguments: argparse.Namespace) -> int:
    """Check a signed file."""
    from controller.shadow.paper import as_text, sheet_of
    from controller.shadow.report import DayReport, Explanation, follows, read_signed, summarize

    _require(arguments, "target")
    path = Path(arguments.target)
    signed = read_signed(_read(path))
    content, language = signed.content, arguments.language or "en"
    if isinstance(content, Explanation):
        print(f"difference {content.difference}: {content.words}")
        print(f"explained by {content.by}, {content.made}, signed with the key {signed.key}")
        return EQUAL
    print(as_text(sheet_of(content, signed.key, signed.sha256, language)))
    errors = []
    if isinstance(content, DayReport):
        if not follows(content):
            errors.append("its differences do not follow from its results")
    else:
        reports, explanations = _files(path.parent)
        found = {
            summarize(report, file.name, each.sha256, explanations)
            for file, report, each in reports
        }
        errors += [
            f"{day.report}: is missing, was changed, or has other explanations"
            for day in content.days
            if day not in found
        ]
    for problem in errors:
        print(f"novamas: {path}: {problem}", file=sys.stderr)
    if errors:
        return 1
    print(f"{path}: as it was signed, and it follows from its sources")
    return EQUAL if content.is_equal else DIFFERENT


def _formats(_: argparse.Namespace) -> int:
    """List the formats."""
    from controller.shadow.list_format import format_names, read_format

    for name in format_names():
        form = read_format(name)[0]
        print(f"{name}: {form.evidence} ({form.source})")
    return EQUAL


HANDLERS: Mapping[str, Callable[[argparse.Namespace], int]] = {
    "day": _day,
    "explain": _explain,
    "month": _month,
    "check": _check,
    "formats": _formats,
}
MAX_WORDS = 1000
"""Maximum characters of an explanation."""


def _noted(evidence: Evidence, parts: dict[str, JournalPart]) -> Iterator[Entry]:
    """Yield every entry; note in ``parts`` up to where each journal was read."""
    from controller.shadow.report import JournalPart

    latest: dict[str, Entry] = {}
    for source, entry in evidence.entries():
        latest[source.journal] = entry
        yield entry
    for journal, entry in latest.items():
        parts[journal] = JournalPart(
            journal=journal, position=entry.position, hash=entry.hash.hex()
        )


def _files(
    folder: Path,
) -> tuple[list[tuple[Path, DayReport, Signed]], list[tuple[Explanation, str]]]:
    """Return the reports of days in a folder, and the explanations with their digests."""
    from controller.shadow.report import DayReport, Explanation, ShadowFileError, read_signed

    if not folder.is_dir():
        raise CommandLineError(f"{folder}: is no folder")
    reports, explanations = [], []
    for path in sorted(folder.glob("*.json")):
        try:
            signed = read_signed(_read(path))
        except ShadowFileError as error:
            raise CommandLineError(f"{path}: {error}") from None
        if isinstance(signed.content, DayReport):
            reports.append((path, signed.content, signed))
        elif isinstance(signed.content, Explanation):
            explanations.append((signed.content, signed.sha256))
    return reports, explanations


def _put(
    arguments: argparse.Namespace,
    configuration: Configuration,
    file: Path,
    body: bytes,
    report: DayReport | MonthReport,
) -> int:
    """Write a signed file and its paper; print it."""
    from controller.cli.acceptance import paper_language
    from controller.shadow.paper import as_pdf, as_text, sheet_of
    from controller.shadow.report import read_signed

    signed = read_signed(body)
    table = _table(configuration, report.table)
    language = arguments.language or paper_language(table.languages, table.decree)
    house = configuration.site.letterhead
    sheet = sheet_of(report, signed.key, signed.sha256, language)
    replace_file(file.with_suffix(".pdf"), as_pdf(sheet, signed.sha256, language, house))
    replace_file(file, body)
    print(as_text(sheet_of(report, signed.key, signed.sha256, arguments.language or "en")))
    print(f"{file}, {file.with_suffix('.pdf')}")
    return EQUAL if report.is_equal else DIFFERENT


def _table(configuration: Configuration, name: str) -> TableConfig:
    from common.suggestions import unknown_word

    for table in configuration.table:
        if table.id == name:
            return table
    raise CommandLineError(unknown_word("table", name, [each.id for each in configuration.table]))


def _require(arguments: argparse.Namespace, *names: str) -> None:
    """Raise :class:`CommandLineError` if one of these arguments was not given."""
    for name in names:
        if getattr(arguments, name) is None:
            word = "TARGET" if name == "target" else f"--{name}"
            raise CommandLineError(f"shadow {arguments.action}: {word} is missing", status=2)


def _date(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise CommandLineError(f"--day {text}: expected a day such as 2026-11-26") from None


def _days(month: str) -> list[str]:
    """Return the days of a month."""
    from calendar import monthrange

    if not re.fullmatch(r"[12]\d{3}-(0[1-9]|1[0-2])", month):
        raise CommandLineError(f"--month {month}: expected a month such as 2026-11")
    last = monthrange(int(month[:4]), int(month[5:]))[1]
    return [f"{month}-{day:02}" for day in range(1, last + 1)]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CommandLineError(f"{path}: {error.strerror or error}") from None


def _now() -> str:
    from common.contract.times import format_utc

    return format_utc(clock.wall())
