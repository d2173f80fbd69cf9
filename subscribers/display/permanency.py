"""A permanency: the results of one table in one day of play, round by round.

It lists missing rounds too: the rounds of a session are numbered without gaps, so a missing number
was not received.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from itertools import groupby

import msgspec

from common.contract.messages.messages import text, word
from common.contract.node import Checkpoint
from common.contract.outcomes import (
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
from subscribers.display.rounds import PlayedRound

LANES = ("red", "green", "black")
"""The lanes of a wheel's numbers, from left to right; that of zero, and of a middle number without
a colour, is ``green``.
"""


class PermanencyEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A line. ``lane``: its column among a wheel's numbers, which is the colour."""

    session: int
    round: int
    last: int
    """Equal to ``round``; for a gap, the last missing round."""
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
    """The day of play is from ``begin`` until before ``end``."""
    language: str
    simulated: bool
    entries: tuple[PermanencyEntry, ...]
    checkpoint: Checkpoint | None
    """The latest checkpoint of the daemon's chain, if any."""
    covered: int
    """Number of rounds decided before the checkpoint."""

    @property
    def missing(self) -> int:
        """Number of missing rounds."""
        return sum(
            entry.last - entry.round + 1 for entry in self.entries if entry.kind == "missing"
        )


def entries(rounds: Sequence[PlayedRound], language: str) -> tuple[PermanencyEntry, ...]:
    """Return the lines of these rounds in order, with one for each gap within a session."""
    lines: list[PermanencyEntry] = []
    for session, group in groupby(rounds, key=lambda round_: round_.session):
        last: int | None = None
        for round_ in group:
            if last is not None and round_.round > last + 1:
                lines.append(_missing(session, last + 1, round_.round - 1, language))
            lines.append(_entry(round_, language))
            last = round_.round
    return tuple(lines)


def has_lanes(permanency: Permanency) -> bool:
    """Return True if the results are numbers of a wheel with colours."""
    return any(entry.lane in LANES for entry in permanency.entries)


def count_covered(rounds: Sequence[PlayedRound], checkpoint: Checkpoint | None) -> int:
    """Return the number of rounds decided before the checkpoint; both times are of
    the same clock.
    """
    if checkpoint is None:
        return 0
    return sum(round_.time is not None and round_.time <= checkpoint.time for round_ in rounds)


def _missing(session: int, first: int, last: int, language: str) -> PermanencyEntry:
    return PermanencyEntry(
        session=session,
        round=first,
        last=last,
        kind="missing",
        time=None,
        result="",
        lane="",
        note=text("permanency.missing", language),
    )


def _entry(round_: PlayedRound, language: str) -> PermanencyEntry:
    note = text("display.corrected", language) if round_.corrected else ""
    if round_.kind == "void":
        note = text("note.void", language, reason=word("void_reason", round_.reason, language))
    elif round_.kind == "unresolved":
        note = text("note.unresolved", language, why=word("unresolved", round_.reason, language))
    result, lane = ("", "") if round_.outcome is None else outcome_text(round_.outcome, language)
    return PermanencyEntry(
        session=round_.session,
        round=round_.round,
        last=round_.round,
        kind=round_.kind,
        time=round_.time,
        result=result,
        lane=lane,
        note=note,
    )


def outcome_text(outcome: AnyOutcome, language: str) -> tuple[str, str]:
    """Return an outcome in a few words, and its lane."""
    match outcome:
        case RouletteOutcome():
            return str(outcome.number), outcome.colour or "green"
        case BouleOutcome():
            return str(outcome.number), outcome.colour or "none"
        case FortuneOutcome():
            return str(outcome.number), "none"
        case CrapsOutcome():
            return f"{outcome.dice[0]} + {outcome.dice[1]} = {outcome.total}", "none"
        case BaccaratOutcome():
            return _hand_text(outcome.winner, language), "none"
        case TrenteOutcome():
            name = outcome.winner
            return word("mark", name, language) if name == "refait" else _hand_text(
                name, language
            ), "none"
        case CirclePokerOutcome():
            return _hand_text(outcome.winner, language), "none"
        case BlackjackOutcome() | HousePokerOutcome():
            return (
                ", ".join(
                    f"{_hand_text(hand.who, language)} {word('outcome', hand.outcome, language)}"
                    for hand in outcome.hands
                    if hand.outcome
                ),
                "none",
            )


def _hand_text(hand_id: str | None, language: str) -> str:
    """Return the name of a hand, box, seat or side."""
    if hand_id is None:
        return ""
    kind, _, number = hand_id.partition(":")
    if not number:
        return word("who", kind, language)
    return text(f"who.{kind}_numbered", language, number=number)


COLUMNS = ("session", "round", "last", "kind", "time", "result", "lane", "note")


def as_csv(permanency: Permanency) -> str:
    """Return the day as CSV (RFC 4180); the checkpoint and missing rounds are in lines that start
    with #.
    """
    page = io.StringIO()
    for line in header_lines(permanency):
        page.write(f"# {line}\r\n")
    writer = csv.writer(page)
    writer.writerow(COLUMNS)
    for entry in permanency.entries:
        writer.writerow([getattr(entry, name) for name in COLUMNS])
    return page.getvalue()


def header_lines(permanency: Permanency) -> Iterator[str]:
    """Yield the header of a day, and its proof."""
    language = permanency.language
    yield f"{permanency.title} · {permanency.table} · {permanency.day.isoformat()}"
    if permanency.simulated:
        yield text("display.simulated", language)
    begin, end = (
        moment.isoformat(timespec="minutes") for moment in (permanency.begin, permanency.end)
    )
    yield text("permanency.day", language, begin=begin, end=end)
    results = sum(entry.kind == "result" for entry in permanency.entries)
    yield text("permanency.counts", language, results=results, missing=permanency.missing)
    checkpoint = permanency.checkpoint
    if checkpoint is None:
        yield text("permanency.unproved", language)
        return
    yield text(
        "permanency.checkpoint",
        language,
        covered=permanency.covered,
        time=checkpoint.time,
        journal=checkpoint.journal,
        position=checkpoint.position,
    )
    yield f"{text('permanency.hash', language)} {checkpoint.hash}"
    yield f"{text('permanency.key', language)} {checkpoint.key or '-'}"
    yield f"{text('permanency.signature', language)} {checkpoint.signature or '-'}"
