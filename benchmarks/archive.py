"""Speed of the surveillance archive, in SQLite and in PostgreSQL, compared with scripts that only
insert and write: storing records, and exporting them to files.

The programs take turns with the same records, as many as a recorder stores at once, and each
commits them to the disk, so that a disturbance of the machine affects all of them.
"""

from __future__ import annotations

import csv
import json
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path

import psycopg

from benchmarks.figures import row
from common.contract.times import format_utc
from subscribers.surveillance.archive import ArchiveRecord, Query
from subscribers.surveillance.archive_postgres import PostgresArchive
from subscribers.surveillance.archive_sqlite import SQLiteArchive
from subscribers.surveillance.export import WRITERS, export
from tests.support.surveillance.postgres import Postgres

RECORDS_PER_TURN = 100
"""Records per turn."""
TABLES = 50
_TABLE = "CREATE TABLE record (key TEXT PRIMARY KEY, time TEXT NOT NULL, body {} NOT NULL)"

StoreRecords = Callable[[Sequence[ArchiveRecord]], object]


def main(records: int) -> None:
    """Measure and print."""
    with ExitStack() as ending, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server = Postgres(fsync="on")
        ending.callback(server.close)
        server.start()
        sqlite, postgres = SQLiteArchive(folder / "archive"), PostgresArchive(server.database())
        ending.callback(sqlite.close)
        ending.callback(postgres.close)
        plain, other = _sqlite(folder / "plain"), _postgres(server.database())
        ending.callback(plain.close)
        ending.callback(other.close)
        programs: dict[str, StoreRecords] = {
            "sqlite script": lambda batch: _plain_sqlite(plain, batch),
            "sqlite archive": sqlite.store,
            "postgres script": lambda batch: _plain_postgres(other, batch),
            "postgres archive": postgres.store,
        }
        for line in measure_storing(programs, records):
            print(line, flush=True)
        for line in measure_exports(folder, sqlite, plain):
            print(line, flush=True)


def measure_storing(programs: dict[str, StoreRecords], records: int) -> Iterator[str]:
    """Measure storing the same records with each program."""
    spent = dict.fromkeys(programs, 0.0)
    cpu = dict.fromkeys(programs, 0.0)
    for first in range(0, records, RECORDS_PER_TURN):
        batch = [
            make_event(number) for number in range(first, min(first + RECORDS_PER_TURN, records))
        ]
        for name, store in programs.items():
            start, worked = time.monotonic(), time.process_time()
            store(batch)
            spent[name] += time.monotonic() - start
            cpu[name] += time.process_time() - worked
    yield f"\n{records:,} events stored, {RECORDS_PER_TURN} at once, each time on the disk\n"
    yield row("", "records/s", "µs CPU", "ratio", "CPU ratio", width=12)
    for name in programs:
        script = f"{name.split()[0]} script"
        ratios = (spent[name] / spent[script], cpu[name] / cpu[script])
        yield row(name, round(records / spent[name]), cpu[name] / records * 1e6, *ratios, width=12)


def measure_exports(
    folder: Path, archive: SQLiteArchive, plain: sqlite3.Connection
) -> Iterator[str]:
    """Measure exporting all records to each format."""
    count = archive.newest_number()
    yield f"\n{count:,} events written to a file\n"
    yield row("", "records/s", "MB", "ratio", "CPU ratio", width=12)
    script = folder / "script.csv"

    def plainly() -> None:
        with script.open("w", newline="") as file:
            csv.writer(file).writerows(plain.execute("SELECT key, time, body FROM record"))

    baseline = _measure_call(plainly)
    yield row("csv script", round(count / baseline[0]), _mb(script), 1.0, 1.0, width=12)
    for form in WRITERS:
        path = folder / f"export.{form}"
        figures = _measure_call(partial(export, archive.find(Query()), form, path))
        ratios = (figures[0] / baseline[0], figures[1] / baseline[1])
        yield row(form, round(count / figures[0]), _mb(path), *ratios, width=12)


def _measure_call(call: Callable[[], object]) -> tuple[float, float]:
    """Return elapsed seconds, and seconds of CPU."""
    start, worked = time.monotonic(), time.process_time()
    call()
    return time.monotonic() - start, time.process_time() - worked


def _mb(path: Path) -> float:
    return path.stat().st_size / 1e6


def make_event(number: int) -> ArchiveRecord:
    """Return an event as published by a wheel's table."""
    table, seq, moment = (
        f"ruleta-{number % TABLES}",
        number // TABLES + 1,
        format_utc(1.79e9 + number),
    )
    frames = [{"at": number / 4, "frame": f"*X;{n};017;17;0;{number:03d}"} for n in range(4)]
    outcome = {"family": "roulette", "number": number % 37, "colour": "black", "parity": "odd"}
    body = {
        "type": "round.result", "site": "casino-mayor", "table": table, "game": "roulette-french",
        "decree": "ARA02", "boot": "9f8e7d6c", "seq": seq, "time": moment,
        "mono_ns": number * 10**9, "session": 3, "round": seq, "outcome": outcome, "frames": frames,
    }  # fmt: skip
    return ArchiveRecord(
        site="casino-mayor",
        kind="event",
        key=f"{table}:9f8e7d6c:{seq}",
        time=moment,
        received=moment,
        body=json.dumps(body).encode(),
        table=table,
        boot="9f8e7d6c",
        seq=seq,
        type="round.result",
        session=3,
        round=seq,
        words=("wheel-1",),
    )


def _sqlite(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(_TABLE.format("BLOB"))
    return connection


def _postgres(where: str) -> psycopg.Connection:
    connection = psycopg.connect(where, autocommit=True)
    connection.execute(_TABLE.format("bytea").encode())
    return connection


def _plain_sqlite(connection: sqlite3.Connection, records: Sequence[ArchiveRecord]) -> None:
    with closing(connection.cursor()) as cursor:
        cursor.execute("BEGIN")
        cursor.executemany(
            "INSERT INTO record VALUES (?, ?, ?)", [(e.key, e.time, e.body) for e in records]
        )
        cursor.execute("COMMIT")


def _plain_postgres(connection: psycopg.Connection, records: Sequence[ArchiveRecord]) -> None:
    with connection.transaction(), connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO record VALUES (%s, %s, %s)", [(e.key, e.time, e.body) for e in records]
        )
