"""Retained messages that a live message has overtaken.

NATS reads the retained messages before it creates a subscription and sends them afterwards. A
message published in between arrives first, and the retained one that follows is older.
"""

from __future__ import annotations


class Overtaken:
    """Topics on which one connection has received a live message."""

    def __init__(self) -> None:
        self._live_topics: set[str] = set()

    def __call__(self, topic: str, retained: bool) -> bool:
        """Return whether this message is older than one received before on its topic. ``retained``:
        the retain flag, which brokers set only on messages sent because of a new subscription.
        """
        if not retained:
            self._live_topics.add(topic)
        return retained and topic in self._live_topics
