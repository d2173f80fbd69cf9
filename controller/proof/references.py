"""The readings that events name as their evidence: which entries they are.

A table at which cards are dealt counts its readings. The entry of a reading holds its number, also
in clear beside a sealed box, and the events that rest on it name that number.
"""

from __future__ import annotations

from typing import Any

import msgspec

from controller.confidential.bodies import is_sealed
from controller.journal.schema import Entry
from controller.proof.segment import DECODE_ERRORS

MAX_LOOKUP_READINGS = 5000
"""The latest readings of each table in which those of an event are looked up: a hundred rounds."""

REASON_NOT_KEPT = (
    "its entry is not kept: the day that held it was removed after keep_days, or could not be read"
)
REASON_TOO_FAR = f"its entry lies more than {MAX_LOOKUP_READINGS} readings of the table back"


_Found = tuple[int, bytes | None]
"""The position of a reading, and its content; None: it is sealed."""


class _Holds(msgspec.Struct, frozen=True):
    reading: int | None = None


class _Names(msgspec.Struct, frozen=True):
    readings: tuple[int, ...] = ()


def number_in(body: bytes) -> int | None:
    """The number of the reading that an input is, sealed or not; None without one."""
    if b'"reading":' not in body:
        return None
    try:
        return msgspec.json.decode(body, type=_Holds).reading
    except DECODE_ERRORS:
        return None


def named_by(body: bytes) -> tuple[int, ...]:
    """The numbers of the readings that an event names."""
    if b'"readings":' not in body:
        return ()
    try:
        return msgspec.json.decode(body, type=_Names).readings
    except DECODE_ERRORS:
        return ()


class Lookup:
    """Takes the entries in order, and finds the readings that an event names among those before it.
    The numbers of a restarted table start again.
    """

    def __init__(self) -> None:
        self._tables: dict[str, dict[int, _Found]] = {}

    def on_entry(self, entry: Entry) -> None:
        """Take the next entry."""
        if entry.kind != "input" or (number := number_in(entry.body)) is None:
            return
        known = self._tables.setdefault(entry.table, {})
        known.pop(number, None)
        known[number] = entry.position, None if is_sealed(entry.body) else entry.body
        if len(known) > MAX_LOOKUP_READINGS:
            del known[next(iter(known))]

    def followed(self, event: Entry) -> list[dict[str, Any]]:
        """The evidence of an event: of each reading its number and its position, and its content,
        or that it is sealed; or why it is unknown.
        """
        known = self._tables.get(event.table, {})
        return [_reference(number, known) for number in named_by(event.body)]


def _reference(number: int, known: dict[int, _Found]) -> dict[str, Any]:
    if number not in known:
        return {
            "reading": number,
            "missing": REASON_TOO_FAR if len(known) == MAX_LOOKUP_READINGS else REASON_NOT_KEPT,
        }
    position, body = known[number]
    told = {"reading": number, "position": position}
    return {**told, "sealed": True} if body is None else {**told, "body": msgspec.Raw(body)}


class ReadingRange(msgspec.Struct):
    """Of one table: the lowest number of its readings in some entries, and the numbers that events
    there name below it.
    """

    first: int | None = None
    below: list[int] = []

    def add_reading(self, number: int) -> None:
        """A reading."""
        self.first = number if self.first is None else min(self.first, number)

    def add_references(self, numbers: tuple[int, ...]) -> None:
        """An event names readings."""
        self.below += [each for each in numbers if self.first is None or each < self.first]

    def add(self, later: ReadingRange) -> None:
        """Add what was found in the entries that follow."""
        self.add_references(tuple(later.below))
        if later.first is not None:
            self.add_reading(later.first)
