"""``python -m subscribers.surveillance.search``: searches an archive. ``novamas surveillance
search`` starts it.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import datetime

import msgspec

from common import clock
from common.command_line import CommandLine, end_process
from common.contract.messages.messages import ENGLISH, LANGUAGES
from common.suggestions import unknown_word
from subscribers.laws import PrintedRule, read_laws
from subscribers.surveillance.archive import ArchiveRecord, ArchiveRow, Query, RecordArchive
from subscribers.surveillance.errors import ArchiveError
from subscribers.surveillance.items import ArchiveItem, item
from subscribers.surveillance.lookup import find_records, latest_session, missing_events, round_rows
from subscribers.surveillance.open_archive import open_archive
from subscribers.surveillance.search_request import NOTABLE, SearchRequest, SearchRequestError
from subscribers.surveillance.times import TimeError, time_of
from subscribers.surveillance.words import room_text

DEFAULT_LIMIT = 1000
"""Maximum number of records printed by default."""
EPILOG = """\
Times: 1h or 30m (ago), 21:30 (the most recent one), 2026-11-22,
2026-11-22T21:30, 2026-11-22T20:30:00Z.
What: `notable`; a kind of item: result, void, unresolved, corrected,
irregularity, alert, finding, access, sealed, checkpoint, reply, info; a type of
event; or a word of docs/integrator/vocabulary/irregularities.md.
--round prints a whole round, in order, with articles and evidence.

exit status: 0 found, 1 nothing found or the archive cannot be read, 2 wrong usage"""


class SearchSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of the program. They contain no secret."""

    archive: str
    site: str
    """The site of the configuration."""
    tables: tuple[str, ...] = ()
    """The tables of the configuration, for suggestions."""
    laws: str | None = None
    """A file with the texts of the decrees: JSON, rule id to text."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the search and return the exit status."""
    parser = command_line()
    options = parser.parse_args(arguments)
    settings = msgspec.json.decode(options.settings, type=SearchSettings)
    try:
        with closing(open_archive(settings.archive, read_only=True)) as archive:
            return _search(archive, settings, options)
    except (SearchRequestError, TimeError) as error:
        sys.stderr.write(f"novamas surveillance search: {error}\n")
        return 2
    except ArchiveError as error:
        sys.stderr.write(f"novamas surveillance search: {error}\n")
        return 1
    except BrokenPipeError:  # the reader of the output closed it; not an error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def command_line() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = CommandLine(
        prog="novamas surveillance search",
        description="Search the archive of what the tables published.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--settings", required=True, help=argparse.SUPPRESS)
    parser.add_argument("action", nargs="?", choices=["search"], help=argparse.SUPPRESS)
    add = parser.add_argument
    add("--table", action="append", default=[], metavar="TABLE", help="only this table; repeatable")
    add("--site", action="append", default=[], metavar="SITE", help="only this site; repeatable")
    add("--from", dest="since", metavar="TIME", help="first time to include")
    add("--to", dest="until", metavar="TIME", help="first time to exclude")
    add("--what", action="append", default=[], metavar="WHAT", help="what happened; repeatable")
    add("--article", metavar="ARTICLE", help="the article as printed, or its beginning")
    add("--rule", metavar="RULE", help="the id of the rule, such as ARA02-014")
    add("--person", metavar="PERSON", help="author or signer: id, name, or its beginning")
    add("--on-duty", metavar="NAME", help="only while this person was on duty at the table")
    add("--session", type=_whole, metavar="N", help="only this session")
    add("--round", type=_whole, metavar="N", help="a whole round of one table, with its evidence")
    add("--card", metavar="CARD", help="a card that was face up, such as 7h")
    add("--last", action="store_true", help="newest first")
    add(
        "--limit",
        type=_whole,
        default=DEFAULT_LIMIT,
        metavar="N",
        help=f"maximum number of records ({DEFAULT_LIMIT})",
    )
    add("--json", action="store_true", help="print JSON lines, as into a pipe")
    add("--lang", choices=LANGUAGES, default=ENGLISH, help="the language of the words")
    return parser


