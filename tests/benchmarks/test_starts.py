"""The benchmark of starts runs to its end, for a command and for a service."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks import starts

pytestmark = pytest.mark.usefixtures("programs")


def test_a_command_and_a_service_are_measured() -> None:
    program = Path(sys.executable).with_name("novamas")
    found = starts.measure({"novamas": program}, ["--help", "run"], 1)
    assert {name: len(times) for (_, name), times in found.items()} == {"--help": 1, "run": 1}
    assert all(time > 0 for times in found.values() for time in times)
