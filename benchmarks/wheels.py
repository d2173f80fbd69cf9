"""Many wheels in one process, at their true pace: half of them on pseudo-terminals, half on TCP
ports. ``python -m benchmarks.wheels TABLES GAMES_PER_HOUR``.

The wheels are those of :mod:`simulators.wheel.cammegh_ss2`, each at another moment of its game.
Prints one JSON list of the daemon's links, then for each result one line: the number of the table,
and the time (``time.monotonic``) just before the status line with the number was written. A line is
written at once, as a device server or a USB adapter delivers it. Ends with SIGTERM.
"""

from __future__ import annotations

import json
import sys
import time
from heapq import heapify, heapreplace

from simulators.pty import Pty
from simulators.serve import Port
from simulators.tcp import Tcp
from simulators.wheel.cammegh_ss2 import SlingshotSS2

STARTED = 60.0
"""Seconds after power-on in which a wheel has begun its first game."""
SETTLED = b"*X;5;"


def link(port: Port) -> str:
    """The daemon's link to this port."""
    address = port.address
    return address if address.startswith("tcp:") else f"serial://{address}?baud=9600"


class Wheel:
    """One wheel on its port. ``ahead``: seconds that it is ahead of the first wheel."""

    def __init__(self, number: int, games_per_hour: int, ahead: float) -> None:
        self.number = number
        self.port: Port = Tcp("127.0.0.1", 0) if number % 2 else Pty()
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


def serve(tables: int, games_per_hour: int) -> None:
    """Serve the wheels until the process is ended."""
    game = 3600 / games_per_hour
    wheels = [
        Wheel(number, games_per_hour, game * number / tables) for number in range(1, tables + 1)
    ]
    print(json.dumps([link(wheel.port) for wheel in wheels]), flush=True)
    begun = time.monotonic()
    waiting = [(wheel.due, wheel.number) for wheel in wheels]
    heapify(waiting)
    while True:
        due, number = waiting[0]
        time.sleep(max(0.0, begun + due - time.monotonic()))
        now = time.monotonic()
        wheel = wheels[number - 1]
        if wheel.turn(max(due, now - begun)):
            print(json.dumps([number, now]), flush=True)
        heapreplace(waiting, (wheel.due, number))


if __name__ == "__main__":
    serve(int(sys.argv[1]), int(sys.argv[2]))
