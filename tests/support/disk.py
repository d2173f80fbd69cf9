"""A disk for the daemon that can be filled, made read-only and cured, as far as this machine allows
it.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Protocol

from tests.support.daemon.process import Daemon
from tests.support.waiting import until

DISK_BYTES = 8_000_000
"""Bytes: small enough to be full at once."""


class Disk(Protocol):
    """``folder`` is for the journal. ``in_use``: it can be cured while the daemon runs."""

    folder: Path
    in_use: bool

    def fail(self, daemon: Daemon, /) -> None:
        """Fail all writes from now on."""
        ...

    def cure(self, daemon: Daemon, /) -> None:
        """Accept writes again."""
        ...

    def close(self) -> None:
        """Release the disk."""
        ...


class Full:
    """A small file system in memory, filled to the last byte."""

    in_use = True

    def __init__(self, folder: Path, size: int = DISK_BYTES) -> None:
        self.folder = folder
        folder.mkdir()
        _run("mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder))

    def fail(self, _daemon: Daemon) -> None:
        with suppress(OSError), (self.folder / "filler").open("wb", buffering=0) as filler:
            while True:
                filler.write(b"x" * 4096)

    def cure(self, _daemon: Daemon) -> None:
        (self.folder / "filler").unlink()

    def close(self) -> None:
        _run("umount", str(self.folder))


class ReadOnly:
    """A file system on a loop device, which its own driver makes read-only as after an error of the
    disk.
    """

    in_use = False

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._image = folder.with_suffix(".img")
        folder.mkdir()
        with self._image.open("wb") as image:
            image.truncate(4 * DISK_BYTES)
        _run("mkfs.ext4", "-q", "-F", str(self._image))
        self._mount()

    def _mount(self) -> None:
        _run("mount", "-o", "loop", str(self._image), str(self.folder))

    def fail(self, daemon: Daemon) -> None:
        """Between two writes of the daemon: a sync in progress may then be reported as done, and is
        not.
        """
        stop(daemon)
        _run("mount", "-o", "remount,abort", str(self.folder))
        daemon.signal(signal.SIGCONT)

    def cure(self, _daemon: Daemon) -> None:
        """As a person does it: the file system is checked and remounted, while no process
        uses it.
        """
        self.close()
        until("the loop device has let go", self._is_free)
        checked = subprocess.run(
            ["e2fsck", "-f", "-y", str(self._image)], capture_output=True, check=False
        )
        assert checked.returncode in (0, 1), checked  # 1: it has corrected something
        self._mount()
        assert os.access(self.folder, os.W_OK), "mounted read-only again"

    def _is_free(self) -> bool:
        """Its driver lets go of the image some time after it was unmounted."""
        using = subprocess.run(
            ["losetup", "--associated", str(self._image)], capture_output=True, check=True
        )
        return not using.stdout

    def close(self) -> None:
        _run("umount", str(self.folder))


class Unread:
    """A file system on a loop device whose image can be removed for a while: reads then give real
    errors (EIO).
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._image = folder.with_suffix(".img")
        self._kept = b""
        folder.mkdir()
        with self._image.open("wb") as image:
            image.truncate(4 * DISK_BYTES)
        _run("mkfs.ext4", "-q", "-F", str(self._image))
        _run("mount", "-o", "loop,noatime", str(self._image), str(folder))

    def fail(self) -> None:
        """Fail all reads that are not cached. Nothing may be written until it is cured."""
        _run("sync", "-f", str(self.folder))
        self._kept = self._image.read_bytes()
        os.truncate(self._image, 0)
        self._forget()

    def cure(self) -> None:
        """Return the content again."""
        with self._image.open("r+b") as image:
            image.write(self._kept)
        self._forget()

    def _forget(self) -> None:
        """Drop the system's cache of files; folders may stay cached."""
        Path("/proc/sys/vm/drop_caches").write_text("1")

    def close(self) -> None:
        _run("umount", "-l", str(self.folder))


class SmallBlocks:
    """A file system on a loop device whose blocks are smaller than memory pages."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        image = folder.with_suffix(".img")
        with image.open("wb") as file:
            file.truncate(4 * DISK_BYTES)
        _run("mkfs.ext2", "-q", "-F", "-b", "1024", "-m", "0", str(image))
        _run("mount", "-o", "loop", str(image), str(folder))

    def close(self) -> None:
        _run("umount", "-l", str(self.folder))


class Limited:
    """Any file system, to which the daemon may not write another byte. For machines where nothing
    can be mounted.
    """

    in_use = True

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()

    def fail(self, daemon: Daemon) -> None:
        assert daemon.process is not None
        _, most = resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (0, most))

    def cure(self, daemon: Daemon) -> None:
        assert daemon.process is not None
        _, most = resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (most, most))

    def close(self) -> None:
        """Nothing is to be released."""


def disk(kind: Callable[[Path], Disk], folder: Path) -> Disk:
    """A disk of that kind, or the next best that this machine allows."""
    try:
        return kind(folder)
    except (OSError, subprocess.CalledProcessError):
        shutil.rmtree(folder, ignore_errors=True)
        return Limited(folder)


def mount(*words: str) -> bool:
    """Mount, if permitted. Return True if it is done."""
    try:
        _run("mount", *words)
    except (OSError, subprocess.CalledProcessError):
        return False
    return True


def spoil(path: Path, *, first: int = 4096) -> None:
    """Overwrite a file in the background, from the byte ``first`` on, and leave its length."""
    length = path.stat().st_size
    with path.open("r+b", buffering=0) as file:
        file.seek(first)
        file.write(os.urandom(max(0, length - first)))


def stop(daemon: Daemon) -> None:
    """Suspend the daemon until it is sent SIGCONT."""
    assert daemon.process is not None
    daemon.signal(signal.SIGSTOP)
    until("every thread is stopped", partial(_stopped, daemon.process.pid))


def _stopped(process: int) -> bool:
    states = [
        task.read_text().rpartition(")")[2].split()[0]
        for task in Path(f"/proc/{process}/task").glob("*/stat")
    ]
    return set(states) == {"T"}


def _run(*command: str) -> None:
    subprocess.run(
        command,
        check=True,
        capture_output=True,
        env={**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"},
    )
