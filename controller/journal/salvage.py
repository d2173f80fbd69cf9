"""Reads the unpublished entries from a file that was set aside, and reports those it cannot read.

Entries that the disk does not return are read again, with pauses, for a few seconds in all.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import msgspec

from common import clock
from common.chain.schema import READ_ERRORS, Entry, has_valid_hash, may_be_intact
from controller.journal.reader import JournalReader

READ_TIMEOUT_SECONDS = 5.0
RETRY_SECONDS = 0.25
MAX_ENTRIES = 50_000
"""Maximum number of entries that are returned."""
BATCH_ENTRIES = 100


class Salvaged(msgspec.Struct, frozen=True):
    """The entries to publish, in order. ``lost`` names the entries that could not be read and their
    file, or is None.
    """

    entries: list[Entry] = []
    lost: str | None = None


def all_lost(aside: Path, after: int, through: int) -> Salvaged:
    """Return the result for a file that is not the expected one: nothing is read."""
    return Salvaged(
        lost=f"{format_positions(range(after + 1, through + 1))} of {aside}"
        if after < through
        else None
    )


def salvage(aside: Path, after: int, through: int) -> Salvaged:
    """Return the entries to publish after ``after`` up to ``through``, from this file and the ones
    before it. Never raises.
    """
    end = clock.monotonic() + READ_TIMEOUT_SECONDS
    found: dict[int, Entry] = {}
    missing = list(range(after + 1, through + 1))
    path: Path | None = aside
    while path is not None and missing:
        missing = _read(path, missing, found, end)
        path = _before(path, missing)
    entries = [found[position] for position in sorted(found)]
    beyond_limit = [entry.position for entry in entries[MAX_ENTRIES:]]
    lost = sorted([*missing, *beyond_limit])
    return Salvaged(entries[:MAX_ENTRIES], f"{format_positions(lost)} of {aside}" if lost else None)


def format_positions(positions: Iterable[int]) -> str:
    """Format positions for a person: ``7 to 9, 12``."""
    ranges: list[tuple[int, int]] = []
    for position in positions:
        if ranges and ranges[-1][1] == position - 1:
            ranges[-1] = ranges[-1][0], position
        else:
            ranges.append((position, position))
    return ", ".join(
        str(first) if first == last else f"{first} to {last}" for first, last in ranges
    )


def _read(path: Path, wanted: list[int], found: dict[int, Entry], end: float) -> list[int]:
    """Read these entries, add those to publish to ``found``, and return the positions that could
    not be read.
    """
    damaged: list[int] = []
    while True:
        try:
            with closing(JournalReader(path)) as reader:
                wanted = _pass(reader, wanted, found, damaged, end)
        except READ_ERRORS:
            if not path.exists():
                break
        if not wanted or not may_be_intact(path) or clock.monotonic() + RETRY_SECONDS > end:
            break
        clock.block(RETRY_SECONDS)
    return sorted([*wanted, *damaged])


def _pass(
    reader: JournalReader,
    wanted: list[int],
    found: dict[int, Entry],
    damaged: list[int],
    end: float,
) -> list[int]:
    """Read the entries once, in batches, and one by one where a batch fails. Return those that the
    disk does not return now; add the damaged ones to ``damaged``.
    """
    again: list[int] = []
    for first in range(0, len(wanted), BATCH_ENTRIES):
        batch = wanted[first : first + BATCH_ENTRIES]
        for part in (batch, *([position] for position in batch)):
            if clock.monotonic() > end and part is not batch:
                again += part
                continue
            try:
                entries = {
                    entry.position: entry
                    for entry in reader.entries(part[0] - 1, part[-1] - part[0] + 1)
                }
            except READ_ERRORS:
                again += part if part is not batch else []
                continue
            intact = {
                position
                for position in part
                if position in entries and _is_intact(entries[position])
            }
            damaged += [position for position in part if position not in intact]
            found.update(
                (position, entries[position])
                for position in intact
                if entries[position].is_published
            )
            if part is batch:
                break
    return again


def _is_intact(entry: Entry) -> bool:
    try:
        return has_valid_hash(entry)
    except (TypeError, AttributeError, ValueError):
        return False


def _before(path: Path, missing: list[int]) -> Path | None:
    """Return the file before this one if it can hold a missing entry."""
    try:
        with closing(JournalReader(path)) as reader:
            name, base = reader.meta("aside"), reader.base()
    except READ_ERRORS:
        return None
    return path.with_name(name) if name is not None and missing and missing[0] <= base else None
