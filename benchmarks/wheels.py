"""Many wheels in one process, at their true pace: half of them on pseudo-terminals, half on TCP
ports; and coin slots of linked tables, on TCP ports.
``python -m benchmarks.wheels TABLES GAMES_PER_HOUR [SLOTS]``.

The wheels are those of :mod:`simulators.wheel.cammegh_ss2`, each at another moment of its game.
Prints one JSON list of the daemon's links, the wheels' first, then for each result one line: the
number of the table, and the time (``time.monotonic``) just before the status line with the number
was written. A line is written at once, as a device server or a USB adapter delivers it. Where it
may, it has the processor before everybody else, for no wheel waits for what hears it. Ends with
SIGTERM.
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

STARTED = 60.0
"""Seconds after power-on in which a wheel has begun its first game."""
SETTLED = b"*X;5;"
COIN = 100
"""What a coin in the slots is worth, in minor units."""


def link(port: SimulatorPort) -> str:
    """The daemon's link to this port."""
    address = port.address
    return address if address.startswith("tcp:") else f"serial://{address}?baud=9600"


class Wheel:
    """One wheel on its port. ``ahead``: seconds that it is ahead of the first wheel."""

    def __init__(self, number: int, games_per_hour: int, ahead: float) -> None:
        self.number = number
        self.port: SimulatorPort = TcpPort("127.0.0.1", 0) if number % 2 else PtyPort()
        self._device = SlingshotSS2(number, games_per_hour=games_per_hour)
        self._ahead = STARTED + ahead
        self._device.advance(self._ahead)
        self._settled = False

    @property
    def due(self) -> float:
        """When the wheel next does something, in seconds of the first wheel."""
        return self._device.deadline - self._ahead

    def turn(self, now: float) -> bool:
        """Send what is due. Returns whether a result was among it."""
        if heard := self.port.read():
            self._device.receive(heard, now + self._ahead)
        shows = False
        for _, line in self._device.advance(now + self._ahead):
            if line.startswith(b"*"):
                shows |= line.startswith(SETTLED) and not self._settled
                self._settled = line.startswith(SETTLED)
            self.port.write(line)
        return shows


class CoinSlots:
    """The coin slots of one table. ``ahead``: as of a wheel."""

    def __init__(self, number: int, games_per_hour: int, ahead: float) -> None:
        self.number = number
        self.port: SimulatorPort = TcpPort("127.0.0.1", 0)
        self._device = Slots(number, games_per_hour=games_per_hour, coin=COIN)
        self._ahead = STARTED + ahead
        self._device.advance(self._ahead)

    @property
    def due(self) -> float:
        """When they next do something."""
        return self._device.deadline - self._ahead

    def turn(self, now: float) -> bool:
        """Send what is due. A coin is no result."""
        self.port.read()
        for _, line in self._device.advance(now + self._ahead):
            self.port.write(line)
        return False


def serve(tables: int, games_per_hour: int, slots: int = 0) -> None:
    """Serve the wheels and the slots until the process is ended."""
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
    begun = time.monotonic()
    waiting = [(device.due, device.number) for device in devices]
    heapify(waiting)
    while True:
        due, number = waiting[0]
        time.sleep(max(0.0, begun + due - time.monotonic()))
        now = time.monotonic()
        device = devices[number - 1]
        if device.turn(max(due, now - begun)):
            print(json.dumps([number, now]), flush=True)
        heapreplace(waiting, (device.due, number))


if __name__ == "__main__":
    serve(*map(int, sys.argv[1:]))
