"""``python -m subscribers.surveillance.search``: finds in an archive what a person asks for.
``novamas surveillance search`` starts it.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path

import msgspec

from controller.contract.messages.messages import ENGLISH, LANGUAGES
from devices.command_line import CommandLine, end_process
from devices.suggestions import unknown_word
from subscribers.surveillance.archive import Archive, Query, Record, Row
from subscribers.surveillance.asked import NOTABLE, Asked, AskedError
from subscribers.surveillance.errors import ArchiveError
from subscribers.surveillance.finding import found, latest_session, missing, round_rows
from subscribers.surveillance.items import Item, item
from subscribers.surveillance.open_archive import open_archive
from subscribers.surveillance.times import TimeError, time_of
from subscribers.surveillance.words import own

MOST = 1000
"""Records that are printed unless another number is given."""
EPILOG = """\
Times: 1h or 30m (so long ago), 21:30 (the last time that it was), 2026-11-22,
2026-11-22T21:30, 2026-11-22T20:30:00Z.
What: `notable`; a kind of thing: result, void, unresolved, corrected,
irregularity, alert, finding, access, sealed, checkpoint, reply, info; a type of
event; or a word of docs/integrator/vocabulary/irregularities.md.
--round shows a whole round, in order, with its evidence beside the article.

exit status: 0 found, 1 nothing found or the archive cannot be read, 2 wrong usage"""


class SearchSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the program is told. No secret is in it."""

    archive: str
    site: str
    """The site of the configuration."""
    tables: tuple[str, ...] = ()
    """The tables of the configuration, for suggestions."""
    laws: str | None = None
    """A file with the words of the decrees: JSON, rule id to words."""


def main(words: Sequence[str] | None = None) -> int:
    """Returns the exit status."""
    parser = command_line()
    given = parser.parse_args(words)
    settings = msgspec.json.decode(given.settings, type=SearchSettings)
    try:
        with closing(open_archive(settings.archive, read_only=True)) as archive:
            return _search(archive, settings, given)
    except (AskedError, TimeError) as error:
        sys.stderr.write(f"novamas surveillance search: {error}\n")
        return 2
    except ArchiveError as error:
        sys.stderr.write(f"novamas surveillance search: {error}\n")
        return 1
    except BrokenPipeError:  # the reader of the output closed it, which is no error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def command_line() -> argparse.ArgumentParser:
    """What it takes on the command line."""
    parser = CommandLine(
        prog="novamas surveillance search",
        description="Find in the archive what was said of the tables.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--settings", required=True, help=argparse.SUPPRESS)
    parser.add_argument("action", nargs="?", choices=["search"], help=argparse.SUPPRESS)
    add = parser.add_argument
    add("--table", action="append", default=[], metavar="TABLE", help="of this table; repeatable")
    add("--site", action="append", default=[], metavar="SITE", help="of this site; repeatable")
    add("--from", dest="since", metavar="TIME", help="from then on")
    add("--to", dest="until", metavar="TIME", help="until then")
    add("--what", action="append", default=[], metavar="WHAT", help="what happened; repeatable")
    add("--article", metavar="ARTICLE", help="the article, as it is printed: its beginning")
    add("--rule", metavar="RULE", help="the id of the rule, as ARA02-014")
    add("--person", metavar="PERSON", help="who said or signed it: id or name, its beginning")
    add("--session", type=_whole, metavar="N", help="of this session")
    add("--round", type=_whole, metavar="N", help="a whole round of one table, with its evidence")
    add("--card", metavar="CARD", help="a card that lay face up, as 7h")
    add("--last", action="store_true", help="the last one first")
    add("--limit", type=_whole, default=MOST, metavar="N", help=f"at most so many ({MOST})")
    add("--json", action="store_true", help="a JSON object on each line, as into a pipe")
    add("--lang", choices=LANGUAGES, default=ENGLISH, help="the language of the words")
    return parser


def _whole(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) < 1 << 53:
        raise argparse.ArgumentTypeError(f"{text!r}: write a whole number from 1")
    return int(text)


def _search(archive: Archive, settings: SearchSettings, given: argparse.Namespace) -> int:
    now = datetime.now().astimezone()
    laws = _laws(settings.laws)
    sites = tuple(given.site)
    _check(archive, settings, given, laws)
    asked = Asked(
        sites=sites,
        tables=tuple(given.table),
        since=None if given.since is None else time_of(given.since, now),
        until=None if given.until is None else time_of(given.until, now),
        what=tuple(given.what),
        words=tuple(filter(None, (given.article, given.rule, given.person))),
        session=given.session,
        round=given.round,
        latest=given.last,
        limit=None if given.card else given.limit,
    )
    whole = given.round is not None and not given.what and not asked.words and not given.card
    if whole:
        if len(given.table) != 1:
            raise AskedError("--round: name the table of the round, once: --table TABLE")
        if len(sites) > 1:
            raise AskedError("--round: name one site: --site SITE")
        rows = _round(archive, given, sites[0] if sites else settings.site)
    else:
        rows = list(_with_card(found(archive, asked), given.card, given.limit))
    as_json = given.json or not sys.stdout.isatty()
    if as_json:
        for row in rows:
            told = {**msgspec.to_builtins(item(row, given.lang)), "body": _body(row)}
            sys.stdout.write(msgspec.json.encode(told).decode() + "\n")
    else:
        items = [item(row, given.lang) for row in rows]
        _print(items, laws if whole else {}, settings.site, given, whole=whole)
        if whole and rows:
            further = _further(archive, rows[0].record, settings.site, given.lang)
            sys.stdout.write("\n" + "".join(f"{each}\n" for each in further))
    for gap in missing(archive, rows) if given.table or whole else ():
        sys.stderr.write(
            f"novamas surveillance search: events {gap.first} to {gap.last} of {gap.table}, boot "
            f"{gap.boot}, are missing in the archive\n"
        )
    if not rows:
        sys.stderr.write("novamas surveillance search: nothing was found\n")
        if not given.what and not whole:
            sys.stderr.write(f"--what {NOTABLE} shows what is out of the ordinary\n")
    elif len(rows) == given.limit and not whole:
        sys.stderr.write(f"the first {given.limit}; --limit N shows more\n")
    return 0 if rows else 1


