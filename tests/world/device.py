"""A device of the world: a model of ``simulators/`` at the end of a connection in memory."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextvars import Context
from math import inf
from typing import Any, NamedTuple

from devices.links import SCHEME_MODULES
from devices.links.descriptor import MAX_READ_BYTES, DescriptorLink
from devices.links.link import Address, Link, LinkFailedError
from simulators.device import SimulatedDevice
from simulators.line import SimulatedLine
from tests.world.ends import End
from tests.world.loop import WorldLoop
from tests.world.process import PROCESS, Machine, Process

SCHEME = "tcp"
"""The scheme of links that leads to the devices of the world, as to a device server."""
LATENCY_SECONDS = 0.03
"""How long a serial adapter gathers bytes."""
PIECE_BYTES = 16
"""Bytes that arrive at the adapter together: it gathers more."""
LINE_FAULTS = {"silence", "burst", "wrong_baud", "split", "duplicate", "damaged", "spliced"}
"""Faults of the line; all others are the device's."""


READ_KEPT = 2_000
"""Pieces of bytes that are remembered once they were read."""


class Sent(NamedTuple):
    """Bytes that have arrived at a port, when, and how many seconds they waited to be read, by the
    clock of the machine that has the port open.
    """

    data: bytes
    at: float
    waited: float = 0.0


class Device:
    """A model with its line, on an adapter that can be unplugged. ``protocol``: its name in
    ``simulators/faults.py``.
    """

    def __init__(
        self, loop: WorldLoop, name: str, protocol: str, model: SimulatedDevice, seed: int
    ) -> None:
        self.name = name
        self.protocol = protocol
        self.line = SimulatedLine(model, seed, PIECE_BYTES)
        self.powered = True
        self._model = model
        self._loop = loop
        self.on_line_fault: Callable[[], object] = lambda: None
        """Called when a fault of the line that waited for bytes has met them."""
        self.cut_off: set[Machine] = set()
        """Machines that cannot reach it."""
        self.on_the_way: deque[Sent] = deque()
        """Bytes of the latest connection that its program has not read yet, in order. It can read
        them after the connection has ended.
        """
        self.read: deque[Sent] = deque(maxlen=READ_KEPT)
        """The last that were read."""
        self._host: End | None = None
        self._holder: Process | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._wake()

    @property
    def now(self) -> float:
        """The time of the world."""
        return self._loop.now

    def open(self, process: Process) -> End:
        """Return the host's end. Raises :class:`LinkFailedError` if a program has it open."""
        if not self.is_reachable(process.machine):
            raise LinkFailedError(f"{self.name}: no such port")
        if self._host is not None and self._answers(self._holder):
            raise LinkFailedError(f"{self.name}: another program has the port open")
        ours, theirs = self._loop.pair()
        self._disconnect()
        self.on_the_way = deque()
        self._host, self._holder = ours, process
        Context().run(self._loop.add_reader, ours.fileno(), self._on_host)
        return theirs

    @property
    def holder(self) -> Process | None:
        """The program that has the port open."""
        return None if self._host is None else self._holder

    def is_reachable(self, machine: Machine) -> bool:
        """Return whether a program of that machine could open its port."""
        return self.powered and machine not in self.cut_off

    def cut(self, machine: Machine) -> None:
        """Let a machine no longer reach it."""
        self.cut_off.add(machine)
        if self._holder is not None and self._holder.machine is machine:
            self._disconnect()

    def note_read(self, size: int, sent: deque[Sent], machine: Machine) -> None:
        """A program of that machine has read so many bytes of those ``sent`` to it."""
        while size > 0 and sent:
            piece = sent.popleft()
            if len(piece.data) > size:
                sent.appendleft(Sent(piece.data[size:], piece.at))
            waited = machine.boottime(self.now) - piece.at
            self.read.append(Sent(piece.data[:size], piece.at, waited))
            size -= len(piece.data)

    def _host_time(self) -> float:
        """Return the time by the clock of the machine that has the port open."""
        assert self._holder is not None
        return self._holder.machine.boottime(self.now)

    def _answers(self, holder: Process | None) -> bool:
        """Return whether the program that has the port open is there; a device server ends the
        connections of those that are not.
        """
        return holder is not None and holder.alive and holder.frozen_until <= self.now

    def unplug(self, seconds: float) -> None:
        """Take the adapter away for that long."""
        self.powered = False
        self._disconnect()
        self._loop.call_at(self._loop.now + seconds, self._plug, context=Context())

    def fault(self, name: str, value: float) -> None:
        """Trigger a fault of the line or of the device."""
        (self.line if name in LINE_FAULTS else self._model).fault(name, value, self._loop.now)
        self.wake()

    def wake(self) -> None:
        """Let the device act: something has happened to it."""
        if self._timer is not None:
            self._timer.cancel()
        self._wake()

    def sent(self) -> None:
        """Bytes of the device, if any, are on their way to the host."""

    def received(self) -> None:
        """Bytes of the host have come."""

    def _plug(self) -> None:
        self.powered = True

    def _disconnect(self) -> None:
        if self._host is not None:
            self._loop.remove_reader(self._host.fileno())
            self._host.close()
            self._host = None

    def _wake(self) -> None:
        """Send what is due, and come again when more is."""
        self._timer = None
        now = self._loop.now
        waiting = self._waiting_faults
        data = b"".join(piece for _, piece in self.line.advance(now))
        if waiting and self._waiting_faults < waiting:
            self.on_line_fault()
        self.sent()
        if data and self._host is not None:
            try:
                size = self._host.send(data)
                self.on_the_way.append(Sent(data[:size], self._host_time()))
            except BlockingIOError:
                pass  # the host does not read: what its buffer cannot hold is lost
            except OSError:
                self._disconnect()
        due = self.line.deadline
        if due < inf:
            self._timer = self._loop.call_at(
                max(due, now) + LATENCY_SECONDS, self._wake, context=Context()
            )

    @property
    def _waiting_faults(self) -> int:
        """How many faults wait for the next line; one that joins two lines counts for both."""
        line = self.line
        return 2 * line._armed.total() + bool(line._cut) if line._armed or line._cut else 0

    def _on_host(self) -> None:
        assert self._host is not None
        try:
            data = self._host.recv(4096)
        except OSError:
            data = b""
        if data:
            self._model.receive(data, self._loop.now)
            self.received()
        else:
            self._disconnect()


