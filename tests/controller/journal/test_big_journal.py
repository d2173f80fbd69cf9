"""A journal too large to be read before the tables start: the start's own data is checked first,
the rest soon after, and damage is reported and left behind as usual.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from common.chain.schema import Record
from controller.journal import file, read_back
from controller.journal.journal import Journal
from controller.journal.reader import JournalReader
from tests.controller.journal.test_read_back import filled, flip, where
from tests.support.journal.premises import Premises
from tests.support.journal.records import record
from tests.support.waiting import TIMEOUT_SECONDS

TAIL_ENTRIES = 50


@pytest.fixture
def big(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file is larger than those that are read whole when they are opened."""
    monkeypatch.setattr(file, "FULL_CHECK_MAX_BYTES", 0)
    monkeypatch.setattr(file, "TAIL_ENTRIES", TAIL_ENTRIES)
    monkeypatch.setattr(file, "OPEN_RETRY_SECONDS", 0.01)
    monkeypatch.setattr(read_back, "READ_TIME_SHARE", 1.0)


async def closed(path: Path) -> int:
    """A journal at rest. Returns its last position."""
    with closing(await filled(path)) as journal:
        return journal.head()


def root(path: Path, table: str) -> int:
    """The byte at which the first page of a table begins."""
    with closing(sqlite3.connect(path)) as other:
        (page,) = other.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)
        ).fetchone()
        (size,) = other.execute("PRAGMA page_size").fetchone()
    return int((page - 1) * size)


def one_bit(path: Path) -> None:
    flip(*where(path, 300))


def a_page(path: Path) -> None:
    found, at = where(path, 300)
    overwrite(found, at // 4096 * 4096, 100)


def overwrite(path: Path, at: int, size: int) -> None:
    with path.open("r+b", buffering=0) as opened:
        opened.seek(at)
        opened.write(b"\xff" * size)


@pytest.mark.usefixtures("big")
@pytest.mark.parametrize("damage", [one_bit, a_page])
async def test_damage_in_the_middle_of_a_big_journal_is_found_soon_after_the_start(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    path = tmp_path / "journal.sqlite3"
    first = Premises(path)
    first.receive(*[b"*X;6;001;  ;0;000;0"] * 4)
    await first.open()
    for number in range(2, 120):
        first.spin(number, number % 37, (number - 1) % 37 if number > 2 else None)
    await first.end()
    damage(path)

    second = Premises(path, at=5.0)  # with read_back_every at six hours
    assert second.journal.set_aside is None
    shown = second.runner.table.retained()["state"]
    damaged, head = second.journal.id, second.journal.head()
    reading = asyncio.create_task(second.upkeep.read_back())
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while second.journal.set_aside is None:
            await asyncio.sleep(0.01)
            second.silence(0.1)  # a commit notices the reported damage
    reading.cancel()
    assert second.journal.id != damaged
    assert second.journal.head() > head
    assert second.journal.set_aside.exists()
    assert b'"session":1' in shown
    assert b'"session":1' in second.runner.table.retained()["state"]
    await second.end()


@pytest.mark.usefixtures("big")
async def test_the_end_of_a_big_journal_is_checked_before_the_tables_start(
    tmp_path: Path,
) -> None:
    path = tmp_path / "journal.sqlite3"
    head = await closed(path)
    flip(*where(path, head - TAIL_ENTRIES + 10))
    with closing(Journal(path)) as journal:
        assert journal.set_aside is not None


@pytest.mark.usefixtures("big")
@pytest.mark.parametrize("table", ["meta", "cursor", "saved"])
async def test_data_read_at_the_start_is_checked_before_the_tables_start(
    tmp_path: Path, table: str
) -> None:
    path = tmp_path / "journal.sqlite3"
    await closed(path)
    overwrite(path, root(path, table), 200)
    with closing(Journal(path)) as journal:
        assert journal.set_aside is not None


@pytest.mark.usefixtures("big")
async def test_a_big_journal_cut_at_its_end_is_set_aside_at_once(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    await closed(path)
    with path.open("r+b") as opened:
        opened.truncate(path.stat().st_size - 4096)
    with closing(Journal(path)) as journal:
        assert journal.set_aside is not None


async def test_a_small_journal_is_read_whole_before_the_tables_start(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    await closed(path)
    overwrite(path, root(path, "event_seq"), 200)
    with closing(Journal(path)) as journal:
        assert journal.set_aside is not None


def boot_record() -> Record:
    return Record(table="", boot="b1", seq=0, time="", mono_ns=0, before=(("boot", b"{}"),))


@pytest.mark.parametrize(
    "question",
    [
        pytest.param(lambda reader: reader.latest("boot"), id="the last boot"),
        pytest.param(lambda reader: reader.latest(), id="the last entry"),
        pytest.param(lambda reader: reader.saved_state("t1"), id="what is saved"),
        pytest.param(lambda reader: reader.hash_at(5), id="a hash"),
        pytest.param(
            lambda reader: reader.events_after(reader.head().position - 6, 10), id="to publish"
        ),
        pytest.param(lambda reader: reader.events_of_boot("t1", "b1", 20, 10), id="a recall"),
        pytest.param(lambda reader: reader.events_since("t1", "b1", 20, 10), id="a page of it"),
    ],
)
async def test_no_query_of_the_daemon_takes_longer_in_a_longer_journal(
    tmp_path: Path, question: Callable[[JournalReader], Any]
) -> None:
    path = tmp_path / "journal.sqlite3"
    steps: list[int] = []
    number = 0
    with closing(Journal(path)) as journal:
        await journal.append(boot_record())
        for more in (100, 2_000):
            stored = [journal.append(record(number := number + 1, boot="b1")) for _ in range(more)]
            for entry in stored:
                await entry
            with closing(JournalReader(path)) as reader:
                count = [0]

                def step(count: list[int] = count) -> bool:
                    count[0] += 1
                    return False

                reader._connection.set_progress_handler(step, 1)
                assert question(reader)
                steps.append(count[0])
    assert steps[1] < 2 * steps[0]


async def test_a_file_of_the_previous_release_gets_the_index_of_boots(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    with closing(Journal(path)) as journal:
        await journal.append(boot_record())
        await journal.append(record(1))
    with closing(sqlite3.connect(path)) as other, other:
        other.execute("DROP INDEX boot")
    with closing(Journal(path)) as journal:
        last = journal.latest("boot")
        assert last is not None
        assert last.position == 1
    with closing(sqlite3.connect(path)) as other:
        assert other.execute("SELECT 1 FROM sqlite_master WHERE name = 'boot'").fetchone()
