"""Finds the other programs that have a serial port open. If two programs read one port, each gets a
part of the device's data, and neither can notice that the rest is missing.

There are two sources: the processes of this machine, as far as they are visible (only root sees
those of other users), and the lock files that many programs for serial ports write.
"""

from __future__ import annotations

import os
import stat
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from math import inf
from pathlib import Path
from typing import NamedTuple

import msgspec

from common import clock
from common.line import PTY_MAJORS
from devices.links.link import LinkFailedError

PROC = Path("/proc")
LOCK_FOLDER = Path("/var/lock")
PID_LIMIT = 1 << 22
"""Upper limit of process ids on Linux."""

_PTY_MASTER_DEVICE = os.makedev(5, 2)  # /dev/ptmx
_MEMORY_MAJOR = 1  # /dev/null and the like, which every process has open


class Holder(msgspec.Struct, frozen=True, omit_defaults=True):
    """A process that has a port open. Only root sees processes of other users."""

    pid: int
    name: str
    lock: str | None = None
    """Its lock file, if that is the only sign that it uses the port."""

    def __str__(self) -> str:
        by = "" if self.lock is None else f", by {self.lock}"
        return f"{self.name} (pid {self.pid}{by})"


TerminalKey = tuple[int, int]
"""Identifies a terminal: device number and, for pseudo-terminals, file system."""


class _PortUser(NamedTuple):
    """A process with a port open. ``is_device``: it owns the other end of this pseudo-terminal, so
    it is not a reader.
    """

    holder: Holder
    is_device: bool


class _ProcessScans:
    """Scans all other processes, which takes some milliseconds per hundred. Ports that are opened
    at the same time share a scan.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._began = -inf
        self._seen: Mapping[TerminalKey, tuple[_PortUser, ...]] = {}

    def since(self, moment: float) -> Mapping[TerminalKey, tuple[_PortUser, ...]]:
        """Return the result of a scan that began after ``moment`` on the monotonic clock."""
        with self._lock:
            if self._began < moment:
                self._began = clock.monotonic()
                self._seen = _scan_processes()
            return self._seen


_PROCESS_SCANS = _ProcessScans()


def holders(node: str) -> tuple[Holder, ...]:
    """Return all visible processes that have a port open or have locked it, this one included."""
    others = (user.holder for user in _port_users(node, clock.monotonic()))
    return (*_own_holder(node), *others)


def other_holders(*nodes: str) -> dict[str, tuple[Holder, ...]]:
    """Return for each port the other visible processes that may read it. Takes some
    milliseconds.
    """
    now = clock.monotonic()
    return {
        node: tuple(
            seen.holder
            for seen in _port_users(node, now)
            if not seen.is_device and seen.holder.pid != os.getpid()  # it may own a lock file
        )
        for node in nodes
    }


def refuse_other_readers(node: str) -> None:
    """Raise :class:`LinkFailedError` if another process may read this port. Blocks."""
    if found := other_holders(node)[node]:
        raise LinkFailedError(in_use_reason(node, found))


def in_use_reason(path: str, found: Iterable[Holder] = ()) -> str:
    """Return the message that a port is in use, and by which programs if known."""
    by = ", ".join(map(str, found))
    if not by:
        return f"{path}: another program has the port open; `novamas devices` shows which"
    return (
        f"{path}: another program has the port open: {by}; each would get a part of what the "
        "device sends, so end it"
    )


def _port_users(node: str, moment: float) -> Iterator[_PortUser]:
    try:
        key = _terminal_key(Path(node).stat())
    except OSError:
        return
    users = _PROCESS_SCANS.since(moment).get(key, ())
    yield from users
    known = {user.holder.pid for user in users}
    yield from (_PortUser(user, False) for user in _lock_holders(node) if user.pid not in known)


def _own_holder(node: str) -> Iterator[Holder]:
    with suppress(OSError):
        if _terminal_key(Path(node).stat()) in _open_terminals(PROC / "self")[0]:
            yield Holder(os.getpid(), _process_name(PROC / "self"))


def _lock_holders(node: str) -> Iterator[Holder]:
    """Processes that have locked a port with a file in HDB format: ``LCK..ttyS0`` with the pid as
    text. A file whose process is gone is ignored.
    """
    for name in sorted({Path(node).name, Path(os.path.realpath(node)).name}):
        lock = LOCK_FOLDER / f"LCK..{name}"
        with suppress(OSError, ValueError, IndexError):
            pid = int(lock.read_text("ascii").split()[0])
            if 0 < pid < PID_LIMIT and _is_running(pid):
                yield Holder(pid, _process_name(PROC / str(pid)), str(lock))


def _terminal_key(status: os.stat_result) -> TerminalKey:
    number = status.st_rdev
    return number, status.st_dev if os.major(number) in PTY_MAJORS else 0


def _scan_processes() -> Mapping[TerminalKey, tuple[_PortUser, ...]]:
    """Return the terminals that other processes have open."""
    found: defaultdict[TerminalKey, list[_PortUser]] = defaultdict(list)
    processes: list[os.DirEntry[str]] = []
    with suppress(OSError), os.scandir(PROC) as listed:  # a system may lack it
        processes += listed
    own = str(os.getpid())  # it has the most files, and is no other reader
    for process in processes:
        if not process.name.isdecimal() or process.name == own:
            continue
        with suppress(OSError, ValueError):  # ended meanwhile, or not visible
            terminals, masters = _open_terminals(Path(process.path))
            if terminals:
                holder = Holder(int(process.name), _process_name(Path(process.path)))
                for key in terminals:
                    found[key].append(_PortUser(holder, _pty_index(key) in masters))
    return {key: tuple(users) for key, users in found.items()}


def _open_terminals(process: Path) -> tuple[set[TerminalKey], set[int | None]]:
    """The terminals that a process has open, and the pseudo-terminals whose master it owns."""
    terminals: set[TerminalKey] = set()
    masters: set[int | None] = set()
    with os.scandir(process / "fd") as found:
        entries = [*found]
    for entry in entries:
        with suppress(OSError, ValueError):
            # cheaper than stat, and most of them are files and sockets
            if not os.readlink(entry.path).startswith("/dev/"):  # noqa: PTH115
                continue
            status = entry.stat()
            if not stat.S_ISCHR(status.st_mode) or os.major(status.st_rdev) == _MEMORY_MAJOR:
                continue
            if status.st_rdev == _PTY_MASTER_DEVICE:
                words = (process / "fdinfo" / entry.name).read_text().split()
                masters.add(int(words[words.index("tty-index:") + 1]))
            else:
                terminals.add(_terminal_key(status))
    return terminals, masters


def _pty_index(key: TerminalKey) -> int | None:
    """Number of a pseudo-terminal; None for any other terminal."""
    major, minor = os.major(key[0]), os.minor(key[0])
    if major not in PTY_MAJORS:
        return None
    return (major - PTY_MAJORS.start) * 256 + minor


def _process_name(process: Path) -> str:
    try:
        name = (process / "comm").read_text(errors="replace").strip()
    except OSError:
        return "a program of another user"
    return "".join(
        character if character.isprintable() else "?" for character in name
    )  # any user can choose it


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
