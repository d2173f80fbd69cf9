"""What can go wrong at a broker and on the way to it, each fault a plain value that a world draws.

``Wires.begin`` and ``Wires.end`` apply them. A fault lasts from its beginning to its end, except
``HalfOpen``, ``ForcedDisconnect`` and ``LostSession``, which happen at their beginning. Topics are
topic filters; a client is named by the peer that its connection was made with, or its client id.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Literal, TypeAlias, TypeVar

import msgspec

from tests.world.broker.packets import Reason
from tests.world.broker.topics import matches

Direction = Literal["to_broker", "to_client"]


class Forget(msgspec.Struct, frozen=True, tag=True):
    """The broker acknowledges messages and loses them."""

    topics: str = "#"
    live: bool = True
    """Subscribers do not receive them."""
    retained: bool = True
    """They are not retained, and the retained message before them stays."""


class RefusePublish(msgspec.Struct, frozen=True, tag=True):
    """The broker refuses messages; MQTT 3.1.1 has no word for it: it acknowledges and drops."""

    topics: str = "#"
    reason: int = Reason.QUOTA_EXCEEDED


class Lag(msgspec.Struct, frozen=True, tag=True):
    """Messages are acknowledged, and reach subscribers and the retained messages later: in order
    within a topic, after later ones of other topics.
    """

    topics: str
    seconds: float


class Duplicate(msgspec.Struct, frozen=True, tag=True):
    """Subscribers receive each message with QoS 1 again after ``seconds``, maybe after later ones,
    as after the failover of a cluster.
    """

    topics: str = "#"
    seconds: float = 0.0


class LoseQos0(msgspec.Struct, frozen=True, tag=True):
    """Messages that would be delivered with QoS 0 are lost, as where a queue has no room; those
    that are retained are delivered at a subscription all the same.
    """

    topics: str = "#"


class SlowReader(msgspec.Struct, frozen=True, tag=True):
    """A client has exhausted its receive maximum: at most ``window`` messages with QoS 1 are sent
    to it before it acknowledges one. The rest is queued, and dropped beyond the broker's limit.
    """

    client: str
    window: int = 0


class ForcedDisconnect(msgspec.Struct, frozen=True, tag=True):
    """The broker ends a client's connections."""

    client: str
    reason: int = Reason.ADMINISTRATIVE_ACTION


class LostSession(msgspec.Struct, frozen=True, tag=True):
    """The broker ends a client's connection, and its session with all that waits in it."""

    client: str


class Outage(msgspec.Struct, frozen=True, tag=True):
    """The broker is killed, and started again at the end of the fault. It publishes no will."""

    keeps_sessions: bool = False
    keeps_retained: bool = False


class HalfOpen(msgspec.Struct, frozen=True, tag=True):
    """One direction of a client's open connections is dead until they are closed."""

    client: str
    direction: Direction


class Delay(msgspec.Struct, frozen=True, tag=True):
    """All bytes of a client's connections arrive later."""

    client: str
    seconds: float


class Partition(msgspec.Struct, frozen=True, tag=True):
    """Clients are cut off. What they and the broker send each other arrives at the end."""

    clients: frozenset[str]


Fault: TypeAlias = (
    Forget
    | RefusePublish
    | Lag
    | Duplicate
    | LoseQos0
    | SlowReader
    | ForcedDisconnect
    | LostSession
    | Outage
    | HalfOpen
    | Delay
    | Partition
)
_OfTopics = TypeVar("_OfTopics", Forget, RefusePublish, Lag, Duplicate, LoseQos0)


class ActiveFaults:
    """The faults that last at present."""

    def __init__(self) -> None:
        self.active: list[Fault] = []

    def of_topic(self, kind: type[_OfTopics], topic: str) -> list[_OfTopics]:
        """The active faults of this kind that concern a topic."""
        if not self.active:  # as most of the time
            return []
        return [
            each for each in self.active if isinstance(each, kind) and matches(each.topics, topic)
        ]

    def window(self, names: Set[str]) -> int:
        """The window that is left to a client with these names."""
        if not self.active:
            return 0xFFFF
        found = (
            each.window
            for each in self.active
            if isinstance(each, SlowReader) and each.client in names
        )
        return min(found, default=0xFFFF)

    def delay(self, names: Set[str]) -> float:
        """Seconds by which the bytes of a client are late."""
        if not self.active:
            return 0.0
        return sum(
            each.seconds for each in self.active if isinstance(each, Delay) and each.client in names
        )

    def cut_off(self, names: Set[str]) -> bool:
        """Whether a client is in a partition without the broker."""
        return bool(self.active) and any(
            isinstance(each, Partition) and each.clients & names for each in self.active
        )
