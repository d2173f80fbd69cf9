"""A simulated Saturn: it only answers requests.

Requests, frames, check byte and the positions of the error flag and the error text are public. The
positions of state, number and spin are assumptions, not the vendor's; :data:`FIELDS` contains them
for the driver.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from common.randomness import Random
from devices.wheel import saturn_frames as frames
from simulators.device import Timed

ANSWER_SECONDS = 0.01
"""Delay of an answer."""
STATE_SEQUENCE: tuple[tuple[str, float], ...] = (("O", 12.0), ("R", 8.0), ("N", 10.0), ("S", 6.0))
"""States, with their duration in seconds: bets open, ball in rim, no more bets, settled."""
FIELDS: dict[str, Any] = {
    "state": (4, 4),
    "number": (5, 6),
    "spin": (7, 9),
    "phases": {"O": "bets_open", "R": "ball_in_rim", "N": "no_more_bets", "S": "settled"},
}
"""Positions in its answer, as the driver's option ``fields``."""
SPIN_COUNTER_VALUES = 1000


class SaturnWheel:
    """One wheel that fires by itself or, if ``attended``, waits for a command in its first state.
    ``numbers``: the first winning pockets.
    """

    baud = 9600

    def __init__(self, seed: int = 0, attended: bool = False, numbers: Sequence[int] = ()) -> None:
        self.rounds = 0
        self._random = Random(seed)
        self._attended = attended
        self._numbers = list(numbers)
        self._stage = 0
        self._next = inf if attended else STATE_SEQUENCE[0][1]
        self._number = 0
        self._spin = 0
        self._error_until = -inf
        self._due: list[Timed] = []
        self._received = b""

    @property
    def deadline(self) -> float:
        """When the next answer or state is due."""
        return min([self._next, *(at for at, _ in self._due)])

    def advance(self, now: float) -> list[Timed]:
        """Advance the time."""
        while self._next <= now:
            self._move(self._next)
        sent = [timed for timed in self._due if timed[0] <= now]
        self._due = [timed for timed in self._due if timed[0] > now]
        return sent

    def receive(self, data: bytes, now: float) -> None:
        """Answer a request; ignore anything else."""
        *frames_received, self._received = (self._received + data).split(frames.EOT)
        for body in frames_received:
            request = body + frames.EOT
            if request == frames.STATUS:
                self._answer("02", self._status(now), now)
            elif request == frames.ERROR:
                self._answer("04", " E12 BALL" if now < self._error_until else "", now)
            elif request == frames.FIRE and self._stage == 0:
                self._next = now

    def fault(self, name: str, value: float, now: float) -> None:
        """Trigger a fault. ``error``: the error flag is set for ``value`` seconds."""
        if name == "error":
            self._error_until = now + value

    def _move(self, at: float) -> None:
        self._stage = (self._stage + 1) % len(STATE_SEQUENCE)
        state, seconds = STATE_SEQUENCE[self._stage]
        if state == "S":
            self._number = self._numbers.pop(0) if self._numbers else self._random.randrange(37)
            self._spin = (self._spin + 1) % SPIN_COUNTER_VALUES
        if self._stage == 0:
            self.rounds += 1
        self._next = inf if self._stage == 0 and self._attended else at + seconds

    def _status(self, now: float) -> str:
        flag = frames.ERROR_SET if now < self._error_until else "0"
        return (
            f"{STATE_SEQUENCE[self._stage][0]}{self._number:>2}{self._spin:03}".ljust(
                frames.ERROR_FLAG - 4
            )
            + flag
        )

    def _answer(self, digits: str, text: str, now: float) -> None:
        self._due.append((now + ANSWER_SECONDS, frames.frame(digits, text)))
