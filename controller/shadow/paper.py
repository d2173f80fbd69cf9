"""Prints the report of a day or a month as PDF, on A4, to be signed by hand in addition to the
signed file, or as text.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from common.contract.messages.messages import text as message
from common.paper import LANE_INK, Paper
from controller.shadow.differences import ResultDifference
from controller.shadow.report import DayReport, DaySummary, MonthReport
from controller.shadow.results import DecidedRound, ListedResult

_LABEL = 42.0


class Sheet(msgspec.Struct, frozen=True, kw_only=True):
    """The printed text: the verdict, labelled facts, then one line for each difference or day."""

    title: str
    verdict: str
    is_good: bool
    facts: tuple[tuple[str, str], ...]
    lines: tuple[str, ...]
    by: str
    made: str


def sheet_of(report: DayReport | MonthReport, key: str, digest: str, language: str) -> Sheet:
    """Return what is printed of a report. ``key`` signed the file, ``digest`` is its SHA-256."""
    sheet = _day(report, language) if isinstance(report, DayReport) else _month(report, language)
    proof = (
        (_text("time", language), report.made),
        (_text("software", language), report.software),
        (_text("signed_file", language), f"SHA-256 {digest}"),
        (_text("key", language), key),
    )
    return msgspec.structs.replace(sheet, facts=(*sheet.facts, *proof))


def as_pdf(sheet: Sheet, digest: str, language: str, house: Sequence[str] = ()) -> bytes:
    """Return the PDF. ``digest``: of the signed file; ``house``: the lines of the letterhead."""
    head = [sheet.title, f"SHA-256 {digest}"]
    made = datetime.fromisoformat(sheet.made)
    page = Paper(head, language, made, house=house, code=digest, margin=15.0)
    page.set_font("Helvetica", "B", 12)
    page.set_text_color(*LANE_INK["green" if sheet.is_good else "red"])
    page.wrapped(sheet.verdict, 6)
    page.set_text_color(0, 0, 0)
    page.ln(2)
    page.labelled(sheet.facts, _LABEL)
    page.ln(4)
    page.set_font("Helvetica", "", 8)
    for line in sheet.lines:
        page.wrapped(line, 4.4)
    page.signature(sheet.by)
    return bytes(page.output())


def as_text(sheet: Sheet, house: Sequence[str] = ()) -> str:
    """Return the report as lines of text."""
    width = max(len(label) for label, _ in sheet.facts)
    facts = (f"{label:{width}}  {value}" for label, value in sheet.facts)
    return "\n".join([*house, sheet.title, sheet.verdict, "", *facts, "", *sheet.lines, ""])


def describe(difference: ResultDifference, language: str) -> str:
    """Describe a difference in one sentence."""
    rounds = [_round(each, language) for each in difference.rounds]
    rows = [_row(each, language) for each in difference.rows]
    nothing = _text("nothing", language)
    return _text(
        difference.kind,
        language,
        rounds=", ".join(rounds) or nothing,
        rows=", ".join(rows) or nothing,
        seconds=round(difference.seconds or 0),
    )


def _day(report: DayReport, language: str) -> Sheet:
    count = len(report.differences)
    if not report.fits:
        verdict = _text("does_not_fit", language, same=report.same)
    elif count:
        verdict = _text("differs", language, count=count)
    else:
        verdict = _text("equal", language, same=report.same)
    facts = [
        (_text("site", language), report.site),
        (_text("game", language), f"{message(f'game.{report.game}', language)}, {report.decree}"),
        (_text("span", language), f"{_local(report.begin)} - {_local(report.end)}"),
        (_text("list", language), f"{report.list_name}, SHA-256 {report.list_sha256}"),
        (_text("format", language), f"{report.format_name}, SHA-256 {report.format_sha256}"),
        (_text("rounds", language), str(report.decided)),
        (_text("rows", language), str(len(report.listed))),
        (_text("same", language), str(report.same)),
        (_text("clock", language), _clock(report, language)),
        *(
            (
                _text("journal", language),
                f"{part.journal}, {part.position}, SHA-256 {part.hash}",
            )
            for part in report.evidence
        ),
        *((_text("left_out", language), part) for part in report.left_out),
        (_text("led_by", language), _person(report.by, report.person)),
    ]
    return Sheet(
        title=_text("day_title", language, table=report.table, day=report.day),
        verdict=verdict,
        is_good=report.is_equal,
        facts=tuple(facts),
        lines=tuple(
            f"{number}. {describe(each, language)}"
            for number, each in enumerate(report.differences, 1)
        ),
        by=report.by,
        made=report.made,
    )


def _month(report: MonthReport, language: str) -> Sheet:
    unexplained = sum(len(day.unexplained) for day in report.days)
    unfit = sum(not day.fits for day in report.days)
    verdict = (
        _text("month_equal", language, days=len(report.days))
        if report.is_equal
        else _text("month_differs", language, count=unexplained, days=unfit)
    )
    facts = [
        (_text("site", language), report.site),
        (_text("days", language), str(len(report.days))),
        (_text("missing_days", language), ", ".join(report.missing) or _text("nothing", language)),
        (_text("rounds", language), str(sum(day.rounds for day in report.days))),
        (_text("same", language), str(sum(day.same for day in report.days))),
        (_text("differences", language), str(sum(day.differences for day in report.days))),
        (_text("unexplained", language), str(unexplained)),
        (_text("led_by", language), _person(report.by, report.person)),
    ]
    return Sheet(
        title=_text("month_title", language, table=report.table, month=report.month),
        verdict=verdict,
        is_good=report.is_equal,
        facts=tuple(facts),
        lines=tuple(_line(day, language) for day in report.days),
        by=report.by,
        made=report.made,
    )


def _line(day: DaySummary, language: str) -> str:
    return _text(
        "day_line",
        language,
        day=day.day,
        rounds=day.rounds,
        same=day.same,
        differences=day.differences,
        unexplained=len(day.unexplained),
        by=day.by,
    ) + ("" if day.fits else f" {_text('day_unfit', language)}")


def _clock(report: DayReport, language: str) -> str:
    if not report.offsets:
        return _text("no_clock", language)
    seconds = [each.seconds for each in report.offsets]
    return _text("clock_from_to", language, low=round(min(seconds)), high=round(max(seconds)))


def _round(played: DecidedRound, language: str) -> str:
    shown = played.number or _text(played.kind, language)
    place = _text("round", language, session=played.session, round=played.round)
    return f"{place} ({_local(played.at)}): {shown}"


def _row(row: ListedResult, language: str) -> str:
    place = _text("line", language, line=row.line)
    return f"{place}{'' if row.at is None else f' ({_local(row.at)})'}: {row.number}"


def _local(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _person(name: str, person: str | None) -> str:
    return name if person is None else f"{name} ({person})"


def _text(key: str, language: str, **fields: object) -> str:
    return message(f"shadow_paper.{key}", language, **fields)
