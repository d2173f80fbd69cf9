"""The disk of a machine in a simulated world: the journal's writer works in steps of the loop, on
the model of :mod:`tests.world.store` or on real files.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future as ThreadFuture
from contextlib import closing, contextmanager
from contextvars import Context
from math import inf
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from common import clock
from common.chain.schema import Entry, Row
from controller.journal.journal import Journal
from controller.journal.reader import JournalReader
from controller.journal.store import JournalStore
from controller.journal.writer import MAX_RETRY_SECONDS, JournalWriter
from tests.world.loop import WorldLoop
from tests.world.process import PROCESS, Process, context_of
from tests.world.store import (
    Fate,
    JournalFiles,
    ModelStore,
    Trouble,
    disk_error,
    write_file,
)

if TYPE_CHECKING:
    from tests.world.world import World

USUAL_LATENCY_SECONDS = 0.002
AT_A_KILL: tuple[Fate, ...] = ("absent", "unflushed", "spoiled", "stored")
"""What can have become of a commit when its program is killed."""


def join(world: World) -> None:
    """Let the journals be SQLite files (the part ``sqlite``)."""
    world.sqlite = True


class Disk:
    """The disk of one machine. ``real``: journals are SQLite files, else models of them.

    ``latency``: how long a commit takes, in seconds; ``hung_until``: when a hung disk answers
    again, in the time of the world. ``on_stored`` is told the entries of each commit, and
    ``on_lost`` what of the published ones a power cut has taken.
    """

    def __init__(
        self,
        loop: WorldLoop,
        random: Random,
        on_stored: Callable[[list[Entry]], None],
        on_lost: Callable[[list[Entry]], None] = lambda _: None,
        *,
        real: bool = False,
    ) -> None:
        self.loop = loop
        self.on_stored = on_stored
        self.trouble = Trouble()
        self._troubles = 0
        self._late_until = 0.0
        self.latency = USUAL_LATENCY_SECONDS
        self.hung_until = 0.0
        self.is_stuck = False
        """Whether something is to be stored and cannot be."""
        self.is_writing = False
        """Whether a commit is under way, or is to be tried again."""
        self.in_commit: Callable[[], object] | None = None
        """What happens in the midst of the next commit, once."""
        self._on_lost = on_lost
        self._random = random
        self._real = real
        self._files = JournalFiles(self.trouble, on_stored)

    @property
    def trouble_until(self) -> float:
        """Until when commits may be late."""
        return inf if self._troubles else max(self._late_until, self.hung_until)

    def begin_trouble(self) -> None:
        """A fault begins, until :meth:`recover`."""
        self._troubles += 1

    def recover(self, seconds: float) -> None:
        """A fault has ended; what waited is stored within that time."""
        self._troubles -= 1
        self._late_until = max(self.loop.now + seconds, self.hung_until + seconds, self._late_until)

    def wait_for_retry(self) -> None:
        """A commit has met its fate, perhaps long after that was drawn: it is tried again."""
        self._late_until = max(self._late_until, self.loop.now + MAX_RETRY_SECONDS + 1.0)

    def keep_waiting(self, until: float) -> None:
        """What writes to it does nothing until then: what waits now is stored later still, and a
        timer that runs now may stand still as long.
        """
        if self.trouble_until > self.loop.now or self.is_writing:
            paused = until - self.loop.now
            late = max(until, self.hung_until + paused, self._late_until + paused)
            self._late_until = late + MAX_RETRY_SECONDS + 1.0

    def delay(self) -> float:
        """Draw the time that the next commit takes."""
        usual = self._random.uniform(0.5, 1.5) * self.latency
        return max(usual, self.hung_until - self.loop.now)

    def journal(self, path: Path) -> Journal:
        """Open a journal on this disk."""
        process = PROCESS.get()
        assert process is not None
        self._late_until = max(self._late_until, self.loop.now)  # what is found is not of now
        self.is_stuck = False
        opened = _OpenJournal(self, process, path)
        process.on_kill(opened.kill)
        return opened.journal

    def open_store(self, path: Path) -> JournalStore:
        """Open the store of a journal."""
        return RealStore(path, self) if self._real else ModelStore(path, self._files)

    def cut_power(self) -> None:
        """Lose what was not flushed. All programs on the machine must have been killed."""
        for file in self._files.files.values():
            lost = file.cut(self._random.randint(0, file.losable))
            if lost := [entry for entry in lost if entry.is_published]:
                self._on_lost(lost)

    def show_files(self) -> list[Path]:
        """Put the journals where programs that know nothing of the model find them, and return
        their paths. A restored one is there already, until its daemon opens it.
        """
        files = self._files.files.items()
        hidden = {
            path: file for path, file in files if not path.exists() or not path.stat().st_size
        }
        for path, file in hidden.items():
            write_file(file, path)
        return list(hidden)

    @contextmanager
    def as_files(self) -> Iterator[None]:
        """Show the files while such a program runs. One that it puts in the place of a journal is
        the journal from then on.
        """
        shown = {path: path.stat().st_ino for path in self.show_files()}
        try:
            yield
        finally:
            for path, inode in shown.items():
                if path.exists() and path.stat().st_ino == inode:
                    for suffix in ("", "-wal", "-shm"):
                        Path(f"{path}{suffix}").unlink(missing_ok=True)
                    path.touch(mode=0o600)

    def read(self, path: Path) -> list[Entry]:
        """Return all entries that a journal holds, as a program beside the daemon reads them."""
        if not self._real:
            return list(self._files.files[path].entries)
        with closing(JournalReader(path)) as reader:
            return list(reader.entries())

    def draw_fate(self, fates: Sequence[Fate]) -> Fate:
        """Draw what happens to a commit."""
        return self._random.choice(fates)


class _OpenJournal:
    """A journal that a process has open."""

    def __init__(self, disk: Disk, process: Process, path: Path) -> None:
        self._disk, self._process = disk, process
        self._steps: _Steps | None = None
        self._store: JournalStore | None = None
        self.journal = Journal(path, run=self._run, open_store=self._open_store)

    def _open_store(self, path: Path) -> JournalStore:
        self._store = self._disk.open_store(path)
        return self._store

    def _run(self, writer: JournalWriter) -> ThreadFuture[None]:
        self._steps = _Steps(self._disk, writer)
        return self._steps.ended

    def kill(self) -> None:
        """Close its files as the operating system does, at any moment of a commit."""
        assert self._steps is not None
        context_of(self._process).run(self._steps.kill)
        if isinstance(self._store, ModelStore):
            self._store.kill()
        self.journal.abandon()


class _Steps:
    """Runs the steps of a writer: one for what was put, after the time that a commit takes."""

    def __init__(self, disk: Disk, writer: JournalWriter) -> None:
        self._disk, self._writer = disk, writer
        self._timer: Any = None
        self.ended: ThreadFuture[None] = ThreadFuture()
        self.ended.set_running_or_notify_cancel()
        writer.on_put = self._on_put

    def kill(self) -> None:
        """End at any moment of a commit that is under way."""
        if self._timer is not None:
            self._timer.cancel()
        if not self._writer.queue.empty() and not self._writer.ended:
            self._disk.trouble.fate = self._disk.draw_fate(AT_A_KILL)
            self._writer.step(0.0)
            self._disk.trouble.fate = None

    def _on_put(self) -> None:
        if self._writer.closing.is_set():
            self._finish()
        elif self._timer is None:
            self._schedule()

    def _schedule(self) -> None:
        self._disk.is_writing = True
        self._writer.busy_since = clock.monotonic()
        self._disk.is_stuck = self._disk.hung_until > self._disk.loop.now
        self._timer = self._disk.loop.call_later(self._disk.delay(), self._step)

    def _step(self) -> None:
        self._timer = None
        if self._disk.hung_until > self._disk.loop.now:
            self._schedule()
            return
        if self._disk.in_commit is not None and not self._writer.queue.empty():
            strike, self._disk.in_commit = self._disk.in_commit, None
            self._disk.loop.call_soon(strike, context=Context())
            self._timer = self._disk.loop.call_soon(self._step)
            return
        had_fate = self._disk.trouble.fate is not None
        try:
            self._writer.step(0.0)
        except BaseException as error:
            self.ended.set_exception(error)
            return
        self._disk.is_stuck = is_failing = self._writer.busy_since is not None
        if had_fate and is_failing:
            self._disk.wait_for_retry()
        self._disk.is_writing = is_failing
        if self._writer.ended:
            return
        if not is_failing and not self._writer.queue.empty():
            self._schedule()
        elif (wait := self._writer.due()) is not None:
            self._timer = self._disk.loop.call_later(wait, self._step)

    def _finish(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        trouble = self._disk.trouble
        usual = trouble.write_error
        if self._disk.hung_until > self._disk.loop.now:  # a stop waits no longer
            trouble.write_error = sqlite3.SQLITE_IOERR_WRITE
        while not self._writer.ended:
            self._writer.step(0.0)
        trouble.write_error = usual
        if not self.ended.done():
            self.ended.set_result(None)


class RealStore(JournalStore):
    """A SQLite file whose commits fail as its disk says; what fails before its end is not there."""

    def __init__(self, path: Path, disk: Disk) -> None:
        self._trouble, self._on_stored = disk.trouble, disk.on_stored
        super().__init__(path)

    def commit(
        self, new_rows: list[Row], saved: list[tuple[str, bytes, int]], moves: dict[str, int]
    ) -> None:
        """See :class:`JournalStore`."""
        self._trouble.check_write()
        fate = self._trouble.take_fate()
        if fate in (None, "stored"):
            super().commit(new_rows, saved, moves)
            self._on_stored([Entry(*row) for row in new_rows])
        if fate is not None:
            raise disk_error(sqlite3.SQLITE_IOERR_FSYNC)

    def remove(self, through: int) -> bool:
        """See :class:`JournalStore`."""
        if self._trouble.write_error is None:
            return super().remove(through)
        self.close()
        return False

    def move_log(self, kept_bytes: int = 0) -> bool:
        """See :class:`JournalStore`."""
        if self._trouble.write_error is None:
            return super().move_log(kept_bytes)
        self.close()
        return False