PORTS: dict[str, Device] = {}
"""The devices of the world by name, for the addresses ``tcp://NAME:1``."""


class WorldLink(DescriptorLink):
    """An open port of a device of the world."""

    def __init__(self, device: Device, end: End, machine: Machine) -> None:
        super().__init__(end.fileno())
        self._name, self._end = device.name, end
        self._device, self._machine, self._sent = device, machine, device.on_the_way

    def is_readable(self) -> bool:
        """See :class:`DescriptorLink`."""
        return self._end.is_readable

    def hung_up(self) -> bool:
        """See :class:`DescriptorLink`."""
        return not self._end.peer.open

    def read(self, timeout: float) -> bytes:
        """See :class:`DescriptorLink`. Nothing in a world waits for bytes in a thread."""
        del timeout
        if not self._end.is_readable:
            self.drained = True
            return b""
        if not (data := self._end.recv(MAX_READ_BYTES)):
            raise self.unreadable(None)
        self.drained = len(data) < MAX_READ_BYTES
        self._device.note_read(len(data), self._sent, self._machine)
        return data

    def read_ready(self) -> bytes:
        """See :class:`DescriptorLink`."""
        return self.read(0)

    def send(self, data: bytes) -> int:
        """See :class:`DescriptorLink`."""
        try:
            return self._end.send(data)
        except BlockingIOError:
            return 0
        except OSError as error:
            raise self.unwritable(error) from error

    def close(self) -> None:
        """See :class:`devices.links.link.Link`."""
        self._end.close()

    def describe(self) -> dict[str, str]:
        """See :class:`devices.links.link.Link`."""
        return {"device": self._name}

    def timed_out(self) -> LinkFailedError:
        """See :class:`DescriptorLink`."""
        return LinkFailedError(f"{self._name}: accepts no bytes")

    def unreadable(self, error: OSError | None) -> LinkFailedError:
        """See :class:`DescriptorLink`."""
        return LinkFailedError(f"{self._name}: cannot be read: {error or 'it is gone'}")

    def unwritable(self, error: OSError) -> LinkFailedError:
        """See :class:`DescriptorLink`."""
        return LinkFailedError(f"{self._name}: cannot be written: {error}")


def check(address: Address) -> None:
    """Accept every address (the contract of a scheme of links)."""


def connect(address: Address) -> Link:
    """Open the port of a device of the world. Raises :class:`LinkFailedError`."""
    process = PROCESS.get()
    assert process is not None
    device = PORTS[address.host]
    return WorldLink(device, device.open(process), process.machine)


def register() -> Callable[[], object]:
    """Let the addresses ``tcp://NAME:1`` lead to the devices of the world. Returns what undoes
    it.
    """
    schemes: Any = SCHEME_MODULES
    usual, schemes[SCHEME] = schemes[SCHEME], __name__
    return lambda: schemes.update({SCHEME: usual})
