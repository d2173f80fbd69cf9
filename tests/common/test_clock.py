"""Whose clocks the program reads, and that another world may put its own."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime

from common import clock

slept: list[float] = []


async def doze(seconds: float) -> None:
    slept.append(seconds)


STOPPED = clock.Source(
    wall=lambda: 86_400.5,
    monotonic=lambda: 7.0,
    monotonic_ns=lambda: 7,
    boottime_ns=lambda: 9_000_000_000,
    uptime_ns=lambda: 5,
    thread_time=lambda: 0.25,
    sleep=doze,
    block=slept.append,
)


async def test_a_world_puts_its_own_clocks_in_place_of_those_of_the_machine() -> None:
    slept.clear()
    with clock.use(STOPPED):
        assert (clock.wall(), clock.now()) == (
            86_400.5,
            datetime(1970, 1, 2, 0, 0, 0, 500_000, UTC),
        )
        assert (clock.monotonic(), clock.monotonic_ns(), clock.uptime_ns()) == (7.0, 7, 5)
        assert (clock.boottime(), clock.boottime_ns()) == (9.0, 9_000_000_000)
        assert clock.thread_time() == 0.25
        await clock.sleep(3600.0)
        clock.block(86_400.0)
        assert slept == [3600.0, 86_400.0]
        with clock.use(STOPPED._replace(monotonic=lambda: 8.0)):
            assert clock.monotonic() == 8.0
        assert clock.monotonic() == 7.0
    assert clock.wall() > 86_400.5


async def test_the_clocks_are_those_of_the_machine() -> None:
    for read, of_the_machine in (
        (clock.monotonic, time.monotonic),
        (clock.monotonic_ns, time.monotonic_ns),
        (clock.boottime, lambda: time.clock_gettime(time.CLOCK_BOOTTIME)),
        (clock.thread_time, time.thread_time),
    ):
        assert of_the_machine() <= read() <= of_the_machine()
    assert clock.Source().wall is time.time  # it may be set between two looks at it
    assert 0 < clock.uptime_ns() <= time.monotonic_ns()
    before = asyncio.get_running_loop().time()
    await clock.sleep(0.001)
    clock.block(0.001)
    assert asyncio.get_running_loop().time() > before
