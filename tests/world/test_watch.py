"""A world knows without ticks what the watch of a real loop knows by its ticks."""

from __future__ import annotations

from contextvars import Context
from random import Random

import pytest

from common import clock
from devices.loop_watch import LoopWatch
from tests.world.loop import WorldLoop
from tests.world.process import Machine, Process, context_of
from tests.world.watch import WorldLoopWatch

TICK_SECONDS = 0.02


def test_it_knows_what_a_real_watch_knows() -> None:
    random = Random(1)
    loop, machine = WorldLoop(lambda: 0.001), Machine("pit")
    process = Process("daemon", machine)
    context = context_of(process)
    slept: dict[str, list[float]] = {"real": [], "world": []}
    compared: list[tuple[float, float, float]] = []
    watches: dict[str, LoopWatch] = {}

    def begin() -> None:
        watches.update(real=LoopWatch(), world=WorldLoopWatch())
        for name, watch in watches.items():
            watch.begin(TICK_SECONDS, slept[name].append)

    def compare() -> None:
        now = process.clock() + machine.suspended
        compared.append((now, watches["real"].polled(), watches["world"].polled()))

    source = clock.Source(
        monotonic=loop.time,
        boottime_ns=lambda: round((loop.time() + machine.suspended) * 1e9),
    )
    loop.call_soon(begin, context=context)
    for _ in range(200):
        at = random.uniform(0.1, 400.0)
        seconds = random.choice((0.01, 0.3, 3.0))
        if random.random() < 0.5:
            loop.call_at(at, loop.freeze, process, seconds, context=Context())
        else:
            loop.call_at(at, loop.suspend, machine, seconds, context=Context())
    for _ in range(2000):
        loop.call_at(random.uniform(0.1, 400.0), compare, context=context.copy())
    with clock.use(source):
        loop.run_until_time(1000.0)
    assert len(compared) == 2000
    assert slept["world"] == pytest.approx(slept["real"], abs=1e-6)
    assert len(slept["real"]) > 20
    for now, real, world in compared:
        assert abs(real - world) <= 2 * TICK_SECONDS, (now, real, world)
    loop.close()
