"""Reads the entries not yet published from a file that was set aside, as far as the disk returns
them, and reports the rest.

What the disk does not return is tried again, with pauses, for a few seconds in all.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import msgspec

from controller.journal.reader import JournalReader
from controller.journal.schema import READ_ERRORS, Entry, has_valid_hash, may_be_intact

READ_TIMEOUT_SECONDS = 5.0
RETRY_SECONDS = 0.25
MAX_ENTRIES = 50_000
"""Maximum number of entries to publish that are taken over."""
BATCH_ENTRIES = 100


class Salvaged(msgspec.Struct, frozen=True):
    """The entries to publish, in order; ``lost``: which entries of which file could not be read, or
    None.
    """

    entries: list[Entry] = []
    lost: str | None = None


def all_lost(aside: Path, after: int, through: int) -> Salvaged:
    """The result if the file is not the one expected."""
    return Salvaged(
        lost=f"{format_positions(range(after + 1, through + 1))} of {aside}"
        if after < through
        else None
    )


def salvage(aside: Path, after: int, through: int) -> Salvaged:
    """The entries to publish from ``after`` to ``through``, of this file and of those before it.
    Raises nothing.
    """
    end = time.monotonic() + READ_TIMEOUT_SECONDS
    found: dict[int, Entry] = {}
    missing = list(range(after + 1, through + 1))
    path: Path | None = aside
    while path is not None and missing:
        missing = _read(path, missing, found, end)
        path = _before(path, missing)
    told = [found[position] for position in sorted(found)]
    past = [entry.position for entry in told[MAX_ENTRIES:]]
    lost = sorted([*missing, *past])
    return Salvaged(told[:MAX_ENTRIES], f"{format_positions(lost)} of {aside}" if lost else None)


def format_positions(positions: Iterable[int]) -> str:
    """``7 to 9, 12``: positions as a person reads them."""
    found: list[tuple[int, int]] = []
    for position in positions:
        if found and found[-1][1] == position - 1:
            found[-1] = found[-1][0], position
        else:
            found.append((position, position))
    return ", ".join(str(first) if first == last else f"{first} to {last}" for first, last in found)


def _read(path: Path, wanted: list[int], found: dict[int, Entry], end: float) -> list[int]:
    """Read these entries; those to publish are ``found``. Gives the positions that this file does
    not give.
    """
    gone: list[int] = []
    while True:
        try:
            with closing(JournalReader(path)) as reader:
                wanted = _pass(reader, wanted, found, gone, end)
        except READ_ERRORS:
            if not path.exists():
                break
        if not wanted or not may_be_intact(path) or time.monotonic() + RETRY_SECONDS > end:
            break
        time.sleep(RETRY_SECONDS)
    return sorted([*wanted, *gone])


def _pass(
    reader: JournalReader, wanted: list[int], found: dict[int, Entry], gone: list[int], end: float
) -> list[int]:
    """Read them once, many at a time, and one by one where that fails. Gives those that the disk
    does not give now.
    """
    again: list[int] = []
    for first in range(0, len(wanted), BATCH_ENTRIES):
        batch = wanted[first : first + BATCH_ENTRIES]
        for part in (batch, *([position] for position in batch)):
            if time.monotonic() > end and part is not batch:
                again += part
                continue
            try:
                read = {
                    entry.position: entry
                    for entry in reader.entries(part[0] - 1, part[-1] - part[0] + 1)
                }
            except READ_ERRORS:
                again += part if part is not batch else []
                continue
            sound = {
                position for position in part if position in read and _is_intact(read[position])
            }
            gone += [position for position in part if position not in sound]
            found.update(
                (position, read[position]) for position in sound if read[position].is_published
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
    """The file before this one, if it has what is missing."""
    try:
        with closing(JournalReader(path)) as reader:
            name, base = reader.aside_name(), reader.base()
    except READ_ERRORS:
        return None
    return path.with_name(name) if name is not None and missing and missing[0] <= base else None
