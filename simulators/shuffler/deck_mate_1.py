"""A simulated Deck Mate 1: a banner at power-on, a history on request.

The words of banner and history are public; the separators are assumptions.
"""

from __future__ import annotations

from math import inf

from common.randomness import Random
from simulators.device import Timed

BANNER = b"\x00SHUFFLE MASTER  DECK MATE\r\n"
BOOT_SECONDS = 3.0
"""Time from power-on to the banner."""
SHUFFLE_SECONDS = 45.0
"""Time of a shuffling cycle, which is not reported."""
EVENTS = ("Door Opened", "Missing Card", "Extra Card", "Jam Recovery", "Auto Setup")


class SimulatedDeckMate1:
    """One shuffler. Faults: ``power_cycle``: power is off for some seconds; ``history``: the
    operator requests it.
    """

    baud = 19200

    def __init__(self, seed: int = 0) -> None:
        self.rounds = 0
        self._random = Random(seed)
        self._boot = BOOT_SECONDS
        self._cycle = inf
        self._since = 0.0  # when its clock started
        self._stored_events: list[tuple[str, float, int]] = []
        self._due: list[Timed] = []

    @property
    def deadline(self) -> float:
        """When the next banner, cycle or line is due."""
        return min([self._boot, self._cycle, *(at for at, _ in self._due)])

    def advance(self, now: float) -> list[Timed]:
        """Advance the time."""
        while min(self._boot, self._cycle) <= now:
            if self._boot <= self._cycle:
                at, self._boot, self._cycle = self._boot, inf, self._boot + SHUFFLE_SECONDS
                self._since = at
                self._remember("Powered Up", at)
                self._due.append((at, BANNER))
            else:
                at, self._cycle = self._cycle, self._cycle + SHUFFLE_SECONDS
                self.rounds += 1
                if self._random.random() < 0.1:
                    self._remember(self._random.choice(EVENTS), at)
        sent = [timed for timed in self._due if timed[0] <= now]
        self._due = [timed for timed in self._due if timed[0] > now]
        return sent

    def receive(self, data: bytes, now: float) -> None:
        """Ignore the data: the shuffler accepts no commands."""

    def fault(self, name: str, value: float, now: float) -> None:
        """Trigger a fault."""
        if name == "power_cycle":
            self._boot, self._cycle, self._due = now + value + BOOT_SECONDS, inf, []
        elif name == "history":
            self._due += [
                (now + index * 0.05, line.encode("ascii") + b"\r\n")
                for index, line in enumerate(self._history(now))
            ]

    def _remember(self, event: str, at: float) -> None:
        self._stored_events.append((event, at - self._since, self.rounds))

    def _history(self, now: float) -> list[str]:
        head = [
            "Serial Number: SIM0001",
            f"Report Time: {_clock(now - self._since)}",
            "Report Date: 01-01-03",
        ]
        head += ["Gripper Offset: 12", "Platform Offset: -3", ""]
        lines = [
            f"{event:<13} Time: {_clock(at)}  Date: 01-01-03  P: 120 G: 44 Cyc: {cycle}"
            for event, at, cycle in self._stored_events
        ]
        ups = sum(event == "Powered Up" for event, *_ in self._stored_events)
        return [*head, *lines, "", f"Power Ups: {ups}", f"Total Cycles: {self.rounds}"]


def _clock(seconds: float) -> str:
    """Format its clock, which restarts at each power-up because its battery is empty."""
    return f"{int(seconds) // 3600 % 24:02}:{int(seconds) // 60 % 60:02}:{int(seconds) % 60:02}"
