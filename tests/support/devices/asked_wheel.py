"""A simulated Slingshot 2 as a program: it waits in state 6 for its host."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.support.programs import running

SPEED = 4.0


class SimulatedWheel:
    """The program, its link, and the table that it plays at."""

    def __init__(self, link: Path, ending: ExitStack, *words: str) -> None:
        self.link = link
        words = ("--link", str(link), "--mode", "1159", "--speed", str(SPEED), *words)
        self._program = ending.enter_context(
            running(
                [sys.executable, "-m", "simulators", "wheel", *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        )
        self.read()

    def read(self) -> dict[str, Any]:
        assert self._program.stdout is not None
        found: dict[str, Any] = json.loads(self._program.stdout.readline())
        return found

    def fault(self, text: str) -> None:
        """Trigger a fault, and return when the simulator has done it."""
        assert self._program.stdin is not None
        self._program.stdin.write(f"{text}\n".encode())
        self._program.stdin.flush()
        while self.read().get("fault") != text.split()[0]:
            pass

    def until_line(self, begin: str) -> None:
        """Wait until the wheel sends a line that begins like this. Needs ``--tell-lines``."""
        while not str(self.read().get("line", "")).startswith(begin):
            pass

    @property
    def table(self) -> str:
        return f"""
[[table]]
id = "r1"
game = "roulette-french"
decree = "ARA02"

[[table.device]]
id = "wheel"
driver = "cammegh-ss2"
link = "serial://{self.link}?baud=9600"
commands = true
options = {{ period = {0.5 / SPEED} }}
"""
