"""Serves one simulated device on one port, on the model's clock, until its rounds are played or it
is stopped.
"""

from __future__ import annotations

import json
import os
import select
import sys
from collections.abc import Mapping, Sequence
from heapq import heappop, heappush
from math import inf
from typing import Any, Protocol

from common import clock
from simulators.faults import FAULTS, FaultKind, FaultTrigger, read_scheduled, read_trigger
from simulators.line import SimulatedLine

LAST_BYTES_SECONDS = 0.25
"""Time for which the line stays open after the last round (real time, plus two seconds of the
model's), so that a host can read the last bytes.
"""
MAX_SLEEP_SECONDS = 3600.0
"""Maximum time of one sleep: a model that only answers has no deadline."""
CLOSED_PORT_CHECK_SECONDS = 0.05
"""Real time between two checks of a port that no program has open."""


class SimulatorPort(Protocol):
    """The port of a simulator: a pseudo-terminal, a TCP port, an MQTT topic or a web address."""

    @property
    def address(self) -> str:
        """Address for the host."""
        ...

    @property
    def readers(self) -> Sequence[int]:
        """File descriptors to wait on; empty while no host has the port open."""
        ...

    def plug(self) -> None:
        """Create the port."""
        ...

    def unplug(self) -> None:
        """Remove the port; :meth:`plug` creates it again."""
        ...

    def write(self, data: bytes) -> None:
        """Send to all hosts, without waiting."""
        ...

    def read(self) -> bytes:
        """Return bytes from the hosts."""
        ...

    def close(self) -> None:
        """Remove the port for good."""
        ...


class Server:
    """The main loop. ``speed`` accelerates the model's time and its bytes.

    Lines on standard input trigger the ``known`` faults: at once, or with ``SECONDS:NAME`` that
    many seconds of the model later. ``speed N`` changes the speed. With ``wait`` the power is
    switched on by the line ``start``. Events are printed on standard output, one JSON object per
    line.
    """

    def __init__(
        self,
        line: SimulatedLine,
        port: SimulatorPort,
        speed: float = 1.0,
        rounds: int | None = None,
        listen: bool = True,
        end_with_stdin: bool = False,
        wait: bool = False,
        known: Mapping[str, FaultKind] = FAULTS,
    ) -> None:
        self._line, self._port, self._speed, self._rounds = line, port, speed, rounds
        self._listen, self._end_with_stdin = listen, end_with_stdin
        self._known = known
        self._schedule: list[tuple[float, int, FaultTrigger]] = []
        self._replug_at = inf
        self._end_at = inf
        self._input = b""
        self._started = None if wait else clock.monotonic()
        self._before = 0.0
        """Time of the model at ``_started``, when the current speed was set."""

    def schedule(self, at: float, switch: FaultTrigger) -> None:
        """Schedule a fault at a time of the model."""
        heappush(self._schedule, (at, len(self._schedule), switch))

    def serve(self, wake: int) -> None:
        """Run until the rounds are played, standard input ends (if requested), or ``wake`` becomes
        readable.
        """
        while True:
            now = self._now()
            self._run_due(now)
            self._send(now)
            if (
                self._rounds is not None
                and self._end_at == inf
                and self._line.device.rounds >= self._rounds
            ):
                self._end_at = now + LAST_BYTES_SECONDS * self._speed + 2.0
            if now >= self._end_at or not self._wait(wake, now):
                return

    def _now(self) -> float:
        """Time of the model, which does not advance before power-on."""
        if self._started is None:
            return 0.0
        return self._before + (clock.monotonic() - self._started) * self._speed

    def _send(self, now: float) -> None:
        for _, data in self._line.advance(now):
            self._port.write(data)

    def _run_due(self, now: float) -> None:
        """Trigger the scheduled faults that are due, each at its exact time, so that the same
        schedule always hits the same line.
        """
        while self._schedule and self._schedule[0][0] <= now:
            at, _, switch = heappop(self._schedule)
            self._send(at)
            self._trigger(switch, at)
        if now >= self._replug_at:
            self._replug_at = inf
            self._port.plug()
            print_json(at=now, port=self._port.address)

    def _trigger(self, switch: FaultTrigger, now: float) -> None:
        where = FAULTS[switch.name].where
        for _ in range(switch.times):
            if where == "port":
                self._port.unplug()
                self._replug_at = now + switch.value
            else:
                (self._line if where == "line" else self._line.device).fault(
                    switch.name, switch.value, now
                )
        print_json(at=now, fault=switch.name, value=switch.value, times=switch.times)

    def _wait(self, wake: int, now: float) -> bool:
        """Sleep until something is due or arrives. False: time to stop."""
        next_fault = self._schedule[0][0] if self._schedule else inf
        due = min(self._line.deadline, next_fault, self._replug_at, self._end_at)
        readers = self._port.readers
        seconds = min(max(0.0, (due - now) / self._speed), MAX_SLEEP_SECONDS)
        waiting = [wake, *readers, *([sys.stdin.fileno()] if self._listen else [])]
        ready, _, _ = select.select(
            waiting, [], [], seconds if readers else min(seconds, CLOSED_PORT_CHECK_SECONDS)
        )
        if wake in ready:
            return False
        if self._listen and sys.stdin.fileno() in ready and not self._read_input():
            return False
        if any(reader in ready for reader in readers):
            data = self._port.read()
            if data:
                self._line.device.receive(data, self._now())
        return True

    def _read_input(self) -> bool:
        """Read commands from standard input. False: it has ended, and so must the server."""
        try:
            data = os.read(sys.stdin.fileno(), 4096)
        except OSError:  # a terminal that is being closed
            data = b""
        if not data:
            self._listen = False
            return not self._end_with_stdin
        *lines, self._input = (self._input + data).split(b"\n")
        now = self._now()
        for line in lines:
            if line.strip() == b"start":
                self._started = self._started or clock.monotonic()
            elif line.strip():
                try:
                    self._on_input(line.decode("utf-8", "replace"), now)
                except ValueError as error:
                    print(f"simulator: {error}", file=sys.stderr, flush=True)  # noqa: T201
        return True

    def _on_input(self, line: str, now: float) -> None:
        """Change the speed or trigger a fault. Raises ``ValueError``."""
        word, _, argument = line.strip().partition(" ")
        if word == "speed":
            speed = float(argument)
            if not 0 < speed < inf:
                raise ValueError(f"{argument} is not a speed; write a number above 0")
            if self._started is not None:
                self._before, self._started = now, clock.monotonic()
            self._speed = speed
        elif ":" in word:
            at, switch = read_scheduled(line, self._known)
            self.schedule(now + at, switch)
        else:
            self._trigger(read_trigger(line, self._known), now)


def print_json(**fields: Any) -> None:
    """Print one JSON object on standard output."""
    print(  # noqa: T201
        json.dumps(
            {
                key: round(value, 3) if isinstance(value, float) else value
                for key, value in fields.items()
            }
        ),
        flush=True,
    )
