"""The programs of the demo: starts them, watches them, and ends them all with the demo."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from devices.errors import NovamasError

PATIENCE = 30.0
"""Seconds for each program to be ready, and for its end."""


class DemoError(NovamasError):
    """The demo cannot continue. The message is all that its user needs."""


class Floor:
    """The programs. What each says on standard error stands in ``room``."""

    def __init__(self, room: Path) -> None:
        self.room = room
        self._programs: dict[str, subprocess.Popen[bytes]] = {}

    def start(
        self, name: str, module: str, *words: str, own_group: bool = True
    ) -> subprocess.Popen[bytes]:
        """Start one program; what it says on standard error goes to ``<name>.log``."""
        with (self.room / f"{name}.log").open("wb") as log:
            program = subprocess.Popen(  # noqa: S603 - our own modules
                [sys.executable, "-m", module, *words],
                # its end tells a simulator that we are gone, however we went
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
        """Raise :class:`DemoError` with everything that a program said, if one has ended that
        should not have.
        """
        for name, program in self._programs.items():
            code = program.poll()
            if code is not None and (name != "display" or code != 0):
                raise DemoError(f"the {name} has ended with {code}; it said:\n{self._said(name)}")

    def _said(self, name: str) -> str:
        return (self.room / f"{name}.log").read_text(errors="replace").strip() or "(nothing)"

    async def until(self, what: str, true: Callable[[], bool]) -> None:
        """Wait for something. Raises :class:`DemoError` when it does not come, or when a program
        has ended.
        """
        try:
            async with asyncio.timeout(PATIENCE):
                while not true():
                    self.check()
                    await asyncio.sleep(0.02)
        except TimeoutError:
            said = "\n".join(f"{name}: {self._said(name)}" for name in self._programs)
            raise DemoError(f"{what} did not come within {PATIENCE:g} s\n{said}") from None

    def close(self) -> None:
        """End them all and wait for each; one that does not end is killed."""
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
