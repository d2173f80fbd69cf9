"""A simulated camera reader of a roulette wheel, as lines of topic and payload.

On MQTT it answers a request with the number that it sees, as the programs of one studio expect; the
time is an assumption. Over HTTP it reports by itself, every so many seconds. It sees the given
numbers in order, and nothing more after the last one.
"""

from __future__ import annotations

import json
from math import inf
from typing import Any

from simulators.device import Timed

ANSWER_SECONDS = 1.0
"""Delay of an answer."""


class SimulatedIdpCamera:
    """One camera. ``interval``: seconds between two reports that nobody requested; 0: none. Faults:
    ``not_sure``: for the given seconds it answers that it sees no number.
    """

    baud = 115200

    def __init__(self, numbers: tuple[int, ...], interval: float = 0.0) -> None:
        self.rounds = 0
        self._numbers = list(numbers)
        self._blind_until = -inf
        self._interval = interval
        self._next_report = interval or inf
        self._reported = 0
        self._due: list[Timed] = []
        self._received = b""

    @property
    def deadline(self) -> float:
        """When the next answer is due."""
        return min((self._next_report, *(at for at, _ in self._due)))

    def advance(self, now: float) -> list[Timed]:
        """Advance the time."""
        while self._next_report <= now and self._numbers:
            self._reported += 1
            self._answer({"round_id": self._reported}, self._next_report - ANSWER_SECONDS)
            self._next_report += self._interval
        if not self._numbers:
            self._next_report = inf
        sent = [timed for timed in self._due if timed[0] <= now]
        self._due = [timed for timed in self._due if timed[0] > now]
        return sent

    def receive(self, data: bytes, now: float) -> None:
        """Handle lines ``command <payload>``: a request to look at the wheel."""
        *lines, self._received = (self._received + data).split(b"\n")
        for line in lines:
            topic, _, payload = line.partition(b" ")
            try:
                request = json.loads(payload)
            except (ValueError, RecursionError):
                continue
            if topic == b"command" and isinstance(request, dict) and "detect" in request.values():
                self._answer(request.get("arg"), now)

    def fault(self, name: str, value: float, now: float) -> None:
        """Trigger a fault."""
        if name == "not_sure":
            self._blind_until = now + value

    def _answer(self, argument: Any, now: float) -> None:
        seen = self._numbers.pop(0) if self._numbers and now >= self._blind_until else None
        self.rounds += seen is not None
        answer = {
            "round_id": argument.get("round_id") if isinstance(argument, dict) else None,
            "res": seen,
            "err": -1 if seen is None else 0,
        }
        text = json.dumps({"response": "result", "arg": answer})
        self._due.append((now + ANSWER_SECONDS, f"response {text}\n".encode("ascii")))
