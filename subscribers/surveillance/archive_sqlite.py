"""The archive in a file of SQLite: one process writes at a time, any number read beside it.

Write-ahead log, synced before ``keep`` returns. Triggers refuse every change of a record, and its
removal except by ``drop``: whoever writes with another program must first remove them.
"""

from __future__ import annotations

import fcntl
import heapq
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice, product
from pathlib import Path
from typing import Any

import msgspec

from subscribers.surveillance.archive import (
    Gap,
    Kept,
    Kind,
    Query,
    Record,
    Removal,
    Row,
    same,
)
from subscribers.surveillance.errors import ArchiveError, TakenError

VERSION = 1
BUSY = 30_000
"""Milliseconds that one writer waits for another."""
PAGE = 500
"""Rows read at once. Between pages nothing is locked and no snapshot is held."""
FREQUENT = 20_000
"""A word found more often is not looked up first: the records are walked in their order."""
BATCH = 5000
"""Records that ``drop`` removes in one transaction."""
MODE = 0o640
"""Permissions of a new file: its owner writes, its group reads."""
RARE: frozenset[Kind] = frozenset({"alert", "checkpoint", "finding", "access"})
"""Kinds of which there are so few that they are looked up first."""
GREATEST = "\U0010ffff"
"""Sorts after every word that begins as what stands before it."""

_SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE remembered (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE record (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  site TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL, time TEXT NOT NULL,
  heard TEXT NOT NULL, body BLOB NOT NULL, place TEXT NOT NULL, node TEXT NOT NULL,
  boot TEXT NOT NULL, seq INTEGER NOT NULL, type TEXT NOT NULL, session INTEGER NOT NULL,
  round INTEGER NOT NULL, words TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX record_key ON record (site, kind, key);
CREATE INDEX record_time ON record (time);
CREATE INDEX record_place ON record (place, time);
CREATE INDEX record_type ON record (type, time);
CREATE INDEX record_rare ON record (kind, time)
  WHERE kind IN ('alert', 'checkpoint', 'finding', 'access');
CREATE INDEX record_seq ON record (site, place, boot, seq) WHERE kind = 'event';
CREATE INDEX record_round ON record (session, round, time) WHERE session > 0;
CREATE INDEX record_kind ON record (kind, number);
-- what a record is found by, in lower case
CREATE TABLE word (
  word TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (word, number)
) STRICT, WITHOUT ROWID;
-- the boots of a table: how many of the events after `dropped` are here, and which is the last
CREATE TABLE run (
  site TEXT NOT NULL, place TEXT NOT NULL, boot TEXT NOT NULL, last INTEGER NOT NULL,
  here INTEGER NOT NULL, dropped INTEGER NOT NULL, time TEXT NOT NULL,
  PRIMARY KEY (site, place, boot)
) STRICT, WITHOUT ROWID;
-- what `drop` may remove, while it does
CREATE TABLE dropping (kind TEXT PRIMARY KEY, through INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TRIGGER record_stays BEFORE UPDATE ON record BEGIN
  SELECT raise(ABORT, 'a record is never changed');
END;
CREATE TRIGGER record_not_replaced BEFORE INSERT ON record
WHEN EXISTS (SELECT 1 FROM record
  WHERE number = NEW.number OR (site = NEW.site AND kind = NEW.kind AND key = NEW.key)) BEGIN
  SELECT raise(ABORT, 'a record is never changed');
END;
CREATE TRIGGER record_dropped BEFORE DELETE ON record
WHEN NOT EXISTS (SELECT 1 FROM dropping WHERE kind = OLD.kind AND through >= OLD.number) BEGIN
  SELECT raise(ABORT, 'a record is removed by the retention alone');
END;
CREATE TRIGGER word_stays BEFORE UPDATE ON word BEGIN
  SELECT raise(ABORT, 'a record is never changed');
END;
CREATE TRIGGER word_dropped BEFORE DELETE ON word
WHEN EXISTS (SELECT 1 FROM record WHERE number = OLD.number) BEGIN
  SELECT raise(ABORT, 'a record is never changed');
END;
"""
_COLUMNS = (
    "number, site, kind, key, time, heard, body, place, node, boot, seq, type, session, round, "
    "words"
)
_KEPT = f"SELECT {_COLUMNS} FROM record WHERE site = ? AND kind = ? AND key = ?"  # noqa: S608
_KEEP = (
    "INSERT INTO record (site, kind, key, time, heard, body, place, node, boot, seq, type, "
    "session, round, words) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_RUN = (
    "INSERT INTO run VALUES (?, ?, ?, ?, 1, 0, ?) ON CONFLICT DO UPDATE SET "
    "here = here + (excluded.last > dropped), last = max(last, excluded.last), "
    "time = max(time, excluded.time)"
)
_MISSING = (
    "SELECT before, seq FROM (SELECT seq, lag(seq, 1, :dropped) OVER (ORDER BY seq) AS before "
    "FROM record WHERE kind = 'event' AND site = :site AND place = :place AND boot = :boot "
    "AND seq > :dropped) WHERE seq > before + 1"
)
_LAST = (
    f"SELECT {_COLUMNS} FROM record WHERE kind = 'event' AND site = ? AND place = ? "  # noqa: S608
    "AND boot = ? ORDER BY seq DESC LIMIT 1"
)
_PARTIAL = {
    "session": "session > 0",
    "kind": "kind IN ('alert', 'checkpoint', 'finding', 'access')",
}
"""What an index holds, by the column that it begins with, as the index says it."""
_DOOMED = (
    "FROM record INDEXED BY record_kind WHERE kind = ? AND number <= ? AND NOT EXISTS ("
    "SELECT 1 FROM json_each(?) AS spared WHERE spared.value ->> 0 = record.site "
    "AND spared.value ->> 1 = record.place "
    "AND record.number BETWEEN spared.value ->> 2 AND spared.value ->> 3)"
)
_words = msgspec.json.Decoder(tuple[str, ...])


class SQLiteArchive:
    """The archive in one file. ``read_only``: nothing is written, and the file must be there.
    ``recorder``: no other one may record there while this one does. Raises
    :class:`ArchiveError`, as every method. It may be used by several threads.
    """

    def __init__(self, path: Path, *, read_only: bool = False, recorder: bool = False) -> None:
        self.path, self._read_only = path, read_only
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        with self._told():
            self._held = _hold(path) if recorder else None
            try:
                self._connection = _connect(path, read_only=read_only)
            except BaseException:  # whoever opens it again must not find it held by us
                if self._held is not None:
                    os.close(self._held)
                raise

    def keep(self, records: Sequence[Record]) -> Kept:
        """Keep them, all or none, on the disk before it returns."""
        new: list[Row] = []
        differ: list[tuple[Record, Record]] = []
        with self._changing() as connection:
            for record in records:
                found = connection.execute(_KEPT, (record.site, record.kind, record.key)).fetchone()
                if found is not None:
                    kept = _row(found).record
                    if not same(kept, record):
                        differ.append((kept, record))
                    continue
                number = connection.execute(_KEEP, _values(record)).lastrowid
                assert number is not None
                found_by = {(word, number) for word in _found_by(record)}
                connection.executemany("INSERT INTO word VALUES (?, ?)", found_by)
                if record.kind == "event":
                    run = (record.site, record.table, record.boot, record.seq, record.time)
                    connection.execute(_RUN, run)
                new.append(Row(number, record))
        return Kept(tuple(new), tuple(differ))

    def find(self, query: Query) -> Iterator[Row]:
        """What matches."""
        streams = [self._walk(*each) for each in self._plans(query)]
        if query.order == "number":
            found = heapq.merge(*streams, key=lambda row: row.number)
        else:
            found = heapq.merge(
                *streams,
                key=lambda row: (row.record.time, row.number),
                reverse=query.order == "latest",
            )
        return islice(found, query.limit)

    def newest(self) -> int:
        """The number of the record that was kept last; 0 before the first."""
        with self._reading() as connection:
            found = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'record'")
            last = found.fetchone()
        return 0 if last is None else int(last[0])

    def gaps(self, site: str) -> list[Gap]:
        """What is missing within the boots of each table. What ``drop`` removed is not missing."""
        gaps = []
        with self._reading() as connection:
            runs = connection.execute(
                "SELECT place, boot, dropped FROM run WHERE site = ? AND here < last - dropped "
                "ORDER BY time, place, boot",
                (site,),
            ).fetchall()
            for place, boot, dropped in runs:
                of = {"site": site, "place": place, "boot": boot, "dropped": dropped}
                for before, seq in connection.execute(_MISSING, of):
                    gaps.append(Gap(site, place, boot, before + 1, seq - 1))
        return gaps

    def last(self, site: str, table: str) -> Record | None:
        """The event of a table that happened last."""
        with self._reading() as connection:
            runs = connection.execute(
                "SELECT boot FROM run WHERE site = ? AND place = ? ORDER BY time DESC, boot",
                (site, table),
            )
            for (boot,) in runs.fetchall():
                found = connection.execute(_LAST, (site, table, boot)).fetchone()
                if found is not None:
                    return _row(found).record
        return None

    def remember(self, name: str, value: bytes) -> None:
        """Keep a value under a name."""
        with self._changing() as connection:
            connection.execute("INSERT OR REPLACE INTO remembered VALUES (?, ?)", (name, value))

    def recall(self, name: str) -> bytes | None:
        """The value under a name."""
        with self._reading() as connection:
            found = connection.execute("SELECT value FROM remembered WHERE name = ?", (name,))
            value = found.fetchone()
        return None if value is None else value[0]

    def doomed(self, what: Removal) -> int:
        """How many records ``drop`` would remove."""
        with self._reading() as connection:
            found = connection.execute(f"SELECT count(*) {_DOOMED}", _of(what))
            return int(found.fetchone()[0])

    def drop(self, what: Removal) -> int:
        """Remove records. Returns how many."""
        count, batch = 0, BATCH
        while batch == BATCH:
            with self._changing() as connection:
                rows = connection.execute(
                    f"SELECT {_COLUMNS} {_DOOMED} ORDER BY number LIMIT ?",
                    (*_of(what), BATCH),
                ).fetchall()
                _drop(connection, what, [_row(row) for row in rows])
            batch = len(rows)
            count += batch
        return count

    def close(self) -> None:
        """End."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None
            if self._held is not None:
                os.close(self._held)
                self._held = None

    def _plans(self, query: Query) -> list[tuple[str, list[Any], Query]]:
        """The condition of each walk whose rows, merged, are what matches: one for each value of
        what is looked up first, so that an index has them in order.
        """
        index, first = _looked_up(query)
        clauses, values = _filters(query, frozenset(first))
        for word in query.words:
            begins = word.casefold()
            span = (begins, begins + GREATEST)
            if self._few(span):
                index = ""
                clauses.append("number IN (SELECT number FROM word WHERE word >= ? AND word < ?)")
                values += span
            else:
                clauses.append("begins_with(type, words, ?)")
                values.append(begins)
        if query.order == "number":
            index = "NOT INDEXED"
        clauses = [*(f"{name} = ?" for name in first), *(_PARTIAL.get(each, "") for each in first),
                   *clauses]  # fmt: skip
        where = " AND ".join(filter(None, clauses)) or "1"
        return [
            (f"{index} WHERE {where}", [*chosen, *values], query)
            for chosen in product(*first.values())
        ]

    def _few(self, span: tuple[str, str]) -> bool:
        with self._reading() as connection:
            found = connection.execute(
                "SELECT count(*) FROM (SELECT 1 FROM word WHERE word >= ? AND word < ? LIMIT ?)",
                (*span, FREQUENT + 1),
            ).fetchone()
        return bool(found[0] <= FREQUENT)

    def _walk(self, where: str, values: list[Any], query: Query) -> Iterator[Row]:
        """The rows of one condition in the order of the query, page by page."""
        left = query.limit
        at: list[Any]
        if query.order == "number":
            beyond, order, at = "number > ?", "number", [query.after]
        elif query.order == "time":
            beyond, order, at = "number > ? AND (time, number) > (?, ?)", "time, number", ["", 0]
        else:
            beyond, order = "number > ? AND (time, number) < (?, ?)", "time DESC, number DESC"
            at = [GREATEST, 0]
        while left is None or left > 0:
            take = PAGE if left is None else min(PAGE, left)
            begin = at if query.order == "number" else [query.after, *at]
            with self._reading() as connection:
                rows = connection.execute(
                    f"SELECT {_COLUMNS} FROM record {where} AND {beyond} "  # noqa: S608
                    f"ORDER BY {order} LIMIT ?",
                    (*values, *begin, take),
                ).fetchall()
            found = [_row(row) for row in rows]
            yield from found
            if len(found) < take:
                return
            last = found[-1]
            at = [last.number] if query.order == "number" else [last.record.time, last.number]
            left = None if left is None else left - len(found)

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._told():
            if self._connection is None:
                raise ArchiveError(f"{self.path}: the archive was closed")
            yield self._connection

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        """A transaction: all of it or nothing."""
        if self._read_only:
            raise ArchiveError(f"{self.path}: the archive was opened for reading")
        with self._reading() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError, OverflowError, UnicodeError) as error:
            what = getattr(error, "strerror", None) or str(error)
            advice = _ADVICE.get(what, "look after the file and the disk it lies on")
            raise ArchiveError(f"{self.path}: {what}; {advice}") from None


_ADVICE = {
    "database or disk is full": "make room on the disk",
    "No space left on device": "make room on the disk",
    "database is locked": "another program holds it; end that program",
    "attempt to write a readonly database": "let the user of this program write there",
    "No such file or directory": "begin it with `novamas surveillance`, or name the right file",
    "Permission denied": "let the user of this program read and write there",
    "file is not a database": "name the archive, or put the last good file in its place",
    "database disk image is malformed": "put the last good file in its place",
}


def _hold(path: Path) -> int:
    """Lock the archive for this recorder, until the returned file descriptor is closed. Raises
    ``OSError`` and :class:`ArchiveError`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    held = os.open(f"{path}.lock", flags, 0o600)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(held)
        raise TakenError(
            f"{path}: another recorder has this archive; end it, or give this one an archive of "
            "its own"
        ) from None
    return held


def _connect(path: Path, *, read_only: bool) -> sqlite3.Connection:
    """Raises ``sqlite3.Error``, ``OSError`` and :class:`ArchiveError`."""
    if read_only:
        os.close(os.open(path, os.O_RDONLY | os.O_CLOEXEC))  # what is wrong is said more clearly
        address = f"{path.absolute().as_uri()}?mode=ro"
        connection = sqlite3.connect(
            address, uri=True, isolation_level=None, check_same_thread=False
        )
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):  # what is there is not opened: closing drops the locks
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, MODE))
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        connection.create_function("begins_with", 3, _begins_with, deterministic=True)
        connection.execute(f"PRAGMA busy_timeout = {BUSY}")
        if not read_only:
            if _write_ahead(connection) != "wal":
                raise ArchiveError(
                    f"{path}: the file system cannot hold a write-ahead log; use a local disk"
                )
            connection.execute("PRAGMA synchronous = FULL")
            _begin(connection)
        _check(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _write_ahead(connection: sqlite3.Connection) -> str:
    """Turn on the write-ahead log. SQLite waits for nobody there, and several begin a new archive
    at once. Gives the mode that the file has.
    """
    end = time.monotonic() + BUSY / 1000
    while True:
        try:
            return str(connection.execute("PRAGMA journal_mode = WAL").fetchone()[0])
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
        time.sleep(0.01)


def _begin(connection: sqlite3.Connection) -> None:
    """Make the tables where there are none."""
    connection.execute("BEGIN IMMEDIATE")
    empty = not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    connection.execute("ROLLBACK")
    if empty:
        connection.executescript(
            f"BEGIN IMMEDIATE; {_SCHEMA} "  # noqa: S608
            f"INSERT INTO meta VALUES ('archive', '{VERSION}'); COMMIT;"
        )


def _check(connection: sqlite3.Connection, path: Path) -> None:
    """Raise :class:`ArchiveError` if it is no archive of this version."""
    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    if not {"meta", "record", "run", "word"} <= names:
        raise ArchiveError(f"{path}: this is no archive of novamas surveillance; name another file")
    found = connection.execute("SELECT value FROM meta WHERE name = 'archive'").fetchone()
    if found is None or found[0] != str(VERSION):
        told = "none" if found is None else found[0]
        raise ArchiveError(
            f"{path}: its version is {told}, and this program knows {VERSION}; use the release "
            "that wrote it"
        )


def _of(what: Removal) -> tuple[Any, ...]:
    """The values of ``_DOOMED``."""
    spared = [msgspec.structs.astuple(each) for each in what.spared]
    return what.kind, what.through, msgspec.json.encode(spared).decode()


def _drop(connection: sqlite3.Connection, what: Removal, rows: list[Row]) -> None:
    connection.execute("INSERT INTO dropping VALUES (?, ?)", (what.kind, what.through))
    connection.executemany("DELETE FROM record WHERE number = ?", [(row.number,) for row in rows])
    connection.executemany(
        "DELETE FROM word WHERE word = ? AND number = ?",
        {(word, row.number) for row in rows for word in _found_by(row.record)},
    )
    connection.execute("DELETE FROM dropping")
    if what.kind != "event":
        return
    upto: dict[tuple[str, str, str], int] = {}
    for row in rows:
        of = (row.record.site, row.record.table, row.record.boot)
        upto[of] = max(upto.get(of, 0), row.record.seq)
    for of, seq in upto.items():
        connection.execute(
            "UPDATE run SET dropped = max(dropped, :seq), here = (SELECT count(*) FROM record "
            "WHERE kind = 'event' AND site = :site AND place = :place AND boot = :boot "
            "AND seq > max(dropped, :seq)) WHERE site = :site AND place = :place AND boot = :boot",
            {"seq": seq, "site": of[0], "place": of[1], "boot": of[2]},
        )


def _looked_up(query: Query) -> tuple[str, dict[str, tuple[Any, ...]]]:
    """The index to walk, and the columns that come before the time in it, with their values."""
    if query.order == "number":
        return "", {}
    if query.session is not None and query.session > 0 and query.round is not None:
        return "INDEXED BY record_round", {"session": (query.session,), "round": (query.round,)}
    if query.types:
        return "INDEXED BY record_type", {"type": tuple(dict.fromkeys(query.types))}
    if query.kinds and RARE.issuperset(query.kinds):
        return "INDEXED BY record_rare", {"kind": tuple(dict.fromkeys(query.kinds))}
    if query.tables:
        return "INDEXED BY record_place", {"place": tuple(dict.fromkeys(query.tables))}
    return "INDEXED BY record_time", {}


def _filters(query: Query, without: frozenset[str]) -> tuple[list[str], list[Any]]:
    """The conditions beside those that are looked up first. A plus keeps SQLite from another
    index.
    """
    given: dict[str, Sequence[Any]] = {
        "site": query.sites,
        "place": query.tables,
        "kind": query.kinds,
        "type": query.types,
        "session": () if query.session is None else (query.session,),
        "round": () if query.round is None else (query.round,),
    }
    clauses: list[str] = []
    values: list[Any] = []
    for name, among in given.items():
        if among and name not in without:
            clauses.append(f"+{name} IN ({', '.join('?' * len(among))})")
            values += among
    walked = "+" if query.order == "number" else ""
    for test, moment in ((">=", query.since), ("<", query.until)):
        if moment is not None:
            clauses.append(f"{walked}time {test} ?")
            values.append(moment)
    return clauses, values


def _values(record: Record) -> tuple[Any, ...]:
    return (
        record.site, record.kind, record.key, record.time, record.heard, record.body, record.table,
        record.node, record.boot, record.seq, record.type, record.session, record.round,
        msgspec.json.encode(record.words).decode(),
    )  # fmt: skip


def _row(row: tuple[Any, ...]) -> Row:
    number, site, kind, key, time, heard, body, table, node, boot, seq, kind_of, *rest = row
    session, played, words = rest
    record = Record(
        site=site,
        kind=kind,
        key=key,
        time=time,
        heard=heard,
        body=body,
        table=table,
        node=node,
        boot=boot,
        seq=seq,
        type=kind_of,
        session=session,
        round=played,
        words=_words.decode(words),
    )
    return Row(number, record)


def _found_by(record: Record) -> set[str]:
    """The words of a record in lower case."""
    return {word.casefold() for word in (record.type, *record.words) if word}


def _begins_with(kind: str, words: str, begins: str) -> bool:
    """Whether a word of a row begins so. ``words``: as the row has them."""
    return any(word.casefold().startswith(begins) for word in (kind, *_words.decode(words)) if word)
