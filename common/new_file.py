"""Writes files so that they are on the disk complete or not at all, with their name in every error
(the error of a full disk has no file name).
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from common import clock

PRIVATE_MODE = 0o600
"""Permissions: readable and writable by the owner only."""
WAIT_SECONDS = 5.0
"""Seconds to wait for another process that writes the same file."""
WAIT_STEP_SECONDS = 0.01
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def is_exposed(status: os.stat_result) -> bool:
    """Return whether others than its owner may read a secret file. A file of root may be readable
    by a group, whose members are the services that need it.
    """
    shared = status.st_uid == 0 and os.geteuid() != 0
    return bool(status.st_mode & (0o007 if shared else 0o077))


def new_file(path: Path) -> BinaryIO:
    """Create a file, replacing one of that name; a symbolic link is not followed. Raises
    ``OSError``.
    """
    path.unlink(missing_ok=True)
    return open(os.open(path, _FLAGS, PRIVATE_MODE), "wb")  # noqa: PTH123 - pathlib cannot pass flags


@contextmanager
def named_in_errors(path: Path, part: bool = False) -> Iterator[None]:
    """Context in which a file is written: an ``OSError`` gets its name. If writing fails, the file
    is removed, unless it existed before. ``part``: remove it even then, because it is a leftover of
    an earlier attempt.
    """
    was_there = os.path.lexists(path) and not part
    try:
        yield
    except BaseException as error:
        if not was_there and not isinstance(error, FileExistsError):
            with suppress(OSError):
                path.unlink()
        if isinstance(error, OSError):
            error.filename = error.filename or str(path)
        raise


@contextmanager
def replacing(
    path: Path,
    *,
    mode: int = PRIVATE_MODE,
    sync: bool = True,
    finish: Callable[[Path], None] | None = None,
) -> Iterator[BinaryIO]:
    """Context in which a new version of a file is written: afterwards it takes the name ``path``,
    so that a reader finds the old file or the whole new one. ``sync``: so does one after a power
    cut, and it finds the new one once the context has ended. ``finish`` is called with the complete
    part before it takes the name; if it raises, the part is removed. Raises ``OSError``.
    """

    def move(part: Path) -> None:
        if finish is not None:
            finish(part)
        part.replace(path)

    with _writing(_part_of(path), move, mode, sync=sync) as file:
        yield file
    if sync:
        sync_folder(path.parent)


@contextmanager
def creating(
    path: Path, *, mode: int = 0o666, finish: Callable[[Path], None] | None = None
) -> Iterator[BinaryIO]:
    """Context like :func:`replacing` for a file that must not exist yet, with the permissions
    ``mode``, less the umask. Raises ``FileExistsError`` and other ``OSError``.
    """

    def move(part: Path) -> None:
        if finish is not None:
            finish(part)
        move_new(part, path)

    with _writing(_part_of(path), move, mode) as file:
        yield file
    with named_in_errors(path, part=True):
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Flush the names in a folder to the disk, if its file system can do that. Raises
    ``OSError``.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
    finally:
        os.close(descriptor)


def create_private(path: Path, data: bytes) -> None:
    """Create a file that only its owner may read, like :func:`create_file`."""
    create_file(path, data, PRIVATE_MODE)


def create_file(path: Path, data: bytes, mode: int = 0o666) -> None:
    """Create a file with the permissions ``mode``, less the umask: a reader, or a person after a
    crash or a power cut, finds all of it or none, and all once this returns. Raises ``OSError``,
    also if it exists already.
    """
    try:
        with creating(path, mode=mode) as file:
            file.write(data)
    except OSError as error:
        _name(error, path)
        raise


def replace_file(path: Path, data: bytes) -> None:
    """Replace a file atomically: a reader, or a person after a crash or a power cut, finds either
    the old or the new content, and the new one once this returns. A device or a pipe is written to
    directly. Raises ``OSError``.
    """
    target = path.resolve()
    if target.exists() and not target.is_file():
        with named_in_errors(path):
            target.write_bytes(data)
        return

    def move(part: Path) -> None:
        part.replace(target)

    try:
        with _writing(_part_of(target), move, 0o666, _same_rights(target)) as file:
            file.write(data)
        sync_folder(target.parent)
    except OSError as error:
        _name(error, path)
        raise


def write_part(
    part: Path, data: bytes, mode: int, prepare: Callable[[int], None] | None = None
) -> None:
    """Write a file that will get another name once all files of a change are complete, and flush
    it. ``prepare`` is called with the descriptor of the empty file, to set its owner and
    permissions. If writing fails, the file is removed. Raises ``OSError``.
    """
    with _writing(part, lambda _: None, mode, prepare) as file:
        file.write(data)


def move_new(part: Path, path: Path) -> None:
    """Move a complete file to a name that no file has. Raises ``FileExistsError`` if one has it,
    and ``OSError``; the part is then removed.
    """
    try:
        path.hardlink_to(part)
    except OSError as error:  # no hard links, for example on exFAT
        if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.EINVAL):
            raise
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from None
        part.replace(path)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


@contextmanager
def _writing(
    part: Path,
    move: Callable[[Path], None],
    mode: int,
    prepare: Callable[[int], None] | None = None,
    *,
    sync: bool = True,
) -> Iterator[BinaryIO]:
    """Context in which a part is written, and then moved. What a killed process left is replaced;
    no other process writes or removes the part before it is moved.
    """
    end = clock.monotonic() + WAIT_SECONDS
    while (descriptor := _new_part(part, mode)) is None:
        if clock.monotonic() >= end:
            raise BlockingIOError(errno.EAGAIN, "another process is writing it", str(part))
        clock.block(WAIT_STEP_SECONDS)
    try:
        with named_in_errors(part, part=True):
            with open(descriptor, "wb", closefd=False) as file:
                if prepare is not None:
                    prepare(descriptor)
                yield file
                file.flush()
                if sync:
                    os.fsync(descriptor)
            move(part)
    finally:
        os.close(descriptor)


def _new_part(part: Path, mode: int) -> int | None:
    """Create and lock a part, in place of a leftover, which has no lock. Return its descriptor, or
    None if another process is writing it.
    """
    try:
        leftover = os.open(part, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        pass
    except OSError:  # a link, or another user's
        part.unlink(missing_ok=True)
    else:
        try:
            if not _lock(leftover):
                return None
            if _is_at(leftover, part):
                part.unlink()
        finally:
            os.close(leftover)
    try:
        descriptor = os.open(part, _FLAGS, mode)
    except FileExistsError:
        return None
    if _lock(descriptor) and _is_at(descriptor, part):
        return descriptor
    os.close(descriptor)
    return None


def _lock(descriptor: int) -> bool:
    """Lock a file until its descriptor is closed. Return False if another process has locked it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def _is_at(descriptor: int, path: Path) -> bool:
    """Return whether a path names an open file."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False


def _part_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.part")


def _same_rights(target: Path) -> Callable[[int], None] | None:
    if not target.exists():
        return None
    before = target.stat()

    def prepare(descriptor: int) -> None:
        os.fchown(descriptor, before.st_uid, before.st_gid)
        os.fchmod(descriptor, before.st_mode & 0o777)

    return prepare


def _name(error: OSError, path: Path) -> None:
    error.filename, error.filename2 = str(path), None
