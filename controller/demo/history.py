"""The rounds that the demo's picture begins with: played by the same devices, people and daemon as
all others, only quickly and before there is a picture.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from controller.demo.floor import Floor
from controller.demo.table_head import Table

ROUNDS = 20
"""Results that a table has before the picture."""
PATIENCE = 60.0
"""Seconds after which the picture comes, however many results there are."""
FALL = 10.0, 1.8
"""The speed at which the first table's ball runs once bets are closed, and for how many seconds: a
result follows some seconds after the picture.
"""
HEARD = 1.0
"""Seconds for which the devices are heard at their own pace first."""
LOOK = 0.02
"""Seconds between two looks at the tables."""


async def play(floor: Floor, tables: Sequence[Table], rounds: int, speed: float) -> None:
    """Start the devices, play so many rounds at each table that can be played quickly, and go on
    at ``speed``, with each device's faults to come.
    """
    for table in tables:
        for device in table.place.devices:
            floor.tell(device, "start")
    await asyncio.sleep(HEARD)
    for table in tables:
        _hurry(floor, table, speed, table.place.quick)
    try:
        async with asyncio.timeout(PATIENCE):
            async with asyncio.TaskGroup() as group:
                for table in tables:
                    group.create_task(_play(floor, table, rounds, speed, table is tables[0]))
    except TimeoutError:
        pass  # on a machine this slow, a shorter history does
    for table in tables:
        _hurry(floor, table, speed, 1.0)
        for fault in table.place.faults:
            floor.tell(table.place.device, fault)


async def _play(floor: Floor, table: Table, rounds: int, speed: float, first: bool) -> None:
    if table.place.quick == 1.0:
        return
    await _until(floor, lambda: table.round >= rounds)
    if first:
        await _until(floor, lambda: table.falling)
        _hurry(floor, table, speed, FALL[0])
        await asyncio.sleep(FALL[1] / speed)
    _hurry(floor, table, speed, 1.0)


async def _until(floor: Floor, true: Callable[[], bool]) -> None:
    while not true():
        floor.check()
        await asyncio.sleep(LOOK)


def _hurry(floor: Floor, table: Table, speed: float, quick: float) -> None:
    if table.quick != quick:
        table.quick = quick
        floor.tell(table.place.device, f"speed {speed * quick}")
