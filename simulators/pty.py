"""A pseudo-terminal as the simulator's serial port, under a name that survives unplugging."""

from __future__ import annotations

import contextlib
import os
import select
import tty
from pathlib import Path
from tempfile import TemporaryDirectory


class PtyPort:
    """One pseudo-terminal. ``link`` is a symbolic link to it; without one, the address is the
    terminal's own name.

    As on a real line, unread bytes are lost: nothing is sent while no program has the port open,
    and bytes that do not fit into its buffer are dropped.
    """

    def __init__(self, link: str | None = None) -> None:
        self._link = None if link is None else Path(link)
        self._master = -1
        self._terminal = ""
        self.plug()

    @property
    def address(self) -> str:
        """Path for the host to open."""
        return self._terminal if self._link is None else str(self._link)

    @property
    def readers(self) -> list[int]:
        """File descriptors to wait on; empty while no program has the port open, because then it
        would always be ready.
        """
        return [self._master] if self._opened() else []

    def plug(self) -> None:
        """Create the terminal in raw mode and point the link to it."""
        self._master, slave = os.openpty()
        self._terminal = os.ttyname(slave)
        tty.setraw(slave)
        os.close(slave)
        os.set_blocking(self._master, False)
        if self._link is not None:
            self._point(self._link)

    def unplug(self) -> None:
        """Remove the terminal and the link. A program that has it open sees end of file or an
        error.
        """
        if self._link is not None and self._link.is_symlink():
            self._link.unlink()
        if self._master >= 0:
            os.close(self._master)
            self._master = -1

    close = unplug

    def write(self, data: bytes) -> None:
        """Send, if a program has the port open."""
        if self._opened():
            with contextlib.suppress(BlockingIOError, OSError):
                os.write(self._master, data)

    def read(self) -> bytes:
        """Return bytes from the host; empty: none."""
        try:
            return os.read(self._master, 4096) if self._opened() else b""
        except OSError:  # closed between the check and the read
            return b""

    def _opened(self) -> bool:
        if self._master < 0:
            return False
        poll = select.poll()
        poll.register(self._master, select.POLLIN)
        return not any(event & select.POLLHUP for _, event in poll.poll(0))

    def _point(self, link: Path) -> None:
        """Create the link atomically. Raises ``FileExistsError`` if a file that is not a link is in
        the way.
        """
        if link.exists() and not link.is_symlink():
            raise FileExistsError(f"{link} exists and is not a symbolic link; choose another name")
        with TemporaryDirectory(dir=link.parent) as beside:
            fresh = Path(beside) / "link"
            fresh.symlink_to(self._terminal)
            fresh.replace(link)
