"""A client's own messages that the broker delivers back to it, so that those of other clients on
the same topics are recognised. Before MQTT 5 a broker always delivers them back.
"""

from __future__ import annotations

from collections import deque


class Echoes:
    """Messages that were published and not yet delivered back, at most ``maximum`` for a topic."""

    def __init__(self, maximum: int) -> None:
        self._maximum = maximum
        self._pending: dict[str, deque[bytes]] = {}

    def add(self, topic: str, body: bytes) -> None:
        """Add a message that is being published."""
        self._pending.setdefault(topic, deque(maxlen=self._maximum)).append(body)

    def remove(self, topic: str, body: bytes) -> bool:
        """Remove a message and the earlier ones on its topic, whose echoes are no longer expected.
        Return False if it is not one of this client's.
        """
        pending = self._pending.get(topic)
        if pending is None or body not in pending:
            return False
        while pending.popleft() != body:
            pass
        return True

    def clear(self) -> None:
        """Forget all: the connection has ended."""
        self._pending.clear()
