"""The outbox: the requests that wait for each receiver, its dead letters, and how far each table
was followed, in one SQLite file. Every change is on the disk when its method returns.

A queue holds at most :data:`MAX_WAITING` requests of a receiver: what exceeds it becomes a dead
letter, the oldest first. At most :data:`MAX_DEAD` dead letters of a receiver are stored; then the
oldest is dropped, counted and logged. So one receiver that is away takes no room of another.
"""

from __future__ import annotations

import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from common import clock
from common.chain.sqlite_file import connect_durably, lock_file
from common.contract.times import format_utc
from subscribers.webhooks.errors import OutboxError

MAX_WAITING = 100_000
MAX_DEAD = 10_000
FORMAT = 1
FILE_MODE = 0o600
BUSY_TIMEOUT_SECONDS = 10.0
"""Maximum time that the service and a command wait for each other."""
QUEUE_FULL = "the queue was full: the oldest request gave way"
SCHEMA = f"""
CREATE TABLE letter (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    webhook TEXT NOT NULL,
    place TEXT NOT NULL,
    id TEXT NOT NULL,
    type TEXT NOT NULL,
    time TEXT NOT NULL,
    body BLOB NOT NULL,
    queued REAL NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    dead TEXT,
    died TEXT,
    UNIQUE (webhook, id)
);
CREATE INDEX waiting ON letter (webhook, place, number) WHERE dead IS NULL;
CREATE INDEX dead ON letter (webhook, number) WHERE dead IS NOT NULL;
CREATE TABLE followed (place TEXT PRIMARY KEY, runs BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE dropped (webhook TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;
PRAGMA user_version = {FORMAT};
"""
_LETTER = "number, webhook, place, id, type, time, body, queued, attempts"


class NewLetter(msgspec.Struct, frozen=True):
    """A request to send. ``place``: the root of the table's topics; within it the order counts."""

    webhook: str
    place: str
    id: str
    type: str
    time: str
    body: bytes


class Letter(msgspec.Struct, frozen=True, kw_only=True):
    """A request in the outbox."""

    number: int
    webhook: str
    place: str
    id: str
    type: str
    time: str
    body: bytes
    queued: float
    """When it was queued, or queued again: seconds since 1970."""
    attempts: int


class DeadLetter(msgspec.Struct, frozen=True, kw_only=True):
    """A request that is sent no more. ``why``: its last error; ``died``: UTC, ISO 8601."""

    number: int
    webhook: str
    id: str
    type: str
    time: str
    attempts: int
    why: str
    died: str


class QueueState(msgspec.Struct, frozen=True):
    """Numbers of a receiver's requests. ``oldest``: when the oldest waiting one was queued."""

    waiting: int = 0
    oldest: float | None = None
    dead: int = 0
    dropped: int = 0


