"""The archive in a database of PostgreSQL: one transaction at a time writes, any number read.

Each transaction that writes takes the numbers of its records from one row, which it holds until it
ends: who follows by number never meets a number smaller than one that it has seen. Triggers refuse
every change of a record, and its removal except by ``drop``.

PostgreSQL keeps no character U+0000 in text: it is written as U+001B and ``0``, and U+001B itself
as U+001B and ``1``. Bodies are stored as they came.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, LiteralString

import psycopg
from psycopg.conninfo import conninfo_to_dict

from subscribers.surveillance.archive import Gap, Kept, Query, Record, Removal, Row, same
from subscribers.surveillance.bounded_connection import ANSWER, SLOW, BoundedConnection
from subscribers.surveillance.errors import ArchiveError, TakenError

VERSION = "1"
PAGE = 500
"""Rows read at once. Between pages nothing is locked and no snapshot is held."""
FREQUENT = 20_000
"""A word found more often is not looked up first: the records are walked in their order."""
SPELLINGS = 20
"""The most words with one beginning that are looked for in each record that is walked."""
BATCH = 5000
"""Records that ``drop`` removes in one transaction."""
SCHEMA_LOCK, RECORDER_LOCK = 0x6E6F76_01, 0x6E6F76_02
"""Advisory locks of the database: who makes the tables; who records."""
LOCKED = 8
"""Seconds for which the server lets a lock be waited for. It says so before nobody listens."""
CONNECTION: dict[str, Any] = {
    "connect_timeout": 10,
    "application_name": "novamas surveillance",
    "keepalives_idle": 20,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
"""What libpq is told where the address says nothing else: a server that is gone is noticed."""

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
_NAMES: LiteralString = (
    "number, site, kind, key, time, heard, body, place, node, boot, seq, type, session, round, "
    "words"
)
_COPY = f"COPY record ({_NAMES}) FROM STDIN (FORMAT BINARY)"
_TYPES = (
    *("int8", "text", "text", "text", "text", "text", "bytea", "text", "text", "text"),
    *("int8", "text", "int8", "int8", "text[]"),
)
_KNOWN = (
    f"SELECT {_NAMES} FROM record JOIN unnest(%s::text[], %s::text[], %s::text[]) "  # noqa: S608
    "AS asked (site, kind, key) USING (site, kind, key)"
)
_RUN = (
    "INSERT INTO run VALUES (%s, %s, %s, %s, 1, 0, %s) ON CONFLICT (site, place, boot) "
    "DO UPDATE SET here = run.here + CASE WHEN excluded.last > run.dropped THEN 1 ELSE 0 END, "
    "last = greatest(run.last, excluded.last), time = greatest(run.time, excluded.time)"
)
_GAPS = (
    "SELECT site, place, boot, before + 1, seq - 1 FROM ("
    "SELECT record.site, record.place, record.boot, run.time, seq, "
    "lag(seq, 1, run.dropped) OVER (PARTITION BY record.place, record.boot ORDER BY seq) AS before "
    "FROM record JOIN run USING (site, place, boot) WHERE kind = 'event' AND site = %s "
    "AND run.here < run.last - run.dropped AND seq > run.dropped"
    ") AS events WHERE seq > before + 1 ORDER BY time, place, boot, seq"
)
_LAST = (
    f"SELECT event.* FROM run, LATERAL (SELECT {_NAMES} FROM record "  # noqa: S608
    "WHERE kind = 'event' "
    "AND record.site = run.site AND record.place = run.place AND record.boot = run.boot "
    "ORDER BY seq DESC LIMIT 1) AS event WHERE run.site = %s AND run.place = %s "
    "ORDER BY run.time DESC, run.boot LIMIT 1"
)
_FEW = "SELECT count(*) FROM (SELECT FROM word WHERE word >= %s AND word < %s LIMIT %s) AS few"
_SPELLED = (
    "WITH RECURSIVE said AS ((SELECT word FROM word WHERE word >= %s AND word < %s ORDER BY word "
    "LIMIT 1) UNION ALL SELECT (SELECT next.word FROM word AS next WHERE next.word > said.word "
    "AND next.word < %s ORDER BY next.word LIMIT 1) FROM said WHERE said.word IS NOT NULL) "
    "SELECT word FROM said WHERE word IS NOT NULL LIMIT %s"
)
_LOOKED_UP = "number IN (SELECT word.number FROM word WHERE word >= %s AND word < %s)"
# without OFFSET, PostgreSQL looks the words up first all the same
_WALKED = "EXISTS (SELECT FROM word WHERE word = ANY(%s) AND word.number = record.number OFFSET 0)"
_SESSION = "session > 0 AND session = %s"
"""Of a session: there is an index of these alone."""
_DOOMED = (
    "FROM record WHERE kind = %s AND number <= %s AND NOT EXISTS ("
    "SELECT 1 FROM unnest(%s::text[], %s::text[], %s::bigint[], %s::bigint[]) "
    "AS spared (site, place, first, last) WHERE spared.site = record.site "
    "AND spared.place = record.place AND record.number BETWEEN first AND last)"
)
_FORGET = (
    "UPDATE run SET dropped = greatest(dropped, %(seq)s), here = (SELECT count(*) FROM record "
    "WHERE kind = 'event' AND site = %(site)s AND place = %(place)s AND boot = %(boot)s "
    "AND seq > greatest(dropped, %(seq)s)) "
    "WHERE site = %(site)s AND place = %(place)s AND boot = %(boot)s"
)


class PostgresArchive:
    """The archive in the database at ``where``: ``postgresql://user@host/database``. libpq finds
    the password, where one is needed, in the file that ``passfile`` in the address names.
    ``read_only``: nothing is written, and the tables must be there. ``recorder``: no other one
    may record there while this one does. Raises :class:`ArchiveError`, as every method. It may be
    used by several threads.

    Where a connection was lost, or the server hangs, the method that notices it raises
    :class:`ArchiveError`, and the next one connects anew. What ``keep`` was given may then be there
    or not: keep it again.
    """

    def __init__(self, where: str, *, read_only: bool = False, recorder: bool = False) -> None:
        self._where, self._read_only, self._recorder = where, read_only, recorder
        self.name = _spelled(where)
        self._lock = threading.RLock()
        self._connection: BoundedConnection | None = None
        self._closed = False
        with self._reading():
            pass

    def keep(self, records: Sequence[Record]) -> Kept:
        """Keep them, all or none, on the disk before it returns."""
        if not records:
            return Kept((), ())
        new: list[Row] = []
        differ: list[tuple[Record, Record]] = []
        with self._changing() as connection:
            names = [(each.site, each.kind, each.key) for each in records]
            # The row is locked until the commit: who comes next gets larger numbers.
            found = connection.execute("SELECT last FROM counter FOR UPDATE").fetchone()
            asked = [[_text(part) for part in parts] for parts in zip(*names, strict=True)]
            rows = map(_row, connection.execute(_KNOWN, asked))
            known = {(row.record.site, row.record.kind, row.record.key): row.record for row in rows}
            assert found is not None
            number = found[0]
            for name, record in zip(names, records, strict=True):
                kept = known.setdefault(name, record)
                if kept is record:
                    number += 1
                    new.append(Row(number, record))
                elif not same(kept, record):
                    differ.append((kept, record))
            if new:
                _insert(connection, new)
                connection.execute("UPDATE counter SET last = %s", (number,))
        return Kept(tuple(new), tuple(differ))

    def find(self, query: Query) -> Iterator[Row]:
        """What matches."""
        where, values = _condition(query)
        for word in query.words:
            clause, more = self._of_word(_text(word.casefold()))
            where, values = f"{where} AND {clause}", [*values, *more]
        at: list[Any]
        if query.order == "number":
            beyond, order, at = "number > %s", "number", [query.after]
        elif query.order == "time":
            beyond, order, at = "(time, number) > (%s, %s)", "time, number", ["", 0]
        else:
            beyond, order, at = "(time, number) < (%s, %s)", "time DESC, number DESC", [_LATEST, 0]
        left = query.limit
        while left is None or left > 0:
            take = PAGE if left is None else min(PAGE, left)
            text = (
                f"SELECT {_NAMES} FROM record WHERE {where} AND {beyond} "  # noqa: S608
                f"ORDER BY {order} LIMIT %s"
            )
            with self._reading() as connection:
                rows = connection.execute(text.encode(), (*values, *at, take)).fetchall()
            found = [_row(row) for row in rows]
            yield from found
            if len(found) < take:
                return
            last = found[-1]
            at = [last.number]
            if query.order != "number":
                at = [_text(last.record.time), last.number]
            left = None if left is None else left - len(found)

    def _of_word(self, begins: str) -> tuple[str, list[Any]]:
        """The condition that a word of a record begins so. One that most records have is looked
        for in the records, in their order: to look it up first would sort them all.
        """
        span = [begins, begins + _LATEST]
        with self._reading() as connection:
            found = connection.execute(_FEW, (*span, FREQUENT + 1)).fetchone()
            assert found is not None
            if found[0] <= FREQUENT:
                return _LOOKED_UP, span
            spelled = connection.execute(_SPELLED, (*span, span[1], SPELLINGS + 1)).fetchall()
        if len(spelled) > SPELLINGS:
            return _LOOKED_UP, span
        return _WALKED, [[word for (word,) in spelled]]

    def newest(self) -> int:
        """The number of the record that was kept last; 0 before the first."""
        with self._reading() as connection:
            found = connection.execute("SELECT last FROM counter").fetchone()
        assert found is not None
        return int(found[0])

    def gaps(self, site: str) -> list[Gap]:
        """What is missing within the boots of each table. What ``drop`` removed is not missing."""
        with self._reading() as connection, connection.within(SLOW):
            rows = connection.execute(_GAPS, (_text(site),)).fetchall()
        return [
            Gap(_read(place), _read(table), _read(boot), first, last)
            for place, table, boot, first, last in rows
        ]

    def last(self, site: str, table: str) -> Record | None:
        """The event of a table that happened last."""
        with self._reading() as connection:
            found = connection.execute(_LAST, (_text(site), _text(table))).fetchone()
        return None if found is None else _row(found).record

    def remember(self, name: str, value: bytes) -> None:
        """Keep a value under a name."""
        with self._changing() as connection:
            connection.execute(
                "INSERT INTO remembered VALUES (%s, %s) "
                "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                (_text(name), value),
            )

    def recall(self, name: str) -> bytes | None:
        """The value under a name."""
        with self._reading() as connection:
            found = connection.execute(
                "SELECT value FROM remembered WHERE name = %s", (_text(name),)
            ).fetchone()
        return None if found is None else bytes(found[0])

    def doomed(self, what: Removal) -> int:
        """How many records ``drop`` would remove."""
        with self._reading() as connection, connection.within(SLOW):
            found = connection.execute(f"SELECT count(*) {_DOOMED}", _of(what)).fetchone()
        assert found is not None
        return int(found[0])

    def drop(self, what: Removal) -> int:
        """Remove records. Returns how many."""
        count, batch = 0, BATCH
        while batch == BATCH:
            with self._changing() as connection, connection.within(SLOW):
                rows = connection.execute(
                    f"SELECT {_NAMES} {_DOOMED} ORDER BY number LIMIT {BATCH:d}", _of(what)
                ).fetchall()
                _drop(connection, what, [_row(row) for row in rows])
            batch = len(rows)
            count += batch
        return count

    def close(self) -> None:
        """End."""
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
                raise ArchiveError(f"{self.name}: {_what(error)}") from None

    @contextmanager
    def _changing(self) -> Iterator[BoundedConnection]:
        """A transaction: all of it or nothing."""
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
        """Raises ``psycopg.Error`` and :class:`ArchiveError`."""
        parts = {**CONNECTION, **_parts(self._where)}
        connection = BoundedConnection.connect("", autocommit=True, **parts)
        try:
            connection.patience = SLOW if self._read_only else ANSWER
            told = connection.info.parameter_status("server_encoding")
            if told != "UTF8":
                raise ArchiveError(
                    f"{self.name}: its encoding is {told}; make the database anew with "
                    "`createdb --encoding UTF8 --template template0`"
                )
            if self._read_only:
                connection.execute("SET default_transaction_read_only = on")
            else:
                # whatever the server's default is
                connection.execute("SET synchronous_commit = on")
                connection.execute(f"SET lock_timeout = '{LOCKED}s'")
                self._begin(connection)
            self._check(connection)
            if self._recorder and not _take(connection):
                raise TakenError(
                    f"{self.name}: another recorder has this archive; end it, or give this one an "
                    "archive of its own"
                )
        except BaseException:
            connection.close()
            raise
        return connection

    def _begin(self, connection: BoundedConnection) -> None:
        """Make the tables where there are none."""
        if _tables(connection):
            return
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (SCHEMA_LOCK,))
            if not _tables(connection):
                connection.execute(_SCHEMA)
                connection.execute("INSERT INTO meta VALUES ('archive', %s)", (VERSION,))

    def _check(self, connection: BoundedConnection) -> None:
        names = _tables(connection)
        if not names:
            raise ArchiveError(
                f"{self.name}: no archive is there yet; begin it with `novamas surveillance`"
            )
        found = None
        if {"meta", "counter", "record", "run", "word"} <= names:
            found = connection.execute("SELECT value FROM meta WHERE name = 'archive'").fetchone()
        if found is None:
            raise ArchiveError(
                f"{self.name}: this is no archive of novamas surveillance; name another database"
            )
        if found[0] != VERSION:
            raise ArchiveError(
                f"{self.name}: its version is {found[0]}, and this program knows {VERSION}; use "
                "the release that wrote it"
            )


_LATEST = "\U0010ffff"
"""Sorts after every time."""


def _take(connection: BoundedConnection) -> bool:
    """Whether this session is the recorder, until its connection ends."""
    found = connection.execute("SELECT pg_try_advisory_lock(%s)", (RECORDER_LOCK,)).fetchone()
    return found == (True,)


def _tables(connection: BoundedConnection) -> set[str]:
    found = connection.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace "
        "AND relkind IN ('r', 'p', 'v')"
    )
    return {name for (name,) in found}


def _insert(connection: BoundedConnection, rows: Sequence[Row]) -> None:
    cursor = connection.cursor()
    with cursor.copy(_COPY) as copy:
        copy.set_types(_TYPES)
        for row in rows:
            copy.write_row(_values(row))
    words = ((word, row.number) for row in rows for word in _found_by(row.record))
    with cursor.copy("COPY word FROM STDIN (FORMAT BINARY)") as copy:
        copy.set_types(("text", "int8"))
        for each in words:
            copy.write_row(each)
    events = [row.record for row in rows if row.record.kind == "event"]
    cursor.executemany(
        _RUN,
        [
            (_text(each.site), _text(each.table), _text(each.boot), each.seq, _text(each.time))
            for each in events
        ],
    )


def _drop(connection: BoundedConnection, what: Removal, rows: list[Row]) -> None:
    connection.execute("SELECT set_config('novamas.dropping', %s, true)", (str(what.through),))
    numbers = [row.number for row in rows]
    connection.execute("DELETE FROM record WHERE number = ANY(%s)", (numbers,))
    words = [(word, row.number) for row in rows for word in _found_by(row.record)]
    connection.execute(
        "DELETE FROM word USING unnest(%s::text[], %s::bigint[]) AS gone (word, number) "
        "WHERE word.word = gone.word AND word.number = gone.number",
        ([word for word, _ in words], [number for _, number in words]),
    )
    if what.kind != "event":
        return
    upto: dict[tuple[str, str, str], int] = {}
    for row in rows:
        of = (row.record.site, row.record.table, row.record.boot)
        upto[of] = max(upto.get(of, 0), row.record.seq)
    for (site, table, boot), seq in upto.items():
        run = {"site": _text(site), "place": _text(table), "boot": _text(boot), "seq": seq}
        connection.execute(_FORGET, run)


def _of(what: Removal) -> tuple[Any, ...]:
    """The values of ``_DOOMED``."""
    spared = what.spared
    return (
        what.kind,
        what.through,
        [_text(each.site) for each in spared],
        [_text(each.table) for each in spared],
        [each.first for each in spared],
        [each.last for each in spared],
    )


def _condition(query: Query) -> tuple[str, list[Any]]:
    """All but the words."""
    clauses = ["number > %s"]
    values: list[Any] = [query.after]
    each: tuple[tuple[str, Sequence[str]], ...] = (
        ("site", query.sites),
        ("place", query.tables),
        ("kind", query.kinds),
        ("type", query.types),
    )
    for name, given in each:
        if given:
            clauses.append(f"{name} = ANY(%s)")
            values.append([_text(one) for one in given])
    compared: tuple[tuple[str, str | int | None], ...] = (
        (_SESSION if query.session else "session = %s", query.session),
        ("round = %s", query.round),
        ("time >= %s", query.since),
        ("time < %s", query.until),
    )
    for clause, value in compared:
        if value is not None:
            clauses.append(clause)
            values.append(_text(value) if isinstance(value, str) else value)
    return " AND ".join(clauses), values


def _values(row: Row) -> tuple[Any, ...]:
    record = row.record
    return (
        row.number, _text(record.site), record.kind, _text(record.key), _text(record.time),
        _text(record.heard), record.body, _text(record.table), _text(record.node),
        _text(record.boot), record.seq, _text(record.type), record.session, record.round,
        [_text(word) for word in record.words],
    )  # fmt: skip


def _row(row: tuple[Any, ...]) -> Row:
    number, site, kind, key, time, heard, body, table, node, boot, seq, kind_of, *rest = row
    session, played, words = rest
    record = Record(
        site=_read(site),
        kind=kind,
        key=_read(key),
        time=_read(time),
        heard=_read(heard),
        body=bytes(body),
        table=_read(table),
        node=_read(node),
        boot=_read(boot),
        seq=seq,
        type=_read(kind_of),
        session=session,
        round=played,
        words=tuple(_read(word) for word in words),
    )
    return Row(number, record)


def _found_by(record: Record) -> set[str]:
    """The words of a record in lower case."""
    return {_text(word.casefold()) for word in (record.type, *record.words) if word}


def _text(value: str) -> str:
    if "\0" not in value and "\x1b" not in value:
        return value
    return value.replace("\x1b", "\x1b1").replace("\0", "\x1b0")


def _read(value: str) -> str:
    if "\x1b" not in value:
        return value
    return value.replace("\x1b0", "\0").replace("\x1b1", "\x1b")


def _parts(where: str) -> dict[str, Any]:
    """Raises :class:`ArchiveError`, without a word of the address: a password may be in it."""
    try:
        return conninfo_to_dict(where)
    except psycopg.Error:
        raise ArchiveError(
            "the archive's address is none of PostgreSQL; write it as "
            "postgresql://user@host:5432/database"
        ) from None


def _spelled(where: str) -> str:
    """The address for a message: without a password."""
    parts = _parts(where)
    name = parts.get("dbname") or parts.get("user") or ""
    place = f"{parts.get('host') or 'localhost'}:{parts.get('port') or 5432}"
    return f"PostgreSQL at {place}, database {name}"


def _what(error: Exception) -> str:
    """What is wrong, on one line, and what to do."""
    told = " ".join(str(error).split()).rstrip(".") or type(error).__name__
    for kinds, advice in _ADVICE:
        if isinstance(error, kinds):
            return f"{told}; {advice}"
    return f"{told}; look after the database and its log"


_ADVICE: tuple[tuple[type[Exception] | tuple[type[Exception], ...], str], ...] = (
    (psycopg.errors.DiskFull, "make room on the disk of the server"),
    (psycopg.errors.LockNotAvailable, "another program holds it; end that program"),
    (
        (psycopg.errors.InsufficientPrivilege, psycopg.errors.ReadOnlySqlTransaction),
        "let the user of this program do so: docs/inspector/surveillance.md says how",
    ),
    (psycopg.OperationalError, "look after the server and the way there; it is tried again"),
)
