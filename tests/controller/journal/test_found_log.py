"""What an earlier run has left in the log is published only once it is on the disk."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from common.chain.wal_index import RESERVED_BYTES
from controller.journal import store
from controller.journal.journal import Journal
from controller.journal.reader import JournalReader
from tests.support.journal.records import record


@pytest.fixture
async def killed(tmp_path: Path) -> Path:
    """A journal with a long log, as its daemon left it when it was killed."""
    path, left = tmp_path / "running.sqlite3", tmp_path / "journal.sqlite3"
    with closing(Journal(path)) as journal:
        for number in range(1, 50):
            await journal.append(record(number, size=8_000))
        for suffix in ("", "-wal"):
            shutil.copyfile(f"{path}{suffix}", f"{left}{suffix}")
    return left


@contextmanager
def no_room_beyond(size: int) -> Iterator[None]:
    """Let no file of this process grow beyond that size."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


async def test_a_log_that_cannot_be_moved_counts_as_stored_only_after_a_commit(
    killed: Path,
) -> None:
    room = RESERVED_BYTES  # what the index of the log needs
    with no_room_beyond(room):
        journal = Journal(killed)
        assert not journal.is_flushed
    with closing(journal):
        position = await journal.append(record(50))
        assert journal.is_flushed
    assert os.stat(killed).st_size > room  # noqa: PTH116 - the log was moved
    with closing(JournalReader(killed)) as reader:
        assert reader.head().position == position
        assert reader.damage() is None


async def test_a_log_that_was_moved_counts_as_stored_at_once(killed: Path) -> None:
    with closing(Journal(killed)) as journal:
        assert journal.is_flushed


async def test_a_log_that_another_program_reads_is_flushed_where_it_is(
    killed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was written after that program began to read cannot be moved yet."""
    flushed: list[str] = []
    flush = store._flush_file

    def note(path: str) -> None:
        flushed.append(path)
        flush(path)

    monkeypatch.setattr(store, "_flush_file", note)
    with (
        closing(JournalReader(killed)) as other,
        closing(sqlite3.connect(killed, isolation_level=None)) as writer,
    ):
        entries = other.entries()
        next(iter(entries))
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        writer.execute("INSERT INTO cursor VALUES ('test', 1)")
        with closing(Journal(killed)) as journal:
            assert journal.is_flushed
            assert flushed == [f"{killed}-wal"]
            await journal.append(record(50))
