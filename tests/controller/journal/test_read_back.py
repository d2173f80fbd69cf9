"""The journal in use is read back: damage on the disk is found, reported exactly, and left behind;
a sound file is not.
"""

from __future__ import annotations

import asyncio
import errno
import sqlite3
import threading
from contextlib import closing, suppress
from pathlib import Path

import pytest

from controller.journal import read_back
from controller.journal.journal import Journal
from controller.journal.read_back import ReadBack
from controller.journal.reader import JournalReader
from controller.proof import journal_upkeep
from tests.support.journal.premises import Premises
from tests.support.journal.records import record
from tests.support.waiting import TIMEOUT_SECONDS, until_async

ENTRY_COUNT = 450
"""More than a few batches."""


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_back, "READ_TIME_SHARE", 1.0)


async def filled(path: Path) -> Journal:
    journal = Journal(path)
    for future in [journal.append(record(number)) for number in range(1, ENTRY_COUNT)]:
        await future
    return journal


def where(path: Path, position: int) -> tuple[Path, int]:
    """The file and the offset in it of an entry's hash."""
    with closing(JournalReader(path)) as reader:
        digest = reader.hash_at(position)
    assert digest is not None
    for file in (path.with_name(f"{path.name}-wal"), path):
        if (found := file.read_bytes().rfind(digest)) >= 0:
            return file, found
    raise AssertionError(position)


def locked(path: Path) -> bool:
    return f":{path.stat().st_ino} " in Path("/proc/locks").read_text()


def opened() -> set[Path]:
    """The files that this process has open."""
    return {path.resolve() for path in Path("/proc/self/fd").iterdir()}


def flip(file: Path, at: int) -> None:
    with file.open("r+b", buffering=0) as opened:
        opened.seek(at)
        byte = opened.read(1)[0]
        opened.seek(at)
        opened.write(bytes([byte ^ 1]))


async def test_nothing_is_found_in_a_sound_journal_however_often_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    with closing(await filled(path)) as journal:
        reading = ReadBack(path)
        for number in range(3):
            assert await asyncio.to_thread(reading.damage, journal.id) is None
            await journal.append(record(ENTRY_COUNT + number))


async def test_one_flipped_bit_is_found_named_and_left_behind_with_the_tables_state(
    tmp_path: Path,
) -> None:
    path = tmp_path / "journal.sqlite3"
    left: list[Path | None] = []
    with closing(Journal(path, on_aside=lambda: left.append(journal.set_aside))) as journal:
        for future in [journal.append(record(number)) for number in range(1, ENTRY_COUNT)]:
            await future
        head, old = journal.head(), journal.id
        flip(*where(path, 300))
        damage = await asyncio.to_thread(ReadBack(path).damage, journal.id)
        assert damage is not None
        assert "position 300" in damage or "position 301" in damage
        journal.report_damage(old, damage)
        await journal.append(record(ENTRY_COUNT))
        await until_async(lambda: left)
        assert journal.id != old
        assert journal.head() > head
        journal.report_damage(old, damage)  # it is gone already: the one in use has done nothing
        await journal.append(record(ENTRY_COUNT + 1))
        assert len(left) == 1
        assert await asyncio.to_thread(ReadBack(path).damage, journal.id) is None


async def test_another_file_in_its_place_is_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    with closing(await filled(path)):
        flip(*where(path, 300))
        assert await asyncio.to_thread(ReadBack(path).damage, "another") is None


async def test_days_that_are_removed_meanwhile_are_no_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal.sqlite3"
    with closing(await filled(path)) as journal:
        reading = ReadBack(path)
        paused: list[int] = []

        def cut() -> bool:
            if not paused:
                with closing(sqlite3.connect(path)) as other, other:
                    digest = other.execute(
                        "SELECT hash FROM entry WHERE position = 250"
                    ).fetchone()[0]
                    other.execute("DELETE FROM entry WHERE position <= 250")
                    other.executemany(
                        "INSERT INTO meta VALUES (?, ?)",
                        [("cut", "250"), ("cut_hash", digest.hex())],
                    )
            paused.append(1)
            return False

        monkeypatch.setattr(reading, "_pause", cut)
        assert await asyncio.to_thread(reading.damage, journal.id) is None
        assert len(paused) > 2


async def test_a_header_that_is_gone_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    with closing(await filled(path)) as journal:
        for name in (path, path.with_name(f"{path.name}-wal")):
            with name.open("r+b", buffering=0) as file:
                file.write(b"\0" * 20_000)
        assert await asyncio.to_thread(ReadBack(path).damage, journal.id) is not None


