"""The rounds played before the demo's display opens: by the same devices, people and daemon as
later rounds, but faster.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from common import clock
from controller.demo.floor import DemoFloor
from controller.demo.table_head import TableState

ROUNDS = 20
"""Results of a table before the display opens."""
HISTORY_TIMEOUT_SECONDS = 60.0
"""Seconds after which the display opens, regardless of the number of results."""
FINAL_SPEED = 10.0, 1.8
"""Speed of the first table's ball after bets are closed, and seconds at that speed: a result
follows some seconds after the display opens.
"""
START_SECONDS = 1.0
"""Seconds of normal speed at the start, so that the daemon receives the devices."""
CHECK_INTERVAL_SECONDS = 0.02
"""Seconds between two checks of the tables."""


async def play(floor: DemoFloor, tables: Sequence[TableState], rounds: int, speed: float) -> None:
    """Start the devices, play this many rounds at each table that can be played fast, then continue
    at ``speed``, with each device's faults enabled.
    """
    for table in tables:
        for device in table.place.devices:
            floor.write_line(device, "start")
    await clock.sleep(START_SECONDS)
    for table in tables:
        _set_speed(floor, table, speed, table.place.quick)
    try:
        async with asyncio.timeout(HISTORY_TIMEOUT_SECONDS):
            async with asyncio.TaskGroup() as group:
                for table in tables:
                    group.create_task(_play(floor, table, rounds, speed, table is tables[0]))
    except TimeoutError:
        pass  # a slow machine gets a shorter history
    for table in tables:
        _set_speed(floor, table, speed, 1.0)
        for fault in table.place.faults:
            floor.write_line(table.place.device, fault)


async def _play(
    floor: DemoFloor, table: TableState, rounds: int, speed: float, first: bool
) -> None:
    if table.place.quick == 1.0:
        return
    await _until(floor, lambda: table.round >= rounds)
    if first:
        await _until(floor, lambda: table.falling)
        _set_speed(floor, table, speed, FINAL_SPEED[0])
        await clock.sleep(FINAL_SPEED[1] / speed)
    _set_speed(floor, table, speed, 1.0)


async def _until(floor: DemoFloor, condition: Callable[[], bool]) -> None:
    while not condition():
        floor.check()
        await clock.sleep(CHECK_INTERVAL_SECONDS)


def _set_speed(floor: DemoFloor, table: TableState, speed: float, quick: float) -> None:
    if table.quick != quick:
        table.quick = quick
        floor.write_line(table.place.device, f"speed {speed * quick}")
