"""A journal that is damaged, cut or removed, at rest and in use: it never raises, keeps its
readable content, and reports the damage.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from controller.journal import file
from controller.journal.file import open_or_replace
from controller.journal.journal import PUBLISHER_CURSOR, Journal
from controller.journal.reader import JournalReader, first_broken
from tests.support.journal.premises import Premises
from tests.support.journal.records import record

TAIL_BYTES = 4096
"""Bytes at the end: one page."""
EDGE_BYTES = 64
"""Bytes after the start and before the end at each of which the short form also cuts; in between,
at one in sixteen.
"""


def cuts(size: int, *, long: bool) -> list[int]:
    """The sizes to which a file of this size is cut."""
    return [
        cut
        for cut in range(size - TAIL_BYTES, size)
        if long
        or not EDGE_BYTES <= cut - (size - TAIL_BYTES) < TAIL_BYTES - EDGE_BYTES
        or cut % 16 == 0
    ]


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file, "OPEN_RETRY_SECONDS", 0.0)


def copy(path: Path, folder: Path, database: bytes, log: bytes | None) -> Path:
    """A journal as it is found after a power failure."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    made = folder / path.name
    made.write_bytes(database)
    if log is not None:
        made.with_name(f"{path.name}-wal").write_bytes(log)
    return made


def opened(path: Path) -> tuple[int, bool]:
    """The number of remaining entries, and True if the file was set aside."""
    connection, aside = open_or_replace(path)
    connection.close()
    with closing(JournalReader(path)) as reader:
        assert first_broken(reader) is None
        return reader.head().position, aside is not None


async def test_a_log_cut_at_any_byte_of_its_end_keeps_every_commit_before_the_cut(
    memory: Path, long: bool
) -> None:
    path = memory / "journal.sqlite3"
    log = f"{path}-wal"
    sizes = [(0, 0)]
    with closing(Journal(path)) as journal:
        for number in range(1, 30):
            end = await journal.append(record(number))
            sizes.append((os.stat(log).st_size, end))  # noqa: PTH116
        database, logged = path.read_bytes(), path.with_name(f"{path.name}-wal").read_bytes()
    for cut in cuts(len(logged), long=long):
        left, aside = opened(copy(path, memory / "cut", database, logged[:cut]))
        assert not aside
        assert left == max(end for size, end in sizes if size <= cut)


async def test_a_file_cut_at_any_byte_of_its_end_is_set_aside(memory: Path, long: bool) -> None:
    path = memory / "journal.sqlite3"
    with closing(Journal(path)) as journal:
        await asyncio.gather(*(journal.append(record(number)) for number in range(1, 40)))
    whole = path.read_bytes()
    assert opened(copy(path, memory / "cut", whole, None)) == (117, False)
    for cut in cuts(len(whole), long=long):
        left, aside = opened(copy(path, memory / "cut", whole[:cut], None))
        assert aside
        assert 0 <= left <= 117  # the next file continues where this one can be read


@pytest.mark.parametrize("how", ["zeroed", "removed", "replaced"])
async def test_a_file_damaged_in_use_is_set_aside_and_continued(tmp_path: Path, how: str) -> None:
    path = tmp_path / "journal.sqlite3"
    told: asyncio.Queue[str | None] = asyncio.Queue()
    asides: list[None] = []
    with closing(Journal(path, told.put_nowait, on_aside=lambda: asides.append(None))) as journal:
        for number in range(1, 50):
            await journal.append(record(number, size=5000))
        journal.move_cursor(141)
        head = journal.head()
        chain = journal.id
        if how == "zeroed":
            with closing(sqlite3.connect(path, isolation_level=None)) as other:
                other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            whole = path.read_bytes()
            with path.open("r+b") as file:
                for page in range(1, len(whole) // 4096):
                    file.seek(page * 4096)
                    file.write(bytes(4096))
        elif how == "removed":
            path.unlink()
        else:
            other_journal = Journal(tmp_path / "other.sqlite3")
            other_journal.close()
            (tmp_path / "other.sqlite3").replace(path)
        assert await journal.append(record(50)) > head
        assert journal.set_aside is not None
        assert len(asides) == 1
        assert journal.id != chain
        assert journal.saved_state("t1") == b"state 50"
        assert await told.get() is not None
        while await told.get() is not None:
            pass
        fresh = [entry.body for entry in journal.events_after(head, 10)]
        assert fresh == [b"event 99", b"event 100 xxxxxxxxxx"]
    with closing(Journal(path)) as journal:
        assert journal.set_aside is None
        assert journal.ask(JournalReader.cursors)[PUBLISHER_CURSOR] >= 141
        with closing(JournalReader(path)) as reader:
            assert first_broken(reader) is None
            assert reader.base() == head


async def test_unpublished_events_are_taken_over_from_a_damaged_file(
    tmp_path: Path,
) -> None:
    path = tmp_path / "journal.sqlite3"
    with closing(Journal(path)) as journal:
        for number in range(1, 6):
            await journal.append(record(number))
        journal.move_cursor(6)
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("DELETE FROM entry WHERE position = 15")
            other.execute(
                "CREATE TRIGGER full BEFORE INSERT ON entry BEGIN SELECT raise(ABORT, 'no room'); "
                "END"
            )
            assert await journal.append(record(6)) > 15
        unheard = journal.events_after(6, 100)
        assert [entry.seq for entry in unheard] == [5, 6, 7, 8, 9]
        following = journal.events_after(unheard[-1].position, 100)
        assert [entry.seq for entry in following] == [11, 12]
        assert following[0].position > unheard[-1].position


async def test_a_table_continues_in_the_new_file_and_after_the_next_start(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    run = Premises(path)
    run.receive(*[b"*X;6;001;  ;0;000;0"] * 4)
    await run.open()
    run.spin(2, 17)
    run.receive(b"*X;2;003;17;0;165;1", b"*X;3;003;17;0;165;1")
    await run.runner.drain()
    path.unlink()
    run.receive(b"*X;4;003;17;0;165;1")
    await run.end()
    again = Premises(path, at=1.0)
    assert again.journal.set_aside is None
    again.receive(*[b"*X;5;003;32;0;165;1"] * 4)
    await again.runner.drain()
    events = [bytes(entry.body) for entry in again.journal.events_after(0, 100)]
    assert any(
        b'"round.unresolved"' in event and b'"round":2' in event and b'"candidate":32' in event
        for event in events
    )
    assert not any(b'"round.result"' in event for event in events)
    await again.end()


async def test_a_file_is_found_damaged_twice_before_it_is_set_aside_however_long_that_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal.sqlite3"
    with closing(Journal(path)) as journal:
        await journal.append(record(1))
    check = file._check
    checks: list[Path] = []

    def slow(path: Path, connection: sqlite3.Connection) -> None:
        checks.append(path)
        if len(checks) == 1:
            time.sleep(0.1)
            raise file.DamagedFileError("what the disk gave once")
        check(path, connection)

    monkeypatch.setattr(file, "OPEN_TIMEOUT_SECONDS", 0.05)
    monkeypatch.setattr(file, "_check", slow)
    assert opened(path) == (3, False)
    assert len(checks) == 2
