"""The demo's programs: start them, watch them, and end them with the demo."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from controller.demo.note import Note
from devices.errors import NovamasError

PATIENCE = 30.0
"""Seconds each program may take to become ready, and to end."""
LOOK = 0.02
"""Seconds between two looks at what is waited for."""
DYING = 2.0
"""Seconds after which a program that dies has surely ended."""


class DemoError(NovamasError):
    """The demo cannot continue. The message tells the user everything needed."""


class Floor:
    """The running programs. ``room``: the directory of their logs; ``note``: the line below the
    picture.
    """

    def __init__(self, room: Path) -> None:
        self.room = room
        self.note = Note(room / "note.txt")
        self._programs: dict[str, subprocess.Popen[bytes]] = {}

    def start(
        self, name: str, module: str, *words: str, own_group: bool = True
    ) -> subprocess.Popen[bytes]:
        """Start one program. Its standard error goes to ``<name>.log``."""
        with (self.room / f"{name}.log").open("wb") as log:
            program = subprocess.Popen(  # noqa: S603 - our own modules
                [sys.executable, "-m", module, *words],
                # a simulator ends when this pipe closes, however the demo ended
                stdin=subprocess.PIPE,
                stdout=None if name == "display" else log,
                stderr=log,
                start_new_session=own_group,
            )
        self._programs[name] = program
        return program

    def tell(self, name: str, line: str) -> None:
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
                raise DemoError(f"the {name} has ended with {code}; it said:\n{self._said(name)}")

    async def check_soon(self) -> None:
        """:meth:`check` for as long as a program that dies may take until it is seen to have ended:
        its connections close before, and others may notice that first.
        """
        for _ in range(int(DYING / LOOK)):
            self.check()
            await asyncio.sleep(LOOK)

    def _said(self, name: str) -> str:
        return (self.room / f"{name}.log").read_text(errors="replace").strip() or "(nothing)"

    async def until(self, what: str, true: Callable[[], bool]) -> None:
        """Wait until ``true()``. ``what`` names the condition in the message. Raises
        :class:`DemoError` if the condition takes too long or a program ends.
        """
        try:
            async with asyncio.timeout(PATIENCE):
                while not true():
                    self.check()
                    await asyncio.sleep(LOOK)
        except TimeoutError:
            said = "\n".join(f"{name}: {self._said(name)}" for name in self._programs)
            raise DemoError(f"{what} did not come within {PATIENCE:g} s\n{said}") from None

    def close(self) -> None:
        """End all programs and wait for each; kill any that does not end in time."""
        for program in self._programs.values():
            if program.poll() is None:
                program.terminate()
        for program in self._programs.values():
            try:
                program.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                program.kill()
                program.wait()
            with contextlib.suppress(BrokenPipeError):
                assert program.stdin is not None
                program.stdin.close()
