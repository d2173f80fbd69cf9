"""Many wheels in one process, at their true pace: half of them on pseudo-terminals, half on TCP
ports; and coin slots of linked tables, on TCP ports. ``python -m benchmarks.wheels TABLES
GAMES_PER_HOUR [SLOTS]``.

The wheels are those of :mod:`simulators.wheel.cammegh_ss2`, each at a different moment of its game.
Prints one JSON list of the daemon's links, the wheels' first, then one line for each result: the
number of the table, and the time (``time.monotonic``) just before the status line with the number
was written. A line is written at once, as by a device server or a USB adapter. If allowed, it runs
with the highest priority, because a wheel does not wait for its receiver. Ends with SIGTERM.
"""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import suppress
from heapq import heapify, heapreplace

from simulators.pty import PtyPort
from simulators.serve import SimulatorPort
from simulators.slot.slot import Slots
from simulators.tcp import TcpPort
from simulators.wheel.cammegh_ss2 import SlingshotSS2

FIRST_GAME_SECONDS = 60.0
"""Seconds after power-on until a wheel has begun its first game."""
SETTLED_PREFIX = b"*X;5;"
COIN_VALUE = 100
"""Value of a coin in the slots, in minor units."""


def link(port: SimulatorPort) -> str:
    """Return the daemon's link to this port."""
    address = port.address
    return address if address.startswith("tcp:") else f"serial://{address}?baud=9600"


class Wheel:
    """One wheel on its port. ``ahead``: seconds ahead of the first wheel."""

    def __init__(self, number: int, games_per_hour: int, ahead: float) -> None:
        self.number = number
        self.port: SimulatorPort = TcpPort("127.0.0.1", 0) if number % 2 else PtyPort()
        self._device = SlingshotSS2(number, games_per_hour=games_per_hour)
        self._ahead = FIRST_GAME_SECONDS + ahead
        self._device.advance(self._ahead)
        self._settled = False

    @property
    def due(self) -> float:
        """When the wheel acts next, in seconds of the first wheel."""
        return self._device.deadline - self._ahead

    def turn(self, now: float) -> bool:
        """Send pending lines. Return True if a result was among them."""
        if received := self.port.read():
            self._device.receive(received, now + self._ahead)
        shows = False
        for _, line in self._device.advance(now + self._ahead):
            if line.startswith(b"*"):
                shows |= line.startswith(SETTLED_PREFIX) and not self._settled
                self._settled = line.startswith(SETTLED_PREFIX)
            self.port.write(line)
        return shows


class CoinSlots:
    """The coin slots of one table. ``ahead``: as for a wheel."""

    def __init__(self, number: int, games_per_hour: int, ahead: float) -> None:
        self.number = number
        self.port: SimulatorPort = TcpPort("127.0.0.1", 0)
        self._device = Slots(number, games_per_hour=games_per_hour, coin=COIN_VALUE)
        self._ahead = FIRST_GAME_SECONDS + ahead
        self._device.advance(self._ahead)

    @property
    def due(self) -> float:
        """Time of the next action of the slots, on the clock of :meth:`turn`."""
        return self._device.deadline - self._ahead

    def turn(self, now: float) -> bool:
        """Send pending data. A coin is not a result."""
        self.port.read()
        for _, line in self._device.advance(now + self._ahead):
            self.port.write(line)
        return False


def serve(tables: int, games_per_hour: int, slots: int = 0) -> None:
    """Serve the wheels and the slots until the process ends."""
    with suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    game = 3600 / games_per_hour
    devices: list[Wheel | CoinSlots] = [
        Wheel(number, games_per_hour, game * number / tables) for number in range(1, tables + 1)
    ]
    devices += [
        CoinSlots(tables + number, games_per_hour, game * number / slots)
        for number in range(1, slots + 1)
    ]
    print(json.dumps([link(device.port) for device in devices]), flush=True)
    start = time.monotonic()
    waiting = [(device.due, device.number) for device in devices]
    heapify(waiting)
    while True:
        due, number = waiting[0]
        time.sleep(max(0.0, start + due - time.monotonic()))
        now = time.monotonic()
        device = devices[number - 1]
        if device.turn(max(due, now - start)):
            print(json.dumps([number, now]), flush=True)
        heapreplace(waiting, (device.due, number))


if __name__ == "__main__":
    serve(*map(int, sys.argv[1:]))
