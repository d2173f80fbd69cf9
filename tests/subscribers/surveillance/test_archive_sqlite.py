"""What holds of the file of SQLite alone."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest

from common.contract.times import format_utc
from subscribers.surveillance.archive import Gap, Query, Removal
from subscribers.surveillance.archive_sqlite import SQLiteArchive
from subscribers.surveillance.errors import ArchiveError
from tests.subscribers.surveillance import test_archive as every
from tests.subscribers.surveillance.said import event

REPLACED = (
    "INSERT OR REPLACE INTO record SELECT {}, site, kind, key, time, heard, x'00', place, node, "
    "boot, seq, type, session, round, words FROM record"
)
CHANGES = (
    "UPDATE record SET body = x'00'",
    "UPDATE record SET number = 7",
    "DELETE FROM record",
    "DELETE FROM word",
    "UPDATE word SET word = 'x'",
    REPLACED.format("number"),
    REPLACED.format("number + 5"),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "archive.sqlite3"


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_there_is_never_changed(path: Path, change: str) -> None:
    archive = SQLiteArchive(path)
    archive.store([event(1, words=("wheel",))])
    other = sqlite3.connect(path)
    with pytest.raises(sqlite3.IntegrityError):
        other.execute(change)
    other.close()
    assert [row.record for row in archive.find(Query(words=("wheel",)))] == [
        event(1, words=("wheel",))
    ]
    archive.close()


def change_to_release_0_3_0(path: Path) -> None:
    """Give an archive the trigger and the indexes of release 0.3.0."""
    other = sqlite3.connect(path)
    other.executescript("""
        CREATE INDEX record_seq ON record (site, place, boot, seq) WHERE kind = 'event';
        DROP TRIGGER record_not_replaced;
        CREATE TRIGGER record_not_replaced BEFORE INSERT ON record
        WHEN EXISTS (SELECT 1 FROM record
          WHERE number = NEW.number OR (site = NEW.site AND kind = NEW.kind AND key = NEW.key))
        BEGIN
          SELECT raise(ABORT, 'a record is never changed');
        END;
    """)
    other.close()


@pytest.mark.parametrize("change", CHANGES)
def test_an_archive_of_an_earlier_release_continues(path: Path, change: str) -> None:
    archive = SQLiteArchive(path)
    archive.store([event(1, words=("wheel",)), event(2)])
    archive.close()
    change_to_release_0_3_0(path)
    reader = SQLiteArchive(path, read_only=True)
    assert [row.record.seq for row in reader.find(Query())] == [1, 2]
    reader.close()
    archive = SQLiteArchive(path)
    assert [row.number for row in archive.store([event(2), event(5)]).new] == [3]
    other = sqlite3.connect(path)
    with pytest.raises(sqlite3.IntegrityError):
        other.execute(change)
    other.close()
    assert [row.record.seq for row in archive.find(Query(words=("round",)))] == [1, 2, 5]
    assert archive.gaps("madrid-1") == [Gap("madrid-1", "R1", "boot-1", 3, 4)]
    archive.close()


def test_an_archive_is_brought_up_to_date_once(path: Path) -> None:
    """A second opener changes nothing."""
    SQLiteArchive(path).close()
    other = sqlite3.connect(path)
    version = other.execute("PRAGMA schema_version").fetchone()
    SQLiteArchive(path).close()
    assert other.execute("PRAGMA schema_version").fetchone() == version
    change_to_release_0_3_0(path)
    SQLiteArchive(path).close()
    assert other.execute("PRAGMA schema_version").fetchone() != version
    other.close()


def test_a_recorder_that_could_not_open_its_archive_can_try_again(path: Path) -> None:
    """The lock against other recorders is released."""
    path.write_bytes(b"something else, longer than the head of a database" * 4)
    with pytest.raises(ArchiveError, match="file is not a database"):
        SQLiteArchive(path, recorder=True)
    path.unlink()
    SQLiteArchive(path, recorder=True).close()


def test_a_second_opener_waits_for_the_creator(path: Path) -> None:
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN EXCLUSIVE")
    ends = threading.Timer(0.3, other.execute, ["ROLLBACK"])
    ends.start()
    SQLiteArchive(path).close()
    ends.join()
    other.close()


def test_a_commit_is_synced(path: Path) -> None:
    archive = SQLiteArchive(path)
    assert archive._connection is not None
    assert archive._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert archive._connection.execute("PRAGMA synchronous").fetchone() == (2,)
    archive.close()


def test_the_file_is_of_its_owner_and_group(path: Path) -> None:
    SQLiteArchive(path).close()
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_file_that_is_no_archive(path: Path) -> None:
    path.write_bytes(b"no database, but a text of some length" * 40)
    with pytest.raises(ArchiveError, match=r"archive\.sqlite3: file is not a database; name"):
        SQLiteArchive(path)
    path.unlink()
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE entry (position INTEGER)")
    other.close()
    with pytest.raises(ArchiveError, match="not an archive of novamas"):
        SQLiteArchive(path)


def test_a_later_version(path: Path) -> None:
    SQLiteArchive(path).close()
    with sqlite3.connect(path) as other:
        other.execute("UPDATE meta SET value = '9'")
    other.close()
    with pytest.raises(ArchiveError, match="its schema version is 9, not 1"):
        SQLiteArchive(path, read_only=True)


def test_a_missing_archive_cannot_be_read(path: Path) -> None:
    with pytest.raises(ArchiveError, match=r"No such file .*create it with `novamas surveillance`"):
        SQLiteArchive(path, read_only=True)
    assert not path.exists()


def test_a_full_file_stores_nothing_and_recovers(path: Path) -> None:
    archive = SQLiteArchive(path)
    archive.store([event(1)])
    assert archive._connection is not None
    pages = archive._connection.execute("PRAGMA page_count").fetchone()[0]
    archive._connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(ArchiveError, match="disk is full; make room on the disk"):
        archive.store([event(2), event(3, body=bytes(100_000))])
    assert [row.record.seq for row in archive.find(Query())] == [1]
    archive._connection.execute("PRAGMA max_page_count = 1000000")
    assert len(archive.store([event(2)]).new) == 1
    archive.close()


def test_frequent_words_are_found_too(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other way to look for a word finds the same."""
    monkeypatch.setattr("subscribers.surveillance.archive_sqlite.FREQUENT_WORD_ROWS", 10)
    archive = SQLiteArchive(path)
    every.test_queries_agree_with_a_list(archive)
    archive.close()


