"""A service's floor, and the messages of a table in play that reach it: all, or what the way makes
of them. One clock for all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from common import clock
from subscribers.feed.floor import Floor
from subscribers.feed.tables import ConnectionChange, FeedMessage
from tests.support.subscribers.played import ID, Play

NODE = "node/n1/status"
Change = Callable[[bytes], list[bytes]]
"""What the way does to an event: the messages that arrive in its place."""


def as_sent(body: bytes) -> list[bytes]:
    return [body]


class Receiver:
    """``time``: of all clocks. ``change``: what the way does to events now."""

    floor: Floor

    def __init__(self) -> None:
        self.time = 1_790_000_000.0
        source = clock.Source(wall=lambda: self.time, monotonic=lambda: self.time)
        self.clock = clock.use(source)
        self.clock.__enter__()
        self.change: Change = as_sent
        self._up = False
        self._boot = ""
        self._bodies: dict[str, bytes | None] = {}

    def close(self) -> None:
        self.clock.__exit__(None, None, None)

    # what Play tells

    def daemon(self, boot: str) -> None:
        self._boot = boot
        self.broker(up=True)

    def event(self, body: bytes) -> None:
        for arriving in self.change(body):
            self.message("event", arriving)

    def retained(self, bodies: dict[str, bytes | None]) -> None:
        for leaf, body in bodies.items():
            if self._bodies.get(leaf, b"") != body:
                self._bodies[leaf] = body
                self.message(leaf, body or b"")

    # the way

    def message(self, leaf: str, body: bytes) -> None:
        if self._up:
            self.floor.on_message(False, FeedMessage(leaf, body, ID))

    def broker(self, *, up: bool) -> None:
        """The connection is lost, or is there again with all that is retained."""
        self._up = up
        self.floor.on_message(False, ConnectionChange(up=up))
        for leaf, body in self._bodies.items():
            self.message(leaf, body or b"")
        if up:
            self.node("online")

    def node(self, status: str) -> None:
        """The daemon says this of itself."""
        body = msgspec.json.encode({"status": status, "boot": self._boot})
        self.floor.on_message(False, FeedMessage(NODE, body))


class TimedPlay(Play):
    """A roulette whose inputs come at the time of the receiver's clock."""

    def __init__(self, receiver: Receiver, boot: str = "boot", **settings: Any) -> None:
        given = {"phases": "person", **settings}
        super().__init__("roulette-french", "ARA02", given, boot=boot, others=(receiver,))
        self.receiver = receiver

    def say(self, kind: str, **fields: Any) -> None:
        self._at = self.receiver.time - 1.0
        super().say(kind, **fields)
