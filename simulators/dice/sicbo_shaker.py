"""A simulated dice shaker on MQTT, as lines of topic and payload.

It sends its state on request and on change; the times are assumptions. It does not read the dice.
"""

from __future__ import annotations

from math import inf

from simulators.device import Timed

STATE_SEQUENCE = (("S2", 0.3), ("S1", 6.0))
"""States after a command, with their duration in seconds; then it is idle."""
ANSWER_SECONDS = 0.05
"""Delay of an answer."""


class SimulatedSicboShaker:
    """One shaker. Faults: ``no_shake``: the next command is accepted but has no effect; ``motion``:
    it fails to move.
    """

    baud = 115200

    def __init__(self) -> None:
        self.rounds = 0
        self._state = "S0"
        self._course: list[Timed] = []
        self._ignores_command = False
        self._due: list[Timed] = []
        self._received = b""

    @property
    def deadline(self) -> float:
        """When the next answer or state is due."""
        return min((at for at, _ in (*self._course, *self._due)), default=inf)

    def advance(self, now: float) -> list[Timed]:
        """Advance the time."""
        while self._course and self._course[0][0] <= now:
            at, state = self._course.pop(0)
            self.rounds += state == b"S0" and self._state == "S1"
            self._state = state.decode("ascii")
            self._send_state(at)
        sent = [timed for timed in self._due if timed[0] <= now]
        self._due = [timed for timed in self._due if timed[0] > now]
        return sent

    def receive(self, data: bytes, now: float) -> None:
        """Handle lines ``listens <payload>``: a request for the state, or a command."""
        *lines, self._received = (self._received + data).split(b"\n")
        for line in lines:
            topic, _, payload = line.partition(b" ")
            if topic == b"listens" and payload == b"/state":
                self._send_state(now)
            elif topic == b"listens" and payload.startswith(b"/cycle/") and self._state == "S0":
                self._shake(now)

    def fault(self, name: str, value: float, now: float) -> None:
        """Trigger a fault."""
        if name == "no_shake":
            self._ignores_command = True
        elif name == "motion":
            self._course = [(now, b"S90"), (now + value, b"S0")]

    def _shake(self, now: float) -> None:
        at = now
        for state, seconds in STATE_SEQUENCE[:1] if self._ignores_command else STATE_SEQUENCE:
            self._course.append((at, state.encode("ascii")))
            at += seconds
        self._course.append((at, b"S0"))
        self._ignores_command = False

    def _send_state(self, at: float) -> None:
        self._due.append((at + ANSWER_SECONDS, f"says {self._state}\n".encode("ascii")))
