"""The log beside the database stays small under constant load, even with readers."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from common.chain.checkpoint import key_path, make_key
from common.chain.schema import Entry
from controller.journal import read_back, writer
from controller.journal.journal import Journal
from controller.journal.read_back import ReadBack
from controller.journal.reader import JournalReader
from controller.journal.store import JournalStore
from controller.proof.sealing import seal
from tests.support.journal.records import record

MAX_LOG_BYTES = 1_000_000
MAX_COMMIT_BYTES = 200_000
"""More than the log grows by one commit of these tests."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite3"


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "LOG_FORCED_CHECKPOINT_BYTES", MAX_LOG_BYTES)
    monkeypatch.setattr(writer, "LOG_RETRY_SECONDS", 0.02)


def logged(path: Path) -> int:
    return os.stat(f"{path}-wal").st_size  # noqa: PTH116


async def load(journal: Journal, first: int, count: int) -> int:
    """Commit repeatedly, at several tables. Return the maximum size of the log."""
    most = 0
    for number in range(first, first + count):
        await journal.append(record(number, table=f"t{number % 7}", boot=f"b{number % 5}"))
        most = max(most, logged(journal.path))
    return most


async def test_constant_load_keeps_the_log_below_its_limit(path: Path) -> None:
    """Each commit writes some pages, however little it stores."""
    with closing(Journal(path)) as journal:
        assert await load(journal, 1, 600) < MAX_LOG_BYTES + MAX_COMMIT_BYTES


async def test_the_log_is_checkpointed_once_no_reader_needs_it(path: Path) -> None:
    with closing(Journal(path)) as journal:
        await load(journal, 1, 20)
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN")
            other.execute("SELECT count(*) FROM entry").fetchone()
            assert (
                await load(journal, 21, 400) > MAX_LOG_BYTES + MAX_COMMIT_BYTES
            )  # as long as another program reads its content
            other.execute("COMMIT")
        await asyncio.sleep(0.05)
        await load(journal, 421, 5)
        assert await load(journal, 426, 100) < MAX_LOG_BYTES + MAX_COMMIT_BYTES


async def test_no_reader_of_the_daemon_reads_for_long(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A day is sealed, and the pages are read back, while results come without a pause; but a
    reader must get processor time at intervals.
    """
    monkeypatch.setattr(read_back, "MAX_LOG_BYTES", MAX_LOG_BYTES // 2)
    monkeypatch.setattr(read_back, "STEPS_PER_PAUSE", 100)
    entries = JournalReader.entries

    def slow(reader: JournalReader, after: int = 0, limit: int = -1) -> object:
        assert 0 < limit <= 500
        found: list[Entry] = list(entries(reader, after, limit))
        moved.wait(0.05)
        looked.set()
        return iter(found)

    pause = ReadBack._pause

    def paused(reading: ReadBack) -> bool:
        looked.set()
        return pause(reading)

    moved, looked = threading.Event(), threading.Event()
    monkeypatch.setattr(ReadBack, "_pause", paused)
    with closing(Journal(path)) as journal:
        await load(journal, 1, 300)
        monkeypatch.setattr(JournalReader, "entries", slow)
        key = make_key(key_path(path))
        work = (
            asyncio.to_thread(seal, path, key, "b1", "2099-01-01T00:00:00.000000Z", 0, 0, 30),
            asyncio.to_thread(ReadBack(path).damage, journal.id),
        )
        for task in [asyncio.create_task(each) for each in work]:
            most, number = 0, journal.head() // 3
            while not task.done():
                most = max(most, await load(journal, number + 1, 10))
                number += 10
                await asyncio.to_thread(looked.wait, 0.1)
                looked.clear()
            await task
            assert most < 2 * MAX_LOG_BYTES


@pytest.mark.parametrize("kept_bytes", [0, MAX_LOG_BYTES])
def test_a_log_that_was_moved_is_written_over_if_it_may_be_kept(
    path: Path, kept_bytes: int
) -> None:
    """A commit that extends the file costs a flush of its metadata too."""
    store = JournalStore(path)
    try:
        for turn in range(4):
            for number in range(20):
                store.write([record(20 * turn + number)], {})
            assert 0 < store.log_size() <= logged(path) < MAX_LOG_BYTES
            assert store.move_log(kept_bytes)
            assert store.log_size() == 0
            assert (logged(path) > 0) == (kept_bytes > 0)
        grown = logged(path)
        store.write([record(99)], {})
        assert 0 < store.log_size() < 60_000
        assert logged(path) in (grown, store.log_size())
        assert store.move_log(logged(path) - 1)
        assert logged(path) == 0
    finally:
        store.end()
