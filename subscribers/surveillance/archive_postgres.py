"""The archive in a PostgreSQL database: one writing transaction at a time, any number of readers.

Each writing transaction takes its record numbers from one row, which it locks until it ends: a
reader that follows by number never meets a number smaller than one it has seen. Triggers reject
every change of a record, and its removal except by ``remove``.

PostgreSQL cannot store U+0000 in text: it is stored as U+001B and ``0``, and U+001B itself as
U+001B and ``1``. Bodies are stored unchanged.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import psycopg

from subscribers.surveillance.archive import (
    ArchiveRecord,
    ArchiveRow,
    Gap,
    Query,
    Removal,
    StoreResult,
    divide,
)
from subscribers.surveillance.bounded_connection import (
    REPLY_TIMEOUT_SECONDS,
    SCAN_TIMEOUT_SECONDS,
    BoundedConnection,
)
from subscribers.surveillance.errors import ArchiveError, ArchiveInUseError
from subscribers.surveillance.postgres_address import address_parts, display_name, error_text
from subscribers.surveillance.postgres_statements import (
    BY_INDEX,
    BY_SCAN,
    BY_SESSION,
    COLUMNS,
    COPY,
    COUNT_WORD,
    REMOVABLE,
    SCHEMA,
    SELECT_EXISTING,
    SELECT_GAPS,
    SELECT_SPELLINGS,
    TYPES,
    UPDATE_DROPPED,
    UPDATE_RUN,
    decode,
    encode,
)

SCHEMA_VERSION = "1"
PAGE_ROWS = 500
"""Rows read at once. Between pages no lock and no snapshot is held."""
FREQUENT_WORD_ROWS = 20_000
"""A word with more rows than this is not looked up by index: the records are scanned in order."""
MAX_SPELLINGS = 20
"""Maximum number of words with the same beginning that a scan looks for in each record."""
REMOVAL_BATCH_RECORDS = 5000
"""Records removed per transaction."""
SCHEMA_LOCK, RECORDER_LOCK = 0x6E6F76_01, 0x6E6F76_02
"""Advisory locks of the database: held while creating the tables, and by the recorder."""
LOCK_TIMEOUT_SECONDS = 8
"""Server-side lock timeout. Shorter than the reply timeout, so that the server reports it first."""
CONNECTION_DEFAULTS: dict[str, Any] = {
    "connect_timeout": 10,
    "application_name": "novamas surveillance",
    "keepalives_idle": 20,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
"""libpq parameters unless the address sets them; they make a dead server noticed."""


class PostgresArchive:
    """The archive in the database at ``where``: ``postgresql://user@host/database``. If a password
    is needed, libpq reads it from the file that ``passfile`` in the address names.

    With ``read_only`` nothing is written, and the tables must exist. With ``recorder`` no other
    recorder may use the archive at the same time. Every method raises :class:`ArchiveError`, and
    may be called from several threads.

    After a lost connection or a timeout the failing method raises :class:`ArchiveError`, and the
    next one reconnects. Records of a failed ``store`` may or may not be stored: store them again.
    """

    def __init__(self, where: str, *, read_only: bool = False, recorder: bool = False) -> None:
        self._where, self._read_only, self._recorder = where, read_only, recorder
        self.name = display_name(where)
        self._lock = threading.RLock()
        self._connection: BoundedConnection | None = None
        self._closed = False
        with self._reading():
            pass

    def store(self, records: Sequence[ArchiveRecord]) -> StoreResult:
        """Store the records, all or none, and return when they are on disk."""
        if not records:
            return StoreResult((), ())
        with self._writing() as connection:
            names = [(record.site, record.kind, record.key) for record in records]
            # locks the row until the commit: the next writer gets larger numbers
            counter = connection.execute("SELECT last FROM counter FOR UPDATE").fetchone()
            keys = [[encode(part) for part in parts] for parts in zip(*names, strict=True)]
            rows = map(_row, connection.execute(SELECT_EXISTING, keys))
            known = {(row.record.site, row.record.kind, row.record.key): row.record for row in rows}
            added, conflicts = divide(records, known)
            assert counter is not None
            new = [
                ArchiveRow(number, record) for number, record in enumerate(added, counter[0] + 1)
            ]
            if new:
                _insert(connection, new)
                connection.execute("UPDATE counter SET last = %s", (new[-1].number,))
        return StoreResult(tuple(new), tuple(conflicts))

    def find(self, query: Query) -> Iterator[ArchiveRow]:
        """Yield the matching records, page by page."""
        condition, values = _condition(query)
        for word in query.words:
            clause, word_values = self._word_condition(encode(word.casefold()))
            condition, values = f"{condition} AND {clause}", [*values, *word_values]
        position: list[Any]
        if query.order == "number":
            following, order, position = "number > %s", "number", [query.after]
        elif query.order == "time":
            following, order, position = "(time, number) > (%s, %s)", "time, number", ["", 0]
        else:
            following, order, position = (
                "(time, number) < (%s, %s)",
                "time DESC, number DESC",
                [_MAX_TEXT, 0],
            )
        remaining = query.limit
        while remaining is None or remaining > 0:
            page_size = PAGE_ROWS if remaining is None else min(PAGE_ROWS, remaining)
            statement = (
                f"SELECT {COLUMNS} FROM record WHERE {condition} AND {following} "  # noqa: S608
                f"ORDER BY {order} LIMIT %s"
            )
            with self._reading() as connection:
                rows = connection.execute(
                    statement.encode(), (*values, *position, page_size)
                ).fetchall()
            page = [_row(row) for row in rows]
            yield from page
            if len(page) < page_size:
                return
            last = page[-1]
            position = [last.number]
            if query.order != "number":
                position = [encode(last.record.time), last.number]
            remaining = None if remaining is None else remaining - len(page)

    def _word_condition(self, prefix: str) -> tuple[str, list[Any]]:
        """Return the condition that a word of a record starts with ``prefix``. A frequent word is
        tested while scanning the records in order: an index look-up would have to sort them all.
        """
        bounds = [prefix, prefix + _MAX_TEXT]
        with self._reading() as connection:
            counter = connection.execute(COUNT_WORD, (*bounds, FREQUENT_WORD_ROWS + 1)).fetchone()
            assert counter is not None
            if counter[0] <= FREQUENT_WORD_ROWS:
                return BY_INDEX, bounds
            spellings = connection.execute(
                SELECT_SPELLINGS, (*bounds, bounds[1], MAX_SPELLINGS + 1)
            ).fetchall()
        if len(spellings) > MAX_SPELLINGS:
            return BY_INDEX, bounds
        return BY_SCAN, [[word for (word,) in spellings]]

    def newest_number(self) -> int:
        """Return the number of the last stored record, or 0."""
        with self._reading() as connection:
            counter = connection.execute("SELECT last FROM counter").fetchone()
        assert counter is not None
        return int(counter[0])

    def gaps(self, site: str) -> list[Gap]:
        """Return the missing events of each boot of each table. Removed records are not missing."""
        with self._reading() as connection, connection.with_timeout(SCAN_TIMEOUT_SECONDS):
            rows = connection.execute(SELECT_GAPS, (encode(site),)).fetchall()
        return [
            Gap(
                decode(site_text),
                decode(table_text),
                decode(boot_text),
                first,
                last,
            )
            for site_text, table_text, boot_text, first, last in rows
        ]

    def save_value(self, name: str, value: bytes) -> None:
        """Store a value under a name."""
        with self._writing() as connection:
            connection.execute(
                "INSERT INTO remembered VALUES (%s, %s) "
                "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                (encode(name), value),
            )

    def load_value(self, name: str) -> bytes | None:
        """Return the value stored under a name."""
        with self._reading() as connection:
            found = connection.execute(
                "SELECT value FROM remembered WHERE name = %s", (encode(name),)
            ).fetchone()
        return None if found is None else bytes(found[0])

    def count_removable(self, removal: Removal) -> int:
        """Return how many records :meth:`remove` would remove."""
        with self._reading() as connection, connection.with_timeout(SCAN_TIMEOUT_SECONDS):
            found = connection.execute(
                f"SELECT count(*) {REMOVABLE}", _removal_values(removal)
            ).fetchone()
        assert found is not None
        return int(found[0])

    def remove(self, removal: Removal) -> int:
        """Remove records. Return how many."""
        count, batch = 0, REMOVAL_BATCH_RECORDS
        while batch == REMOVAL_BATCH_RECORDS:
            with self._writing() as connection, connection.with_timeout(SCAN_TIMEOUT_SECONDS):
                rows = connection.execute(
                    f"SELECT {COLUMNS} {REMOVABLE} ORDER BY number LIMIT {REMOVAL_BATCH_RECORDS:d}",
                    _removal_values(removal),
                ).fetchall()
                _remove(connection, removal, [_row(row) for row in rows])
            batch = len(rows)
            count += batch
        return count

    def close(self) -> None:
        """Close the connection; the archive cannot be used again."""
        with self._lock:
            self._closed = True
            self._disconnect()

    @contextmanager
    def _reading(self) -> Iterator[BoundedConnection]:
        with self._lock:
            if self._closed:
                raise ArchiveError(f"{self.name}: the archive was closed")
            try:
                if self._connection is None:
                    self._connection = self._connect()
                yield self._connection
            except (psycopg.Error, UnicodeError) as error:
                if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
                    self._disconnect()
                raise ArchiveError(f"{self.name}: {error_text(error)}") from None

    @contextmanager
    def _writing(self) -> Iterator[BoundedConnection]:
        """Run a transaction: all of it or nothing."""
        if self._read_only:
            raise ArchiveError(f"{self.name}: the archive was opened for reading")
        with self._reading() as connection, connection.transaction():
            yield connection

    def _disconnect(self) -> None:
        if self._connection is not None:
            with suppress(psycopg.Error):
                self._connection.close()
            self._connection = None

    def _connect(self) -> BoundedConnection:
        """Raise ``psycopg.Error`` or :class:`ArchiveError`."""
        parts = {**CONNECTION_DEFAULTS, **address_parts(self._where)}
        connection = BoundedConnection.connect("", autocommit=True, **parts)
        try:
            connection.reply_timeout = (
                SCAN_TIMEOUT_SECONDS if self._read_only else REPLY_TIMEOUT_SECONDS
            )
            encoding = connection.info.parameter_status("server_encoding")
            if encoding != "UTF8":
                raise ArchiveError(
                    f"{self.name}: its encoding is {encoding}; create the database again with "
                    "`createdb --encoding UTF8 --template template0`"
                )
            if self._read_only:
                connection.execute("SET default_transaction_read_only = on")
            else:
                # overrides the server's default
                connection.execute("SET synchronous_commit = on")
                connection.execute(f"SET lock_timeout = '{LOCK_TIMEOUT_SECONDS}s'")
                self._create_schema(connection)
            self._check(connection)
            if self._recorder and not _try_recorder_lock(connection):
                raise ArchiveInUseError(
                    f"{self.name}: another recorder uses this archive; stop it, or give this one "
                    "another archive"
                )
        except BaseException:
            connection.close()
            raise
        return connection

    def _create_schema(self, connection: BoundedConnection) -> None:
        """Create the tables in an empty database."""
        if _tables(connection):
            return
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (SCHEMA_LOCK,))
            if not _tables(connection):
                connection.execute(SCHEMA)
                connection.execute("INSERT INTO meta VALUES ('archive', %s)", (SCHEMA_VERSION,))

    def _check(self, connection: BoundedConnection) -> None:
        names = _tables(connection)
        if not names:
            raise ArchiveError(
                f"{self.name}: it has no archive yet; create it with `novamas surveillance`"
            )
        found = None
        if {"meta", "counter", "record", "run", "word"} <= names:
            found = connection.execute("SELECT value FROM meta WHERE name = 'archive'").fetchone()
        if found is None:
            raise ArchiveError(
                f"{self.name}: not an archive of novamas surveillance; name another database"
            )
        if found[0] != SCHEMA_VERSION:
            raise ArchiveError(
                f"{self.name}: its schema version is {found[0]}, not {SCHEMA_VERSION}; use "
                "the release that wrote it"
            )


_MAX_TEXT = "\U0010ffff"
"""Sorts after every time and every word."""


def _try_recorder_lock(connection: BoundedConnection) -> bool:
    """Return True if this session is now the recorder, which it stays until its connection ends."""
    found = connection.execute("SELECT pg_try_advisory_lock(%s)", (RECORDER_LOCK,)).fetchone()
    return found == (True,)


def _tables(connection: BoundedConnection) -> set[str]:
    found = connection.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace "
        "AND relkind IN ('r', 'p', 'v')"
    )
    return {name for (name,) in found}


def _insert(connection: BoundedConnection, rows: Sequence[ArchiveRow]) -> None:
    cursor = connection.cursor()
    with cursor.copy(COPY) as copy:
        copy.set_types(TYPES)
        for row in rows:
            copy.write_row(_values(row))
    words = ((word, row.number) for row in rows for word in _search_words(row.record))
    with cursor.copy("COPY word FROM STDIN (FORMAT BINARY)") as copy:
        copy.set_types(("text", "int8"))
        for word_row in words:
            copy.write_row(word_row)
    events = [row.record for row in rows if row.record.kind == "event"]
    cursor.executemany(
        UPDATE_RUN,
        [
            (
                encode(event.site),
                encode(event.table),
                encode(event.boot),
                event.seq,
                encode(event.time),
            )
            for event in events
        ],
    )


def _remove(connection: BoundedConnection, removal: Removal, rows: list[ArchiveRow]) -> None:
    connection.execute("SELECT set_config('novamas.dropping', %s, true)", (str(removal.through),))
    numbers = [row.number for row in rows]
    connection.execute("DELETE FROM record WHERE number = ANY(%s)", (numbers,))
    words = [(word, row.number) for row in rows for word in _search_words(row.record)]
    connection.execute(
        "DELETE FROM word USING unnest(%s::text[], %s::bigint[]) AS gone (word, number) "
        "WHERE word.word = gone.word AND word.number = gone.number",
        ([word for word, _ in words], [number for _, number in words]),
    )
    if removal.kind != "event":
        return
    last_seqs: dict[tuple[str, str, str], int] = {}
    for row in rows:
        boot_key = (row.record.site, row.record.table, row.record.boot)
        last_seqs[boot_key] = max(last_seqs.get(boot_key, 0), row.record.seq)
    for (site, table, boot), seq in last_seqs.items():
        run = {
            "site": encode(site),
            "place": encode(table),
            "boot": encode(boot),
            "seq": seq,
        }
        connection.execute(UPDATE_DROPPED, run)


def _removal_values(removal: Removal) -> tuple[Any, ...]:
    """Return the parameters of ``REMOVABLE``."""
    ranges = removal.retained
    return (
        removal.kind,
        removal.through,
        [encode(range_.site) for range_ in ranges],
        [encode(range_.table) for range_ in ranges],
        [range_.first for range_ in ranges],
        [range_.last for range_ in ranges],
    )


def _condition(query: Query) -> tuple[str, list[Any]]:
    """Return the condition for everything but the words, and its parameters."""
    clauses = ["number > %s"]
    values: list[Any] = [query.after]
    columns: tuple[tuple[str, Sequence[str]], ...] = (
        ("site", query.sites),
        ("place", query.tables),
        ("kind", query.kinds),
        ("type", query.types),
    )
    for name, allowed in columns:
        if allowed:
            clauses.append(f"{name} = ANY(%s)")
            values.append([encode(value) for value in allowed])
    comparisons: tuple[tuple[str, str | int | None], ...] = (
        (BY_SESSION if query.session else "session = %s", query.session),
        ("round = %s", query.round),
        ("time >= %s", query.since),
        ("time < %s", query.until),
    )
    for clause, value in comparisons:
        if value is not None:
            clauses.append(clause)
            values.append(encode(value) if isinstance(value, str) else value)
    return " AND ".join(clauses), values


def _values(row: ArchiveRow) -> tuple[Any, ...]:
    record = row.record
    return (
        row.number, encode(record.site), record.kind, encode(record.key), encode(record.time),
        encode(record.received), record.body, encode(record.table), encode(record.node),
        encode(record.boot), record.seq, encode(record.type), record.session, record.round,
        [encode(word) for word in record.words],
    )  # fmt: skip


def _row(row: tuple[Any, ...]) -> ArchiveRow:
    number, site, kind, key, time, received, body, table, node, boot, seq, type_, *rest = row
    session, round_, words = rest
    record = ArchiveRecord(
        site=decode(site),
        kind=kind,
        key=decode(key),
        time=decode(time),
        received=decode(received),
        body=bytes(body),
        table=decode(table),
        node=decode(node),
        boot=decode(boot),
        seq=seq,
        type=decode(type_),
        session=session,
        round=round_,
        words=tuple(decode(word) for word in words),
    )
    return ArchiveRow(number, record)


def _search_words(record: ArchiveRecord) -> set[str]:
    """Return the words that a record is found by, in lower case."""
    return {encode(word.casefold()) for word in (record.type, *record.words) if word}
