"""The disk fails to return data: that is no damage, the read is repeated; the readable part of a
file that is left behind is published.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from common.chain import schema
from common.chain.schema import Entry, JournalReadError, JournalUnusableError
from controller.journal import file, salvage, store, to_publish
from controller.journal.file import open_checked
from controller.journal.journal import PUBLISHER_CURSOR, Journal
from controller.journal.read_back import ReadBack
from controller.journal.reader import JournalReader
from controller.journal.salvage import format_positions
from controller.tables.runner import TableRunner
from tests.support.disk import spoil
from tests.support.journal.premises import Premises
from tests.support.journal.records import record
from tests.support.waiting import TIMEOUT_SECONDS, until_async

RECORD_COUNT = 400


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite3"


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file, "OPEN_RETRY_SECONDS", 0.02)
    monkeypatch.setattr(salvage, "READ_TIMEOUT_SECONDS", TIMEOUT_SECONDS)
    monkeypatch.setattr(salvage, "RETRY_SECONDS", 0.02)


def error(code: int, text: str) -> sqlite3.Error:
    made = (
        sqlite3.DatabaseError(text)
        if code == sqlite3.SQLITE_CORRUPT
        else sqlite3.OperationalError(text)
    )
    made.sqlite_errorcode = code
    return made


class Disk:
    """Fails to read these positions, for this many times or permanently; SQLite reports it in
    either of its ways.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bad: set[int] = set()
        self.times = 0
        self.code = sqlite3.SQLITE_CORRUPT
        self.asked = 0
        entries, events, flaw = (
            JournalReader.entries,
            JournalReader.events_after,
            schema.quick_check,
        )

        def read_entries(reader: JournalReader, after: int = 0, limit: int = -1) -> Iterator[Entry]:
            self._give(after + 1, after + limit if limit > 0 else 1 << 40)
            return entries(reader, after, limit)

        def read_events(reader: JournalReader, position: int, limit: int) -> list[Entry]:
            found = events(reader, position, limit)
            self._give(position + 1, found[-1].position if found else 1 << 40)
            return found

        def whole(connection: sqlite3.Connection) -> str | None:
            if self.bad:
                raise error(sqlite3.SQLITE_IOERR | 33 << 8, "disk I/O error")
            return flaw(connection)

        monkeypatch.setattr(JournalReader, "entries", read_entries)
        monkeypatch.setattr(JournalReader, "events_after", read_events)
        for module in (schema, store):
            monkeypatch.setattr(module, "quick_check", whole)

    def _give(self, first: int, last: int) -> None:
        if any(first <= position <= last for position in self.bad):
            self.asked += 1
            self.times -= 1
            if self.times == 0:
                self.bad.clear()
            raise error(self.code, "database disk image is malformed")


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


async def filled(path: Path, heard: int) -> Journal:
    """A journal with entries that are on the disk alone, not in memory too."""
    with closing(Journal(path)) as made:
        for future in [made.append(record(number)) for number in range(1, RECORD_COUNT + 1)]:
            await future
        made.move_cursor(heard)
    return Journal(path)


async def published(made: Journal, after: int, through: int) -> list[Entry]:
    """The events that a publisher gets in the end if it keeps asking."""
    found: list[Entry] = []
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while (found[-1].position if found else after) < through:
            try:
                events = made.events_after(found[-1].position if found else after, 64)
            except JournalUnusableError:
                await asyncio.sleep(0.02)
                continue
            found += [entry for entry in events if entry.position <= through]
            if not events or events[-1].position > through:
                break
            await asyncio.sleep(0)
    return found


@pytest.mark.parametrize("code", [sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_IOERR | 33 << 8])
async def test_data_that_is_readable_after_all_is_published_and_no_file_is_left(
    path: Path, disk: Disk, code: int
) -> None:
    with closing(await filled(path, 300)) as made:
        before = made.id
        disk.bad, disk.times, disk.code = {601}, 4, code
        found = await published(made, 300, made.head())
        assert disk.asked == 4
        assert len(found) == 2 * (RECORD_COUNT - 100)
        assert made.set_aside is None
        assert await made.append(record(RECORD_COUNT + 1)) == 3 * (RECORD_COUNT + 1)
        assert (made.id, made.failed) == (before, None)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """For what stays unreadable. What is read in the end may take as long as the machine needs."""
    monkeypatch.setattr(to_publish, "PUBLISH_READ_TIMEOUT_SECONDS", 0.2)
    monkeypatch.setattr(store, "COMMIT_READ_TIMEOUT_SECONDS", 0.2)
    attempts = iter([True, True, False])
    monkeypatch.setattr(salvage, "may_be_intact", lambda _: next(attempts, False))


@pytest.mark.usefixtures("impatient")
async def test_a_partly_unreadable_file_is_left_and_the_part_is_named(
    path: Path, disk: Disk
) -> None:
    asides: list[str | None] = []
    with closing(await filled(path, 300)) as made:
        made.on_aside = lambda: asides.append(made.lost)
        head, before = made.head(), made.id
        disk.bad = {601, 602, 603, 700}
        found = await published(made, 300, head)
        await until_async(lambda: made.id != before)
        await made.append(record(RECORD_COUNT + 1))
        assert made.set_aside is not None
        assert asides == [f"601 to 603, 700 of {made.set_aside}"]
        lacking = {entry.position for entry in entries_of(made.set_aside, disk)} - {
            entry.position for entry in found
        }
        assert lacking == {602, 603}  # 601 and 700 are inputs, which are not published
        onward = made.events_after(head, 100)
        assert [entry.body for entry in onward][:1] == [b"event %d" % (2 * RECORD_COUNT + 1)]


