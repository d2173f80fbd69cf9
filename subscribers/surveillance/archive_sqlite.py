"""The archive in an SQLite file: one process writes at a time, any number read.

The write-ahead log is synced before ``store`` returns. Triggers reject every change of a record,
and its removal except by ``remove``; another program would first have to remove the triggers.
"""

from __future__ import annotations

import heapq
import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, islice, product
from pathlib import Path
from typing import Any

import msgspec

from subscribers.surveillance.archive import (
    ArchiveRecord,
    ArchiveRow,
    Gap,
    Kind,
    Query,
    Removal,
    StoreResult,
    divide,
    run_prefix,
)
from subscribers.surveillance.errors import ArchiveError
from subscribers.surveillance.sqlite_connection import connect, decode_words, lock_for_recorder
from subscribers.surveillance.sqlite_statements import (
    COLUMNS,
    INSERT_RECORD,
    INSERT_WORD,
    PARTIAL_INDEX_CONDITIONS,
    REMOVABLE,
    SELECT_EXISTING,
    SELECT_GAPS,
    UPDATE_DROPPED,
    UPDATE_RUN,
)

PAGE_ROWS = 500
"""Rows read at once. Between pages no lock and no snapshot is held."""
STATEMENT_ROWS = 50
"""Rows written by one execution of a statement. SQLite has 999 parameters or more; a record needs
15.
"""
FREQUENT_WORD_ROWS = 20_000
"""A word with more rows than this is not looked up by index: the records are scanned in order."""
REMOVAL_BATCH_RECORDS = 5000
"""Records removed per transaction."""
RARE_KINDS: frozenset[Kind] = frozenset({"alert", "checkpoint", "finding", "access"})
"""Kinds with so few records that they are looked up first."""
MAX_TEXT = "\U0010ffff"
"""Appended to a prefix, sorts after every word with that prefix."""