def test_dropping_continues_in_batches(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subscribers.surveillance.archive_sqlite.REMOVAL_BATCH_RECORDS", 3)
    archive = SQLiteArchive(path)
    archive.store([event(n) for n in range(1, 11)])
    assert archive.remove(Removal("event", 8)) == 8
    assert [row.record.seq for row in archive.find(Query())] == [9, 10]
    assert archive.gaps("madrid-1") == []
    archive.close()


def test_gaps_are_found_in_an_index_alone(path: Path) -> None:
    archive = SQLiteArchive(path)
    archive.store([event(1), event(3)])
    assert archive._connection is not None
    asked: list[str] = []
    archive._connection.set_trace_callback(asked.append)
    assert len(archive.gaps("madrid-1")) == 1
    archive._connection.set_trace_callback(None)
    plan = [row[3] for row in archive._connection.execute(f"EXPLAIN QUERY PLAN {asked[-1]}")]
    assert any(step.startswith("SEARCH record USING COVERING INDEX record_key") for step in plan)
    archive.close()


@pytest.mark.parametrize(
    "query",
    [
        Query(tables=("R1",), limit=10, order="latest"),
        Query(tables=("R1", "R2"), since=format_utc(1_790_000_000)),
        Query(types=("round.void",), limit=10),
        Query(kinds=("finding",)),
        Query(session=1, round=2),
        Query(since=format_utc(1_790_000_000), until=format_utc(1_790_000_009)),
        Query(words=("ara02-014",), order="number"),
    ],
    ids=str,
)
def test_no_usual_query_reads_everything(path: Path, query: Query) -> None:
    """Each walks an index in its order: nothing is sorted, no table is scanned."""
    archive = SQLiteArchive(path)
    archive.store([event(1)])
    assert archive._connection is not None
    asked: list[str] = []
    archive._connection.set_trace_callback(asked.append)
    list(archive.find(query))
    archive._connection.set_trace_callback(None)
    selects = [each for each in asked if each.startswith("SELECT number")]
    assert selects
    for each in selects:
        plan = [row[3] for row in archive._connection.execute(f"EXPLAIN QUERY PLAN {each}")]
        assert not [step for step in plan if step.startswith("SCAN record")], plan
        assert not [step for step in plan if "TEMP B-TREE" in step], plan
    archive.close()
