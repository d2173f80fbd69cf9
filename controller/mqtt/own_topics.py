"""Detects what somebody else publishes on our retained topics, so that it is corrected and
reported.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping

from controller.mqtt.connection import Incoming, Message

PAUSE = 1.0
"""Seconds between two corrections: two daemons with the same topics would otherwise correct each
other without end.
"""
GATHERED = 1000
"""Topics that are corrected at a time."""
ECHOES = 32
"""Bodies of one topic that a broker may still send back to us."""


class OwnTopics:
    """The topics to publish again. ``foreign``: messages of others on them."""

    def __init__(self) -> None:
        self.foreign = 0
        self._again: set[str] = set()
        self._next = 0.0
        self._echoes: dict[str, deque[bytes]] = {}

    def connected(self) -> None:
        """Start anew: everything is published again after a connect."""
        self._again = set()
        self._echoes = {}

    def said(self, messages: Iterable[Message]) -> None:
        """Remember our own messages, which the broker sends back: before MQTT 5 it cannot be told
        not to.
        """
        for message in messages:
            if message.retain:
                self._echoes.setdefault(message.topic, deque(maxlen=ECHOES)).append(message.payload)

    def heard(self, message: Incoming, truth: Mapping[str, bytes | None]) -> bool:
        """Whether somebody else published this, so that it must be corrected. ``truth``: what each
        topic holds.
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
        """Publish these again, though nothing has changed."""
        for topic in topics:
            if len(self._again) < GATHERED:
                self._again.add(topic)

    def wait(self, now: float) -> float:
        """Seconds until the next correction is allowed."""
        return max(0.0, self._next - now)

    def take(self, now: float) -> set[str]:
        """The topics to publish again now."""
        if not self._again or now < self._next - 0.01:  # a timer may come a little early
            return set()
        self._next = now + PAUSE
        again, self._again = self._again, set()
        return again
