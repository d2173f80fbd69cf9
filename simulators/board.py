"""Base class of the simulated sensor boards.

A round at the table is a scene, a generator that yields the seconds to wait. The board observes it,
counts, and reports its state on every change and once a second. A board that loses power forgets
its counts; the scene continues.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict, deque
from collections.abc import Generator

from common.randomness import Random
from devices.board.report import FORMAT_VERSION, HEARTBEAT_SECONDS, write_report
from simulators.device import Timed

Scene = Generator[float, None, None]

BOOT_SECONDS, FIRST_ROUND_SECONDS = 0.2, 10.0
"""Time from power-on to the first report, and from there to the first round: a host must first
learn the delay of the reports.
"""


class SimulatedBoard(ABC):
    """A sensor board. ``games_per_hour``: the pace of the table. ``rounds``: completed rounds;
    ``counted``: launches, throws, packets or coins since the board was started.
    """

    baud = 115200
    kind: str

    def __init__(self, seed: int = 0, games_per_hour: int = 60) -> None:
        self.random = Random(seed)
        self.rounds = 0
        self.counted = 0
        self.time = 0.0
        self.pause = 3600 / games_per_hour
        self._armed: defaultdict[str, deque[float]] = defaultdict(deque)
        self._sent: list[Timed] = []
        self._scene = self._rounds()
        self._wake = BOOT_SECONDS + FIRST_ROUND_SECONDS
        self._start(BOOT_SECONDS)

    @abstractmethod
    def state(self) -> tuple[object, ...]:
        """Return the state that it reports every second: a word and its fields."""

    @abstractmethod
    def round(self) -> Scene:
        """Play one round."""

    def initial_count(self) -> int:
        """Return the count with which the board starts, perhaps during a round."""
        return 0

    @property
    def deadline(self) -> float:
        """When something happens at the table, or the board reports its state."""
        return min(self._wake, self._beat)

    def advance(self, now: float) -> list[Timed]:
        """Advance the time to ``now``; return the reports."""
        while (due := self.deadline) <= now:
            self.time = max(self.time, due)
            if self._wake <= due:
                self._wake = self.time + next(self._scene)
            else:
                self._report_regularly()
        self.time = max(self.time, now)
        sent, self._sent = self._sent, []
        return sent

    def receive(self, data: bytes, now: float) -> None:  # noqa: B027 - it takes no input
        """Ignore the data: a board accepts no commands."""

    def fault(self, name: str, value: float, now: float) -> None:
        """Trigger a fault: ``restart`` at once, all others at the next opportunity."""
        self.time = max(self.time, now)
        if name == "restart":
            self._start(now + value)
        else:
            self._armed[name].append(value)

    def report(self, word: object, *fields: object) -> None:
        """Send a report, unless the power is off."""
        if self.time < self._powered:
            return
        if self.take_fault("lost_report") is None:
            ms = round((self.time - self._powered) * 1000)
            self._sent.append(
                (self.time, write_report(self._number, ms, self.kind, str(word), *fields))
            )
        self._number += 1

    def report_state(self) -> None:
        """Report the state after a change."""
        self.report(*self.state())

    def take_fault(self, fault: str) -> float | None:
        """Return the value of a triggered fault, once. None: it was not triggered."""
        armed = self._armed[fault]
        return armed.popleft() if armed else None

    def _start(self, powered: float) -> None:
        self._powered = self._beat = powered
        self._number = 0
        self.counted = self.initial_count()

    def _report_regularly(self) -> None:
        if self._number == 0:
            self.report("boot", FORMAT_VERSION, f"{self.kind} simulated")
        self.report_state()
        self._beat = self.time + HEARTBEAT_SECONDS

    def _rounds(self) -> Scene:
        while True:
            began = self.time
            yield from self.round()
            self.rounds += 1
            yield max(4.0, self.pause - (self.time - began))
