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
from typing import Any, LiteralString

import psycopg
from psycopg.conninfo import conninfo_to_dict

from subscribers.surveillance.archive import (
    ArchiveRecord,
    ArchiveRow,
    Gap,
    Query,
    Removal,
    StoreResult,
    same_content,
)
from subscribers.surveillance.bounded_connection import (
    REPLY_TIMEOUT_SECONDS,
    SCAN_TIMEOUT_SECONDS,
    BoundedConnection,
)
from subscribers.surveillance.errors import ArchiveError, ArchiveInUseError

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

_SCHEMA = """
CREATE TABLE meta (name text PRIMARY KEY, value text NOT NULL);
CREATE TABLE remembered (name text PRIMARY KEY, value bytea NOT NULL);
CREATE TABLE counter (last bigint NOT NULL);
INSERT INTO counter VALUES (0);
CREATE TABLE record (
  number bigint PRIMARY KEY,
  site text COLLATE "C" NOT NULL, kind text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL,
  time text COLLATE "C" NOT NULL, heard text COLLATE "C" NOT NULL, body bytea NOT NULL,
  place text COLLATE "C" NOT NULL, node text COLLATE "C" NOT NULL, boot text COLLATE "C" NOT NULL,
  seq bigint NOT NULL, type text COLLATE "C" NOT NULL, session bigint NOT NULL,
  round bigint NOT NULL, words text[] COLLATE "C" NOT NULL
);
CREATE UNIQUE INDEX record_key ON record (site, kind, key);
CREATE INDEX record_time ON record (time, number);
CREATE INDEX record_place ON record (place, time, number);
CREATE INDEX record_type ON record (type, time, number);
CREATE INDEX record_rare ON record (kind, time, number) WHERE kind <> 'event' AND kind <> 'sealed';
CREATE INDEX record_kind ON record (kind, number);
CREATE INDEX record_seq ON record (site, place, boot, seq) WHERE kind = 'event';
CREATE INDEX record_round ON record (session, round, time) WHERE session > 0;
-- what a record is found by, in lower case
CREATE TABLE word (
  word text COLLATE "C" NOT NULL, number bigint NOT NULL, PRIMARY KEY (word, number)
);
-- the boots of a table: how many of the events after `dropped` are here, and which is the last
CREATE TABLE run (
  site text COLLATE "C" NOT NULL, place text COLLATE "C" NOT NULL, boot text COLLATE "C" NOT NULL,
  last bigint NOT NULL, here bigint NOT NULL, dropped bigint NOT NULL,
  time text COLLATE "C" NOT NULL, PRIMARY KEY (site, place, boot)
);
CREATE FUNCTION stays() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  RAISE EXCEPTION 'a record is never changed';
END $$;
CREATE FUNCTION dropped() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF OLD.number <= coalesce(nullif(current_setting('novamas.dropping', true), '')::bigint, 0) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'a record is removed by the retention alone';
END $$;
CREATE TRIGGER record_stays BEFORE UPDATE OR TRUNCATE ON record
  FOR EACH STATEMENT EXECUTE FUNCTION stays();
CREATE TRIGGER record_dropped BEFORE DELETE ON record FOR EACH ROW EXECUTE FUNCTION dropped();
CREATE TRIGGER word_stays BEFORE UPDATE OR TRUNCATE ON word
  FOR EACH STATEMENT EXECUTE FUNCTION stays();
CREATE TRIGGER word_dropped BEFORE DELETE ON word FOR EACH ROW EXECUTE FUNCTION dropped();
"""
_COLUMNS: LiteralString = (
    "number, site, kind, key, time, heard, body, place, node, boot, seq, type, session, round, "
    "words"
)
_COPY = f"COPY record ({_COLUMNS}) FROM STDIN (FORMAT BINARY)"
_TYPES = (
    *("int8", "text", "text", "text", "text", "text", "bytea", "text", "text", "text"),
    *("int8", "text", "int8", "int8", "text[]"),
)
_SELECT_EXISTING = (
    f"SELECT {_COLUMNS} FROM record JOIN unnest(%s::text[], %s::text[], %s::text[]) "  # noqa: S608
    "AS asked (site, kind, key) USING (site, kind, key)"
)
_UPDATE_RUN = (
    "INSERT INTO run VALUES (%s, %s, %s, %s, 1, 0, %s) ON CONFLICT (site, place, boot) "
    "DO UPDATE SET here = run.here + CASE WHEN excluded.last > run.dropped THEN 1 ELSE 0 END, "
    "last = greatest(run.last, excluded.last), time = greatest(run.time, excluded.time)"
)
_SELECT_GAPS = (
    "SELECT site, place, boot, before + 1, seq - 1 FROM ("
    "SELECT record.site, record.place, record.boot, run.time, seq, "
    "lag(seq, 1, run.dropped) OVER (PARTITION BY record.place, record.boot ORDER BY seq) AS before "
    "FROM record JOIN run USING (site, place, boot) WHERE kind = 'event' AND site = %s "
    "AND run.here < run.last - run.dropped AND seq > run.dropped"
    ") AS events WHERE seq > before + 1 ORDER BY time, place, boot, seq"
)
_SELECT_LAST = (
    f"SELECT event.* FROM run, LATERAL (SELECT {_COLUMNS} FROM record "  # noqa: S608
    "WHERE kind = 'event' "
    "AND record.site = run.site AND record.place = run.place AND record.boot = run.boot "
    "ORDER BY seq DESC LIMIT 1) AS event WHERE run.site = %s AND run.place = %s "
    "ORDER BY run.time DESC, run.boot LIMIT 1"
)
_COUNT_WORD = (
    "SELECT count(*) FROM (SELECT FROM word WHERE word >= %s AND word < %s LIMIT %s) AS few"
)
_SELECT_SPELLINGS = (
    "WITH RECURSIVE said AS ((SELECT word FROM word WHERE word >= %s AND word < %s ORDER BY word "
    "LIMIT 1) UNION ALL SELECT (SELECT next.word FROM word AS next WHERE next.word > said.word "
    "AND next.word < %s ORDER BY next.word LIMIT 1) FROM said WHERE said.word IS NOT NULL) "
    "SELECT word FROM said WHERE word IS NOT NULL LIMIT %s"
)
_BY_INDEX = "number IN (SELECT word.number FROM word WHERE word >= %s AND word < %s)"
# without OFFSET, PostgreSQL would look the words up first
_BY_SCAN = "EXISTS (SELECT FROM word WHERE word = ANY(%s) AND word.number = record.number OFFSET 0)"
_BY_SESSION = "session > 0 AND session = %s"
"""For sessions other than 0: the partial index covers only these."""
_REMOVABLE = (
    "FROM record WHERE kind = %s AND number <= %s AND NOT EXISTS ("
    "SELECT 1 FROM unnest(%s::text[], %s::text[], %s::bigint[], %s::bigint[]) "
    "AS spared (site, place, first, last) WHERE spared.site = record.site "
    "AND spared.place = record.place AND record.number BETWEEN first AND last)"
)
_UPDATE_DROPPED = (
    "UPDATE run SET dropped = greatest(dropped, %(seq)s), here = (SELECT count(*) FROM record "
    "WHERE kind = 'event' AND site = %(site)s AND place = %(place)s AND boot = %(boot)s "
    "AND seq > greatest(dropped, %(seq)s)) "
    "WHERE site = %(site)s AND place = %(place)s AND boot = %(boot)s"
)


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
        self.name = _display_name(where)
        self._lock = threading.RLock()
        self._connection: BoundedConnection | None = None
        self._closed = False
        with self._reading():
            pass

    def store(self, records: Sequence[ArchiveRecord]) -> StoreResult:
        """Store the records, all or none, and return when they are on disk."""
        if not records:
            return StoreResult((), ())
        new: list[ArchiveRow] = []
        differ: list[tuple[ArchiveRecord, ArchiveRecord]] = []
        with self._writing() as connection:
            names = [(record.site, record.kind, record.key) for record in records]
            # locks the row until the commit: the next writer gets larger numbers
            counter = connection.execute("SELECT last FROM counter FOR UPDATE").fetchone()
            keys = [[_encode(part) for part in parts] for parts in zip(*names, strict=True)]
            rows = map(_row, connection.execute(_SELECT_EXISTING, keys))
            known = {(row.record.site, row.record.kind, row.record.key): row.record for row in rows}
            assert counter is not None
            number = counter[0]
            for name, record in zip(names, records, strict=True):
                stored = known.setdefault(name, record)
                if stored is record:
                    number += 1
                    new.append(ArchiveRow(number, record))
                elif not same_content(stored, record):
                    differ.append((stored, record))
            if new:
                _insert(connection, new)
                connection.execute("UPDATE counter SET last = %s", (number,))
        return StoreResult(tuple(new), tuple(differ))

    def find(self, query: Query) -> Iterator[ArchiveRow]:
        """Yield the matching records, page by page."""
        condition, values = _condition(query)
        for word in query.words:
            clause, word_values = self._word_condition(_encode(word.casefold()))
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
                f"SELECT {_COLUMNS} FROM record WHERE {condition} AND {following} "  # noqa: S608
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
                position = [_encode(last.record.time), last.number]
            remaining = None if remaining is None else remaining - len(page)

    def _word_condition(self, prefix: str) -> tuple[str, list[Any]]:
        """Return the condition that a word of a record starts with ``prefix``. A frequent word is
        tested while scanning the records in order: an index look-up would have to sort them all.
        """
        bounds = [prefix, prefix + _MAX_TEXT]
        with self._reading() as connection:
            counter = connection.execute(_COUNT_WORD, (*bounds, FREQUENT_WORD_ROWS + 1)).fetchone()
            assert counter is not None
            if counter[0] <= FREQUENT_WORD_ROWS:
                return _BY_INDEX, bounds
            spellings = connection.execute(
                _SELECT_SPELLINGS, (*bounds, bounds[1], MAX_SPELLINGS + 1)
            ).fetchall()
        if len(spellings) > MAX_SPELLINGS:
            return _BY_INDEX, bounds
        return _BY_SCAN, [[word for (word,) in spellings]]

    def newest_number(self) -> int:
        """Return the number of the last stored record, or 0."""
        with self._reading() as connection:
            counter = connection.execute("SELECT last FROM counter").fetchone()
        assert counter is not None
        return int(counter[0])

    def gaps(self, site: str) -> list[Gap]:
        """Return the missing events of each boot of each table. Removed records are not missing."""
        with self._reading() as connection, connection.with_timeout(SCAN_TIMEOUT_SECONDS):
            rows = connection.execute(_SELECT_GAPS, (_encode(site),)).fetchall()
        return [
            Gap(
                _decode(site_text),
                _decode(table_text),
                _decode(boot_text),
                first,
                last,
            )
            for site_text, table_text, boot_text, first, last in rows
        ]

    def last_event(self, site: str, table: str) -> ArchiveRecord | None:
        """Return the latest event of a table."""
        with self._reading() as connection:
            found = connection.execute(_SELECT_LAST, (_encode(site), _encode(table))).fetchone()
        return None if found is None else _row(found).record

    def save_value(self, name: str, value: bytes) -> None:
        """Store a value under a name."""
        with self._writing() as connection:
            connection.execute(
                "INSERT INTO remembered VALUES (%s, %s) "
                "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                (_encode(name), value),
            )

    def load_value(self, name: str) -> bytes | None:
        """Return the value stored under a name."""
        with self._reading() as connection:
            found = connection.execute(
                "SELECT value FROM remembered WHERE name = %s", (_encode(name),)
            ).fetchone()
        return None if found is None else bytes(found[0])

    def count_removable(self, removal: Removal) -> int:
        """Return how many records :meth:`remove` would remove."""
        with self._reading() as connection, connection.with_timeout(SCAN_TIMEOUT_SECONDS):
            found = connection.execute(
                f"SELECT count(*) {_REMOVABLE}", _removal_values(removal)
            ).fetchone()
        assert found is not None
        return int(found[0])

    def remove(self, removal: Removal) -> int:
        """Remove records. Return how many."""
        count, batch = 0, REMOVAL_BATCH_RECORDS
        while batch == REMOVAL_BATCH_RECORDS:
            with self._writing() as connection, connection.with_timeout(SCAN_TIMEOUT_SECONDS):
                rows = connection.execute(
                    f"SELECT {_COLUMNS} {_REMOVABLE} "
                    f"ORDER BY number LIMIT {REMOVAL_BATCH_RECORDS:d}",
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
                raise ArchiveError(f"{self.name}: {_error_text(error)}") from None

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
        parts = {**CONNECTION_DEFAULTS, **_parts(self._where)}
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
                connection.execute(_SCHEMA)
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
    with cursor.copy(_COPY) as copy:
        copy.set_types(_TYPES)
        for row in rows:
            copy.write_row(_values(row))
    words = ((word, row.number) for row in rows for word in _search_words(row.record))
    with cursor.copy("COPY word FROM STDIN (FORMAT BINARY)") as copy:
        copy.set_types(("text", "int8"))
        for word_row in words:
            copy.write_row(word_row)
    events = [row.record for row in rows if row.record.kind == "event"]
    cursor.executemany(
        _UPDATE_RUN,
        [
            (
                _encode(event.site),
                _encode(event.table),
                _encode(event.boot),
                event.seq,
                _encode(event.time),
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
            "site": _encode(site),
            "place": _encode(table),
            "boot": _encode(boot),
            "seq": seq,
        }
        connection.execute(_UPDATE_DROPPED, run)


def _removal_values(removal: Removal) -> tuple[Any, ...]:
    """Return the parameters of ``_REMOVABLE``."""
    ranges = removal.retained
    return (
        removal.kind,
        removal.through,
        [_encode(range_.site) for range_ in ranges],
        [_encode(range_.table) for range_ in ranges],
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
            values.append([_encode(value) for value in allowed])
    comparisons: tuple[tuple[str, str | int | None], ...] = (
        (_BY_SESSION if query.session else "session = %s", query.session),
        ("round = %s", query.round),
        ("time >= %s", query.since),
        ("time < %s", query.until),
    )
    for clause, value in comparisons:
        if value is not None:
            clauses.append(clause)
            values.append(_encode(value) if isinstance(value, str) else value)
    return " AND ".join(clauses), values


def _values(row: ArchiveRow) -> tuple[Any, ...]:
    record = row.record
    return (
        row.number, _encode(record.site), record.kind, _encode(record.key), _encode(record.time),
        _encode(record.heard), record.body, _encode(record.table), _encode(record.node),
        _encode(record.boot), record.seq, _encode(record.type), record.session, record.round,
        [_encode(word) for word in record.words],
    )  # fmt: skip


def _row(row: tuple[Any, ...]) -> ArchiveRow:
    number, site, kind, key, time, heard, body, table, node, boot, seq, type_, *rest = row
    session, round_, words = rest
    record = ArchiveRecord(
        site=_decode(site),
        kind=kind,
        key=_decode(key),
        time=_decode(time),
        heard=_decode(heard),
        body=bytes(body),
        table=_decode(table),
        node=_decode(node),
        boot=_decode(boot),
        seq=seq,
        type=_decode(type_),
        session=session,
        round=round_,
        words=tuple(_decode(word) for word in words),
    )
    return ArchiveRow(number, record)


def _search_words(record: ArchiveRecord) -> set[str]:
    """Return the words that a record is found by, in lower case."""
    return {_encode(word.casefold()) for word in (record.type, *record.words) if word}


def _encode(value: str) -> str:
    if "\0" not in value and "\x1b" not in value:
        return value
    return value.replace("\x1b", "\x1b1").replace("\0", "\x1b0")


def _decode(value: str) -> str:
    if "\x1b" not in value:
        return value
    return value.replace("\x1b0", "\0").replace("\x1b1", "\x1b")


def _parts(where: str) -> dict[str, Any]:
    """Parse the address. Raise :class:`ArchiveError`; the message does not quote the address, which
    may contain a password.
    """
    try:
        return conninfo_to_dict(where)
    except psycopg.Error:
        raise ArchiveError(
            "the archive's address is not a PostgreSQL address; write it as "
            "postgresql://user@host:5432/database"
        ) from None


def _display_name(where: str) -> str:
    """Return the address for messages, without the password."""
    parts = _parts(where)
    name = parts.get("dbname") or parts.get("user") or ""
    place = f"{parts.get('host') or 'localhost'}:{parts.get('port') or 5432}"
    return f"PostgreSQL at {place}, database {name}"


def _error_text(error: Exception) -> str:
    """Return the error on one line, with advice."""
    message = " ".join(str(error).split()).rstrip(".") or type(error).__name__
    for kinds, advice in _ADVICE:
        if isinstance(error, kinds):
            return f"{message}; {advice}"
    return f"{message}; check the database and its log"


_ADVICE: tuple[tuple[type[Exception] | tuple[type[Exception], ...], str], ...] = (
    (psycopg.errors.DiskFull, "make room on the disk of the server"),
    (psycopg.errors.LockNotAvailable, "another program holds the lock; stop that program"),
    (
        (psycopg.errors.InsufficientPrivilege, psycopg.errors.ReadOnlySqlTransaction),
        "grant it to the user of this program: see docs/inspector/surveillance-archive.md",
    ),
    (psycopg.OperationalError, "check the server and the network; it is tried again"),
)
