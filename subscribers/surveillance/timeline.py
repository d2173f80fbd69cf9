"""Rounds as blocks on a line of time, and what is marked on it. Without clock or I/O."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from subscribers.surveillance.archive import Row
from subscribers.surveillance.items import KINDS, MARKS, Mark

TYPES = ("round.opened", *MARKS)
"""The types of events of which a timeline is made."""
RANK: tuple[Mark, ...] = ("result", "corrected", "unresolved", "void")
"""What a round is drawn as: the last of these that it has."""


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """A round. Times as on the wire."""

    table: str
    session: int
    round: int
    begin: str
    end: str
    mark: Mark
    """What became of it; ``other`` while nothing did."""
    marks: tuple[Mark, ...]
    """What else there was in it."""


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """What belongs to no round."""

    table: str
    time: str
    mark: Mark
    number: int


class Timeline(msgspec.Struct, frozen=True, kw_only=True):
    """What is drawn."""

    blocks: tuple[Block, ...]
    points: tuple[Point, ...]


def timeline(rows: Iterable[Row]) -> Timeline:
    """The rounds of these events, and what belongs to none."""
    blocks: dict[tuple[str, int, int], Block] = {}
    points = []
    for row in rows:
        each = row.record
        mark = (
            MARKS.get(each.type, "other") if each.kind == "event" else KINDS.get(each.kind, "other")
        )
        if each.round == 0 or each.kind == "access":
            point = Point(table=each.table, time=each.time, mark=mark, number=row.number)
            points.append(point)
            continue
        place = each.table, each.session, each.round
        found = blocks.get(place)
        if found is None:
            found = Block(
                table=each.table,
                session=each.session,
                round=each.round,
                begin=each.time,
                end=each.time,
                mark="other",
                marks=(),
            )
        blocks[place] = msgspec.structs.replace(
            found,
            begin=min(found.begin, each.time),
            # a correction may come hours later, and the round did not last so long
            end=found.end if mark == "corrected" else max(found.end, each.time),
            mark=max(found.mark, mark, key=_rank),
            marks=found.marks
            if mark in ("other", "result", *found.marks)
            else (*found.marks, mark),
        )
    return Timeline(blocks=tuple(blocks.values()), points=tuple(points))


def _rank(mark: Mark) -> int:
    return RANK.index(mark) if mark in RANK else -1