def entries_of(aside: Path, disk: Disk) -> list[Entry]:
    """The events that the file had to publish after the cursor, were the disk sound."""
    disk.bad = set()
    with closing(JournalReader(aside)) as reader:
        return [entry for entry in reader.entries(300) if entry.is_published]


async def test_unpublished_events_of_a_file_that_was_left_are_published_after_the_next_start(
    path: Path,
) -> None:
    with closing(await filled(path, 300)) as made:
        made.report_damage(made.id, "a test")
        await made.append(record(RECORD_COUNT + 1))
        head = made.head()
    with closing(Journal(path)) as made:
        assert (made.set_aside, made.lost) == (None, None)
        assert made.ask(JournalReader.cursors)[PUBLISHER_CURSOR] == 300
        found = await published(made, 300, head)
        assert [entry.seq for entry in found] == list(range(201, 2 * RECORD_COUNT + 3))
        made.report_damage(made.id, "another test")  # and of the one before it too
        await made.append(record(RECORD_COUNT + 2))
        head = made.head()
    with closing(Journal(path)) as made:
        found = await published(made, 300, head)
        assert [entry.seq for entry in found] == list(range(201, 2 * RECORD_COUNT + 5))


async def test_unpublished_events_of_a_file_damaged_at_rest_are_published_as_far_as_readable(
    path: Path,
) -> None:
    with closing(await filled(path, 300)) as made:
        head = made.head()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("UPDATE entry SET body = 'other' WHERE position = 900")
    with closing(Journal(path)) as made:
        assert made.lost == f"900 of {made.set_aside}"
        assert made.head() == head
        found = await published(made, 300, head)
        assert [entry.position for entry in found] == [
            at for at in range(301, head + 1) if at % 3 != 1 and at != 900
        ]
        assert await made.append(record(RECORD_COUNT + 1)) == head + 3
        assert [entry.position for entry in made.events_after(head, 10)] == [head + 2, head + 3]


async def test_another_file_in_its_place_publishes_nothing(tmp_path: Path, path: Path) -> None:
    strange = tmp_path / "strange.sqlite3"
    (await filled(strange, 0)).close()
    (await filled(path, 300)).close()
    with closing(Journal(path)) as made:
        strange.replace(path)
        await made.append(record(RECORD_COUNT + 1))
        await until_async(lambda: made.set_aside is not None)
        assert made.lost == f"301 to {3 * RECORD_COUNT} of {made.set_aside}"
        assert {entry.seq for entry in made.events_after(300, 1000)} == {
            2 * RECORD_COUNT + 1,
            2 * RECORD_COUNT + 2,
        }


async def test_data_to_continue_with_is_read_before_the_event_loop_is_notified(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The callback in the event loop reads nothing: it cannot fail."""
    failures: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(
        lambda _loop, context: failures.append(context)
    )
    with closing(await filled(path, 300)) as made:
        here = asyncio.current_task()

        def refuse(method: Callable[[JournalReader], object]) -> Callable[[JournalReader], object]:
            def ask(reader: JournalReader) -> object:
                if in_loop():
                    raise error(sqlite3.SQLITE_IOERR, "disk I/O error")
                return method(reader)

            return ask

        for name in ("id", "head", "base"):
            monkeypatch.setattr(JournalReader, name, refuse(getattr(JournalReader, name)))
        made.report_damage(made.id, "a test")
        assert await made.append(record(RECORD_COUNT + 1)) > 3 * RECORD_COUNT
        assert here is not None
        assert made.set_aside is not None
        assert made.head() > 3 * RECORD_COUNT
    assert failures == []


def in_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def test_a_failed_read_at_the_start_is_repeated(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (await filled(path, 300)).close()
    tries = 0

    def reluctant(*arguments: object) -> object:
        nonlocal tries
        tries += 1
        if tries < 4:
            raise JournalReadError("the disk does not give it")
        return open_checked(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(file, "open_checked", reluctant)
    with closing(Journal(path)) as made:
        assert made.set_aside is None
        assert tries == 4


async def test_a_read_error_is_no_damage_when_reading_back(path: Path, disk: Disk) -> None:
    with closing(await filled(path, 300)) as made:
        disk.bad = {601}
        with pytest.raises(sqlite3.DatabaseError):
            await asyncio.to_thread(ReadBack(path).damage, made.id)


async def test_damage_is_damage_although_sqlite_reports_a_failing_disk_alike(path: Path) -> None:
    (await filled(path, 300)).close()
    spoil(path)
    assert not schema.may_be_intact(path)
    with closing(Journal(path)) as made:
        assert made.set_aside is not None


async def test_a_table_that_cannot_be_restored_is_restored_later(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(
        lambda _loop, context: failures.append(context)
    )
    run = Premises(path)
    await run.open()
    await run.runner.drain()
    runner: TableRunner = run.runner
    runner._behind = True
    saved_state = JournalReader.saved_state

    def refuse(*_: object) -> bytes:
        raise error(sqlite3.SQLITE_IOERR, "disk I/O error")

    monkeypatch.setattr(JournalReader, "saved_state", refuse)
    run.receive(b"*X;6;001;  ;0;000;0")
    assert runner._behind
    monkeypatch.setattr(JournalReader, "saved_state", saved_state)
    run.receive(b"*X;6;001;  ;0;000;0")
    assert not runner._behind
    await run.end()
    assert failures == []


def test_positions_as_a_person_reads_them() -> None:
    assert format_positions([7, 8, 9, 12, 14, 15]) == "7 to 9, 12, 14 to 15"
    assert format_positions([]) == ""
