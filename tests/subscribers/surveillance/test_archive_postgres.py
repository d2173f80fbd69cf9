"""What holds of the database of PostgreSQL alone."""

from __future__ import annotations

import os
import subprocess
import sys

import psycopg
import pytest

from subscribers.surveillance.archive import Query, Removal
from subscribers.surveillance.archive_postgres import CONNECTION_DEFAULTS, PostgresArchive
from subscribers.surveillance.bounded_connection import REPLY_TIMEOUT_SECONDS, SCAN_TIMEOUT_SECONDS
from subscribers.surveillance.errors import ArchiveError
from tests.subscribers.surveillance import test_archive as every
from tests.subscribers.surveillance.said import event
from tests.support.surveillance.postgres import Postgres
from tests.support.waiting import TIMEOUT_SECONDS, until

CHANGES = (
    "UPDATE record SET body = ''",
    "UPDATE record SET number = 7",
    "DELETE FROM record",
    "TRUNCATE record",
    "DELETE FROM word",
    "UPDATE word SET word = 'x'",
    "TRUNCATE word",
    "INSERT INTO record SELECT * FROM record ON CONFLICT (number) DO UPDATE SET body = ''",
)
UNINSTALLED = """
import sys
sys.modules["psycopg"] = None
from subscribers.surveillance.errors import ArchiveError
from subscribers.surveillance.open_archive import open_archive
try:
    open_archive("postgresql://nobody@/nowhere")
except ArchiveError as error:
    print(error)
"""


def test_what_is_there_is_never_changed(postgres: Postgres) -> None:
    where = postgres.database()
    archive = PostgresArchive(where)
    archive.store([event(1, words=("wheel",))])
    for change in CHANGES:
        with (
            psycopg.connect(where, autocommit=True) as other,
            pytest.raises(psycopg.errors.RaiseException),
        ):
            other.execute(change)
    assert [row.record for row in archive.find(Query(words=("wheel",)))] == [
        event(1, words=("wheel",))
    ]
    archive.close()


@pytest.mark.parametrize("spellings", [0, 20], ids=["looked up", "walked"])
def test_frequent_words_are_found_too(
    postgres: Postgres, monkeypatch: pytest.MonkeyPatch, spellings: int
) -> None:
    """The other ways to look for a word find the same."""
    monkeypatch.setattr("subscribers.surveillance.archive_postgres.FREQUENT_WORD_ROWS", 10)
    monkeypatch.setattr("subscribers.surveillance.archive_postgres.MAX_SPELLINGS", spellings)
    archive = PostgresArchive(postgres.database())
    every.test_queries_agree_with_a_list(archive)
    archive.close()


def test_a_server_that_ends_and_comes_back(postgres: Postgres) -> None:
    archive = PostgresArchive(postgres.database(), recorder=True)
    archive.store([event(1)])
    postgres.kill()
    with pytest.raises(ArchiveError, match="it is tried again"):
        archive.store([event(2)])
    with pytest.raises(ArchiveError, match="it is tried again"):
        list(archive.find(Query()))
    postgres.start()
    assert len(archive.store([event(1), event(2)]).new) == 1
    assert [row.record.seq for row in archive.find(Query())] == [1, 2]
    with pytest.raises(ArchiveError, match="another recorder"):
        PostgresArchive(archive._where, recorder=True)
    archive.close()


@pytest.mark.parametrize("records", [1, 3000], ids=["asking", "sending"])
def test_a_server_that_hangs_and_resumes(
    postgres: Postgres, monkeypatch: pytest.MonkeyPatch, records: int
) -> None:
    """The wait is bounded, and the pending records are stored once afterwards."""
    monkeypatch.setitem(CONNECTION_DEFAULTS, "connect_timeout", 2)
    archive = PostgresArchive(postgres.database(), recorder=True)
    archive.store([event(1)])
    given = [event(seq, body=b"x" * 1000) for seq in range(2, 2 + records)]
    assert archive._connection is not None
    archive._connection.reply_timeout = 0.5
    postgres.hang()
    try:
        with pytest.raises(ArchiveError, match=r"not answered for 0\.5 s: it or its disk hangs"):
            archive.store(given)
        with pytest.raises(ArchiveError, match="it is tried again"):
            archive.gaps("madrid-1")
    finally:
        postgres.go_on()

    def kept() -> bool:
        try:
            archive.store(given)
        except ArchiveError:  # the earlier session has not noticed yet that its client is gone
            return False
        return True

    until("it keeps again", kept, postgres.log)
    assert [row.record.seq for row in archive.find(Query())] == list(range(1, 2 + records))
    archive.close()


