"""A program on a real pseudo-terminal, as before a person."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import termios
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

from tests.support.waiting import TIMEOUT_SECONDS, until


class Terminal:
    """Starts a program in the foreground of a terminal of 80 by 24. ``text`` is everything that it
    has drawn.
    """

    def __init__(self, command: list[str]) -> None:
        self._command = command
        self._drawn = b""

    def __enter__(self) -> Self:
        self._process, self._terminal = pty.fork()
        if self._process == 0:
            os.environ |= {"TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24"}
            os.execv(self._command[0], self._command)
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self._code: int | None = None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._code is None:
            for each in _session(self._process):
                with suppress(ProcessLookupError):
                    os.kill(each, 9)
            os.waitpid(self._process, 0)
        if self._terminal >= 0:
            os.close(self._terminal)

    def hang_up(self) -> None:
        """Close the terminal; the program is not told."""
        os.close(self._terminal)
        self._terminal = -1

    @property
    def text(self) -> str:
        return self._drawn.decode("utf-8", "replace")

    @property
    def drawn(self) -> int:
        """The number of bytes drawn so far."""
        return len(self._drawn)

    def wait_for(self, wanted: str, since: int = 0, timeout: float = TIMEOUT_SECONDS) -> None:
        """Wait until it has drawn this text; ``since``: after this many bytes."""
        end = time.monotonic() + timeout
        while wanted.encode() not in self._drawn[since:]:
            if time.monotonic() > end or not self._read():
                pytest.fail(f"{wanted!r} was not drawn, but\n{self.text[-4000:]}")

    def press_ctrl_c(self) -> None:
        os.write(self._terminal, b"\x03")

    @property
    def leader(self) -> int:
        """The process that was started on it."""
        return self._process

    def type(self, line: str) -> None:
        os.write(self._terminal, line.encode() + b"\n")

    def ended(self) -> int:
        """Wait until the program has ended, whether or not its output is read; return the exit
        code.
        """
        status = until("the end", self._reaped, lambda: self.text)
        self._code = os.waitstatus_to_exitcode(status[1])
        return self._code

    def _reaped(self) -> tuple[int, int] | None:
        found, status = os.waitpid(self._process, os.WNOHANG)
        return (found, status) if found else None

    def end(self) -> int:
        """Read to the end; return the exit code."""
        end = time.monotonic() + TIMEOUT_SECONDS
        while self._read():
            if time.monotonic() > end:
                pytest.fail(f"does not end\n{self.text[-4000:]}")
        self._code = os.waitstatus_to_exitcode(os.waitpid(self._process, 0)[1])
        return self._code

    def _read(self) -> bool:
        """Read new output. False: the program has closed its terminal."""
        if select.select([self._terminal], [], [], 0.1)[0]:
            try:
                self._drawn += (piece := os.read(self._terminal, 65536))
            except OSError:  # how Linux reports that the other side is closed
                return False
            return bool(piece)
        return True


def _session(leader: int) -> list[int]:
    """The processes of a session: the one started on its terminal, and its descendants."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile
            if os.getsid(int(path.name)) == leader:
                found.append(int(path.name))
    return found
