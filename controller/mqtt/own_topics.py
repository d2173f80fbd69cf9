"""Detects messages of other clients on this daemon's retained topics, so that they are corrected
and reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from common.broker.echoes import Echoes
from controller.mqtt.connection import IncomingMessage
from controller.mqtt.outgoing import OutgoingMessage

CORRECTION_INTERVAL_SECONDS = 1.0
"""Seconds between corrections. Two daemons with the same topics would otherwise correct each other
without pause.
"""
MAX_CORRECTED_TOPICS = 1000
"""Maximum topics corrected at a time."""
MAX_ECHOES = 32
"""Maximum bodies remembered per topic that the broker may still send back."""


class OwnTopics:
    """The daemon's retained topics, and those that must be published again."""

    def __init__(self) -> None:
        self.foreign = 0
        """Number of messages that other clients published on these topics."""
        self._again: set[str] = set()
        self._next = 0.0
        self._echoes = Echoes(MAX_ECHOES)

    def reset(self) -> None:
        """Forget everything: all topics are published again on a new connection."""
        self._again = set()
        self._echoes.clear()

    def remember(self, messages: Iterable[OutgoingMessage]) -> None:
        """Remember sent messages."""
        for message in messages:
            if message.retain:
                self._echoes.add(message.topic, message.payload)

    def is_foreign(self, message: IncomingMessage, truth: Mapping[str, bytes | None]) -> bool:
        """Return True if another client published this message; the topic is then marked.
        ``truth`` has the right body of the topic, if it is one of this daemon's.
        """
        if self._echoes.remove(message.topic, message.payload):
            return False
        if message.payload == (truth.get(message.topic) or b""):
            return False
        self.foreign += message.topic in truth
        self.mark([message.topic])
        return True

    def mark(self, topics: Iterable[str]) -> None:
        """Mark these topics to be published again, although their bodies have not changed."""
        for topic in topics:
            if len(self._again) < MAX_CORRECTED_TOPICS:
                self._again.add(topic)

    def wait(self, now: float) -> float:
        """Return the seconds until the next correction is allowed."""
        return max(0.0, self._next - now)

    def due_topics(self, now: float) -> set[str]:
        """Return the topics to publish again now, and forget them."""
        if not self._again or now < self._next - 0.01:  # a timer may come a little early
            return set()
        self._next = now + CORRECTION_INTERVAL_SECONDS
        again, self._again = self._again, set()
        return again
