"""The index of the write-ahead log (the file ``-shm``): its blocks are allocated in advance, and
the size of the used log is read from it.

SQLite maps the index into memory and allocates one byte in each 4096. On a file system with smaller
blocks the blocks in between are missing, and the first write to one of them on a full disk ends the
process with SIGBUS.
"""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

PAGE_BYTES = 4096
RESERVED_BYTES = 8 * 32_768
"""Enough for the index of a log of about 130 MB."""
LOG_HEADER_BYTES, FRAME_BYTES = 32, 24 + PAGE_BYTES
"""The log is a header and frames, one page each (https://sqlite.org/fileformat2.html#walformat)."""
MAX_FRAME_OFFSET, BACKFILLED_OFFSET = 16, 96
"""Where the index has the number of frames, and how many of them are in the database
(https://sqlite.org/walformat.html, ``mxFrame`` and ``nBackfill``).
"""


class WalIndex:
    """The index files of one journal. They stay open: closing any file of a database in use would
    drop SQLite's locks.
    """

    def __init__(self) -> None:
        self._held: dict[int, int] = {}
        self._file: int | None = None

    def reserve(self, journal: Path) -> None:
        """Allocate the blocks of the index of an open journal. Called by the thread that writes to
        it. Raises ``OSError`` if there is no space.
        """
        path = _index_path(journal)
        inode = path.stat().st_ino
        if inode not in self._held:
            self._held[inode] = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        self._file = file = self._held[inode]
        if _is_reserved(path):
            return
        # Existing bytes are kept. The first page is skipped: its blocks exist, and readers write
        # to it.
        for offset in range(
            PAGE_BYTES, RESERVED_BYTES, min(PAGE_BYTES, os.fstatvfs(file).f_frsize)
        ):
            os.pwrite(file, os.pread(file, 1, offset) or b"\0", offset)
        os.pwrite(file, os.pread(file, 1, RESERVED_BYTES - 1) or b"\0", RESERVED_BYTES - 1)

    def log_bytes(self) -> int:
        """Return how much of the log is in use, 0 if all of it is in the database: the next commit
        then begins at its start. The file may be larger.
        """
        if self._file is None:
            return 0
        index = os.pread(self._file, BACKFILLED_OFFSET + 4, 0)
        frames, backfilled = (
            int.from_bytes(index[offset : offset + 4], sys.byteorder)
            for offset in (MAX_FRAME_OFFSET, BACKFILLED_OFFSET)
        )
        return LOG_HEADER_BYTES + frames * FRAME_BYTES if frames > backfilled else 0

    def close(self) -> None:
        """Close the files. Call it only when this process no longer uses the journal."""
        for file in self._held.values():
            os.close(file)
        self._held.clear()
        self._file = None


def check_space(journal: Path) -> None:
    """Raise ``OSError`` if SQLite would create the index of a journal on a file system with small
    blocks and too little free space.
    """
    status = os.statvfs(journal.parent)
    if (
        status.f_frsize < PAGE_BYTES
        and status.f_bavail * status.f_frsize < 2 * RESERVED_BYTES
        and not _is_reserved(_index_path(journal))
    ):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(journal))


def _is_reserved(path: Path) -> bool:
    try:
        status = path.stat()
    except FileNotFoundError:
        return False
    return status.st_size >= RESERVED_BYTES and status.st_blocks * 512 >= status.st_size


def _index_path(journal: Path) -> Path:
    return journal.with_name(f"{journal.name}-shm")
