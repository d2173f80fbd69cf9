"""Retained messages that were overtaken by a later one.

NATS looks up what it retains before it makes a subscription, and sends that after the subscription
is made. What is said in between comes first: the retained message then is the older one.
"""

from __future__ import annotations


class Overtaken:
    """What was heard on one connection, as it was said."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def __call__(self, topic: str, retained: bool) -> bool:
        """Whether this message is older than one of its topic that came before. ``retained``: it is
        what the broker held, as MQTT marks it for who has just subscribed.
        """
        if not retained:
            self._said.add(topic)
        return retained and topic in self._said
