"""The events of all tables in the order in which they came, on the disk: streams resume in it.

It is a copy for streams only. The daemon's journal proves an event. How far each table was followed
is stored with its events, in one transaction: none is missed and none comes twice, whenever the
server ends. A power cut may take the last seconds of both; they are recalled.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from common.contract.http_bodies import GAP_TYPE
from subscribers.feed.following import FollowedRuns
from subscribers.sqlite_copy import open_copy

SCHEMA_VERSION = 1
"""Version of the tables below. A file of another version is set aside, not read."""
TAIL_EVENTS = 2000
"""Latest events that are held in memory: a live stream that is farther behind ends."""
PAGE_EVENTS = 200
"""Events that a resuming stream reads from the disk at once."""
PRUNE_EVENTS = 1000
"""Expired events that are removed at once."""

_STATEMENTS = (
    "PRAGMA wal_autocheckpoint = 0",  # see `checkpoint`: no sync may delay a stream
    """
    CREATE TABLE IF NOT EXISTS event (
      position INTEGER PRIMARY KEY AUTOINCREMENT, tbl TEXT NOT NULL, boot TEXT NOT NULL,
      seq INTEGER NOT NULL, type TEXT NOT NULL, stored REAL NOT NULL, body BLOB NOT NULL
    )
    """,
    "CREATE INDEX IF NOT EXISTS place ON event (tbl, boot, seq)",
    "CREATE INDEX IF NOT EXISTS of_table ON event (tbl, position)",
    "CREATE TABLE IF NOT EXISTS followed (place TEXT PRIMARY KEY, runs BLOB) WITHOUT ROWID",
)


class NewEvent(NamedTuple):
    """An event or a gap to store. Of a gap, ``boot`` and ``seq`` are those of what follows it."""

    table: str
    boot: str
    seq: int
    type: str
    body: bytes


class LoggedEvent:
    """A stored event. ``arrived``: when it was stored, on the monotonic clock; None if it was read
    from the disk. ``frames``: what streams send of it, by form.
    """

    __slots__ = ("arrived", "body", "boot", "frames", "position", "seq", "table", "type")

    def __init__(self, position: int, event: NewEvent, arrived: float | None) -> None:
        self.position, self.arrived = position, arrived
        self.table, self.boot, self.seq, self.type, self.body = event
        self.frames: dict[tuple[bool, bool, bool], bytes] = {}


class StreamLog:
    """The log in one file, of at most ``max_events`` events of the last ``days``. Raises
    ``sqlite3.Error`` and ``OSError``.
    """

    def __init__(self, path: Path, *, max_events: int, days: int) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path, self._max_events, self._seconds = path, max_events, days * 86_400.0
        self._file = open_copy(
            path, SCHEMA_VERSION, _STATEMENTS, check="SELECT count(*) FROM followed"
        )
        self.first, self.head = self._bounds()
        self._tail: list[LoggedEvent] = []
        self._tail_after = self.head
        """The position before the first event in memory."""
        self._changed: defaultdict[str | None, asyncio.Event] = defaultdict(asyncio.Event)

    def _bounds(self) -> tuple[int, int]:
        """Return the position of the first stored event, and that of the last one ever stored."""
        row = self._file.execute("SELECT seq FROM sqlite_sequence WHERE name = 'event'").fetchone()
        head = 0 if row is None else int(row[0])
        [(first,)] = self._file.execute("SELECT min(position) FROM event").fetchall()
        return head + 1 if first is None else int(first), head

    def followed(self) -> dict[str, bytes]:
        """Return how far each table was followed, by the root of its topics."""
        return dict(self._file.execute("SELECT place, runs FROM followed").fetchall())

    def append(
        self,
        events: Sequence[NewEvent],
        followed: Iterable[tuple[str, FollowedRuns]],
        now: float,
        arrived: float,
    ) -> None:
        """Store events and how far their tables were followed, then wake the streams. ``now``:
        seconds since 1970; ``arrived``: the same moment on the monotonic clock. Raises
        ``sqlite3.Error``; nothing is stored then.
        """
        self._file.execute("BEGIN IMMEDIATE")
        try:
            self._file.executemany(
                "INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    (position, *event[:4], now, event.body)
                    for position, event in enumerate(events, self.head + 1)
                ),
            )
            self._file.executemany(
                "INSERT OR REPLACE INTO followed VALUES (?, ?)",
                [(place, msgspec.json.encode(runs)) for place, runs in followed],
            )
            self._file.execute("COMMIT")
        except BaseException:
            if self._file.in_transaction:
                self._file.execute("ROLLBACK")
            raise
        self._tail += [
            LoggedEvent(position, event, arrived)
            for position, event in enumerate(events, self.head + 1)
        ]
        self.head += len(events)
        if len(self._tail) > 2 * TAIL_EVENTS:
            self._tail = self._tail[-TAIL_EVENTS:]
            self._tail_after = self.head - TAIL_EVENTS
        for table in {event.table for event in events}:
            self._wake(table)
        if events:
            self._wake(None)

    def latest(self, after: int) -> list[LoggedEvent] | None:
        """Return the events after a position; None if they are no longer in memory."""
        if after < max(self._tail_after, self.first - 1):
            return None
        return self._tail[after - self._tail_after :]

    async def page(self, after: int, table: str | None) -> list[LoggedEvent]:
        """Return the next events after a position, of all tables or of one, from the disk."""
        return await asyncio.to_thread(self._page, after, table)

    def _page(self, after: int, table: str | None) -> list[LoggedEvent]:
        if table is None:
            rows = self._read(
                "SELECT position, tbl, boot, seq, type, body FROM event WHERE position > ?"
                " ORDER BY position LIMIT ?",
                (after, PAGE_EVENTS),
            )
        else:
            rows = self._read(
                "SELECT position, tbl, boot, seq, type, body FROM event WHERE tbl = ?"
                " AND position > ? ORDER BY position LIMIT ?",
                (table, after, PAGE_EVENTS),
            )
        return [LoggedEvent(row[0], NewEvent(*row[1:]), None) for row in rows]

    async def position_of(self, table: str, boot: str, seq: int) -> int | None:
        """Return the position of an event of a table, or None if it is not stored."""
        rows = await asyncio.to_thread(
            self._read,
            "SELECT position FROM event WHERE tbl = ? AND boot = ? AND seq = ? AND type != ?",
            (table, boot, seq, GAP_TYPE),
        )
        return int(rows[0][0]) if rows else None

    async def is_at(self, position: int, boot: str, seq: int) -> bool:
        """Return whether the event at a position is this one."""
        rows = await asyncio.to_thread(
            self._read, "SELECT boot, seq FROM event WHERE position = ?", (position,)
        )
        return bool(rows == [(boot, seq)])

    async def first_of(self, table: str | None) -> LoggedEvent | None:
        """Return the first stored event, of all tables or of one."""
        return next(iter(await self.page(0, table)), None)

    def _read(self, query: str, values: Sequence[str | int]) -> list[Any]:
        reader = sqlite3.connect(f"file:{self._path}?mode=ro", uri=True)
        try:
            return reader.execute(query, values).fetchall()
        finally:
            reader.close()

    def prune(self, now: float) -> bool:
        """Remove some events that are too old or too many; return whether there are more. Raises
        ``sqlite3.Error``.
        """
        oldest = self._file.execute(
            "SELECT position, stored FROM event ORDER BY position LIMIT 1 OFFSET ?",
            (PRUNE_EVENTS - 1,),
        ).fetchone()
        surplus = self.head - self._max_events
        removed = 0
        if oldest is not None and (oldest[1] < now - self._seconds or oldest[0] <= surplus):
            removed = self._file.execute(
                "DELETE FROM event WHERE position <= ?", (oldest[0],)
            ).rowcount
            self.first, _ = self._bounds()
        return removed > 0

    def checkpoint(self) -> None:
        """Copy the write-ahead log into the file. To be called in a thread: it waits for the disk.
        Raises ``sqlite3.Error``.
        """
        file = sqlite3.connect(self._path, isolation_level=None)
        try:
            file.execute("PRAGMA wal_checkpoint(PASSIVE)")
        finally:
            file.close()

    async def wait(self, after: int, table: str | None) -> None:
        """Return once there is an event after this position, of all tables or of one, or streams
        are woken.
        """
        if self.head <= after:
            await self._changed[table].wait()

    def wake_all(self) -> None:
        """Wake all streams, although there is no event."""
        for table in [*self._changed]:
            self._wake(table)

    def _wake(self, table: str | None) -> None:
        changed = self._changed.pop(table, None)
        if changed is not None:
            changed.set()

    def close(self) -> None:
        """Close the file."""
        self._file.close()