def _whole(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) < 1 << 53:
        raise argparse.ArgumentTypeError(f"{text!r}: give a whole number from 1")
    return int(text)


def _search(archive: RecordArchive, settings: SearchSettings, options: argparse.Namespace) -> int:
    now = clock.now().astimezone()
    laws = _laws(settings.laws)
    sites = tuple(options.site)
    _check(archive, settings, options, laws)
    request = SearchRequest(
        sites=sites,
        tables=tuple(options.table),
        since=None if options.since is None else time_of(options.since, now),
        until=None if options.until is None else time_of(options.until, now),
        what=tuple(options.what),
        words=tuple(filter(None, (options.article, options.rule, options.person))),
        on_duty=options.on_duty,
        session=options.session,
        round=options.round,
        latest=options.last,
        limit=None if options.card else options.limit,
    )
    whole_round = options.round is not None and not (
        options.what or request.words or options.card or options.on_duty
    )
    if whole_round:
        if len(options.table) != 1:
            raise SearchRequestError("--round: name the table of the round, once: --table TABLE")
        if len(sites) > 1:
            raise SearchRequestError("--round: name one site: --site SITE")
        rows = _round(archive, options, sites[0] if sites else settings.site)
    else:
        rows = list(_with_card(find_records(archive, request), options.card, options.limit))
    as_json = options.json or not sys.stdout.isatty()
    if as_json:
        for row in rows:
            fields = {**msgspec.to_builtins(item(row, options.lang)), "body": _body(row)}
            sys.stdout.write(msgspec.json.encode(fields).decode() + "\n")
    else:
        items = [item(row, options.lang) for row in rows]
        _print(items, laws if whole_round else {}, settings.site, options, whole_round=whole_round)
        if whole_round and rows:
            further = _further(archive, rows[0].record, settings.site, options.lang)
            sys.stdout.write("\n" + "".join(f"{line}\n" for line in further))
    for gap in missing_events(archive, rows) if options.table or whole_round else ():
        sys.stderr.write(
            f"novamas surveillance search: events {gap.first} to {gap.last} of {gap.table}, boot "
            f"{gap.boot}, are missing in the archive\n"
        )
    if not rows:
        sys.stderr.write("novamas surveillance search: nothing was found\n")
        if not options.what and not whole_round:
            sys.stderr.write(f"--what {NOTABLE} shows everything unusual\n")
    elif len(rows) == options.limit and not whole_round:
        sys.stderr.write(f"the first {options.limit}; --limit N shows more\n")
    return 0 if rows else 1


def _check(
    archive: RecordArchive,
    settings: SearchSettings,
    options: argparse.Namespace,
    laws: Mapping[str, PrintedRule],
) -> None:
    """Raise ``SearchRequestError`` for a site, table or rule that does not exist."""
    sites = tuple(options.site)
    for site in sites:
        if next(archive.find(Query(sites=(site,), limit=1)), None) is None:
            raise SearchRequestError(unknown_word("site", site, (settings.site,)))
    for table in options.table:
        if next(archive.find(Query(sites=sites, tables=(table,), limit=1)), None) is None:
            raise SearchRequestError(unknown_word("table", table, settings.tables))
    if (
        options.rule is not None
        and laws
        and not any(law.casefold().startswith(options.rule.casefold()) for law in laws)
    ):
        raise SearchRequestError(unknown_word("rule", options.rule, laws))


def _round(archive: RecordArchive, options: argparse.Namespace, site: str) -> list[ArchiveRow]:
    [table] = options.table
    session = options.session or latest_session(archive, site, table, options.round)
    return [] if session is None else round_rows(archive, site, table, session, options.round)


def _with_card(rows: Iterable[ArchiveRow], card: str | None, limit: int) -> Iterable[ArchiveRow]:
    """Yield the rows that name the card in clear; without a card, yield all rows."""
    count = 0
    for row in rows:
        if card is None or (row.record.kind == "event" and _names(row.record.body, card)):
            yield row
            count += 1
            if count == limit:
                return


