"""A permanency: what came at one table in one day of play, round by round.

It says what is missing: the rounds of a session are numbered without gaps, so a number that is not
there was not heard.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from itertools import groupby

import msgspec

from controller.contract.messages.messages import text, word
from controller.contract.node import Checkpoint
from controller.contract.outcomes import (
    AnyOutcome,
    BaccaratOutcome,
    BlackjackOutcome,
    BouleOutcome,
    CirclePokerOutcome,
    CrapsOutcome,
    FortuneOutcome,
    HousePokerOutcome,
    RouletteOutcome,
    TrenteOutcome,
)
from subscribers.display.rounds import Round


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One line. ``lane``: where it stands among the numbers of a wheel: its colour."""

    session: int
    round: int
    last: int
    """The same as ``round``; of a gap, the last round that was not heard."""
    kind: str
    """``result``, ``void``, ``unresolved`` or ``missing``."""
    time: str | None
    result: str
    lane: str
    note: str


class Permanency(msgspec.Struct, frozen=True, kw_only=True):
    """One day of one table."""

    table: str
    title: str
    day: date
    begin: datetime
    end: datetime
    """The day of play: from ``begin`` on, before ``end``."""
    language: str
    simulated: bool
    entries: tuple[Entry, ...]
    checkpoint: Checkpoint | None
    """The latest of the daemon's chain; None where none was heard."""
    covered: int
    """How many of the rounds were decided before the checkpoint."""

    @property
    def missing(self) -> int:
        """Rounds that were not heard."""
        return sum(each.last - each.round + 1 for each in self.entries if each.kind == "missing")


def entries(rounds: Sequence[Round], language: str) -> tuple[Entry, ...]:
    """The lines of these rounds, in order, and one for each gap between two of a session."""
    found: list[Entry] = []
    for session, group in groupby(rounds, key=lambda each: each.session):
        last: int | None = None
        for each in group:
            if last is not None and each.round > last + 1:
                found.append(_missing(session, last + 1, each.round - 1, language))
            found.append(_entry(each, language))
            last = each.round
    return tuple(found)


def covered(rounds: Sequence[Round], checkpoint: Checkpoint | None) -> int:
    """How many rounds were decided before the checkpoint. Their times are of one clock."""
    if checkpoint is None:
        return 0
    return sum(each.time is not None and each.time <= checkpoint.time for each in rounds)


def _missing(session: int, first: int, last: int, language: str) -> Entry:
    return Entry(
        session=session,
        round=first,
        last=last,
        kind="missing",
        time=None,
        result="",
        lane="",
        note=text("permanency.missing", language),
    )


def _entry(each: Round, language: str) -> Entry:
    note = text("display.corrected", language) if each.corrected else ""
    if each.kind == "void":
        note = text("note.void", language, reason=word("void_reason", each.reason, language))
    elif each.kind == "unresolved":
        note = text("note.unresolved", language, why=word("unresolved", each.reason, language))
    result, lane = ("", "") if each.outcome is None else said(each.outcome, language)
    return Entry(
        session=each.session,
        round=each.round,
        last=each.round,
        kind=each.kind,
        time=each.time,
        result=result,
        lane=lane,
        note=note,
    )


def said(outcome: AnyOutcome, language: str) -> tuple[str, str]:
    """An outcome in a few words, and its lane."""
    match outcome:
        case RouletteOutcome() | BouleOutcome():
            return str(outcome.number), outcome.colour or "none"
        case FortuneOutcome():
            return str(outcome.number), "none"
        case CrapsOutcome():
            return f"{outcome.dice[0]} + {outcome.dice[1]} = {outcome.total}", "none"
        case BaccaratOutcome():
            return _who(outcome.winner, language), "none"
        case TrenteOutcome():
            name = outcome.winner
            return word("mark", name, language) if name == "refait" else _who(
                name, language
            ), "none"
        case CirclePokerOutcome():
            return _who(outcome.winner, language), "none"
        case BlackjackOutcome() | HousePokerOutcome():
            return (
                ", ".join(
                    f"{_who(hand.who, language)} {word('outcome', hand.outcome, language)}"
                    for hand in outcome.hands
                    if hand.outcome
                ),
                "none",
            )


def _who(name: str | None, language: str) -> str:
    """A hand, box, seat or side."""
    if name is None:
        return ""
    kind, _, number = name.partition(":")
    if not number:
        return word("who", kind, language)
    return text(f"who.{kind}_numbered", language, number=number)


COLUMNS = ("session", "round", "last", "kind", "time", "result", "lane", "note")


def as_csv(permanency: Permanency) -> str:
    """The day as CSV (RFC 4180), the checkpoint and what is missing in lines that begin with #."""
    page = io.StringIO()
    for line in head(permanency):
        page.write(f"# {line}\r\n")
    writer = csv.writer(page)
    writer.writerow(COLUMNS)
    for each in permanency.entries:
        writer.writerow([getattr(each, name) for name in COLUMNS])
    return page.getvalue()


def head(permanency: Permanency) -> Iterator[str]:
    """What stands above the day, and what proves it."""
    language = permanency.language
    yield f"{permanency.title} · {permanency.table} · {permanency.day.isoformat()}"
    if permanency.simulated:
        yield text("display.simulated", language)
    begin, end = (
        moment.isoformat(timespec="minutes") for moment in (permanency.begin, permanency.end)
    )
    yield text("permanency.day", language, begin=begin, end=end)
    results = sum(each.kind == "result" for each in permanency.entries)
    yield text("permanency.counts", language, results=results, missing=permanency.missing)
    kept = permanency.checkpoint
    if kept is None:
        yield text("permanency.unproved", language)
        return
    yield text(
        "permanency.checkpoint",
        language,
        covered=permanency.covered,
        time=kept.time,
        journal=kept.journal,
        position=kept.position,
    )
    yield f"{text('permanency.hash', language)} {kept.hash}"
    yield f"{text('permanency.key', language)} {kept.key or '-'}"
    yield f"{text('permanency.signature', language)} {kept.signature or '-'}"
