"""Reads a journal on a connection of its own, also while a daemon writes."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from common.chain.schema import (
    ChainHead,
    Entry,
    Kind,
    connect_reading,
    follows,
    genesis,
    has_valid_hash,
    is_read_failure,
    quick_check,
    recomputed_hash,
)

_PUBLISHED = (
    "(kind = 'event' OR (kind = 'input' AND substr(body, 1, 10) = CAST('{\"sealed\":' AS BLOB)))"
)
"""Events, and the inputs that are sealed for surveillance."""

SEARCH_ENTRIES = 10_000
"""Entries that one query of a long search covers."""

_COLUMNS = "position, table_id, boot, kind, seq, time, mono_ns, CAST(body AS BLOB), previous, hash"


class JournalReader:
    """Reads the committed entries of one journal. Raises :class:`JournalUnusableError` if the file
    is not a journal.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection = connect_reading(path)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def interrupt(self) -> None:
        """Make a read in another thread fail at once."""
        self._connection.interrupt()

    def id(self) -> str:
        """Return the id of the file, from which its genesis is computed."""
        return str(
            self._connection.execute("SELECT value FROM meta WHERE key = 'id'").fetchone()[0]
        )

    def base(self) -> int:
        """Return the position before the file's first entry: the last one of the previous file, or
        0.
        """
        return int(self.meta("base") or 0)

    def meta(self, key: str) -> str | None:
        """Return a value of the table ``meta``, or None."""
        row = self._connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return str(row[0]) if row else None

    def head(self) -> ChainHead:
        """Return the end of the chain."""
        row = self._connection.execute(
            "SELECT position, hash FROM entry ORDER BY position DESC LIMIT 1"
        ).fetchone()
        return ChainHead(*row) if row else self.beginning()

    def beginning(self) -> ChainHead:
        """Return the point after which the file has entries: the genesis, or the last entry that
        was moved to a segment.
        """
        cut = dict(
            self._connection.execute(
                "SELECT key, value FROM meta WHERE key IN ('cut', 'cut_hash')"
            ).fetchall()
        )
        return (
            ChainHead(int(cut["cut"]), bytes.fromhex(cut["cut_hash"]))
            if len(cut) == 2
            else genesis_of(self)
        )

    def hash_at(self, position: int) -> bytes | None:
        """Return the hash of the entry at that position, or None."""
        row = self._connection.execute(
            "SELECT hash FROM entry WHERE position = ?", (position,)
        ).fetchone()
        return bytes(row[0]) if row else None

    def recomputed_hashes(self, positions: Sequence[int]) -> list[ChainHead]:
        """Return the recomputed hash of each of these entries that the file holds, over the
        previous hash in its row.
        """
        heads = []
        for position in positions:
            row = self._connection.execute(
                f"SELECT {_COLUMNS} FROM entry WHERE position = ?",  # noqa: S608 - our own names
                (position,),
            ).fetchone()
            if row is not None:
                entry = Entry(*row)
                heads.append(ChainHead(position, recomputed_hash(entry)))
        return heads

    def latest(self, kind: Kind | None = None) -> Entry | None:
        """Return the last entry, or the last one of a kind."""
        # a literal: with a parameter SQLite cannot use the partial index
        of_kind = "" if kind is None else f"WHERE kind = '{kind}'"
        row = self._connection.execute(
            f"SELECT {_COLUMNS} FROM entry {of_kind} ORDER BY position DESC LIMIT 1"  # noqa: S608 - our own words
        ).fetchone()
        return Entry(*row) if row else None

    def day_after(self, position: int) -> str | None:
        """Return the day (UTC) of the next entry, or None."""
        row = self._connection.execute(
            "SELECT time FROM entry WHERE position > ? ORDER BY position LIMIT 1", (position,)
        ).fetchone()
        return str(row[0])[:10] if row else None

    def end_before(
        self, condition: str, position: int, day: str, pause: Callable[[], None]
    ) -> int | None:
        """Return the position of the last entry, after ``position``, before the first entry whose
        time has this ``condition`` to the end of ``day``. None if there is no such entry yet.

        The search is done in short queries with a ``pause`` after each: a long read would keep the
        log from being truncated.
        """
        head = self.head().position
        for after in range(position, head, SEARCH_ENTRIES):
            row = self._connection.execute(
                "SELECT position FROM entry WHERE position > ? AND position <= ? AND "  # noqa: S608
                f"{condition} ORDER BY position LIMIT 1",
                # U sorts after every time of the day, in which a T follows
                (after, after + SEARCH_ENTRIES, f"{day}U"),
            ).fetchone()
            if row:
                return int(row[0]) - 1
            pause()
        return None

    def last_publishable(self, through: int) -> int:
        """Return the position of the last entry to publish up to ``through``, or 0."""
        row = self._connection.execute(
            f"SELECT position FROM entry WHERE position <= ? AND {_PUBLISHED} ORDER BY position "  # noqa: S608
            "DESC LIMIT 1",
            (through,),
        ).fetchone()
        return int(row[0]) if row else 0

    def entries(self, after: int = 0, limit: int = -1) -> Iterator[Entry]:
        """Yield the entries after that position, in order."""
        for row in self._connection.execute(
            f"SELECT {_COLUMNS} FROM entry WHERE position > ? ORDER BY position LIMIT ?",  # noqa: S608 - our own names
            (after, limit),
        ):
            yield Entry(*row)

    def recent_inputs(self, text: bytes, among: int) -> list[bytes]:
        """Return the bodies of inputs that contain ``text``, among the last ``among`` entries."""
        rows = self._connection.execute(
            "SELECT CAST(body AS BLOB) FROM entry WHERE position > ? AND kind = 'input' "
            "AND instr(CAST(body AS BLOB), ?) ORDER BY position",
            (self.head().position - among, text),
        )
        return [bytes(body) for (body,) in rows]

    def events_after(self, position: int, limit: int) -> list[Entry]:
        """Return the next entries to publish (events and sealed inputs) of all tables, in the order
        of their commits.
        """
        return [
            Entry(*row)
            for row in self._connection.execute(
                f"SELECT {_COLUMNS} FROM entry WHERE position > ? AND {_PUBLISHED} ORDER BY "  # noqa: S608
                "position LIMIT ?",
                (position, limit),
            )
        ]

    def events_of_boot(self, table: str, boot: str, after_seq: int, limit: int) -> list[Entry]:
        """Return the events of one table and boot after a number, for a subscriber that found a
        gap.
        """
        return [
            Entry(*row)
            for row in self._connection.execute(
                f"SELECT {_COLUMNS} FROM entry WHERE kind = 'event' AND table_id = ? AND boot = ? "  # noqa: S608
                "AND seq > ? ORDER BY seq LIMIT ?",
                (table, boot, after_seq, limit),
            )
        ]

    def events_since(self, table: str, boot: str, after_seq: int, limit: int) -> list[Entry]:
        """Return the events of one table that were committed after one of them, of all boots; from
        the beginning if the boot is unknown.
        """
        of_boot = "SELECT position FROM entry WHERE kind = 'event' AND table_id = ? AND boot = ?"
        row = self._connection.execute(
            f"{of_boot} AND seq <= ? ORDER BY seq DESC LIMIT 1", (table, boot, after_seq)
        ).fetchone()
        if row is None and (
            first := self._connection.execute(
                f"{of_boot} ORDER BY seq LIMIT 1", (table, boot)
            ).fetchone()
        ):
            row = (first[0] - 1,)
        return [
            Entry(*row)
            # the + keeps SQLite from using the index, whose rows it would have to sort
            for row in self._connection.execute(
                f"SELECT {_COLUMNS} FROM entry WHERE position > ? AND kind = 'event' AND "  # noqa: S608
                "+table_id = ? ORDER BY position LIMIT ?",
                (row[0] if row else 0, table, limit),
            )
        ]

    def cursors(self) -> dict[str, int]:
        """Return the stored position of each reader that has one."""
        return dict(self._connection.execute("SELECT name, position FROM cursor").fetchall())

    def damage(self, stop: Callable[[], bool] | None = None, steps: int = 1000) -> str | None:
        """Return what SQLite finds wrong with the file, or None. ``stop`` is called every ``steps``
        steps of its virtual machine and ends the check by returning True.

        Raises ``sqlite3.Error`` if the disk does not return the file.
        """
        self._connection.set_progress_handler(stop, steps)
        try:
            return quick_check(self._connection)
        except sqlite3.Error as error:
            if is_read_failure(error):
                raise
            return str(error)

    def last_intact(self, among: int) -> ChainHead | None:
        """Return the last intact entry among the last ``among`` ones, or None."""
        for row in self._connection.execute(
            f"SELECT {_COLUMNS} FROM entry ORDER BY position DESC LIMIT ?",  # noqa: S608
            (among,),
        ):
            with suppress(TypeError, AttributeError):
                if has_valid_hash(entry := Entry(*row)):
                    return ChainHead(entry.position, entry.hash)
        return None

    def saved_state(self, table: str) -> bytes | None:
        """Return the latest state of a table, or None."""
        row = self._connection.execute(
            "SELECT state FROM saved WHERE table_id = ?", (table,)
        ).fetchone()
        return bytes(row[0]) if row else None

    def saved_states(self) -> dict[str, bytes]:
        """Return the latest state of each table."""
        rows = self._connection.execute("SELECT table_id, state FROM saved ORDER BY table_id")
        return {table: bytes(state) for table, state in rows}

    def saved_position(self, table: str) -> int:
        """Return the position of the entry with which the state of a table was stored, or 0."""
        row = self._connection.execute(
            "SELECT position FROM saved WHERE table_id = ?", (table,)
        ).fetchone()
        return int(row[0]) if row else 0


def genesis_of(reader: JournalReader) -> ChainHead:
    """Return the start of the chain."""
    return ChainHead(reader.base(), genesis(reader.id()))


def first_broken(reader: JournalReader, after: int = 0) -> int | None:
    """Return the first position after ``after`` at which the chain is broken, or None."""
    expected = reader.beginning()
    if after > expected.position:
        known_hash = reader.hash_at(after)
        if known_hash is None:
            return after
        expected = ChainHead(after, known_hash)
    for entry in reader.entries(expected.position):
        if not follows(entry, expected):
            return expected.position + 1
        expected = ChainHead(entry.position, entry.hash)
    return None
