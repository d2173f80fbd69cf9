"""A simulated wheel of fortune that is pushed, slows down and stops, with a board that counts
cells.
"""

from __future__ import annotations

from collections.abc import Sequence

from simulators.board import Scene, SimulatedBoard

REPORT_INTERVAL_SECONDS = 0.2
"""Time between two reports while it turns."""
STANDSTILL_SECONDS = 2.0
"""Time without a passing cell after which the board reports that the wheel does not turn."""


class SimulatedFortuneWheel(SimulatedBoard):
    """A wheel of fortune. ``cells``: number of cells; ``stops``: the first cells in which it
    stops.
    """

    kind = "fortune"

    def __init__(
        self, seed: int = 0, games_per_hour: int = 60, cells: int = 54, stops: Sequence[int] = ()
    ) -> None:
        if strange := [cell for cell in stops if not 1 <= cell <= cells]:
            raise ValueError(f"{strange[0]} is not a cell; the wheel has the cells 1 to {cells}")
        self._way = "0"
        self._forward = self._back = self._uncounted = 0
        super().__init__(seed, games_per_hour)
        self._cells = cells
        self._next = list(stops)
        self._cell = 1
        self._on_pin = False
        self._rpm = 0.0
        self._broken_until = 0.0

    def state(self) -> tuple[object, ...]:
        """See :class:`simulators.board.SimulatedBoard`: the cell under the tongue, cells passed,
        direction and speed, number of launches, and health.
        """
        cell = 0 if self._on_pin else self._cell
        health = "encoder" if self.time < self._broken_until else "ok"
        forward = self._forward - self._uncounted
        return (
            "wheel",
            cell,
            forward,
            self._back,
            self._way,
            round(self._rpm * 10),
            self.counted,
            health,
        )

    def round(self) -> Scene:
        """Push the wheel and let it stop in a cell."""
        stop = self._next.pop(0) if self._next else self.random.randint(1, self._cells)
        turns = 1 if self.take_fault("weak_push") is not None else self.random.randint(4, 6)
        if (seconds := self.take_fault("encoder")) is not None:
            self._broken_until = self.time + seconds
        self.counted += 1
        self._forward = self._back = self._uncounted = 0
        self._on_pin = False
        yield from self._run_down(turns * self._cells + (stop - self._cell) % self._cells)
        yield from self._fall_back()
        self._on_pin = self.take_fault("on_pin") is not None
        self._rpm = 0.0
        self.report_state()
        yield STANDSTILL_SECONDS
        self._way = "0"
        self.report_state()
        yield 4.0

    def initial_count(self) -> int:
        """A wheel that turns when the board starts counts as launched; cells passed before are not
        counted.
        """
        self._uncounted, self._back = self._forward, 0
        return int(self._way != "0")

    def _run_down(self, cells: int) -> Scene:
        """Pass this many cells, more and more slowly."""
        seconds = cells / self.random.uniform(14.0, 18.0)
        began, start = self.time, self._cell
        self._way = "+"
        while self._forward < cells:
            remaining = max(0.0, 1 - (self.time - began) / seconds)
            self._rpm = 120 * cells * remaining / (seconds * self._cells)
            self._forward = round(cells * (1 - remaining * remaining))
            self._cell = (start - 1 + self._forward) % self._cells + 1
            self.report_state()
            yield REPORT_INTERVAL_SECONDS

    def _fall_back(self) -> Scene:
        """Fall back by up to one cell, pushed by the tongue, or further, turned by a person."""
        turned = self.take_fault("turned_back")
        back = self.random.randint(0, 1) if turned is None else round(turned)
        if turned is None and back:  # it entered the next cell first
            self._forward += 1
        elif turned is not None:
            self._cell = (self._cell - 1 - back) % self._cells + 1
        if back:
            yield 0.5
            self._way, self._back = "-", back
            self.report_state()
        yield 0.5
