"""The demo's programs: starts, supervises and ends them."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from common import clock
from common.errors import NovamasError
from controller.demo.note import NoteLines

PROGRAM_TIMEOUT_SECONDS = 30.0
"""Maximum seconds for a program to become ready, and to end."""
CHECK_INTERVAL_SECONDS = 0.02
"""Seconds between two checks of a condition."""
EXIT_SECONDS = 2.0
"""Maximum seconds between the first symptom of a program's end and its exit."""
_PR_SET_PDEATHSIG = 1  # prctl(2)


class DemoError(NovamasError):
    """The demo cannot continue. The message is complete for the user."""


class DemoFloor:
    """The running programs. ``room``: the directory of their logs; ``note``: the line below the
    display.
    """

    def __init__(self, room: Path, options: Mapping[str, Any] | None = None) -> None:
        """``options``: more of ``subprocess.Popen``, for every program."""
        self.room, self._options = room, options or {}
        self.note = NoteLines(room / "note.txt")
        self._programs: dict[str, subprocess.Popen[bytes]] = {}

    def start(
        self, name: str, module: str, *words: str, on_terminal: bool = False
    ) -> subprocess.Popen[bytes]:
        """Start one program. What it prints goes to ``<name>.log``; ``on_terminal``: only errors
        do, and it shares the terminal of the demo.
        """
        command = [sys.executable, "-m", module, *words]
        return self.start_program(name, command, on_terminal=on_terminal)

    def start_program(
        self, name: str, words: Sequence[str], *, on_terminal: bool = False
    ) -> subprocess.Popen[bytes]:
        """Start a program from outside this project."""
        with (self.room / f"{name}.log").open("wb") as log:
            program = subprocess.Popen(  # noqa: S603 - fixed commands
                words,
                stdin=subprocess.PIPE,
                stdout=None if on_terminal else log,
                stderr=log,
                start_new_session=not on_terminal,
                preexec_fn=_end_with_parent(),
                **self._options,
            )
        self._programs[name] = program
        return program

    def write_line(self, name: str, line: str) -> None:
        """Write a line to a program's standard input."""
        program = self._programs[name]
        assert program.stdin is not None
        try:
            program.stdin.write(line.encode() + b"\n")
            program.stdin.flush()
        except BrokenPipeError:
            program.wait()
            self.check()

    def check(self) -> None:
        """Raise :class:`DemoError` with a program's log if the program ended unexpectedly."""
        for name, program in self._programs.items():
            code = program.poll()
            if code is not None and (name != "display" or code != 0):
                raise DemoError(
                    f"the {name} has ended with {code}; its log:\n{self._log_text(name)}"
                )

    async def check_soon(self) -> None:
        """Repeat :meth:`check` while a program may be ending: its connections close before its
        exit, and others may notice that first.
        """
        for _ in range(int(EXIT_SECONDS / CHECK_INTERVAL_SECONDS)):
            self.check()
            await clock.sleep(CHECK_INTERVAL_SECONDS)

    def _log_text(self, name: str) -> str:
        return (self.room / f"{name}.log").read_text(errors="replace").strip() or "(nothing)"

    async def until(self, message: str, condition: Callable[[], bool]) -> None:
        """Wait until ``true()``. ``message`` names the condition in the error. Raises
        :class:`DemoError` if the condition takes too long or a program ends.
        """
        try:
            async with asyncio.timeout(PROGRAM_TIMEOUT_SECONDS):
                while not condition():
                    self.check()
                    await clock.sleep(CHECK_INTERVAL_SECONDS)
        except TimeoutError:
            logs = "\n".join(f"{name}: {self._log_text(name)}" for name in self._programs)
            raise DemoError(
                f"{message} did not come within {PROGRAM_TIMEOUT_SECONDS:g} s\n{logs}"
            ) from None

    def close(self) -> None:
        """End all programs and wait for each; kill those that do not end in time."""
        for program in self._programs.values():
            if program.poll() is None:
                program.terminate()
        for program in self._programs.values():
            try:
                program.wait(PROGRAM_TIMEOUT_SECONDS)
            except subprocess.TimeoutExpired:
                program.kill()
                program.wait()
            with contextlib.suppress(BrokenPipeError):
                assert program.stdin is not None
                program.stdin.close()


def _end_with_parent() -> Callable[[], None]:
    """Return what a new program calls before it begins: the kernel then sends it SIGTERM when the
    main thread of this process ends, even if it was killed.
    """
    parent, prctl = os.getpid(), ctypes.CDLL(None).prctl

    def prepare() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent:  # it ended before this call
            os.kill(os.getpid(), signal.SIGTERM)

    return prepare
