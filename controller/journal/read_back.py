"""Reads the journal in use back from the disk, to find damage before the damaged part is needed.

It uses its own thread and connection, so that it reads the disk and not SQLite's cache, and reads
slowly, so that no commit waits for it.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from threading import Event

from common import clock
from common.chain.schema import (
    READ_ERRORS,
    ChainHead,
    follows,
    is_damage,
    is_invalid_content,
    may_be_intact,
)
from controller.journal.file import TAIL_ENTRIES
from controller.journal.reader import JournalReader

READ_TIME_SHARE = 0.1
"""Share of the time spent reading; the rest is pauses."""
BATCH_ENTRIES = 100
"""Entries between two pauses. It is small because a long read keeps the log from being moved."""
STEPS_PER_PAUSE = 5_000
"""SQLite's virtual machine steps between two pauses while it checks pages."""
MAX_PAUSE_SECONDS = 1.0
MAX_LOG_BYTES = 18_000_000
"""Size of the log's file above which it does not pause: it has grown because someone reads."""


class ReadBack:
    """Checks the journal at ``path``, which ``open_reader`` opens. Used by one thread at a time;
    :meth:`stop` by any thread.
    """

    def __init__(self, path: Path, open_reader: Callable[[], JournalReader] | None = None) -> None:
        self._path = path
        self._open_reader = open_reader or partial(JournalReader, path)
        self._stopped = Event()
        self._since = 0.0
        self._held: dict[int, int] = {}
        self._reader: JournalReader | None = None

    def stop(self) -> None:
        """End a running check at once, without a finding."""
        self._stopped.set()
        if (reader := self._reader) is not None:
            with suppress(sqlite3.ProgrammingError):  # already closed
                reader.interrupt()

    def damage(self, journal: str) -> str | None:
        """Check the whole file. Return its damage, if two reads find some, or None; None also if
        the file does not have the id ``journal``.

        Raises ``sqlite3.Error``, ``OSError`` and :class:`JournalUnusableError` if it cannot be
        read.
        """
        return self._check(journal) and self._check(journal)

    def broken_end(self, journal: str) -> str | None:
        """Check the chain of the newest entries only; else like :meth:`damage`."""
        return self._check(journal, end=True) and self._check(journal, end=True)

    def _check(self, journal: str, *, end: bool = False) -> str | None:
        self._forget()
        self._since = clock.monotonic()
        try:
            with closing(self._open_reader()) as self._reader:
                if self._reader.id() != journal:
                    return None  # another file has taken its place
                problem = self._chain(self._reader, end=end)
                if problem is None and not end and not self._stopped.is_set():
                    problem = self._reader.damage(self._pause, STEPS_PER_PAUSE)
                return None if self._stopped.is_set() else problem
        except READ_ERRORS as error:
            if self._stopped.is_set():
                return None
            if is_invalid_content(error) and not (is_damage(error) and may_be_intact(self._path)):
                return str(error)
            raise

    def _chain(self, reader: JournalReader, *, end: bool) -> str | None:
        head, expected = reader.head().position, reader.beginning()
        if expected.position > head:
            return f"the entries end at position {head}, and begin past {expected.position}"
        if end and (known_hash := reader.hash_at(head - TAIL_ENTRIES)) is not None:
            expected = ChainHead(head - TAIL_ENTRIES, known_hash)
        while expected.position < head:
            entries = list(reader.entries(expected.position, BATCH_ENTRIES))
            for entry in entries:
                if not follows(entry, expected):
                    break
                expected = ChainHead(entry.position, entry.hash)
            else:
                if not entries:
                    return f"the entries after position {expected.position} are gone"
                if self._pause():
                    return None
                continue
            beginning = reader.beginning()
            if beginning.position <= expected.position:
                return f"the chain does not hold at position {expected.position + 1}"
            expected = beginning  # sealed days were removed meanwhile
        return None

    def _pause(self) -> bool:
        """Pause, unless the log grows: it cannot be moved while pages are being read. Return
        True if the check must stop.
        """
        spent = clock.monotonic() - self._since
        with suppress(OSError):
            if Path(f"{self._path}-wal").stat().st_size > MAX_LOG_BYTES:
                spent = 0.0
        stopped = self._stopped.wait(min(spent * (1 / READ_TIME_SHARE - 1), MAX_PAUSE_SECONDS))
        self._since = clock.monotonic()
        return stopped

    def _forget(self) -> None:
        """Drop the file from the system's page cache, so that the next read comes from the disk.

        Each file is opened once for this and closed only when it has been replaced: closing any
        descriptor of a database in use would drop SQLite's locks.
        """
        previous, self._held = self._held, {}
        for name in (str(self._path), f"{self._path}-wal"):
            try:
                inode = os.stat(name).st_ino  # noqa: PTH116 - beside os.open
                file = previous.pop(inode, None)
                self._held[inode] = (
                    os.open(name, os.O_RDONLY | os.O_CLOEXEC) if file is None else file
                )
                os.posix_fadvise(self._held[inode], 0, 0, os.POSIX_FADV_DONTNEED)
            except FileNotFoundError:
                continue
        for file in previous.values():
            os.close(file)
