"""The journal in use, read back from the disk: damage is found before somebody asks for what it
hit.

In a thread and on a connection of its own, that nothing of what SQLite remembers is taken for what
is on the disk, and slowly, that no commit waits for it.
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path
from threading import Event

from controller.journal.reader import JournalReader
from controller.journal.schema import (
    NONSENSE,
    ChainHead,
    follows,
    holds_nonsense,
    is_damage,
    unread,
)

SHARE = 0.1
"""Of the time, for how much it reads; the rest it pauses."""
BATCH = 100
"""Entries that are read between two pauses: no snapshot of the chain is held for longer."""
STEPS = 5_000
"""Of SQLite's own between two pauses, while it looks at the pages."""
LONGEST_PAUSE = 1.0
LOG = 16_000_000
"""Bytes of the log past which it pauses no more."""


class ReadBack:
    """Reads the journal at ``path`` again and again. Used by one thread at a time;
    ``stop`` by any.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stopped = Event()
        self._since = 0.0
        self._held: dict[int, int] = {}
        self._reader: JournalReader | None = None

    def stop(self) -> None:
        """End a reading that is under way, at once: it has found nothing then."""
        self._stopped.set()
        if (reader := self._reader) is not None:
            with suppress(sqlite3.ProgrammingError):  # it has just ended
                reader.interrupt()

    def damage(self, journal: str) -> str | None:
        """What is wrong with the file, whose id is ``journal``, or None. Said only of what is read
        so twice.

        Raises ``sqlite3.Error``, ``OSError`` and :class:`JournalUnusableError` where it cannot be
        read at all.
        """
        return self._look(journal) and self._look(journal)

    def _look(self, journal: str) -> str | None:
        self._forget()
        self._since = time.monotonic()
        try:
            with closing(JournalReader(self._path)) as self._reader:
                if self._reader.id() != journal:
                    return None  # another file has taken its place
                found = self._chain(self._reader)
                if found is None and not self._stopped.is_set():
                    found = self._reader.damage(self._pause, STEPS)
                return None if self._stopped.is_set() else found
        except NONSENSE as error:
            if self._stopped.is_set():
                return None
            if holds_nonsense(error) and not (is_damage(error) and unread(self._path)):
                return str(error)
            raise

    def _chain(self, reader: JournalReader) -> str | None:
        end, at = reader.head().position, reader.beginning()
        if at.position > end:
            return f"the entries end at position {end}, and begin past {at.position}"
        while at.position < end:
            entries = list(reader.entries(at.position, BATCH))
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
            if Path(f"{self._path}-wal").stat().st_size > LOG:
                spent = 0.0
        stopped = self._stopped.wait(min(spent * (1 / SHARE - 1), LONGEST_PAUSE))
        self._since = time.monotonic()
        return stopped

    def _forget(self) -> None:
        """Let the system read from the disk what it would take from memory.

        A file is opened for that once, and closed when it is there no more: with any that this
        process closes of a database in use, SQLite's locks are gone.
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
