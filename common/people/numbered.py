"""Files whose number grows with each change, so that an older copy of one is recognised, also after
a restart.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Generic, TypeVar

from common.new_file import replacing

T = TypeVar("T")
FileStatus = tuple[int, int, int, int]
"""Inode, size and times of a file, which change with it."""


class OldCopyError(ValueError):
    """A file is not newer than the one in force. The message says why and what to do."""


def check_number(number: int, in_force: int, remedy: str) -> None:
    """Raise :class:`OldCopyError` if a file that differs from the one in force is not newer.
    ``remedy``: what to do if both have the same number.
    """
    if number == in_force:
        raise OldCopyError(f"another file with its number, {number}, is in force: {remedy}")
    if number < in_force:
        raise OldCopyError(
            f"its number is {number}, and number {in_force} is in force: it is an old copy. "
            "Restore the last one, and change that"
        )


def file_status(descriptor: int) -> FileStatus:
    """Return the status of an open file."""
    status = os.fstat(descriptor)
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Lock a folder, which is created if it is missing, against other processes."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


class FileMemory(Generic[T]):
    """The file at ``path``, which stores the text of the file in force; several processes may share
    it. ``read`` returns the content, which has at most ``max_bytes``, or None if it counts for
    nothing.
    """

    def __init__(self, path: Path, max_bytes: int, read: Callable[[bytes], T | None]) -> None:
        self.path = path
        self._max_bytes, self._read = max_bytes, read
        self._status: FileStatus | None = None

    def recall(self) -> T | None:
        """Return the stored content if it changed since the last call, else None. Raises
        ``OSError``, and what ``read`` raises.
        """
        try:
            with self.path.open("rb") as file:
                status = file_status(file.fileno())
                if status == self._status:
                    return None
                content = self._read(file.read(self._max_bytes + 1))
        except FileNotFoundError:
            return None
        self._status = status
        return content

    def store(self, text: bytes) -> None:
        """Replace the stored text. Raises ``OSError``."""
        with replacing(self.path) as file:
            file.write(text)
