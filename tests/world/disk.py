"""The journal of a simulated world: its writer's steps are callbacks of the loop, and its disk can
be slow, full or broken.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from concurrent.futures import Future as ThreadFuture
from pathlib import Path
from random import Random
from typing import Any

from controller.journal.journal import Journal
from controller.journal.schema import Entry, Record
from controller.journal.store import JournalStore
from controller.journal.writer import JournalWriter
from tests.world.loop import WorldLoop
from tests.world.process import PROCESS


class Disk:
    """The disk of one machine. ``broken``: every commit fails; ``torn``: the next commit is stored
    and reported as failed; ``latency``: how long a commit takes, in seconds; ``on_stored`` is told
    what is published of each commit.
    """

    def __init__(
        self, loop: WorldLoop, random: Random, on_stored: Callable[[list[Entry]], None]
    ) -> None:
        self.loop = loop
        self.on_stored = on_stored
        self.broken = False
        self.trouble_until = 0.0
        """Until when commits may have been late."""
        self.torn = False
        self.latency = 0.002
        self._random = random

    def recover(self, seconds: float) -> None:
        """A fault has ended; what waited is stored within that time."""
        self.trouble_until = self.loop.now + seconds

    def delay(self) -> float:
        """Draw the time that the next commit takes."""
        return self._random.uniform(0.5, 1.5) * self.latency

    def journal(self, path: Path) -> Journal:
        """Open a journal on this disk."""
        process = PROCESS.get()
        assert process is not None
        journal = Journal(path, run=self._run)
        journal._writer._store = _FaultyStore(journal._writer._store, self)  # type: ignore[assignment]
        process.on_kill(lambda: _abandon(journal))
        return journal

    def _run(self, writer: JournalWriter) -> ThreadFuture[None]:
        return _Steps(self, writer).ended


class _Steps:
    """Runs the steps of a writer: one for what was put, after the time that a commit takes."""

    def __init__(self, disk: Disk, writer: JournalWriter) -> None:
        self._disk, self._writer = disk, writer
        self._timer: Any = None
        self.ended: ThreadFuture[None] = ThreadFuture()
        self.ended.set_running_or_notify_cancel()
        writer.on_put = self._on_put

    def _on_put(self) -> None:
        if self._writer.closing.is_set():
            self._finish()
        elif self._timer is None:
            self._timer = self._disk.loop.call_later(self._disk.delay(), self._step)

    def _step(self) -> None:
        self._timer = None
        try:
            self._writer.step(0.0)
        except BaseException as error:
            self.ended.set_exception(error)
            return
        wait = self._writer.due() if self._writer.queue.empty() else self._disk.delay()
        if wait is not None and not self._writer.ended:
            self._timer = self._disk.loop.call_later(wait, self._step)

    def _finish(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while not self._writer.ended:
            self._writer.step(0.0)
        if not self.ended.done():
            self.ended.set_result(None)


class _FaultyStore:
    """A store whose commits fail as its disk says."""

    def __init__(self, store: JournalStore, disk: Disk) -> None:
        self._store, self._disk = store, disk
        self._commit = store.commit
        vars(store).update(commit=self._torn_commit)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def __setattr__(self, name: str, value: object) -> None:
        if name in {"_store", "_disk", "_commit"}:
            object.__setattr__(self, name, value)
        else:
            setattr(self._store, name, value)

    def write(self, records: list[Record], moves: dict[str, int]) -> Any:
        """See :class:`JournalStore`."""
        if self._disk.broken:
            raise sqlite3.OperationalError("disk I/O error")
        written = self._store.write(records, moves)
        self._disk.on_stored(written[1])
        return written

    def _torn_commit(self, *what: Any) -> None:
        self._commit(*what)
        if self._disk.torn:
            self._disk.torn = False
            raise sqlite3.OperationalError("disk I/O error after the commit")


def _abandon(journal: Journal) -> None:
    """Close the files of a journal as the operating system does for a program that was killed."""
    import os

    release: list[Callable[[], object]] = [
        journal._reader.close,
        journal._writer._store.end,
        lambda: os.close(journal._lock),
    ]
    for each in release:
        each()