def _names(body: bytes, card: str) -> bool:
    return f'"{card}"'.encode() in body


def _body(row: ArchiveRow) -> msgspec.Raw | str:
    """Return the body as received; sealed cards and anything that is not JSON as text."""
    try:
        msgspec.json.decode(row.record.body)
    except (ValueError, RecursionError):
        return row.record.body.decode(errors="replace")
    return msgspec.Raw(row.record.body)


def _laws(path: str | None) -> Mapping[str, PrintedRule]:
    try:
        return read_laws(path)
    except (OSError, ValueError):
        return {}


def _print(
    items: Sequence[ArchiveItem],
    laws: Mapping[str, PrintedRule],
    own_site: str,
    options: argparse.Namespace,
    *,
    whole_round: bool,
) -> None:
    """Print the items for a person."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=not whole_round)
    if whole_round and items:
        first = items[0]
        heading = [
            first.table,
            room_text("page.session", options.lang, session=first.session),
            room_text("page.round", options.lang, round=first.round),
        ]
        console.print(Text(" · ".join(heading), style="bold"))
    for shown_item in items:
        line = Text(local_time(shown_item.time), style="dim")
        if not whole_round:
            place = shown_item.table or shown_item.node
            line.append(f"  {place or shown_item.site}")
            line.append(f" ({shown_item.site})" if place and shown_item.site != own_site else "")
            line.append(f"  {shown_item.session}/{shown_item.round}" if shown_item.round else "")
        line.append(f"  {shown_item.title}", style=MARK_STYLES.get(shown_item.mark, ""))
        if shown_item.article:
            line.append(f"  {shown_item.article}")
        if shown_item.by and not whole_round:
            line.append(f"  {shown_item.by}", style="dim")
        console.print(line)
        if whole_round:
            for detail in _details(shown_item, laws, options.lang):
                console.print(Text(f"    {detail}"))


def _further(
    archive: RecordArchive, first: ArchiveRecord, own_site: str, language: str
) -> Iterator[str]:
    """Yield the commands that show more of a round: its video, and its sealed cards if the table
    has any.
    """
    options = f"--table {first.table} --session {first.session} --round {first.round}"
    options += f" --site {first.site}" if first.site != own_site else ""
    yield f"{room_text('page.clip', language)}: novamas surveillance clip {options} clip.mp4"
    sealed = Query(sites=(first.site,), tables=(first.table,), kinds=("sealed",), limit=1)
    if next(archive.find(sealed), None) is not None:
        yield f"{room_text('page.cards', language)}: novamas surveillance cards {options} …"


MARK_STYLES = {
    "void": "yellow",
    "unresolved": "yellow",
    "corrected": "cyan",
    "irregularity": "red",
    "alert": "red",
    "finding": "red",
    "access": "magenta",
}


def _details(item_: ArchiveItem, laws: Mapping[str, PrintedRule], language: str) -> Iterable[str]:
    """Yield the lines below an item of a round: author, decree, evidence."""
    if item_.detail:
        yield item_.detail
    if item_.by:
        yield f"{room_text('page.said_by', language)}: {item_.by}"
    for person in item_.signed:
        yield f"{room_text('page.signed_by', language)}: {person.name} ({person.id}, {person.role})"
    if item_.law:
        law_text = laws.get(item_.law)
        yield f"{item_.law}: «{law_text.words}»" if law_text else item_.law
    for frame in item_.frames:
        device = f"{frame.device} " if frame.device else ""
        yield f"{room_text('page.evidence', language)}: {device}{frame.at:.3f} s  {frame.frame}"
    if item_.readings:
        yield room_text("page.readings", language, numbers=", ".join(map(str, item_.readings)))


def local_time(time: str) -> str:
    """Return a wire time in this machine's local time, with its offset from UTC."""
    try:
        moment = datetime.fromisoformat(time).astimezone()
    except ValueError:
        return time
    return moment.isoformat(sep=" ", timespec="milliseconds")


if __name__ == "__main__":
    end_process(main())
