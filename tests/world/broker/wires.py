"""The connections between clients and the broker, with what can go wrong on the way.

A transport opens a wire for each client (``connect``), passes its bytes to ``send`` and writes what
``receive`` returns. ``advance`` runs what is due by the given time; the next is due at
``deadline``. Every call takes the time, and all that happens follows from the order of the calls.
"""

from __future__ import annotations

import math
from collections import deque
from typing import TypeAlias

from tests.world.broker.broker import Broker, Connection
from tests.world.broker.faults import (
    Direction,
    Fault,
    ForcedDisconnect,
    HalfOpen,
    LostSession,
    Outage,
)

Bytes: TypeAlias = deque[tuple[float, bytes | None]]
"""What is on its way, with the time of its arrival; None is the end of the connection."""


class Wire:
    """One connection."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.to_broker: Bytes = deque()
        self.to_client: Bytes = deque()
        self.dead: set[Direction] = set()
        self.open = True
        """Whether the client has its end open."""


class Wires:
    """All connections of one broker."""

    def __init__(self, broker: Broker) -> None:
        self.broker = broker
        self._faults = broker.faults
        self._wires: dict[Connection, Wire] = {}
        self._busy: dict[Wire, None] = {}
        """Wires on which something is on its way."""
        self._now = 0.0

    @property
    def is_up(self) -> bool:
        """Whether a client can connect."""
        return not any(isinstance(each, Outage) for each in self._faults.active)

    def connect(self, peer: str, now: float) -> Wire:
        """Open a connection for a client. Raises ``ConnectionRefusedError`` in an outage."""
        self.advance(now)
        if not self.is_up:
            raise ConnectionRefusedError("the broker is down")
        wire = Wire(self.broker.connect(peer, self._now))
        self._wires[wire.connection] = wire
        return wire

    def send(self, wire: Wire, data: bytes, now: float) -> None:
        """The client has sent bytes."""
        if now > self._now:
            self.advance(now)
        self._put(wire, "to_broker", data)
        self.advance(now)

    def close(self, wire: Wire, now: float) -> None:
        """The client has closed its end."""
        self.advance(now)
        wire.open = False
        wire.to_client.clear()
        self._put(wire, "to_broker", None)
        self.advance(now)

    def receive(self, wire: Wire, now: float) -> bytes:
        """The bytes that have arrived at the client. ``Wire.open`` is false after the last ones."""
        if now > self._now:
            self.advance(now)
        data = bytearray()
        while wire.open and self._arrives(wire, wire.to_client) <= self._now:
            _, found = wire.to_client.popleft()
            if found is None:
                wire.open = False
            else:
                data += found
        return bytes(data)

    def readable(self) -> list[Wire]:
        """Wires of which a client can receive something by now."""
        if not self._busy:
            return []
        return [wire for wire in self._busy if self._arrives(wire, wire.to_client) <= self._now]

    def advance(self, now: float) -> None:
        """Do all that is due."""
        while (self._busy or self.broker.deadline <= now) and (due := self._next()) <= now:
            if due > self._now:
                self._now = due
            self.broker.advance(self._now)
            for wire in list(self._busy):
                if wire.to_broker:
                    self._pass_on(wire)
            self._collect()
        if now > self._now:
            self._now = now

    @property
    def deadline(self) -> float:
        """When something is due; infinity for never."""
        if not self._busy:
            return self.broker.deadline
        arrivals = [self._arrives(wire, wire.to_client) for wire in self._busy]
        return min(self._next(), *arrivals, math.inf)

    def begin(self, fault: Fault, now: float) -> None:
        """Begin a fault."""
        self.advance(now)
        match fault:
            case HalfOpen(client, direction):
                for wire in self._of(client):
                    wire.dead.add(direction)
            case ForcedDisconnect(client, reason):
                for wire in self._of(client):
                    self.broker.disconnect(wire.connection, reason, self._now)
            case LostSession(client):
                self.broker.end_session(client, self._now)
            case _:
                self._faults.active.append(fault)
        if isinstance(fault, Outage):
            self.broker.kill(
                self._now, keeps_sessions=fault.keeps_sessions, keeps_retained=fault.keeps_retained
            )
        self._collect()

    def end(self, fault: Fault, now: float) -> None:
        """End a fault; one that has no duration has ended already."""
        self.advance(now)
        if fault in self._faults.active:
            self._faults.active.remove(fault)
        self.broker.send_queued()
        self._collect()
        self.advance(now)

    def _of(self, client: str) -> list[Wire]:
        return [wire for wire in self._wires.values() if client in wire.connection.names]

    def _put(self, wire: Wire, direction: Direction, data: bytes | None) -> None:
        if direction in wire.dead:
            return
        queue = wire.to_broker if direction == "to_broker" else wire.to_client
        due = self._now + self._faults.delay(wire.connection.names)
        queue.append((max(due, queue[-1][0]) if queue else due, data))
        self._busy[wire] = None

    def _arrives(self, wire: Wire, queue: Bytes) -> float:
        """When the first of a queue arrives."""
        if not queue or (self._faults.active and self._faults.cut_off(wire.connection.names)):
            return math.inf
        return queue[0][0]

    def _next(self) -> float:
        due = self.broker.deadline
        for wire in self._busy:
            if wire.to_broker and (arrival := self._arrives(wire, wire.to_broker)) < due:
                due = arrival
        return due

    def _pass_on(self, wire: Wire) -> None:
        while self._arrives(wire, wire.to_broker) <= self._now:
            _, data = wire.to_broker.popleft()
            if data is None:
                self.broker.lose(wire.connection, self._now)
            else:
                self.broker.receive(wire.connection, data, self._now)

    def _collect(self) -> None:
        """Put what the broker has written onto the wires, and forget those that are quiet."""
        for connection in self.broker.changed:
            wire = self._wires[connection]
            if wire.open and connection.outgoing:
                self._put(wire, "to_client", bytes(connection.outgoing))
            if wire.open and connection.closed:
                self._put(wire, "to_client", None)
            connection.outgoing.clear()
            if connection.closed:
                del self._wires[connection]
        self.broker.changed.clear()
        for wire in [each for each in self._busy if not each.to_broker and not each.to_client]:
            del self._busy[wire]
