"""The index of the write-ahead log (the file ``-shm``), which SQLite maps into memory: its blocks
are allocated before anything is written there.

SQLite allocates one byte in each 4096. On a file system with smaller blocks the others are missing,
and the first write to one of them on a full disk ends the process with SIGBUS.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

PAGE_BYTES = 4096
RESERVED_BYTES = 8 * 32_768
"""Bytes: the index of a log of about 130 MB."""


class WalIndex:
    """Keeps the index files of one journal open: closing any file of a database in use would drop
    SQLite's locks.
    """

    def __init__(self) -> None:
        self._held: dict[int, int] = {}

    def reserve(self, journal: Path) -> None:
        """Allocate the blocks of the index of an open journal; used by the thread that writes to
        it.

        Raises ``OSError`` if there is no room.
        """
        path = _index_path(journal)
        if _is_reserved(path):
            return
        found = path.stat()
        if found.st_ino not in self._held:
            self._held[found.st_ino] = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        file = self._held[found.st_ino]
        # What is there stays as it is. The first page has its blocks: others write there, so it is
        # left alone.
        for at in range(PAGE_BYTES, RESERVED_BYTES, min(PAGE_BYTES, os.fstatvfs(file).f_frsize)):
            os.pwrite(file, os.pread(file, 1, at) or b"\0", at)
        os.pwrite(file, os.pread(file, 1, RESERVED_BYTES - 1) or b"\0", RESERVED_BYTES - 1)

    def close(self) -> None:
        """Close the files, once this process no longer uses the journal."""
        for file in self._held.values():
            os.close(file)
        self._held.clear()


def check_space(journal: Path) -> None:
    """Raise ``OSError`` if SQLite would create the index of a journal on a disk of small blocks
    without room for it.
    """
    found = os.statvfs(journal.parent)
    if (
        found.f_frsize < PAGE_BYTES
        and found.f_bavail * found.f_frsize < 2 * RESERVED_BYTES
        and not _is_reserved(_index_path(journal))
    ):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(journal))


def _is_reserved(path: Path) -> bool:
    try:
        found = path.stat()
    except FileNotFoundError:
        return False
    return found.st_size >= RESERVED_BYTES and found.st_blocks * 512 >= found.st_size


def _index_path(journal: Path) -> Path:
    return journal.with_name(f"{journal.name}-shm")
