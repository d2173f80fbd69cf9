"""Reads the journal in use back from the disk, so that damage is found before somebody needs the
damaged part.

It has a thread and a connection of its own, so that SQLite's cache is not mistaken for the disk,
and reads slowly, so that no commit waits for it.
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path
from threading import Event

from controller.journal.file import TAIL_ENTRIES
from controller.journal.reader import JournalReader
from controller.journal.schema import (
    READ_ERRORS,
    ChainHead,
    follows,
    is_damage,
    is_invalid_content,
    may_be_intact,
)

READ_TIME_SHARE = 0.1
"""Share of the time it may spend reading; it pauses for the rest."""
BATCH_ENTRIES = 100
"""Entries between two pauses, so that no snapshot of the chain is held for long."""
STEPS_PER_PAUSE = 5_000
"""SQLite's own steps between two pauses while it checks pages."""
MAX_PAUSE_SECONDS = 1.0
MAX_LOG_BYTES = 16_000_000
"""Size of the log, in bytes, above which it no longer pauses."""


class ReadBack:
    """Reads the journal at ``path`` repeatedly. Used by one thread at a time; ``stop`` by any."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stopped = Event()
        self._since = 0.0
        self._held: dict[int, int] = {}
        self._reader: JournalReader | None = None

    def stop(self) -> None:
        """End a running check at once, without a finding."""
        self._stopped.set()
        if (reader := self._reader) is not None:
            with suppress(sqlite3.ProgrammingError):  # it has just ended
                reader.interrupt()

    def damage(self, journal: str) -> str | None:
        """What is wrong with the file with the id ``journal``, or None. Reported only if read
        twice.

        Raises ``sqlite3.Error``, ``OSError`` and :class:`JournalUnusableError` if it cannot be read
        at all.
        """
        return self._look(journal) and self._look(journal)

    def broken_end(self, journal: str) -> str | None:
        """What is wrong with the chain of the newest entries, as :meth:`damage` of all."""
        return self._look(journal, end=True) and self._look(journal, end=True)

    def _look(self, journal: str, *, end: bool = False) -> str | None:
        self._forget()
        self._since = time.monotonic()
        try:
            with closing(JournalReader(self._path)) as self._reader:
                if self._reader.id() != journal:
                    return None  # another file has taken its place
                found = self._chain(self._reader, end=end)
                if found is None and not end and not self._stopped.is_set():
                    found = self._reader.damage(self._pause, STEPS_PER_PAUSE)
                return None if self._stopped.is_set() else found
        except READ_ERRORS as error:
            if self._stopped.is_set():
                return None
            if is_invalid_content(error) and not (is_damage(error) and may_be_intact(self._path)):
                return str(error)
            raise

    def _chain(self, reader: JournalReader, *, end: bool) -> str | None:
        head, at = reader.head().position, reader.beginning()
        if at.position > head:
            return f"the entries end at position {head}, and begin past {at.position}"
        if end and (known := reader.hash_at(head - TAIL_ENTRIES)) is not None:
            at = ChainHead(head - TAIL_ENTRIES, known)
        while at.position < head:
            entries = list(reader.entries(at.position, BATCH_ENTRIES))
            for entry in entries:
                if not follows(entry, at):
                    break
                at = ChainHead(entry.position, entry.hash)
            else:
                if not entries:
                    return f"the entries after position {at.position} are gone"
                if self._pause():
                    return None
                continue
            begins = reader.beginning()
            if begins.position <= at.position:
                return f"the chain does not hold at position {at.position + 1}"
            at = begins  # days that are over were removed meanwhile
        return None

    def _pause(self) -> bool:
        """Let others work, unless the log grows: it cannot be cut off before the pages are read.
        Gives whether to stop.
        """
        spent = time.monotonic() - self._since
        with suppress(OSError):
            if Path(f"{self._path}-wal").stat().st_size > MAX_LOG_BYTES:
                spent = 0.0
        stopped = self._stopped.wait(min(spent * (1 / READ_TIME_SHARE - 1), MAX_PAUSE_SECONDS))
        self._since = time.monotonic()
        return stopped

    def _forget(self) -> None:
        """Drop the system's cache, so that the next read comes from the disk.

        A file is opened once for this, and closed when it is gone: closing any descriptor of a
        database in use would drop SQLite's locks.
        """
        known, self._held = self._held, {}
        for name in (str(self._path), f"{self._path}-wal"):
            try:
                number = os.stat(name).st_ino  # noqa: PTH116 - beside os.open
                file = known.pop(number, None)
                self._held[number] = (
                    os.open(name, os.O_RDONLY | os.O_CLOEXEC) if file is None else file
                )
                os.posix_fadvise(self._held[number], 0, 0, os.POSIX_FADV_DONTNEED)
            except FileNotFoundError:
                continue
        for file in known.values():
            os.close(file)
