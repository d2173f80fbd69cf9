"""The disk refuses writes or returns other bytes: no result is published that is not stored, and an
alert is raised.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

import pytest

from common.chain.schema import JournalUnusableError
from controller.journal.journal import Journal
from tests.support.chaos.archive import events_of
from tests.support.chaos.floor import Floor
from tests.support.chaos.proof import proved, right, sound
from tests.support.chaos.truth import lost_spins, open_rounds, wrong_numbers
from tests.support.disk import Full, ReadOnly, SmallBlocks, Unread, disk, mount, spoil, stop
from tests.support.journal.records import record
from tests.support.waiting import TIMEOUT_SECONDS, until


@pytest.mark.parametrize("kind", [Full, ReadOnly])
def test_a_disk_that_refuses_writes(
    floor: Callable[..., Floor],
    tmp_path: Path,
    ending: ExitStack,
    kind: type[Full] | type[ReadOnly],
) -> None:
    room = disk(kind, tmp_path / "disk")
    ending.callback(room.close)
    made = floor(state=room.folder)
    ending.callback(made.close)
    archive = made.start()
    made.until_results(1)
    room.fail(made.daemon)
    until("the alert", lambda: archive.latest("r1/alert/journal"), made.daemon.log)
    until("the table is in fault", lambda: made.has_status("r1", "fault"), made.daemon.log)
    played = made.wheels["r1"].played
    spins = len(played)
    until(
        "another spin", lambda: len(played) > spins
    )  # entries stored before the end may have been in flight
    known = archive.take()
    until("one more", lambda: len(played) > spins + 1)
    assert archive.take() == known
    assert "in fault" in archive.command("r1", "bets.close")["error"]
    if not room.in_use:
        made.daemon.kill()
    room.cure(made.daemon)
    if not room.in_use:
        made.start_daemon()
    # a round that the full disk left without a result waits for a person while the table plays on
    playing = ("open", "waiting")
    until(
        "the table plays again",
        lambda: made.has_status("r1", *playing),
        lambda: f"{archive.latest('r1/state')}\n{made.daemon.log()}",
    )
    until("the alert is gone", lambda: archive.latest("r1/alert/journal") is None)
    made.until_results(1)
    sound(made)


def test_a_disk_that_is_read_only_when_the_daemon_starts(
    floor: Callable[..., Floor], tmp_path: Path
) -> None:
    """It does not start, and says why; the node stays offline for everybody. Then it resumes."""
    room = tmp_path / "room"
    room.mkdir()
    made = floor(state=room)
    archive = made.start()
    made.until_results(1)
    made.daemon.kill()
    until("the last will", lambda: archive.latest("node/pit-1/status")["status"] == "offline")
    with read_only(room):
        made.start_daemon()
        assert made.daemon.wait() == 1
        assert str(made.journal) in made.daemon.log().splitlines()[-1]
    made.start_daemon()
    made.until_results(1)
    sound(made)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """A folder that cannot be written: by its rights; for root, which has them all, by a mount;
    where root may not mount, by obstacles at the daemon's paths.
    """
    rights = {path: path.stat().st_mode for path in (*folder.iterdir(), folder)}
    for path, mode in rights.items():
        path.chmod(mode & ~0o222)
    mounted = mount("--bind", "-r", str(folder), str(folder))
    blocked = (
        folder / "journal.sqlite3.lock" if not mounted and os.access(folder, os.W_OK) else None
    )
    if blocked is not None:
        blocked.unlink()
        blocked.mkdir()
    try:
        yield
    finally:
        if mounted:
            subprocess.run(["umount", folder], check=True)
        if blocked is not None:
            blocked.rmdir()
            del rights[blocked]
        for path, mode in rights.items():
            path.chmod(mode)


def test_a_journal_damaged_while_closed(floor: Callable[..., Floor]) -> None:
    made = floor()
    archive = made.start()
    made.until_results(1)
    assert made.daemon.stop() == 0
    archive.take()
    before = set(archive.held)
    spoil(made.journal)
    made.start_daemon()
    until("the alert", lambda: archive.latest("r1/alert/journal-set-aside"), made.daemon.log)
    assert [
        path
        for path in made.folder.iterdir()
        if path.name.startswith(f"{made.journal.name}.corrupt-")
    ]
    made.open_sessions()
    made.until_results(1)
    verdict = made.settle()
    assert set(verdict.unstored) == before  # earlier entries are in the file that was set aside
    assert verdict.altered == verdict.misordered == ()
    assert made.daemon.stop() == 0
    proved(made)
    right(made, events_of(made.journal))


def spoil_in_use(floor: Floor) -> None:
    """Damage the journal at a moment when all its entries were received: no daemon restores entries
    that only the disk held.
    """

    def all_received() -> bool:
        assert floor.archive is not None
        stop(floor.daemon)
        if floor.archive.verdict(floor.journal).lost:
            floor.daemon.signal(signal.SIGCONT)
            return False
        spoil(floor.journal)
        spoil(Path(f"{floor.journal}-wal"), first=0)
        floor.daemon.signal(signal.SIGCONT)
        return True

    until("all that is stored was received", all_received, floor.daemon.log)


def right_as_far_as_heard(floor: Floor, boot: str) -> None:
    """Entries stored between the damage and its detection may be unreadable: the archive then lacks
    their numbers, and rounds begun before the new file may lack their outcome.
    """
    assert floor.archive is not None
    told = list(floor.archive.held.values())
    numbers = {event["seq"] for event in told if event["boot"] == boot}
    lacking = set(range(1, max(numbers))) - numbers
    begun = min(event["round"] for event in events_of(floor.journal) if "round" in event)
    assert not wrong_numbers(told, floor.wheels["r1"].played)
    assert not [number for _, number in open_rounds(told) if not lacking or number > begun]
    assert not lost_spins(floor.journal, "r1")


def test_a_journal_that_is_damaged_while_the_daemon_runs(floor: Callable[..., Floor]) -> None:
    """The damage is detected when old entries are read from the disk; the table continues in a new
    file, in the same session.
    """
    made = floor()
    archive = made.start()
    made.until_results(1)
    archive.catch_up("r1")
    spoil_in_use(made)
    boot = made.boot()

    def told() -> object:
        archive.recall("r1", boot, 0)  # the daemon may remember once what it has just read
        return archive.latest("r1/alert/journal-set-aside")

    until("the alert", told, made.daemon.log)
    made.until_results(1)
    assert made.boot() == boot
    verdict = made.settle()
    assert verdict.altered == verdict.misordered == ()
    assert made.daemon.stop() == 0
    proved(made)
    right_as_far_as_heard(made, boot)


def test_a_journal_that_rots_while_the_daemon_runs_is_read_back_and_left_behind(
    floor: Callable[..., Floor],
) -> None:
    """No client requests old entries: the daemon detects the damage itself, and the table continues
    in the same session.
    """
    made = floor(read_back_every=1.0)
    archive = made.start()
    made.until_results(1)
    until("it was read once", lambda: made.logged("journal read back"), made.daemon.log)
    boot = made.boot()
    spoil_in_use(made)
    until("the alert", lambda: archive.latest("r1/alert/journal-set-aside"), made.daemon.log)
    assert [
        path
        for path in made.folder.iterdir()
        if path.name.startswith(f"{made.journal.name}.corrupt-")
    ]
    made.until_results(1)
    assert made.boot() == boot
    verdict = made.settle()
    assert verdict.altered == verdict.misordered == ()
    assert made.daemon.stop() == 0
    proved(made)
    right_as_far_as_heard(made, boot)


RECORDS, HEARD = 1500, 3000
"""Of these, that number of entries was received."""


@pytest.fixture
def unread(programs: None, tmp_path: Path, ending: ExitStack) -> Unread:
    """A disk that gives real read errors."""
    try:
        made = Unread(tmp_path / "unread")
    except (OSError, subprocess.CalledProcessError):
        pytest.skip(
            "no loop device can be mounted here; test_read_errors.py shows the same without one"
        )
    ending.callback(made.close)
    return made


async def stored(folder: Path) -> Path:
    """A journal whose last third was not received."""
    path = folder / "journal.sqlite3"
    with closing(Journal(path)) as journal:
        for future in [
            journal.append(record(number, size=500)) for number in range(1, RECORDS + 1)
        ]:
            await future
        journal.move_cursor(HEARD)
    return path


async def test_a_disk_that_gives_nothing_for_a_second(unread: Unread) -> None:
    """What SQLite calls malformed then is read again; no file is left, and nothing is lost."""
    path = await stored(unread.folder)
    found: list[int] = []
    trouble: list[str] = []
    with closing(Journal(path)) as journal:
        through = journal.head()
        unread.fail()
        curing = threading.Timer(1.0, unread.cure)
        curing.start()
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while not found or found[-1] < through:
                try:
                    found += [
                        entry.position
                        for entry in journal.events_after(found[-1] if found else HEARD, 64)
                    ]
                except JournalUnusableError as error:  # a publisher asks again
                    trouble.append(str(error))
                    await asyncio.sleep(0.1)
        curing.join()
        assert trouble
        assert found == [
            position for position in range(HEARD + 1, through + 1) if position % 3 != 1
        ]
        assert (journal.set_aside, journal.lost) == (None, None)
        assert await journal.append(record(RECORDS + 1)) == through + 3


async def test_a_disk_that_gives_nothing_while_the_daemon_starts(unread: Unread) -> None:
    path = await stored(unread.folder)
    unread.fail()
    curing = threading.Timer(1.0, unread.cure)
    curing.start()
    with closing(Journal(path)) as journal:
        curing.join()
        assert journal.set_aside is None
        assert journal.head() == 3 * RECORDS


@pytest.fixture
def small_blocks(programs: None, tmp_path: Path, ending: ExitStack) -> Path:
    """A folder on a disk whose blocks are smaller than the pages that SQLite maps into memory."""
    try:
        made = SmallBlocks(tmp_path / "small")
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no loop device can be mounted here")
    ending.callback(made.close)
    return made.folder


def test_no_full_disk_of_small_blocks_ends_the_daemon(small_blocks: Path) -> None:
    """By SIGBUS, when the index of the log is written in memory and has no block on the disk."""
    path = small_blocks / "journal.sqlite3"
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.journal.records", "on_the_last_blocks", str(path)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_on_a_full_disk_of_small_blocks_the_daemon_does_not_start(small_blocks: Path) -> None:
    path = small_blocks / "journal.sqlite3"
    Journal(path).close()
    filler = small_blocks / "filler"
    with suppress(OSError), filler.open("wb", buffering=0) as file:
        while file.write(b"x" * 1024) == 1024:
            pass
    with pytest.raises(JournalUnusableError, match="No space left"):
        Journal(path)
    filler.unlink()
    Journal(path).close()