class Outbox:
    """An open outbox, used by any thread. ``service``: lock it for the one service that sends.
    Raises :class:`OutboxError`.
    """

    def __init__(self, path: Path, *, service: bool = False) -> None:
        self._path, self._lock = path, threading.Lock()
        self._descriptor: int | None = None
        with self._in_words():
            if service:
                try:
                    self._descriptor = lock_file(path)
                except BlockingIOError:
                    raise OutboxError(
                        f"{path}: another `novamas webhooks` uses this outbox; stop it, or set "
                        "another `path` in [webhooks]"
                    ) from None
            elif not path.exists():
                raise OutboxError(f"{path}: no outbox; `novamas webhooks` creates it")
            self._connection = connect_durably(
                path, OutboxError, file_mode=FILE_MODE, busy_timeout_seconds=BUSY_TIMEOUT_SECONDS
            )
            version = self._connection.execute("PRAGMA user_version").fetchone()[0]
            if version == 0:
                self._connection.executescript(f"BEGIN IMMEDIATE; {SCHEMA} COMMIT;")
            elif version != FORMAT:
                raise OutboxError(f"{path}: format {version} is of another release of novamas")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise OutboxError(f"{self._path}: {_reason(error)}") from error
        except OSError as error:
            raise OutboxError(f"{self._path}: {error.strerror or type(error).__name__}") from error

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._in_words():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    # Queueing

    def add(
        self, letters: Sequence[NewLetter], followed: Mapping[str, bytes]
    ) -> Counter[tuple[str, str]]:
        """Queue requests, and store how far their tables were followed. A request that is known is
        not queued again. Return what gave way: numbers by receiver and ``dead`` or ``dropped``.
        """
        now = clock.wall()
        with self._transaction() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO letter (webhook, place, id, type, time, body, queued) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                [(*msgspec.structs.astuple(letter), now) for letter in letters],
            )
            connection.executemany(
                "INSERT OR REPLACE INTO followed VALUES (?, ?)", followed.items()
            )
            gave_way = Counter[tuple[str, str]]()
            for webhook in {letter.webhook for letter in letters}:
                if surplus := self._surplus(webhook, "dead IS NULL", MAX_WAITING):
                    gave_way[webhook, "dead"] += self._bury(
                        "number IN (SELECT number FROM letter WHERE webhook = ? AND dead IS NULL "
                        "ORDER BY number LIMIT ?)",
                        (webhook, surplus),
                        QUEUE_FULL,
                    )
                gave_way[webhook, "dropped"] += self._drop_surplus(webhook)
        return +gave_way

    def _surplus(self, webhook: str, condition: str, most: int) -> int:
        where = f"FROM letter WHERE webhook = ? AND {condition}"
        if not self._connection.execute(
            f"SELECT 1 {where} LIMIT 1 OFFSET ?", (webhook, most)
        ).fetchone():
            return 0
        count = self._connection.execute(f"SELECT count(*) {where}", (webhook,)).fetchone()[0]
        return int(count) - most

    def _drop_surplus(self, webhook: str) -> int:
        surplus = self._surplus(webhook, "dead IS NOT NULL", MAX_DEAD)
        if surplus:
            self._connection.execute(
                "DELETE FROM letter WHERE number IN (SELECT number FROM letter WHERE webhook = ? "
                "AND dead IS NOT NULL ORDER BY number LIMIT ?)",
                (webhook, surplus),
            )
            self._connection.execute(
                "INSERT INTO dropped VALUES (?1, ?2) "
                "ON CONFLICT (webhook) DO UPDATE SET count = count + ?2",
                (webhook, surplus),
            )
        return surplus

    def _bury(self, condition: str, values: tuple[object, ...], why: str) -> int:
        died = format_utc(clock.wall())
        return self._connection.execute(
            f"UPDATE letter SET dead = ?, died = ? WHERE {condition}",  # noqa: S608
            (why, died, *values),
        ).rowcount

    def followed(self) -> dict[str, bytes]:
        """Return how far each table was followed, by the root of its topics."""
        with self._lock, self._in_words():
            return dict(self._connection.execute("SELECT place, runs FROM followed").fetchall())

    # Sending

    def places(self, webhook: str) -> set[str]:
        """Return the tables of which requests wait for a receiver."""
        with self._lock, self._in_words():
            rows = self._connection.execute(
                "SELECT DISTINCT place FROM letter WHERE webhook = ? AND dead IS NULL", (webhook,)
            ).fetchall()
        return {place for (place,) in rows}

    def next(self, webhook: str, place: str) -> Letter | None:
        """Return the first request of a table that waits for a receiver."""
        with self._lock, self._in_words():
            row = self._connection.execute(
                f"SELECT {_LETTER} FROM letter WHERE webhook = ? AND place = ? AND dead IS NULL "  # noqa: S608
                "ORDER BY number LIMIT 1",
                (webhook, place),
            ).fetchone()
        if row is None:
            return None
        return Letter(**dict(zip(_LETTER.split(", "), row, strict=True)))

    def remove(self, number: int) -> None:
        """Remove a request that the receiver has."""
        with self._transaction() as connection:
            connection.execute("DELETE FROM letter WHERE number = ?", (number,))

    def count_attempt(self, number: int) -> None:
        """Count an attempt that failed."""
        with self._transaction() as connection:
            connection.execute(
                "UPDATE letter SET attempts = attempts + 1 WHERE number = ?", (number,)
            )

    def bury(self, letter: Letter, why: str) -> int:
        """Make a request a dead letter. Return how many older ones were dropped for it."""
        with self._transaction() as connection:
            connection.execute(
                "UPDATE letter SET attempts = attempts + 1 WHERE number = ?", (letter.number,)
            )
            self._bury("number = ?", (letter.number,), why)
            return self._drop_surplus(letter.webhook)

    def bury_older(self, webhook: str, queued_before: float, why: str) -> int:
        """Make all requests dead letters that were queued before a time. Return how many."""
        with self._transaction():
            count = self._bury(
                "webhook = ? AND dead IS NULL AND queued < ?", (webhook, queued_before), why
            )
            self._drop_surplus(webhook)
            return count

    # Looking, and deciding about dead letters

    def states(self) -> dict[str, QueueState]:
        """Return the numbers of each receiver that has any."""
        with self._lock, self._in_words():
            waiting = self._connection.execute(
                "SELECT webhook, count(*), min(queued) FROM letter WHERE dead IS NULL "
                "GROUP BY webhook"
            ).fetchall()
            dead = self._connection.execute(
                "SELECT webhook, count(*) FROM letter WHERE dead IS NOT NULL GROUP BY webhook"
            ).fetchall()
            dropped = self._connection.execute("SELECT webhook, count FROM dropped").fetchall()
        queues = {webhook: (count, oldest) for webhook, count, oldest in waiting}
        return {
            webhook: QueueState(
                *queues.get(webhook, (0, None)),
                dict(dead).get(webhook, 0),
                dict(dropped).get(webhook, 0),
            )
            for webhook in {*queues, *dict(dead), *dict(dropped)}
        }

    def dead_letters(self, webhook: str | None = None) -> list[DeadLetter]:
        """Return the dead letters of a receiver, or of all, the oldest first."""
        with self._lock, self._in_words():
            rows = self._connection.execute(
                "SELECT number, webhook, id, type, time, attempts, dead, died FROM letter "
                "WHERE dead IS NOT NULL AND (?1 IS NULL OR webhook = ?1) ORDER BY number",
                (webhook,),
            ).fetchall()
        return [
            DeadLetter(**dict(zip(DeadLetter.__struct_fields__, row, strict=True))) for row in rows
        ]

    def revive(self, numbers: Sequence[int]) -> int:
        """Queue dead letters again, before what waits of their tables. Return how many."""
        with self._transaction() as connection:
            return sum(
                connection.execute(
                    "UPDATE letter SET dead = NULL, died = NULL, attempts = 0, queued = ? "
                    "WHERE number = ? AND dead IS NOT NULL",
                    (clock.wall(), number),
                ).rowcount
                for number in numbers
            )

    def drop(self, numbers: Sequence[int]) -> int:
        """Remove dead letters. Return how many."""
        with self._transaction() as connection:
            return sum(
                connection.execute(
                    "DELETE FROM letter WHERE number = ? AND dead IS NOT NULL", (number,)
                ).rowcount
                for number in numbers
            )


def _reason(error: sqlite3.Error) -> str:
    """Return the reason in our words."""
    match getattr(error, "sqlite_errorcode", 0) & 0xFF:
        case sqlite3.SQLITE_FULL:
            return "the disk is full"
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return "another program has locked the outbox"
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return "the file is damaged; move it away: a new outbox begins with the next events"
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return "the file cannot be written; check its owner and the folder's"
    return "the disk does not take it; check the disk"
