"""The journal, with real files."""

from __future__ import annotations

import asyncio
import gc
import shutil
import sqlite3
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from common.chain.schema import JournalFullError, JournalUnusableError, Row
from controller.journal import file, writer
from controller.journal.journal import PUBLISHER_CURSOR, Journal
from controller.journal.reader import JournalReader, first_broken
from controller.journal.store import JournalStore
from tests.support.journal.records import record
from tests.support.programs import running
from tests.support.waiting import TIMEOUT_SECONDS, until_async

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file, "OPEN_RETRY_SECONDS", 0.0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite3"


def program(name: str, path: Path) -> AbstractContextManager[subprocess.Popen[bytes]]:
    words = [sys.executable, "-m", "tests.support.journal.records", name, str(path)]
    return running(words, cwd=ROOT, stdout=subprocess.PIPE)


@contextmanager
def broken_by(path: Path, statement: str) -> Iterator[sqlite3.Connection]:
    """Another program changes the file in the background."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement)
        yield connection


async def test_resolved_records_are_stored(path: Path) -> None:
    with closing(Journal(path)) as journal:
        assert await journal.append(record(1)) == 3
        with closing(JournalReader(path)) as reader:
            entries = list(reader.entries())
        assert [(e.position, e.kind, e.seq, e.body) for e in entries] == [
            (1, "input", 0, b"input 1"),
            (2, "event", 1, b"event 1"),
            (3, "event", 2, b"event 2 xxxxxxxxxx"),
        ]
        assert journal.saved_state("t1") == b"state 1"
        assert journal.saved_state("t2") is None
        assert journal.head() == 3


async def test_records_of_several_tables_keep_their_order(path: Path) -> None:
    with closing(Journal(path)) as journal, closing(journal.open_reader()) as reader:
        waiting = [
            journal.append(record(n, table=table))
            for n in range(1, 400)
            for table in ("t1", "t2", "t3")
        ]
        positions = await asyncio.gather(*waiting)
        assert positions == list(range(3, 3 * len(waiting) + 1, 3))
        events = journal.events_after(0, 10_000)
        for table in ("t1", "t2", "t3"):
            assert [e.seq for e in events if e.table == table] == list(range(1, 799))
            assert journal.saved_state(table) == b"state 399"
        assert [e.seq for e in reader.events_of_boot("t2", "b1", 790, 5)] == [
            791,
            792,
            793,
            794,
            795,
        ]
        assert [e.position for e in journal.events_after(3, 3)] == [5, 6, 8]
        assert reader.events_of_boot("t2", "other boot", 0, 5) == []


async def test_events_onward_are_those_of_later_boots_too(path: Path) -> None:
    with closing(Journal(path)) as journal, closing(journal.open_reader()) as reader:
        for boot in ("b1", "b2", "b3"):
            for table in ("t1", "t2"):
                await journal.append(record(1, table=table, boot=boot))
        onward = [(e.boot, e.seq) for e in reader.events_since("t2", "b1", 1, 100)]
        assert onward == [("b1", 2), ("b2", 1), ("b2", 2), ("b3", 1), ("b3", 2)]
        assert [(e.boot, e.seq) for e in reader.events_since("t2", "b2", 0, 3)] == onward[1:4]
        assert reader.events_since("t2", "b3", 2, 100) == []
        assert len(reader.events_since("t2", "other boot", 7, 100)) == 6


async def test_the_chain_continues_after_a_restart(path: Path) -> None:
    for boot in ("b1", "b2", "b3"):
        with closing(Journal(path)) as journal:
            for number in (1, 2):
                await journal.append(record(number, boot=boot))
            assert journal.set_aside is None
    with closing(JournalReader(path)) as reader:
        assert reader.head().position == 18
        assert first_broken(reader) is None
        assert first_broken(reader, after=7) is None


@pytest.mark.parametrize(
    ("statement", "position"),
    [
        ("UPDATE entry SET body = 'other' WHERE position = 4", 4),
        ("UPDATE entry SET seq = 7 WHERE position = 2", 2),
        ("UPDATE entry SET time = '2020' WHERE position = 9", 9),
        ("DELETE FROM entry WHERE position = 5", 5),
        ("DELETE FROM entry WHERE position = 1", 1),
        ("UPDATE meta SET value = 'other' WHERE key = 'id'", 1),
    ],
)
async def test_a_changed_entry_is_found(path: Path, statement: str, position: int) -> None:
    with closing(Journal(path)) as journal:
        await asyncio.gather(*(journal.append(record(n)) for n in range(1, 4)))
    with broken_by(path, statement), closing(JournalReader(path)) as reader:
        assert first_broken(reader) == position


async def test_cursors_are_stored(path: Path) -> None:
    with closing(Journal(path)) as journal:
        assert journal.ask(JournalReader.cursors) == {}
        await journal.append(record(1))
        journal.move_cursor(2)
        journal.move_cursor(3)
        journal.move_cursor(1, "archive")
    with closing(Journal(path)) as journal:
        assert journal.ask(JournalReader.cursors) == {PUBLISHER_CURSOR: 3, "archive": 1}


@pytest.mark.usefixtures("programs")
def test_a_journal_killed_at_any_time_has_all_acknowledged_records(path: Path) -> None:
    for lines in (1, 50, 333):
        with program("until_killed", path) as process:
            assert process.stdout is not None
            said = [process.stdout.readline() for _ in range(lines)]
            process.kill()
            said += process.stdout.readlines()
        acknowledged = int([line for line in said if line.endswith(b"\n")][-1])
        with closing(JournalReader(path)) as reader:
            assert first_broken(reader) is None
            stored = [e.mono_ns for e in reader.entries() if e.kind == "input"]
            assert stored == list(range(1, len(stored) + 1))
            assert len(stored) >= acknowledged
            assert reader.saved_state("t1") == b"state %d" % len(stored)


@pytest.mark.usefixtures("programs")
def test_a_full_disk_loses_nothing_and_acknowledges_nothing(path: Path) -> None:
    with program("on_a_full_disk", path) as process:
        assert process.wait() == 0
    with closing(JournalReader(path)) as reader:
        assert first_broken(reader) is None
        assert [e.mono_ns for e in reader.entries() if e.kind == "input"] == list(range(1, 12))


async def test_closed_while_the_disk_is_full_nothing_is_acknowledged(path: Path) -> None:
    journal = Journal(path)
    await journal.append(record(1))
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute(
            "CREATE TRIGGER full BEFORE INSERT ON entry BEGIN SELECT raise(ABORT, 'no room'); END"
        )
        stored = journal.append(record(2))
        await asyncio.to_thread(journal.close)
        with pytest.raises(JournalUnusableError, match="closed before it was stored: no room"):
            await stored
    with pytest.raises(JournalUnusableError, match="closed"):
        journal.append(record(3))


async def test_what_no_one_waits_for_is_no_error_of_the_event_loop(path: Path) -> None:
    """A stop on a failing disk: the records and the probe were abandoned before."""
    errors: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, error: errors.append(error))
    journal = Journal(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        for name in ("entry", "cursor"):
            other.execute(
                f"CREATE TRIGGER full_{name} BEFORE INSERT ON {name} "
                "BEGIN SELECT raise(ABORT, 'no room'); END"
            )
        waiting = weakref.WeakSet([journal.append(record(1)), journal.probe()])
        for future in waiting:
            with suppress(TimeoutError):
                async with asyncio.timeout(0):
                    await asyncio.shield(future)
        await asyncio.to_thread(journal.close)
    del future
    await asyncio.sleep(0)
    gc.collect()
    assert errors == []
    assert not waiting


async def test_too_much_in_memory_is_refused(path: Path) -> None:
    changes: asyncio.Queue[str | None] = asyncio.Queue()
    with closing(Journal(path, changes.put_nowait, capacity=2)) as journal:
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute(
                "CREATE TRIGGER full BEFORE INSERT ON entry BEGIN SELECT raise(ABORT, 'no room'); "
                "END"
            )
            waiting = [journal.append(record(1)), journal.append(record(2))]
            assert await changes.get() == f"{path}: no room"
            with pytest.raises(JournalFullError, match=r"2 records wait .* no room"):
                journal.append(record(3))
            other.execute("DROP TRIGGER full")
        assert await asyncio.gather(*waiting) == [3, 6]
        assert await changes.get() is None
        assert await journal.append(record(3)) == 9


async def test_a_file_that_was_changed_while_open_is_not_added_to(path: Path) -> None:
    changes: asyncio.Queue[str | None] = asyncio.Queue()
    with closing(Journal(path, changes.put_nowait)) as journal:
        await journal.append(record(1))
        with broken_by(path, "DELETE FROM entry WHERE position = 3") as other:
            other.execute(
                "CREATE TRIGGER full BEFORE INSERT ON entry BEGIN SELECT raise(ABORT, 'no room'); "
                "END"
            )
            stored = journal.append(record(2))
            assert await changes.get() == f"{path}: no room"
            assert "no longer holds what was stored" in str(await changes.get())
            aside = await stored, journal.set_aside
        assert aside[1] is not None
        assert aside[1].exists()


async def test_a_commit_that_failed_but_is_there_is_not_stored_twice(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = 0

    def unreported(
        store: JournalStore,
        made: list[Row],
        saved: list[tuple[str, bytes, int]],
        moves: dict[str, int],
    ) -> None:
        """The first commit of several records succeeds, but the disk reports an error."""
        nonlocal failures
        commit(store, made, saved, moves)
        if len(made) > 3 and not failures:
            failures += 1
            raise OSError("no answer")

    commit = JournalStore.commit
    monkeypatch.setattr(JournalStore, "commit", unreported)
    with closing(Journal(path)) as journal:
        await journal.append(record(1))
        assert await asyncio.gather(*(journal.append(record(n)) for n in (2, 3))) == [6, 9]
        assert failures == 1
        assert [e.seq for e in journal.events_after(0, 100)] == [1, 2, 3, 4, 5, 6]


LETTERS = {
    "time that is no text": (b"2025-09-23T07", b"2025-09\xc123T07"),
    "table that is no text": (b"CREATE TABLE meta", b"CRE\xc1TE TABLE meta"),
    "another column": (b"previous BLOB", b"previnus BLOB"),
}
"""A few changed bits on the disk: the old bytes and the new ones."""


def damage(path: Path, how: str) -> bytes:
    """Damage the file; return the remaining size."""
    whole = path.read_bytes()
    if how == "no database":
        path.write_bytes(b"x" * len(whole))
    elif how == "cut":
        path.write_bytes(whole[: len(whole) // 2])
    elif how in LETTERS:
        was, is_now = LETTERS[how]
        assert was in whole
        path.write_bytes(is_now.join(whole.rsplit(was, 1)))
    elif how == "zeroed page":
        path.write_bytes(whole[:8192] + bytes(4096) + whole[12288:])
    else:
        with broken_by(path, "UPDATE entry SET body = 'other' WHERE position = 800"):
            pass
    return path.read_bytes()


@pytest.mark.parametrize("how", ["no database", "cut", "zeroed page", "chain", *LETTERS])
async def test_a_damaged_file_is_set_aside(path: Path, how: str) -> None:
    with closing(Journal(path)) as journal:
        await asyncio.gather(*(journal.append(record(n)) for n in range(1, 300)))
    left = damage(path, how)
    with closing(Journal(path)) as journal:
        assert journal.set_aside is not None
        assert journal.set_aside.name.startswith("journal.sqlite3.corrupt-")
        assert journal.set_aside.read_bytes() == left
        begins = journal.head()
        assert begins == (
            897 if how in ("chain", "time that is no text") else 0
        )  # the next file continues where it can be read
        assert await journal.append(record(1)) == begins + 3
    with closing(Journal(path)) as journal:
        assert journal.set_aside is None
        assert journal.head() == begins + 3


async def test_only_one_daemon_uses_a_journal(path: Path) -> None:
    with closing(Journal(path)), pytest.raises(JournalUnusableError, match="another daemon"):
        Journal(path)
    Journal(path).close()


@pytest.mark.usefixtures("programs")
def test_the_lock_ends_with_its_process(path: Path) -> None:
    with program("until_killed", path) as process:
        assert process.stdout is not None
        process.stdout.readline()
        with pytest.raises(JournalUnusableError, match="another daemon"):
            Journal(path)
    Journal(path).close()


def test_a_file_that_is_no_journal_is_left_alone(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE things (name)")
    with pytest.raises(JournalUnusableError, match="not a journal"):
        Journal(path)
    assert not list(path.parent.glob("*corrupt*"))


def test_a_journal_of_another_release_is_left_alone(path: Path) -> None:
    Journal(path).close()
    with (
        broken_by(path, "UPDATE meta SET value = '99' WHERE key = 'version'"),
        pytest.raises(JournalUnusableError, match="format 99"),
    ):
        Journal(path)


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalUnusableError, match=r"file/journal\.sqlite3: "):
        Journal(tmp_path / "file" / "journal.sqlite3")


def test_reading_a_file_that_is_no_journal(tmp_path: Path) -> None:
    with pytest.raises(JournalUnusableError, match="none"):
        JournalReader(tmp_path / "none")
    (tmp_path / "text").write_text("text")
    with pytest.raises(JournalUnusableError, match="text"):
        JournalReader(tmp_path / "text")


def test_an_empty_file_becomes_a_journal(path: Path) -> None:
    path.touch()
    with closing(Journal(path)) as journal:
        assert journal.set_aside is None
    with closing(JournalReader(path)) as reader:
        assert reader.head().position == 0
        assert first_broken(reader) is None


async def test_a_file_is_truncated_without_any_pause(path: Path) -> None:
    with closing(Journal(path)) as journal, closing(JournalReader(path)) as reader:
        for number in range(1, 601):
            stored = journal.append(record(number))
        end = await stored
        journal.remove_through(end - 3)
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while reader.beginning().position < end - 3:
                number += 1
                await journal.append(record(number))
        assert first_broken(reader) is None


@pytest.mark.parametrize("work", ["write", "move_log", "remove"])
async def test_a_writer_that_waits_for_the_disk_reports_for_how_long(
    path: Path, work: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it waits with, nothing else is stored meanwhile."""
    answered = threading.Event()
    usual = getattr(JournalStore, work)

    def hang(*arguments: object) -> object:
        assert answered.wait(TIMEOUT_SECONDS)
        return usual(*arguments)

    monkeypatch.setattr(writer, "LOG_CHECKPOINT_BYTES", 0)
    with closing(Journal(path)) as journal:
        end = await journal.append(record(1), record(2))
        await until_async(lambda: journal.busy_seconds == 0.0)
        monkeypatch.setattr(JournalStore, work, hang)
        stored = journal.append(record(3))
        journal.remove_through(end - 3)
        await until_async(lambda: journal.busy_seconds > 0.3)
        answered.set()
        await stored
        await until_async(lambda: journal.busy_seconds == 0.0)


