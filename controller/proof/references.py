"""Finds the entries of the readings that events name as their evidence.

A table at which cards are dealt numbers its readings. The entry of a reading has its number, in
clear beside the box if it is sealed, and the events that result from it name that number.
"""

from __future__ import annotations

from typing import Any

import msgspec

from common.chain.schema import Entry
from common.confidential.bodies import is_sealed
from controller.proof.segment import DECODE_ERRORS

MAX_LOOKUP_READINGS = 5000
"""Latest readings of each table that are remembered for the lookup: a hundred rounds."""

REASON_NOT_STORED = (
    "its entry is not stored: the day that held it was removed after keep_days, or could not be "
    "read"
)
REASON_TOO_FAR = f"its entry lies more than {MAX_LOOKUP_READINGS} readings of the table back"


_Found = tuple[int, bytes | None]
"""The position of a reading, and its content; None if it is sealed."""


class _Holds(msgspec.Struct, frozen=True):
    reading: int | None = None


class _Names(msgspec.Struct, frozen=True):
    readings: tuple[int, ...] = ()


def number_in(body: bytes) -> int | None:
    """Return the number of the reading in an input, sealed or not; None if it has none."""
    if b'"reading":' not in body:
        return None
    try:
        return msgspec.json.decode(body, type=_Holds).reading
    except DECODE_ERRORS:
        return None


def named_by(body: bytes) -> tuple[int, ...]:
    """Return the numbers of the readings that an event names."""
    if b'"readings":' not in body:
        return ()
    try:
        return msgspec.json.decode(body, type=_Names).readings
    except DECODE_ERRORS:
        return ()


class ReadingLookup:
    """Receives the entries in order, and finds the readings that an event names among the earlier
    ones. The numbers of a table may restart.
    """

    def __init__(self) -> None:
        self._tables: dict[str, dict[int, _Found]] = {}

    def on_entry(self, entry: Entry) -> None:
        """Remember the reading of the next entry, if it has one."""
        if entry.kind != "input" or (number := number_in(entry.body)) is None:
            return
        known = self._tables.setdefault(entry.table, {})
        known.pop(number, None)
        known[number] = entry.position, None if is_sealed(entry.body) else entry.body
        if len(known) > MAX_LOOKUP_READINGS:
            del known[next(iter(known))]

    def evidence_of(self, event: Entry) -> list[dict[str, Any]]:
        """Return the evidence of an event: for each reading its number, its position, and its
        content or that it is sealed; or why it is unknown.
        """
        known = self._tables.get(event.table, {})
        return [_reference(number, known) for number in named_by(event.body)]


def _reference(number: int, known: dict[int, _Found]) -> dict[str, Any]:
    if number not in known:
        return {
            "reading": number,
            "missing": REASON_TOO_FAR if len(known) == MAX_LOOKUP_READINGS else REASON_NOT_STORED,
        }
    position, body = known[number]
    reference = {"reading": number, "position": position}
    return (
        {**reference, "sealed": True} if body is None else {**reference, "body": msgspec.Raw(body)}
    )


class ReadingRange(msgspec.Struct):
    """The readings of one table in some entries: their lowest number, and the numbers below it that
    events name.
    """

    first: int | None = None
    below: list[int] = []

    def add_reading(self, number: int) -> None:
        """Add the number of a reading."""
        self.first = number if self.first is None else min(self.first, number)

    def add_references(self, numbers: tuple[int, ...]) -> None:
        """Add the numbers that an event names."""
        self.below += [each for each in numbers if self.first is None or each < self.first]

    def add(self, later: ReadingRange) -> None:
        """Add the range of later entries."""
        self.add_references(tuple(later.below))
        if later.first is not None:
            self.add_reading(later.first)