def test_a_slow_server_within_its_limits(postgres: Postgres) -> None:
    where = postgres.database()
    archive = PostgresArchive(where)
    connection = archive._connection
    assert connection is not None
    assert connection.reply_timeout == REPLY_TIMEOUT_SECONDS
    connection.reply_timeout = 0.2
    with connection.with_timeout(SCAN_TIMEOUT_SECONDS):
        assert connection.execute("SELECT 7 FROM pg_sleep(0.5)").fetchone() == (7,)
    with pytest.raises(psycopg.OperationalError, match="not answered"):
        connection.execute("SELECT pg_sleep(60)")
    with pytest.raises(ArchiveError, match="the connection is closed"):
        archive.newest_number()
    assert archive.newest_number() == 0
    archive.close()
    reader = PostgresArchive(where, read_only=True)
    assert reader._connection is not None
    assert reader._connection.reply_timeout == SCAN_TIMEOUT_SECONDS
    reader.close()


def test_a_connection_that_was_ended(postgres: Postgres) -> None:
    where = postgres.database()
    archive = PostgresArchive(where)
    with psycopg.connect(where, autocommit=True) as other:
        other.execute(
            "SELECT pg_terminate_backend(pid, %s) FROM pg_stat_activity "
            "WHERE application_name = 'novamas surveillance' AND datname = current_database()",
            [int(1000 * TIMEOUT_SECONDS)],  # it has ended when this returns
        )
    with pytest.raises(ArchiveError, match="it is tried again"):
        archive.store([event(1)])
    assert len(archive.store([event(1)]).new) == 1
    archive.close()


def test_a_commit_is_synced_whatever_the_databases_setting(postgres: Postgres) -> None:
    where = postgres.database()
    with psycopg.connect(where, autocommit=True) as other:
        name = other.info.dbname
        other.execute(f"ALTER DATABASE {name} SET synchronous_commit = off")
    archive = PostgresArchive(where)
    assert archive._connection is not None
    assert archive._connection.execute("SHOW synchronous_commit").fetchone() == ("on",)
    archive.close()


def test_a_database_that_is_no_archive(postgres: Postgres) -> None:
    where = postgres.database()
    with pytest.raises(ArchiveError, match="it has no archive yet; create it with"):
        PostgresArchive(where, read_only=True)
    with psycopg.connect(where, autocommit=True) as other:
        other.execute("CREATE TABLE chips (colour text)")
    with pytest.raises(ArchiveError, match="not an archive of novamas surveillance; name"):
        PostgresArchive(where)


def test_a_later_version(postgres: Postgres) -> None:
    where = postgres.database()
    PostgresArchive(where).close()
    with psycopg.connect(where, autocommit=True) as other:
        other.execute("UPDATE meta SET value = '9'")
    with pytest.raises(ArchiveError, match="its schema version is 9, not 1; use"):
        PostgresArchive(where)


def test_another_encoding(postgres: Postgres) -> None:
    with psycopg.connect(postgres.address("postgres"), autocommit=True) as other:
        other.execute("CREATE DATABASE latin ENCODING LATIN1 TEMPLATE template0")
    with pytest.raises(ArchiveError, match="its encoding is LATIN1; create the database again"):
        PostgresArchive(postgres.address("latin"))


def test_dropping_continues_in_batches(postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subscribers.surveillance.archive_postgres.REMOVAL_BATCH_RECORDS", 3)
    archive = PostgresArchive(postgres.database())
    archive.store([event(n) for n in range(1, 11)])
    assert archive.remove(Removal("event", 8)) == 8
    assert [row.record.seq for row in archive.find(Query())] == [9, 10]
    assert archive.gaps("madrid-1") == []
    archive.close()


def test_a_read_only_user(postgres: Postgres) -> None:
    where = postgres.database()
    archive = PostgresArchive(where)
    archive.store([event(1)])
    with psycopg.connect(where, autocommit=True) as other:
        other.execute("CREATE ROLE looker LOGIN IN ROLE pg_read_all_data")
    looker = where.replace(f"//{postgres.user}@", "//looker@")
    reader = PostgresArchive(looker, read_only=True)
    assert len(list(reader.find(Query()))) == 1
    reader.close()
    writer = PostgresArchive(looker)
    with pytest.raises(
        ArchiveError, match=r"permission denied .*docs/inspector/surveillance-archive\.md"
    ):
        writer.store([event(2)])
    writer.close()
    archive.close()


@pytest.mark.parametrize(
    "where",
    ["postgresql://n:s3cret@127.0.0.1:1/x?connect_timeout=2", "postgresql://n:s3cret@%zz/x"],
)
def test_no_password_is_logged(where: str) -> None:
    with pytest.raises(ArchiveError) as told:
        PostgresArchive(where)
    assert "s3cret" not in str(told.value)
    assert told.value.__cause__ is None


@pytest.mark.usefixtures("programs")
def test_without_psycopg() -> None:
    completed = subprocess.run(
        [sys.executable, "-c", UNINSTALLED],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert "psycopg; install it with `pip install novamas[archive]`" in completed.stdout