def _check(
    archive: Archive, settings: SearchSettings, given: argparse.Namespace, laws: Mapping[str, str]
) -> None:
    """Raises ``AskedError`` for a site, table or rule that there is not."""
    sites = tuple(given.site)
    for site in sites:
        if next(archive.find(Query(sites=(site,), limit=1)), None) is None:
            raise AskedError(unknown_word("site", site, (settings.site,)))
    for table in given.table:
        if next(archive.find(Query(sites=sites, tables=(table,), limit=1)), None) is None:
            raise AskedError(unknown_word("table", table, settings.tables))
    if (
        given.rule is not None
        and laws
        and not any(law.casefold().startswith(given.rule.casefold()) for law in laws)
    ):
        raise AskedError(unknown_word("rule", given.rule, laws))


def _round(archive: Archive, given: argparse.Namespace, site: str) -> list[Row]:
    [table] = given.table
    session = given.session or latest_session(archive, site, table, given.round)
    return [] if session is None else round_rows(archive, site, table, session, given.round)


def _with_card(rows: Iterable[Row], card: str | None, limit: int) -> Iterable[Row]:
    """Those that name a card in clear, where one is asked for."""
    count = 0
    for row in rows:
        if card is None or (row.record.kind == "event" and _names(row.record.body, card)):
            yield row
            count += 1
            if count == limit:
                return


def _names(body: bytes, card: str) -> bool:
    return f'"{card}"'.encode() in body


def _body(row: Row) -> msgspec.Raw | str:
    """What was said, as it was said; of a sealed card and of what is no JSON, as text."""
    try:
        msgspec.json.decode(row.record.body)
    except (ValueError, RecursionError):
        return row.record.body.decode(errors="replace")
    return msgspec.Raw(row.record.body)


def _laws(path: str | None) -> Mapping[str, str]:
    if path is None:
        return {}
    try:
        return msgspec.json.decode(Path(path).read_bytes(), type=dict[str, str])
    except (OSError, ValueError):
        return {}


def _print(
    items: Sequence[Item],
    laws: Mapping[str, str],
    own_site: str,
    given: argparse.Namespace,
    *,
    whole: bool,
) -> None:
    """For a person."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=not whole)
    if whole and items:
        first = items[0]
        heading = [
            first.table,
            own("page.session", given.lang, session=first.session),
            own("page.round", given.lang, round=first.round),
        ]
        console.print(Text(" · ".join(heading), style="bold"))
    for each in items:
        line = Text(local(each.time), style="dim")
        if not whole:
            at = each.table or each.node
            line.append(f"  {at or each.site}")
            line.append(f" ({each.site})" if at and each.site != own_site else "")
            line.append(f"  {each.session}/{each.round}" if each.round else "")
        line.append(f"  {each.title}", style=STYLES.get(each.mark, ""))
        if each.article:
            line.append(f"  {each.article}")
        if each.by and not whole:
            line.append(f"  {each.by}", style="dim")
        console.print(line)
        if whole:
            for told in _beside(each, laws, given.lang):
                console.print(Text(f"    {told}"))


def _further(archive: Archive, first: Record, own_site: str, language: str) -> Iterator[str]:
    """The commands that show more of a round: its pictures, and its sealed cards if the table has
    any.
    """
    where = f"--table {first.table} --session {first.session} --round {first.round}"
    where += f" --site {first.site}" if first.site != own_site else ""
    yield f"{own('page.clip', language)}: novamas surveillance clip {where} clip.mp4"
    sealed = Query(sites=(first.site,), tables=(first.table,), kinds=("sealed",), limit=1)
    if next(archive.find(sealed), None) is not None:
        yield f"{own('page.cards', language)}: novamas surveillance cards {where} …"


STYLES = {
    "void": "yellow",
    "unresolved": "yellow",
    "corrected": "cyan",
    "irregularity": "red",
    "alert": "red",
    "finding": "red",
    "access": "magenta",
}


def _beside(each: Item, laws: Mapping[str, str], language: str) -> Iterable[str]:
    """The lines below an item of a round: who, the decree, the evidence."""
    if each.detail:
        yield each.detail
    if each.by:
        yield f"{own('page.said_by', language)}: {each.by}"
    for person in each.signed:
        yield f"{own('page.signed_by', language)}: {person.name} ({person.id}, {person.role})"
    if each.law:
        printed = laws.get(each.law)
        yield f"{each.law}: «{printed}»" if printed else each.law
    for frame in each.frames:
        device = f"{frame.device} " if frame.device else ""
        yield f"{own('page.evidence', language)}: {device}{frame.at:.3f} s  {frame.frame}"
    if each.readings:
        yield own("page.readings", language, numbers=", ".join(map(str, each.readings)))


def local(time: str) -> str:
    """A time of the wire on the clock of this machine, with its offset from UTC."""
    try:
        moment = datetime.fromisoformat(time).astimezone()
    except ValueError:
        return time
    return moment.isoformat(sep=" ", timespec="milliseconds")


if __name__ == "__main__":
    end_process(main())