async def test_a_writer_is_idle_after_a_commit_has_failed_and_succeeded(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit, tries = JournalStore.commit, iter((True, False))

    def failing(store: JournalStore, *what: Any) -> None:
        if next(tries):
            raise OSError("no answer")
        commit(store, *what)

    monkeypatch.setattr(writer, "FIRST_RETRY_SECONDS", 0.0)
    with closing(Journal(path)) as journal:
        monkeypatch.setattr(JournalStore, "commit", failing)
        await journal.append(record(1))
        await until_async(lambda: journal.busy_seconds == 0.0)


async def test_a_start_flushes_what_an_earlier_process_has_left_in_the_log(
    path: Path, tmp_path: Path
) -> None:
    """That process may have been killed before it did, and the power may fail at any time."""
    killed, cut = tmp_path / "killed", tmp_path / "cut"
    killed.mkdir()
    cut.mkdir()
    with closing(Journal(path)) as journal:
        await journal.append(record(1))
        for suffix in ("", "-wal"):
            shutil.copyfile(f"{path}{suffix}", killed / f"{path.name}{suffix}")
    with closing(Journal(killed / path.name)) as journal:
        found = journal.events_after(0, 9)
        shutil.copyfile(killed / path.name, cut / path.name)  # without its log
    with closing(Journal(cut / path.name)) as journal:
        assert journal.events_after(0, 9) == found != []
