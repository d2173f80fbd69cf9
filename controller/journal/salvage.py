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
from controller.journal.schema import NONSENSE, Entry, holds, unread

PATIENCE = 5.0
PAUSE = 0.25
MOST = 50_000
"""Maximum number of entries to publish that are taken over."""
BATCH = 100


class Salvaged(msgspec.Struct, frozen=True):
    """The entries to publish, in order; ``lost``: which entries of which file could not be read, or
    None.
    """

    entries: list[Entry] = []
    lost: str | None = None


def nothing(aside: Path, after: int, through: int) -> Salvaged:
    """The result if the file is not the one expected."""
    return Salvaged(
        lost=f"{spans(range(after + 1, through + 1))} of {aside}" if after < through else None
    )


def salvage(aside: Path, after: int, through: int) -> Salvaged:
    """The entries to publish from ``after`` to ``through``, of this file and of those before it.
    Raises nothing.
    """
    end = time.monotonic() + PATIENCE
    found: dict[int, Entry] = {}
    missing = list(range(after + 1, through + 1))
    path: Path | None = aside
    while path is not None and missing:
        missing = _read(path, missing, found, end)
        path = _before(path, missing)
    told = [found[position] for position in sorted(found)]
    past = [entry.position for entry in told[MOST:]]
    lost = sorted([*missing, *past])
    return Salvaged(told[:MOST], f"{spans(lost)} of {aside}" if lost else None)


def spans(positions: Iterable[int]) -> str:
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
        except NONSENSE:
            if not path.exists():
                break
        if not wanted or not unread(path) or time.monotonic() + PAUSE > end:
            break
        time.sleep(PAUSE)
    return sorted([*wanted, *gone])


def _pass(
    reader: JournalReader, wanted: list[int], found: dict[int, Entry], gone: list[int], end: float
) -> list[int]:
    """Read them once, many at a time, and one by one where that fails. Gives those that the disk
    does not give now.
    """
    again: list[int] = []
    for first in range(0, len(wanted), BATCH):
        batch = wanted[first : first + BATCH]
        for part in (batch, *([position] for position in batch)):
            if time.monotonic() > end and part is not batch:
                again += part
                continue
            try:
                read = {
                    entry.position: entry
                    for entry in reader.entries(part[0] - 1, part[-1] - part[0] + 1)
                }
            except NONSENSE:
                again += part if part is not batch else []
                continue
            sound = {
                position for position in part if position in read and _is_sound(read[position])
            }
            gone += [position for position in part if position not in sound]
            found.update(
                (position, read[position]) for position in sound if read[position].is_published
            )
            if part is batch:
                break
    return again


def _is_sound(entry: Entry) -> bool:
    try:
        return holds(entry)
    except (TypeError, AttributeError, ValueError):
        return False


def _before(path: Path, missing: list[int]) -> Path | None:
    """The file before this one, if it has what is missing."""
    try:
        with closing(JournalReader(path)) as reader:
            name, base = reader.aside(), reader.base()
    except NONSENSE:
        return None
    return path.with_name(name) if name is not None and missing and missing[0] <= base else None
