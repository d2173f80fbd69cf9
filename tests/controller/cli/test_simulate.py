"""``novamas simulate``: every kind of device that has a simulator."""

from __future__ import annotations

import subprocess
import sys

import pytest

from controller.cli.simulate import KINDS
from simulators.__main__ import DEVICES


def test_there_is_a_command_for_every_simulator() -> None:
    assert sorted(KINDS) == sorted(DEVICES)


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("kind", KINDS)
def test_options_are_the_simulators(kind: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "controller.cli", "simulate", kind, "--help"],
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"--faults-per-hour" in done.stdout
