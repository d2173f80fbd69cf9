"""Detects messages that other clients publish on our retained topics, so that they are corrected
and reported.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping

from controller.mqtt.connection import Incoming
from controller.mqtt.outgoing import Message

PAUSE = 1.0
"""Seconds between corrections. Two daemons with the same topics would otherwise correct each other
without pause.
"""
GATHERED = 1000
"""The most topics corrected at a time."""
ECHOES = 32
"""The most bodies remembered per topic that the broker may still send back to us."""


class OwnTopics:
    """Our retained topics, and which of them must be published again."""

    def __init__(self) -> None:
        self.foreign = 0
        """The number of messages that other clients published on our topics."""
        self._again: set[str] = set()
        self._next = 0.0
        self._echoes: dict[str, deque[bytes]] = {}

    def connected(self) -> None:
        """Forget everything: all topics are published again on a new connection."""
        self._again = set()
        self._echoes = {}

    def said(self, messages: Iterable[Message]) -> None:
        """Remember our own messages. Before MQTT 5 the broker always sends them back to us."""
        for message in messages:
            if message.retain:
                self._echoes.setdefault(message.topic, deque(maxlen=ECHOES)).append(message.payload)

    def heard(self, message: Incoming, truth: Mapping[str, bytes | None]) -> bool:
        """Whether another client published this message, so that it must be corrected. ``truth``
        has the right body of that topic, if it is one of ours.
        """
        echoes = self._echoes.get(message.topic, ())
        if message.payload in echoes and isinstance(echoes, deque):
            while echoes.popleft() != message.payload:
                pass
            return False
        if message.payload == (truth.get(message.topic) or b""):
            return False
        self.foreign += message.topic in truth
        self.say_again([message.topic])
        return True

    def say_again(self, topics: Iterable[str]) -> None:
        """Mark these topics to be published again, though their bodies have not changed."""
        for topic in topics:
            if len(self._again) < GATHERED:
                self._again.add(topic)

    def wait(self, now: float) -> float:
        """Seconds until the next correction is allowed."""
        return max(0.0, self._next - now)

    def take(self, now: float) -> set[str]:
        """Return the topics to publish again now, and forget them."""
        if not self._again or now < self._next - 0.01:  # a timer may come a little early
            return set()
        self._next = now + PAUSE
        again, self._again = self._again, set()
        return again
