"""A simulated boule plate: a ball runs along the rim, jumps over the holes and comes to rest in
front of eighteen sensors that bounce.

The board keeps ``moving`` set for a second after the last motion, as the format requires.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from devices.wheel.boule_board import HOLES
from simulators.board import Scene, SimulatedBoard

MOVING_HOLD_SECONDS = 1.0
"""Time for which ``moving`` stays set after the last motion."""
_NO_HOLES: frozenset[int] = frozenset()


class BoulePlate(SimulatedBoard):
    """A boule plate. ``holes``: holes of the first balls."""

    kind = "boule"

    def __init__(self, seed: int = 0, games_per_hour: int = 60, holes: Sequence[int] = ()) -> None:
        if strange := [hole for hole in holes if not 1 <= hole <= HOLES]:
            raise ValueError(f"{strange[0]} is not a hole; a plate has the holes 1 to {HOLES}")
        self._moving = False
        super().__init__(seed, games_per_hour)
        self._next = list(holes)
        self._full: frozenset[int] = frozenset()
        self._stuck: dict[
            int, float
        ] = {}  # hole -> end of the time in which its sensor reports a ball
        self._blind: dict[int, float] = {}

    def state(self) -> tuple[object, ...]:
        """See :class:`simulators.board.SimulatedBoard`: the holes whose sensors see a ball, the
        blind sensors, whether the ball moves, and the number of launches.
        """
        stuck, blind = (
            frozenset(hole for hole, end in sensors.items() if self.time < end)
            if sensors
            else _NO_HOLES
            for sensors in (self._stuck, self._blind)
        )
        return (
            "holes",
            _mask((self._full | stuck) - blind),
            _mask(blind),
            int(self._moving),
            self.counted,
        )

    def round(self) -> Scene:
        """Launch the ball, let it run, jump and fall into a hole; then take it out."""
        hole = self._next.pop(0) if self._next else self.random.randint(1, HOLES)
        self._begin_faults(hole)
        self.counted += 1
        self._moving = True
        self._set_holes()
        yield self.random.uniform(6.0, 9.0)
        for _ in range(self.random.randint(2, 6)):
            self._set_holes(self.random.randint(1, HOLES))
            yield self.random.uniform(0.03, 0.08)
            self._set_holes()
            yield self.random.uniform(0.1, 0.4)
        yield from self._come_to_rest(hole)
        yield self.random.uniform(6.0, 9.0)
        self._set_holes()

    def initial_count(self) -> int:
        """A ball that moves when the board starts counts as launched."""
        return int(self._moving)

    def _come_to_rest(self, hole: int) -> Scene:
        """Bounce the sensor, then let the ball rest. A fault may put it out, or between two
        holes.
        """
        out, between = (
            self.take_fault("ball_out") is not None,
            self.take_fault("between_holes") is not None,
        )
        resting = () if out else (hole, hole + 1 if hole % 9 else hole - 8) if between else (hole,)
        for _ in range(self.random.randint(1, 4)):
            self._set_holes(*resting)
            yield self.random.uniform(0.02, 0.06)
            self._set_holes()
            yield self.random.uniform(0.02, 0.06)
        self._set_holes(*resting)
        flickers = self.take_fault("flicker") or 0.0
        yield MOVING_HOLD_SECONDS
        self._moving = False
        self.report_state()
        end = self.time + flickers
        while self.time < end:
            yield 0.4
            self._set_holes()
            yield 0.2
            self._set_holes(*resting)

    def _begin_faults(self, hole: int) -> None:
        """Start sensor faults: one sensor always sees a ball, or that of the winning hole is
        blind.
        """
        if (seconds := self.take_fault("stuck_sensor")) is not None:
            self._stuck[hole % HOLES + 1] = self.time + seconds
        if (seconds := self.take_fault("blind_sensor")) is not None:
            self._blind[hole] = self.time + seconds

    def _set_holes(self, *holes: int) -> None:
        self._full = frozenset(holes)
        self.report_state()


@lru_cache(maxsize=256)
def _mask(holes: frozenset[int]) -> str:
    return f"{sum(1 << hole - 1 for hole in holes):05X}"
