"""Rounds as blocks on a timeline, and marks outside rounds. No clock, no I/O."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from subscribers.surveillance.archive import ArchiveRow
from subscribers.surveillance.items import EVENT_MARKS, KIND_MARKS, Mark

TIMELINE_TYPES = ("round.opened", *EVENT_MARKS)
"""Event types that a timeline is made of."""
MARK_RANK: tuple[Mark, ...] = ("result", "corrected", "unresolved", "void")
"""A round's mark is the last of these that it has."""


class RoundBlock(msgspec.Struct, frozen=True, kw_only=True):
    """A round. Times as on the wire."""

    table: str
    session: int
    round: int
    begin: str
    end: str
    mark: Mark
    """The outcome, or ``other``."""
    marks: tuple[Mark, ...]
    """Other marks in the round."""


class TimelinePoint(msgspec.Struct, frozen=True, kw_only=True):
    """A mark outside any round."""

    table: str
    time: str
    mark: Mark
    number: int


class Timeline(msgspec.Struct, frozen=True, kw_only=True):
    """Blocks and points to draw."""

    blocks: tuple[RoundBlock, ...]
    points: tuple[TimelinePoint, ...]


def timeline(rows: Iterable[ArchiveRow]) -> Timeline:
    """Return the rounds of these events, and the points outside rounds."""
    blocks: dict[tuple[str, int, int], RoundBlock] = {}
    points = []
    for row in rows:
        record = row.record
        mark = (
            EVENT_MARKS.get(record.type, "other")
            if record.kind == "event"
            else KIND_MARKS.get(record.kind, "other")
        )
        if record.round == 0 or record.kind == "access":
            point = TimelinePoint(
                table=record.table, time=record.time, mark=mark, number=row.number
            )
            points.append(point)
            continue
        round_key = record.table, record.session, record.round
        block = blocks.get(round_key)
        if block is None:
            block = RoundBlock(
                table=record.table,
                session=record.session,
                round=record.round,
                begin=record.time,
                end=record.time,
                mark="other",
                marks=(),
            )
        blocks[round_key] = msgspec.structs.replace(
            block,
            begin=min(block.begin, record.time),
            # a correction may come hours after the round ended
            end=block.end if mark == "corrected" else max(block.end, record.time),
            mark=max(block.mark, mark, key=_rank),
            marks=block.marks
            if mark in ("other", "result", *block.marks)
            else (*block.marks, mark),
        )
    return Timeline(blocks=tuple(blocks.values()), points=tuple(points))


def _rank(mark: Mark) -> int:
    return MARK_RANK.index(mark) if mark in MARK_RANK else -1
