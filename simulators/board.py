"""A sensor board and what it is fixed to: what all simulated boards have in common.

What happens at the table is a scene, a generator that yields the seconds to wait. The board sees
it, counts, and says its state when that changes and once a second. A board whose power goes forgets
its counts; what happens at the table goes on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict, deque
from collections.abc import Generator
from random import Random

from devices.board.report import FORMAT, HEARTBEAT, write_report
from simulators.device import Timed

Scene = Generator[float, None, None]

BOOT, FIRST = 0.2, 10.0
"""Seconds from the power to the first report, and to the first round: a host has to know how prompt
the reports are.
"""


class Board(ABC):
    """``games_per_hour``: the pace of the table. ``rounds``: played to their end; ``counted``:
    launches, throws, packets or coins since the board was started.
    """

    baud = 115200
    kind: str

    def __init__(self, seed: int = 0, games_per_hour: int = 60) -> None:
        self.random = Random(seed)  # noqa: S311 - a model to be repeated, not a secret
        self.rounds = 0
        self.counted = 0
        self.time = 0.0
        self.pause = 3600 / games_per_hour
        self._armed: defaultdict[str, deque[float]] = defaultdict(deque)
        self._said: list[Timed] = []
        self._scene = self._rounds()
        self._wake = BOOT + FIRST
        self._start(BOOT)

    @abstractmethod
    def state(self) -> tuple[object, ...]:
        """What it says each second: a word and its fields."""

    @abstractmethod
    def round(self) -> Scene:
        """One round, from its beginning to its end."""

    def started(self) -> int:
        """The board was started, perhaps in the middle of a round: what it counts at once."""
        return 0

    @property
    def deadline(self) -> float:
        """When something happens at the table, or the board says its state."""
        return min(self._wake, self._beat)

    def advance(self, now: float) -> list[Timed]:
        """Everything that is said up to ``now``."""
        while (due := self.deadline) <= now:
            self.time = max(self.time, due)
            if self._wake <= due:
                self._wake = self.time + next(self._scene)
            else:
                self._say_state()
        self.time = max(self.time, now)
        said, self._said = self._said, []
        return said

    def receive(self, data: bytes, now: float) -> None:  # noqa: B027 - it listens to nobody
        """It is never told anything."""

    def fault(self, name: str, value: float, now: float) -> None:
        """``restart`` strikes at once, the others at their next occasion."""
        self.time = max(self.time, now)
        if name == "restart":
            self._start(now + value)
        else:
            self._armed[name].append(value)

    def say(self, word: object, *fields: object) -> None:
        """A report; none while the power is gone."""
        if self.time < self._powered:
            return
        if self.strikes("lost_report") is None:
            ms = round((self.time - self._powered) * 1000)
            self._said.append(
                (self.time, write_report(self._number, ms, self.kind, str(word), *fields))
            )
        self._number += 1

    def show(self) -> None:
        """The state has changed."""
        self.say(*self.state())

    def strikes(self, fault: str) -> float | None:
        """The value of a fault that was switched on, once; None if it was not."""
        armed = self._armed[fault]
        return armed.popleft() if armed else None

    def _start(self, powered: float) -> None:
        self._powered = self._beat = powered
        self._number = 0
        self.counted = self.started()

    def _say_state(self) -> None:
        if self._number == 0:
            self.say("boot", FORMAT, f"{self.kind} simulated")
        self.show()
        self._beat = self.time + HEARTBEAT

    def _rounds(self) -> Scene:
        while True:
            began = self.time
            yield from self.round()
            self.rounds += 1
            yield max(4.0, self.pause - (self.time - began))