@pytest.mark.parametrize(
    ("was", "is_now"),
    [
        pytest.param(b"cut_hash", b"cut_hasi", id="a key"),
        pytest.param(b"cut250", b"cut25x", id="a number"),
        pytest.param(b"CREATE TABLE meta", b"CRE\xc1TE TABLE meta", id="letters that are no text"),
        pytest.param(b"previous BLOB", b"previnus BLOB", id="a name"),
    ],
)
async def test_metadata_of_the_file_may_be_damaged_too(
    tmp_path: Path, was: bytes, is_now: bytes
) -> None:
    path = tmp_path / "journal.sqlite3"
    with closing(await filled(path)) as journal:
        before = journal.id
    with closing(sqlite3.connect(path)) as other, other:
        digest = other.execute("SELECT hash FROM entry WHERE position = 250").fetchone()[0]
        other.execute("DELETE FROM entry WHERE position <= 250")
        other.executemany(
            "INSERT INTO meta VALUES (?, ?)", [("cut", "250"), ("cut_hash", digest.hex())]
        )
    assert await asyncio.to_thread(ReadBack(path).damage, before) is None
    written = path.read_bytes()
    assert was in written
    path.write_bytes(written.replace(was, is_now))
    assert await asyncio.to_thread(ReadBack(path).damage, before) is not None


async def test_entries_that_begin_past_their_end_are_damage(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    with closing(await filled(path)) as journal:
        with closing(sqlite3.connect(path)) as other, other:
            other.executemany(
                "INSERT INTO meta VALUES (?, ?)",
                [("cut", str(journal.head() + 1)), ("cut_hash", "00" * 32)],
            )
        assert await asyncio.to_thread(ReadBack(path).damage, journal.id) is not None


async def test_a_journal_without_an_entry_is_sound(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    with closing(Journal(path)) as journal:
        assert await asyncio.to_thread(ReadBack(path).damage, journal.id) is None


async def test_a_reading_that_is_stopped_finds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    with closing(await filled(path)) as journal:
        flip(*where(path, 300))
        reading = ReadBack(path)
        reading.stop()
        assert await asyncio.to_thread(reading.damage, journal.id) is None


async def test_a_reading_can_be_stopped_at_any_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite looks at all pages of a table in one step, which on a slow disk takes minutes."""
    path = tmp_path / "journal.sqlite3"
    under_way = threading.Event()

    def endless(reader: JournalReader, *_: object) -> str | None:
        reader._connection.create_function("begun", 0, under_way.set)
        with suppress(sqlite3.OperationalError):
            reader._connection.execute(
                "WITH RECURSIVE n(i) AS (SELECT begun() UNION ALL SELECT 1 FROM n) SELECT max(i) "
                "FROM n"
            )
        return "interrupted"

    monkeypatch.setattr(JournalReader, "damage", endless)
    with closing(await filled(path)) as journal:
        reading = ReadBack(path)
        task = asyncio.create_task(asyncio.to_thread(reading.damage, journal.id))
        await asyncio.to_thread(under_way.wait)
        reading.stop()
        async with asyncio.timeout(TIMEOUT_SECONDS):
            assert await task is None


async def test_the_pages_are_not_looked_at_once_it_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal.sqlite3"
    monkeypatch.setattr(JournalReader, "damage", lambda *_: pytest.fail("they are"))
    with closing(await filled(path)) as journal:
        reading = ReadBack(path)
        reading.stop()
        assert await asyncio.to_thread(reading.damage, journal.id) is None


async def test_removed_files_are_closed(tmp_path: Path) -> None:
    path, aside = tmp_path / "journal.sqlite3", tmp_path / "aside"
    reading = ReadBack(path)
    with closing(await filled(path)) as journal:
        assert await asyncio.to_thread(reading.damage, journal.id) is None
    path.rename(aside)
    with closing(await filled(path)) as journal:
        assert await asyncio.to_thread(reading.damage, journal.id) is None
        assert aside not in opened()
        assert locked(path)


async def test_the_log_is_checkpointed_and_others_hold_their_locks_while_it_is_read(
    tmp_path: Path,
) -> None:
    """A file of the database that is opened and closed beside SQLite drops its locks."""
    path = tmp_path / "journal.sqlite3"
    with closing(await filled(path)) as journal:
        await asyncio.to_thread(ReadBack(path).damage, journal.id)
        assert locked(path)


async def test_a_failed_read_is_repeated_soon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_upkeep, "READ_BACK_RETRY_SECONDS", 0.05)
    monkeypatch.setattr(journal_upkeep, "is_fully_checked", lambda _: False)  # the first at once
    tries: list[str] = []

    def damage(_reading: ReadBack, journal: str) -> None:
        tries.append(journal)
        if len(tries) == 1:
            raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(ReadBack, "damage", damage)
    made = Premises(tmp_path / "journal.sqlite3", read_back_every=10 * TIMEOUT_SECONDS)
    reading = asyncio.create_task(made.upkeep.read_back())
    told: list[str | None] = [None]
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while len(told) < 3:
            await asyncio.sleep(0.002)
            alert = made.alerts.get("journal-read-back")
            detail = None if alert is None else alert.detail
            told += [detail] if detail != told[-1] else []
    reading.cancel()
    await made.end()
    assert "Input/output error" in str(told[1])
    assert told[2] is None