class SQLiteArchive:
    """The archive in one file. With ``read_only`` nothing is written, and the file must exist. With
    ``recorder`` no other recorder may use the archive at the same time. Every method raises
    :class:`ArchiveError`, and may be called from several threads.
    """

    def __init__(self, path: Path, *, read_only: bool = False, recorder: bool = False) -> None:
        self.path, self._read_only = path, read_only
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        with self._translate_errors():
            self._lock_file = lock_for_recorder(path) if recorder else None
            try:
                self._connection = connect(path, read_only=read_only)
            except BaseException:  # release the lock for the next attempt
                if self._lock_file is not None:
                    os.close(self._lock_file)
                raise

    def store(self, records: Sequence[ArchiveRecord]) -> StoreResult:
        """Store the records, all or none, and return when they are on disk."""
        with self._writing() as connection:
            try:
                return StoreResult(_insert(connection, records), ())
            except sqlite3.IntegrityError:  # rare: one is there already, or twice in ``records``
                connection.execute("ROLLBACK")
                connection.execute("BEGIN IMMEDIATE")
            stored: dict[tuple[str, Kind, str], ArchiveRecord] = {}
            for record in records:
                key = record.site, record.kind, record.key
                existing = connection.execute(SELECT_EXISTING, key).fetchone()
                if existing is not None:
                    stored[key] = _row(existing).record
            added, conflicts = divide(records, stored)
            return StoreResult(_insert(connection, added), tuple(conflicts))

    def find(self, query: Query) -> Iterator[ArchiveRow]:
        """Yield the matching records, page by page."""
        streams = [self._walk(*plan) for plan in self._plan(query)]
        if query.order == "number":
            found = heapq.merge(*streams, key=lambda row: row.number)
        else:
            found = heapq.merge(
                *streams,
                key=lambda row: (row.record.time, row.number),
                reverse=query.order == "latest",
            )
        return islice(found, query.limit)

    def newest_number(self) -> int:
        """Return the number of the last stored record, or 0."""
        with self._reading() as connection:
            return _newest_number(connection)

    def gaps(self, site: str) -> list[Gap]:
        """Return the missing events of each boot of each table. Removed records are not missing."""
        gaps = []
        with self._reading() as connection:
            runs = connection.execute(
                "SELECT place, boot, dropped FROM run WHERE site = ? AND here < last - dropped "
                "ORDER BY time, place, boot",
                (site,),
            ).fetchall()
            for place, boot, dropped in runs:
                run = {"site": site, "run": run_prefix(place, boot), "dropped": dropped}
                for before, seq in connection.execute(SELECT_GAPS, run):
                    gaps.append(Gap(site, place, boot, before + 1, seq - 1))
        return gaps

    def save_value(self, name: str, value: bytes) -> None:
        """Store a value under a name."""
        with self._writing() as connection:
            connection.execute("INSERT OR REPLACE INTO remembered VALUES (?, ?)", (name, value))

    def load_value(self, name: str) -> bytes | None:
        """Return the value stored under a name."""
        with self._reading() as connection:
            found = connection.execute("SELECT value FROM remembered WHERE name = ?", (name,))
            value = found.fetchone()
        return None if value is None else value[0]

    def count_removable(self, removal: Removal) -> int:
        """Return how many records :meth:`remove` would remove."""
        with self._reading() as connection:
            found = connection.execute(f"SELECT count(*) {REMOVABLE}", _removal_values(removal))
            return int(found.fetchone()[0])

    def remove(self, removal: Removal) -> int:
        """Remove records. Return how many."""
        count, batch = 0, REMOVAL_BATCH_RECORDS
        while batch == REMOVAL_BATCH_RECORDS:
            with self._writing() as connection:
                rows = connection.execute(
                    f"SELECT {COLUMNS} {REMOVABLE} ORDER BY number LIMIT ?",
                    (*_removal_values(removal), REMOVAL_BATCH_RECORDS),
                ).fetchall()
                _remove(connection, removal, [_row(row) for row in rows])
            batch = len(rows)
            count += batch
        return count

    def close(self) -> None:
        """Close the file and release the recorder's lock."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None
            if self._lock_file is not None:
                os.close(self._lock_file)
                self._lock_file = None

    def _plan(self, query: Query) -> list[tuple[str, list[Any], Query]]:
        """Return the conditions of the scans whose merged rows are the result: one scan for each
        value of the columns that are looked up first, so that an index yields its rows in order.
        """
        index, first = _choose_index(query)
        clauses, values = _filters(query, frozenset(first))
        for word in query.words:
            prefix = word.casefold()
            bounds = (prefix, prefix + MAX_TEXT)
            if self._is_rare(bounds):
                index = ""
                clauses.append("number IN (SELECT number FROM word WHERE word >= ? AND word < ?)")
                values += bounds
            else:
                clauses.append("begins_with(type, words, ?)")
                values.append(prefix)
        if query.order == "number":
            index = "NOT INDEXED"
        clauses = [*(f"{name} = ?" for name in first),
                   *(PARTIAL_INDEX_CONDITIONS.get(name, "") for name in first),
                   *clauses]  # fmt: skip
        where = " AND ".join(filter(None, clauses)) or "1"
        return [
            (f"{index} WHERE {where}", [*chosen, *values], query)
            for chosen in product(*first.values())
        ]

    def _is_rare(self, bounds: tuple[str, str]) -> bool:
        with self._reading() as connection:
            found = connection.execute(
                "SELECT count(*) FROM (SELECT 1 FROM word WHERE word >= ? AND word < ? LIMIT ?)",
                (*bounds, FREQUENT_WORD_ROWS + 1),
            ).fetchone()
        return bool(found[0] <= FREQUENT_WORD_ROWS)

    def _walk(self, condition: str, values: list[Any], query: Query) -> Iterator[ArchiveRow]:
        """Yield the rows of one condition in the order of the query, page by page."""
        remaining = query.limit
        position: list[Any]
        if query.order == "number":
            following, order, position = "number > ?", "number", [query.after]
        elif query.order == "time":
            following, order, position = (
                "number > ? AND (time, number) > (?, ?)",
                "time, number",
                ["", 0],
            )
        else:
            following, order = "number > ? AND (time, number) < (?, ?)", "time DESC, number DESC"
            position = [MAX_TEXT, 0]
        while remaining is None or remaining > 0:
            page_size = PAGE_ROWS if remaining is None else min(PAGE_ROWS, remaining)
            parameters = position if query.order == "number" else [query.after, *position]
            with self._reading() as connection:
                rows = connection.execute(
                    f"SELECT {COLUMNS} FROM record {condition} AND {following} "  # noqa: S608
                    f"ORDER BY {order} LIMIT ?",
                    (*values, *parameters, page_size),
                ).fetchall()
            page = [_row(row) for row in rows]
            yield from page
            if len(page) < page_size:
                return
            last = page[-1]
            position = [last.number] if query.order == "number" else [last.record.time, last.number]
            remaining = None if remaining is None else remaining - len(page)

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._translate_errors():
            if self._connection is None:
                raise ArchiveError(f"{self.path}: the archive was closed")
            yield self._connection

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
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
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError, OverflowError, UnicodeError) as error:
            message = getattr(error, "strerror", None) or str(error)
            advice = _ADVICE.get(message, "check the file and its disk")
            raise ArchiveError(f"{self.path}: {message}; {advice}") from None


_ADVICE = {
    "database or disk is full": "make room on the disk",
    "No space left on device": "make room on the disk",
    "database is locked": "another program uses it; stop that program",
    "attempt to write a readonly database": "give this program's user write access",
    "No such file or directory": "create it with `novamas surveillance`, or name the right file",
    "Permission denied": "give this program's user read and write access",
    "file is not a database": "name the archive, or restore the last good file",
    "database disk image is malformed": "restore the last good file",
}


def _newest_number(connection: sqlite3.Connection) -> int:
    found = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'record'").fetchone()
    return 0 if found is None else int(found[0])


def _insert(
    connection: sqlite3.Connection, records: Sequence[ArchiveRecord]
) -> tuple[ArchiveRow, ...]:
    """Return the rows of the records. Raise ``sqlite3.IntegrityError`` if one is already there."""
    first = _newest_number(connection) + 1
    rows = tuple(ArchiveRow(number, record) for number, record in enumerate(records, first))
    _write_rows(connection, INSERT_RECORD, [(row.number, *_values(row.record)) for row in rows])
    words = [(word, row.number) for row in rows for word in _search_words(row.record)]
    _write_rows(connection, INSERT_WORD, words)
    events = [row.record for row in rows if row.record.kind == "event"]
    runs = [(event.site, event.table, event.boot, event.seq, 1, 0, event.time) for event in events]
    _write_rows(connection, UPDATE_RUN, runs)
    return rows


def _write_rows(
    connection: sqlite3.Connection, statement: str, rows: Sequence[tuple[Any, ...]]
) -> None:
    """Execute a statement on the rows, several at once: each execution opens every index of the
    table. ``statement``: with ``{rows}`` in place of the values.
    """
    if not rows:
        return
    row = f"({', '.join('?' * len(rows[0]))})"
    whole = len(rows) - len(rows) % STATEMENT_ROWS
    several = statement.format(rows=", ".join([row] * STATEMENT_ROWS))
    for begin in range(0, whole, STATEMENT_ROWS):
        connection.execute(several, list(chain(*rows[begin : begin + STATEMENT_ROWS])))
    connection.executemany(statement.format(rows=row), rows[whole:])


def _removal_values(removal: Removal) -> tuple[Any, ...]:
    """Return the parameters of ``REMOVABLE``."""
    ranges = [msgspec.structs.astuple(range_) for range_ in removal.retained]
    return removal.kind, removal.through, msgspec.json.encode(ranges).decode()


def _remove(connection: sqlite3.Connection, removal: Removal, rows: list[ArchiveRow]) -> None:
    connection.execute("INSERT INTO dropping VALUES (?, ?)", (removal.kind, removal.through))
    connection.executemany("DELETE FROM record WHERE number = ?", [(row.number,) for row in rows])
    connection.executemany(
        "DELETE FROM word WHERE word = ? AND number = ?",
        {(word, row.number) for row in rows for word in _search_words(row.record)},
    )
    connection.execute("DELETE FROM dropping")
    if removal.kind != "event":
        return
    last_seqs: dict[tuple[str, str, str], int] = {}
    for row in rows:
        boot_key = (row.record.site, row.record.table, row.record.boot)
        last_seqs[boot_key] = max(last_seqs.get(boot_key, 0), row.record.seq)
    for boot_key, seq in last_seqs.items():
        site, table, boot = boot_key
        run = {"site": site, "place": table, "boot": boot, "run": run_prefix(table, boot)}
        connection.execute(UPDATE_DROPPED, {**run, "seq": seq})


def _choose_index(query: Query) -> tuple[str, dict[str, tuple[Any, ...]]]:
    """Return the index to scan, and the columns that precede the time in it, with their values."""
    if query.order == "number":
        return "", {}
    if query.session is not None and query.session > 0 and query.round is not None:
        return "INDEXED BY record_round", {"session": (query.session,), "round": (query.round,)}
    if query.types:
        return "INDEXED BY record_type", {"type": tuple(dict.fromkeys(query.types))}
    if query.kinds and RARE_KINDS.issuperset(query.kinds):
        return "INDEXED BY record_rare", {"kind": tuple(dict.fromkeys(query.kinds))}
    if query.tables:
        return "INDEXED BY record_place", {"place": tuple(dict.fromkeys(query.tables))}
    return "INDEXED BY record_time", {}


def _filters(query: Query, indexed: frozenset[str]) -> tuple[list[str], list[Any]]:
    """Return the conditions that the index does not cover. The unary plus keeps SQLite from using
    another index for them.
    """
    columns: dict[str, Sequence[Any]] = {
        "site": query.sites,
        "place": query.tables,
        "kind": query.kinds,
        "type": query.types,
        "session": () if query.session is None else (query.session,),
        "round": () if query.round is None else (query.round,),
    }
    clauses: list[str] = []
    values: list[Any] = []
    for name, allowed in columns.items():
        if allowed and name not in indexed:
            clauses.append(f"+{name} IN ({', '.join('?' * len(allowed))})")
            values += allowed
    no_index = "+" if query.order == "number" else ""
    for operator, moment in ((">=", query.since), ("<", query.until)):
        if moment is not None:
            clauses.append(f"{no_index}time {operator} ?")
            values.append(moment)
    return clauses, values


def _values(record: ArchiveRecord) -> tuple[Any, ...]:
    return (
        record.site, record.kind, record.key, record.time, record.received, record.body,
        record.table, record.node, record.boot, record.seq, record.type, record.session,
        record.round, msgspec.json.encode(record.words).decode(),
    )  # fmt: skip


def _row(row: tuple[Any, ...]) -> ArchiveRow:
    number, site, kind, key, time, received, body, table, node, boot, seq, type_, *rest = row
    session, round_, words = rest
    record = ArchiveRecord(
        site=site,
        kind=kind,
        key=key,
        time=time,
        received=received,
        body=body,
        table=table,
        node=node,
        boot=boot,
        seq=seq,
        type=type_,
        session=session,
        round=round_,
        words=decode_words(words),
    )
    return ArchiveRow(number, record)


def _search_words(record: ArchiveRecord) -> set[str]:
    """Return the words that a record is found by, in lower case."""
    return {word.casefold() for word in (record.type, *record.words) if word}
