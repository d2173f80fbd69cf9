"""The part ``terminal``: a terminal display of all tables, below its screen.

What it draws is judged as what a browser shows (:class:`tests.world.floor.NothingStale`), while its
program runs: a screen whose program is killed or frozen has nobody who could change it.
"""

from __future__ import annotations

import asyncio
from io import StringIO
from typing import TYPE_CHECKING, Any

import msgspec
from rich.console import Console

from common import clock
from subscribers.terminal import display
from subscribers.terminal.display import REDRAW_INTERVAL_SECONDS, WatchedTables
from subscribers.terminal.floor import draw_floor
from tests.world.floor import NothingStale
from tests.world.process import Machine
from tests.world.program import Program

if TYPE_CHECKING:
    from tests.world.world import World

MACHINE = "terminal"
LOOK_SECONDS = 10 * REDRAW_INTERVAL_SECONDS
"""How often the world lets it look for changes; a real one looks ten times as often."""
LIVE_SECONDS = 2 * LOOK_SECONDS
"""For so long after its last look it counts as one that draws."""
LAG_SECONDS = LIVE_SECONDS + 0.5
"""Within this time it draws what is new; the checker itself looks once a second."""
COLUMNS, LINES = 160, 50


class Terminal:
    """The display with its program. ``pictures``: what it has drawn last, by table; ``drawn``: how
    often it has drawn.
    """

    def __init__(self, world: World) -> None:
        self.pictures: dict[str, dict[str, Any]] = {}
        self.drawn = 0
        self._world, self._looked = world, -LIVE_SECONDS
        self.program = Program(world.loop, MACHINE, Machine(MACHINE), self._serve, world.note)

    @property
    def is_live(self) -> bool:
        """Whether it runs, and could have drawn what is new."""
        process = self.program.process
        runs = (
            process is not None and process.alive and process.frozen_until <= self._world.loop.now
        )
        return runs and self._world.loop.now - self._looked < LIVE_SECONDS

    async def _serve(self, stop: asyncio.Event) -> None:
        self._looked = -LIVE_SECONDS
        self.pictures.clear()
        words = [word for table in self._world.wheels for word in ("--table", table)]
        arguments = display._parser().parse_args(
            ["--site", "palma", "--broker", "mqtt://broker.world:1883", *words]
        )
        watched = WatchedTables(arguments.table)
        working = [
            asyncio.ensure_future(work)
            for work in (display._read(watched, arguments, printing=False), self._draw(watched))
        ]
        ending = asyncio.ensure_future(stop.wait())
        await asyncio.wait([*working, ending], return_when=asyncio.FIRST_COMPLETED)
        for task in (*working, ending):
            task.cancel()
        for end in await asyncio.gather(*working, return_exceptions=True):
            if isinstance(end, Exception):
                raise end

    async def _draw(self, watched: WatchedTables) -> None:
        """Draw what has changed, as the display does."""
        drawn: object = None
        while True:
            watched.floor.check_silence()
            shown = watched.floor.change, watched.reason
            if watched.tried and shown != drawn:
                drawn, tables = shown, watched.drawn_tables()
                console = Console(file=StringIO(), width=COLUMNS, height=LINES, force_terminal=True)
                console.print(draw_floor(tables, COLUMNS, height=LINES), height=LINES)
                self.drawn += 1
                self.pictures = {
                    table.picture.table: msgspec.to_builtins(table.picture) for table in tables
                }
            self._looked = self._world.loop.now
            await clock.sleep(LOOK_SECONDS)


def join(world: World) -> None:
    """Let a terminal display take part."""
    terminal = Terminal(world)
    world.programs.append(terminal.program)
    world.checkers.append(NothingStale(world, terminal, LAG_SECONDS))
