"""Wheels that send only what changes, by profiles that a site has written: the files
``*-display.toml`` of this folder.
"""

from __future__ import annotations

from collections import deque
from functools import reduce
from math import inf
from operator import xor
from random import Random

from simulators.device import Timed

POCKETS = 37
SPIN_COUNTER_VALUES = 1000
PHASES = ((25.0, 35.0), (12.0, 18.0), (4.0, 7.0), (8.0, 12.0))
"""How long each phase lasts, at least and at most: bets open, ball in the rim, no more bets,
settled.
"""
SETTLED = 3
RUNS_SECONDS = 16.0, 22.0
"""How long a ball runs that was spun by hand."""


def frame(text: str) -> bytes:
    """Return a message between its marks, with its check."""
    covered = text.encode() + b"\x03"
    return b"\x02" + covered + b"%02X" % reduce(xor, covered)


class NumberDisplay:
    """Sends the number where a ball lies, once. :meth:`spin` sets the ball going. ``shown``: the
    number that the ball lies on, None while it runs.
    """

    baud = 9600

    def __init__(self, seed: int) -> None:
        self.rounds = 0
        self.shown: int | None = None
        self.deadline = inf
        self._random = Random(seed)

    def spin(self, now: float) -> None:
        """Set the ball going."""
        self.shown = None
        self.deadline = now + self._random.uniform(*RUNS_SECONDS)

    def advance(self, now: float) -> list[Timed]:
        """See :class:`simulators.device.SimulatedDevice`."""
        if now < self.deadline:
            return []
        at, self.deadline = self.deadline, inf
        self.shown = self._random.randrange(POCKETS)
        self.rounds += 1
        return [(at, frame(f"N{self.shown:02}"))]

    def receive(self, data: bytes, now: float) -> None:
        """Ignore the data: it takes no commands."""

    def fault(self, name: str, value: float, now: float) -> None:
        """It has no faults of its own."""


class PhaseDisplay:
    """Sends each phase of a spin when it begins. ``shown``: the number that the ball lies on, None
    while it runs and bets are open; ``spin``: its count.
    """

    baud = 9600

    def __init__(self, seed: int) -> None:
        self.rounds = self.spin = 0
        self.shown: int | None = None
        self.deadline = 5.0
        self._phase = SETTLED
        self._random = Random(seed)

    def advance(self, now: float) -> list[Timed]:
        """See :class:`simulators.device.SimulatedDevice`."""
        sent: deque[Timed] = deque()
        while self.deadline <= now:
            at = self.deadline
            self._begin_phase()
            sent.append((at, frame(f"P{self._phase}{self.spin:03}")))
            if self.shown is not None:
                sent.append((at, frame(f"N{self.shown:02}{self.spin:03}")))
            self.deadline = at + self._random.uniform(*PHASES[self._phase])
        return list(sent)

    def receive(self, data: bytes, now: float) -> None:
        """Ignore the data: it takes no commands."""

    def fault(self, name: str, value: float, now: float) -> None:
        """It has no faults of its own."""

    def _begin_phase(self) -> None:
        self._phase = (self._phase + 1) % len(PHASES)
        if self._phase == 0:
            self.spin = (self.spin + 1) % SPIN_COUNTER_VALUES
        if self._phase == SETTLED:
            self.rounds += 1
            self.shown = self._random.randrange(POCKETS)
        else:
            self.shown = None
