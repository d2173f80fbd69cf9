"""Reads a journal on a connection of its own, also while a daemon writes."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from controller.journal.schema import (
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
"""Events, and the inputs that surveillance alone can open."""

SEARCH_ENTRIES = 10_000
"""Entries that one search looks at."""

_COLUMNS = "position, table_id, boot, kind, seq, time, mono_ns, CAST(body AS BLOB), previous, hash"


class JournalReader:
    """The committed entries of one journal. Raises :class:`JournalUnusableError` if the file is not
    one.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection = connect_reading(path)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def interrupt(self) -> None:
        """Make another thread's read fail at once."""
        self._connection.interrupt()

    def id(self) -> str:
        """The file's own id, from which its chain begins."""
        return str(
            self._connection.execute("SELECT value FROM meta WHERE key = 'id'").fetchone()[0]
        )

    def base(self) -> int:
        """The position before the first entry that the file ever had: where the one before it left
        off.
        """
        return int(self.meta("base") or 0)

    def aside_name(self) -> str | None:
        """The name of the file that this one goes on for, where one had to be set aside."""
        return self.meta("aside")

    def meta(self, key: str) -> str | None:
        """What the file says of itself under that key."""
        row = self._connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return str(row[0]) if row else None

    def genesis(self) -> ChainHead:
        """Where the chain begins."""
        return ChainHead(self.base(), genesis(self.id()))

    def head(self) -> ChainHead:
        """The end of the chain."""
        row = self._connection.execute(
            "SELECT position, hash FROM entry ORDER BY position DESC LIMIT 1"
        ).fetchone()
        return ChainHead(*row) if row else self.beginning()

    def beginning(self) -> ChainHead:
        """Where the entries of the file begin: at the genesis, or past those that are in segments
        alone.
        """
        cut = dict(
            self._connection.execute(
                "SELECT key, value FROM meta WHERE key IN ('cut', 'cut_hash')"
            ).fetchall()
        )
        return (
            ChainHead(int(cut["cut"]), bytes.fromhex(cut["cut_hash"]))
            if len(cut) == 2
            else self.genesis()
        )

    def hash_at(self, position: int) -> bytes | None:
        """The hash of that entry, if the file holds it."""
        row = self._connection.execute(
            "SELECT hash FROM entry WHERE position = ?", (position,)
        ).fetchone()
        return bytes(row[0]) if row else None

    def recomputed_hashes(self, positions: Sequence[int]) -> list[ChainHead]:
        """Those of these entries that the file holds, each with its hash as its row makes it: over
        the previous hash that stands in the row.
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
        """The last entry, or the last one of a kind."""
        of_kind = "" if kind is None else f"WHERE kind = '{kind}'"  # a parameter finds no index
        row = self._connection.execute(
            f"SELECT {_COLUMNS} FROM entry {of_kind} ORDER BY position DESC LIMIT 1"  # noqa: S608 - our own words
        ).fetchone()
        return Entry(*row) if row else None

    def day_after(self, position: int) -> str | None:
        """The day (UTC) of the entry that follows, or None if there is none."""
        row = self._connection.execute(
            "SELECT time FROM entry WHERE position > ? ORDER BY position LIMIT 1", (position,)
        ).fetchone()
        return str(row[0])[:10] if row else None

    def end_of_day(
        self, position: int, day: str, pause: Callable[[], None] = lambda: None
    ) -> int | None:
        """The last entry past that position before one of a later day; None if no such one has come
        yet.
        """
        return self._end_before("time >= ?", position, day, pause)

    def end_of_future(
        self, position: int, day: str, pause: Callable[[], None] = lambda: None
    ) -> int | None:
        """The last entry past that position before one of that day or an earlier one; None if no
        such one has come yet.
        """
        return self._end_before("time < ?", position, day, pause)

    def _end_before(
        self, condition: str, position: int, day: str, pause: Callable[[], None]
    ) -> int | None:
        """The last entry past that position before one of that time. A limited number at a time,
        and a ``pause`` after each: a long read would keep the log from being truncated.
        """
        head = self.head().position
        for after in range(position, head, SEARCH_ENTRIES):
            row = self._connection.execute(
                "SELECT position FROM entry WHERE position > ? AND position <= ? AND "  # noqa: S608
                f"{condition} ORDER BY position LIMIT 1",
                (
                    after,
                    after + SEARCH_ENTRIES,
                    f"{day}U",
                ),  # after every time of the day, which has a T
            ).fetchone()
            if row:
                return int(row[0]) - 1
            pause()
        return None

    def last_publishable(self, through: int) -> int:
        """The position of the last entry to publish up to that position; 0 if there is none."""
        row = self._connection.execute(
            f"SELECT position FROM entry WHERE position <= ? AND {_PUBLISHED} ORDER BY position "  # noqa: S608
            "DESC LIMIT 1",
            (through,),
        ).fetchone()
        return int(row[0]) if row else 0

    def entries(self, after: int = 0, limit: int = -1) -> Iterator[Entry]:
        """Inputs and events in order, after that position."""
        for row in self._connection.execute(
            f"SELECT {_COLUMNS} FROM entry WHERE position > ? ORDER BY position LIMIT ?",  # noqa: S608 - our own names
            (after, limit),
        ):
            yield Entry(*row)

    def recent_inputs(self, text: bytes, among: int) -> list[bytes]:
        """The bodies of inputs with this text in them, among so many entries at the end."""
        rows = self._connection.execute(
            "SELECT CAST(body AS BLOB) FROM entry WHERE position > ? AND kind = 'input' "
            "AND instr(CAST(body AS BLOB), ?) ORDER BY position",
            (self.head().position - among, text),
        )
        return [bytes(body) for (body,) in rows]

    def events_after(self, position: int, limit: int) -> list[Entry]:
        """The next entries to publish, of all tables, in the order in which they were committed:
        events, and sealed inputs.
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
        """The events of one table and boot after a number: what a subscriber asks for that saw a
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
        """The events of one table that were committed after that one, of all boots; from the
        beginning if the boot is not known.
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
            # +: by position, not by the index that would have to be sorted
            for row in self._connection.execute(
                f"SELECT {_COLUMNS} FROM entry WHERE position > ? AND kind = 'event' AND "  # noqa: S608
                "+table_id = ? ORDER BY position LIMIT ?",
                (row[0] if row else 0, table, limit),
            )
        ]

    def cursor(self, name: str) -> int:
        """Up to which position that reader has got; 0 at first."""
        row = self._connection.execute(
            "SELECT position FROM cursor WHERE name = ?", (name,)
        ).fetchone()
        return int(row[0]) if row else 0

    def cursors(self) -> dict[str, int]:
        """The position of each reader."""
        return dict(self._connection.execute("SELECT name, position FROM cursor").fetchall())

    def damage(self, stop: Callable[[], bool] | None = None, steps: int = 1000) -> str | None:
        """What SQLite finds wrong with the file as a whole, or None. ``stop`` is asked after so
        many of its steps.

        Raises ``sqlite3.Error`` where the disk does not give the file.
        """
        self._connection.set_progress_handler(stop, steps)
        try:
            return quick_check(self._connection)
        except sqlite3.Error as error:
            if is_read_failure(error):
                raise
            return str(error)

    def last_intact(self, among: int) -> ChainHead | None:
        """The last entry that is intact, among this many at the end."""
        for row in self._connection.execute(
            f"SELECT {_COLUMNS} FROM entry ORDER BY position DESC LIMIT ?",  # noqa: S608
            (among,),
        ):
            with suppress(TypeError, AttributeError):
                if has_valid_hash(entry := Entry(*row)):
                    return ChainHead(entry.position, entry.hash)
        return None

    def saved_state(self, table: str) -> bytes | None:
        """The latest state of that table, or None."""
        row = self._connection.execute(
            "SELECT state FROM saved WHERE table_id = ?", (table,)
        ).fetchone()
        return bytes(row[0]) if row else None

    def saved_states(self) -> dict[str, bytes]:
        """The latest state of each table."""
        rows = self._connection.execute("SELECT table_id, state FROM saved ORDER BY table_id")
        return {table: bytes(state) for table, state in rows}

    def saved_position(self, table: str) -> int:
        """The position of the entry after which the state of that table was stored; 0 if none
        was.
        """
        row = self._connection.execute(
            "SELECT position FROM saved WHERE table_id = ?", (table,)
        ).fetchone()
        return int(row[0]) if row else 0

    def first_broken(self, after: int = 0) -> int | None:
        """The first position at which the chain does not hold, or None if it holds from ``after``
        to the end.
        """
        at = self.beginning()
        if after > at.position:
            found = self.hash_at(after)
            if found is None:
                return after
            at = ChainHead(after, found)
        for entry in self.entries(at.position):
            if not follows(entry, at):
                return at.position + 1
            at = ChainHead(entry.position, entry.hash)
        return None
