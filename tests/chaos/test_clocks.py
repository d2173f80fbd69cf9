"""Clocks that jump, and a daemon that sleeps: ages and order stay right, and what was missed is no result."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from datetime import datetime
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.chaos.archive import entries_of
from tests.chaos.floor import Floor, Wheel
from tests.chaos.proof import sound
from tests.daemon.mosquitto import until

LIBRARIES = ("/usr/lib", "/usr/local/lib", "/usr/lib64")


class Clock:
    """The daemon's clock, which can be set while it runs: libfaketime reads a file before each look at the time."""

    def __init__(self, folder: Path, *, monotonic: bool = False) -> None:
        found = [path for root in LIBRARIES for path in sorted(Path(root).glob("**/libfaketimeMT.so.1"))]
        if not found:
            pytest.fail("libfaketime is not installed; tests/debian-packages names what the tests need")
        self._file = folder / "clock"
        self.set(0)
        self.environment = {
            "LD_PRELOAD": str(found[0]),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "0" if monotonic else "1",
        }

    def set(self, seconds: int) -> None:
        """So many seconds from now on before or after the true time."""
        fresh = self._file.with_suffix(".new")
        fresh.write_text(f"{seconds:+d}\n")
        fresh.replace(self._file)


def test_the_wall_clock_is_set_back_and_forward_by_an_hour(floor: Callable[..., Floor], tmp_path: Path) -> None:
    clock = Clock(tmp_path)
    made = floor(stale_after=600.0)
    archive = made.start(**clock.environment)
    made.until_results(1)
    for seconds in (-3600, 3600):
        clock.set(seconds)
        made.until_results(1)

    def told() -> Any:
        found = archive.latest("node/pit-1/health")
        wheel = found["tables"]["r1"]["devices"]["wheel"]
        return found if wheel.get("reconnects") and wheel["state"] == "up" else None

    made.wheels["r1"].fault("unplug 3")  # so that health is told after the jumps
    health = until("health", told, made.daemon.log)
    assert health["uptime"] < 600
    assert health["tables"]["r1"]["devices"]["wheel"]["age"] < 600
    assert health["outbox"]["oldest"] is None or 0 <= health["outbox"]["oldest"] < 600
    events, _ = sound(made)
    times = [datetime.fromisoformat(event["time"]).timestamp() for event in events]
    steps = [later - earlier for earlier, later in pairwise(times)]
    assert min(steps) < -3000  # the time of day is told as it was
    assert max(steps) > 3000
    assert [event["mono_ns"] for event in events] == sorted(event["mono_ns"] for event in events)
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert "stale" not in {event.get("state") for event in events}  # a jump of the wall clock makes nobody look silent


def test_the_monotonic_clock_leaps_forward_by_an_hour(floor: Callable[..., Floor], tmp_path: Path) -> None:
    """As after a suspend on some machines: the wheel was not heard for an hour, whatever it may have done."""
    clock = Clock(tmp_path, monotonic=True)
    made = floor()
    made.start(**clock.environment)
    made.until_results(1)
    clock.set(3600)
    made.until_results(2)
    events, _ = sound(made)
    assert any(event["type"] in ("data.late", "device.state") for event in events[3:-2])


def test_a_daemon_that_sleeps_over_part_of_a_round(floor: Callable[..., Floor], long: bool) -> None:
    made = floor()
    made.start()
    wheel = made.wheels["r1"]
    for state in (1, 2, 3, 4, 5) if long else (3, 5):
        known = len(wheel.states)
        until(f"state {state}", partial(reached, wheel, state, known))
        made.daemon.signal(signal.SIGSTOP)
        until("the wheel went on", partial(reached, wheel, 5, len(wheel.states)))
        made.daemon.signal(signal.SIGCONT)
        made.until_results(1)
    events, _ = sound(made)
    readings = [json.loads(entry.body) for entry in entries_of(made.journal) if entry.kind == "input"]
    assert any(reading.get("late") for reading in readings)
    assert any(event["type"] == "data.late" for event in events)


def reached(wheel: Wheel, state: int, known: int) -> bool:
    """Whether the wheel has come to that state after so many that were seen."""
    return state in wheel.states[known:]
