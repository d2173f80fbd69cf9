"""Clocks that jump, and a daemon that sleeps: ages and order stay right, and what was missed is no
result.
"""

from __future__ import annotations

import json
import random
import signal
import time
from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from controller.journal.setup import Boot
from controller.proof.segment import Segment, segments
from tests.support.chaos.archive import entries_of
from tests.support.chaos.faked_clock import Clock
from tests.support.chaos.floor import Floor, Wheel
from tests.support.chaos.proof import sound
from tests.support.programs import with_constants
from tests.support.waiting import until


def test_the_wall_clock_is_set_back_and_forward_by_an_hour(
    floor: Callable[..., Floor], tmp_path: Path
) -> None:
    clock = Clock(tmp_path)
    made = floor(stale_after=600.0)
    archive = made.start(**clock.environment)
    made.until_results(1)
    for number, seconds in enumerate((-3600, 3600), 1):
        clock.set(seconds)
        noticed = partial(_noticed, made, number)
        until("the step is noticed, which is looked for once a second", noticed, made.daemon.log)
        made.until_results(1)

    def told() -> Any:
        found = archive.latest("node/pit-1/health")
        wheel = found["tables"]["r1"]["devices"]["wheel"]
        return found if wheel.get("reconnects") and wheel["state"] == "up" else None

    made.wheels["r1"].fault("unplug 3")  # so that health is published after the jumps
    health = until("health", told, made.daemon.log)
    assert health["uptime"] < 600
    assert health["tables"]["r1"]["devices"]["wheel"]["age"] < 600
    assert health["outbox"]["oldest"] is None or 0 <= health["outbox"]["oldest"] < 600
    events, _ = sound(made)
    times = [datetime.fromisoformat(event["time"]).timestamp() for event in events]
    steps = [later - earlier for earlier, later in pairwise(times)]
    set_by = [event["step"] for event in events if event["type"] == "clock.stepped"]
    assert [round(by, -1) for by in set_by] == [-3600, 7200]  # each once
    assert not any("time_bound" in event for event in events)  # the site asks nothing
    assert min(steps) < -3000  # the time of day is published unchanged
    assert max(steps) > 3000
    assert [event["mono_ns"] for event in events] == sorted(event["mono_ns"] for event in events)
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert "stale" not in {
        event.get("state") for event in events
    }  # a jump of the wall clock makes no device stale


def _noticed(made: Floor, steps: int) -> bool:
    return made.logged("clock was set") >= steps


def test_a_daemon_that_sleeps_over_part_of_a_round(floor: Callable[..., Floor], long: bool) -> None:
    made = floor()
    made.start()
    wheel = made.wheels["r1"]
    for state in (1, 2, 3, 4, 5) if long else (3, 5):
        known = len(wheel.states)
        until(f"state {state}", partial(reached, wheel, state, known))
        made.daemon.signal(signal.SIGSTOP)
        until("the wheel played on", partial(reached, wheel, 5, len(wheel.states)))
        made.daemon.signal(signal.SIGCONT)
        made.until_results(1)
    events, _ = sound(made)
    readings = [
        json.loads(entry.body) for entry in entries_of(made.journal) if entry.kind == "input"
    ]
    assert any(reading.get("late") for reading in readings)
    assert any(event["type"] == "data.late" for event in events)


def reached(wheel: Wheel, state: int, known: int) -> bool:
    """Whether the wheel has entered that state since ``known`` states."""
    return state in wheel.states[known:]


HURRIED = f"""
import sys
from controller.cli import main
from controller.proof import clocks
{with_constants("controller.proof.journal_upkeep", FLUSH_INTERVAL_SECONDS=0.3)}
clocks.synchronised = lambda: False
sys.exit(main())
"""
"""The daemon, whose archivist looks at the clocks and at the days three times a second. The
kernel's clock status says nothing about a clock faked by a test.
"""
DAY = 86_400
STEPS = [days * DAY for days in (-45, -2, -1, 1, 2, 45, 400)]
LATE = ("1970", 45 * DAY, -45 * DAY)


def seconds_to(when: str | int) -> int:
    """By how much the clock has to be set: an hour into 1970, or some days."""
    return 3600 - int(time.time()) if isinstance(when, str) else when


def whole(floor: Floor) -> list[int]:
    """The positions that are kept, in sealed days and in the journal."""
    held = {entry.position for entry in entries_of(floor.journal)}
    for path in segments(floor.journal):
        with closing(Segment(path)) as segment:
            held |= {entry.position for entry in segment.entries()}
    return sorted(held)


def doubted(floor: Floor) -> bool:
    assert floor.archive is not None
    return floor.archive.latest("r1/alert/journal-clock") is not None


def intact(floor: Floor) -> None:
    """Nothing has left: every entry that was ever written is kept."""
    held = whole(floor)
    assert held == list(range(1, held[-1] + 1))
    assert not any(
        msgspec.json.decode(entry.body, type=Boot).removed
        for entry in entries_of(floor.journal)
        if entry.kind == "boot"
    )


@pytest.mark.parametrize("when", LATE)
def test_a_start_at_a_wrong_time_and_then_the_right_one(
    floor: Callable[..., Floor], tmp_path: Path, long: bool, when: str | int
) -> None:
    """In 1970, as without a battery, or weeks away: nothing is removed, and the session that was
    opened then is kept.
    """
    if when != "1970" and not long:
        pytest.skip("in the long form")
    clock = Clock(tmp_path)
    made = floor(stale_after=600.0)
    made.daemon.program = ("-c", HURRIED)
    clock.set(seconds_to(when))
    made.start(**clock.environment)
    made.until_results(1)
    until("the alert", lambda: doubted(made) or when != "1970", made.daemon.log)
    clock.set(0)
    if when == "1970":
        until("the clock is believed", lambda: not doubted(made), made.daemon.log)
        until("the day of 1970 is sealed", lambda: segments(made.journal), made.daemon.log)
    made.until_results(2)
    sound(made)
    intact(made)


def test_the_clock_is_set_again_and_again_while_days_are_sealed(
    floor: Callable[..., Floor], tmp_path: Path, long: bool, seed: int
) -> None:
    """Days and weeks, back and forward, across starts: every entry stays, the chain holds, and no
    number is wrong.
    """
    chance = random.Random(seed)
    clock = Clock(tmp_path)
    made = floor(stale_after=600.0)
    made.daemon.program = ("-c", HURRIED)
    clock.set(-3 * DAY)
    archive = made.start(**clock.environment)
    made.until_results(1)
    made.daemon.kill()
    until("the last will", lambda: archive.latest("node/pit-1/status")["status"] == "offline")
    clock.set(0)
    made.start_daemon(**clock.environment)
    made.until_results(1)
    step = 0
    for turn in range(24 if long else 2):
        # Never the same again: back and forward between two looks is no step. Nor forward before a
        # start, which cannot distinguish such a clock from a machine that was off.
        steps = [each for each in STEPS if each < 0 or not turn % 2]
        step = chance.choice([each for each in steps if each != step])
        clock.set(step)
        until("the alert", lambda: doubted(made), made.daemon.log)
        if turn % 2:
            made.daemon.kill()
            until(
                "the last will", lambda: archive.latest("node/pit-1/status")["status"] == "offline"
            )
            made.start_daemon(**clock.environment)
        made.until_results(1)
        clock.set(0)
        until("the clock is believed", lambda: not doubted(made), made.daemon.log)
    until("a day is sealed", lambda: segments(made.journal), made.daemon.log)
    sound(made)
    intact(made)
