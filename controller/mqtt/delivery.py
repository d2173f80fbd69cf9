"""Tracks which of the daemon's own topics the broker delivers.

With MQTT 5, a broker reports a publication that it refuses, with a reason: its rules (135, not
authorized), a quota (151) or its own trouble (128, 131). With MQTT 3.1.1 it acknowledges and drops
the message. So the daemon subscribes to the topics that it publishes, and
a message that does not come back is not counted as delivered.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import msgspec

from controller.mqtt.outgoing import OutgoingMessage

NOT_AUTHORIZED = "Not authorized"
"""The text of paho for reason 135."""
NEVER_ACCEPTED = {"Packet too large", "Payload format invalid", "Topic name invalid"}
"""Reasons (149, 153, 144), in paho's words, for which a broker refuses a message whenever it is
sent. For every other reason it may accept it later.
"""
ECHO_TIMEOUT_SECONDS = 10.0
"""Time allowed for a message to come back once it is acknowledged. Then it is sent again, with the
same time: a broker may drop messages that it delivers with QoS 0.
"""
MAX_AWAITED = 64
"""Maximum messages remembered per topic. The first one is kept: delivery resumes with it."""
MAX_HELD = 100_000
"""Maximum journal entries that wait while it is unknown whether they were delivered: the broker may
merely forbid reading them.
"""
REFUSED_REASON = NOT_AUTHORIZED.lower()
NO_ECHO_REASON = "acknowledged, but it does not come back"


class PostedMessage(msgspec.Struct):
    """A message that was posted on this connection."""

    topic: str
    digest: int
    position: int
    """The position in the journal of an event; 0 for other messages."""
    acknowledged: float | None = None
    """The monotonic time of the acknowledgement."""


class DeliveryTracker:
    """Tracks the messages of the present connection, and the topics that the broker does not
    deliver.
    """

    def __init__(self) -> None:
        self.forbidden: dict[str, str] = {}
        """The reason by topic. Kept until a message is delivered."""
        self._echoing = False
        self._awaited: dict[str, deque[PostedMessage]] = {}
        """By topic, the messages that have not come back."""
        self._again: set[str] = set()
        """Topics whose first such message was sent again."""
        self._withheld: dict[str, tuple[int, int]] = {}
        """By topic, the first and the last event that the broker has refused."""

    def on_connected(self, *, echoing: bool) -> None:
        """Reset for a new connection, on which undelivered messages are posted again. ``echoing``:
        the broker sends this client its own messages.
        """
        self._echoing = echoing
        self._awaited, self._again, self._withheld = {}, set(), {}

    def track(self, message: OutgoingMessage, position: int = 0) -> PostedMessage:
        """Track a message before it is sent."""
        sent = PostedMessage(message.topic, hash(message.payload), position)
        if self._echoing:
            awaited = self._awaited.setdefault(message.topic, deque())
            awaited.append(sent)
            if len(awaited) > MAX_AWAITED:
                del awaited[1]
        return sent

    def on_acknowledged(self, sent: PostedMessage, refusal: str | None, now: float) -> int | None:
        """Handle the acknowledgement or refusal of a message. Returns the same as
        :meth:`on_message`.
        """
        sent.acknowledged = now
        if refusal is None:
            return None if self._echoing else self._passed(sent)
        self._drop(sent)
        if refusal in NEVER_ACCEPTED:
            self._proceed(sent)
        else:
            self.forbidden[sent.topic] = refusal.lower()
            self.withhold(sent.topic, sent.position)
        return None

    def on_message(self, topic: str, payload: bytes) -> int | None:
        """Handle a message on one of the daemon's topics. If delivery resumes with it, return the
        position of the topic's first event to send again.
        """
        awaited, digest = self._awaited.get(topic), hash(payload)
        if awaited is None or not any(each.digest == digest for each in awaited):
            return None
        if topic in self.forbidden and (first := awaited[0].position):
            # all that did not come back is sent again, in order
            self._withheld[topic] = first, max(each.position for each in awaited)
            self.forget(topic, withheld=False)
            return first
        while (sent := awaited.popleft()).digest != digest:
            pass
        if not awaited:
            del self._awaited[topic]
        self._again.discard(topic)
        return self._passed(sent)

    def _passed(self, sent: PostedMessage) -> int | None:
        resumes = self.forbidden.pop(sent.topic, None) is not None
        self._proceed(sent)
        return self._withheld[sent.topic][0] if resumes and sent.topic in self._withheld else None

    def _proceed(self, sent: PostedMessage) -> None:
        """Release the events up to this one, if it is the next withheld event of its topic."""
        first, last = self._withheld.get(sent.topic, (0, 0))
        if sent.position == last:
            self._withheld.pop(sent.topic, None)
        elif first <= sent.position < last:
            self._withheld[sent.topic] = sent.position + 1, last

    def _drop(self, sent: PostedMessage) -> None:
        awaited = self._awaited.get(sent.topic)
        if awaited is not None:
            remaining = deque(each for each in awaited if each is not sent)
            if remaining:
                self._awaited[sent.topic] = remaining
            else:
                del self._awaited[sent.topic]

    def withholds(self, topic: str) -> bool:
        """Return True if the broker has refused an event on this topic, so that later ones wait."""
        return topic in self._withheld and topic in self.forbidden

    def withhold(self, topic: str, position: int) -> None:
        """Withhold an event until the topic is no longer forbidden."""
        if position:
            first, last = self._withheld.get(topic, (position, position))
            self._withheld[topic] = min(first, position), max(last, position)

    def waiting(self) -> dict[str, int]:
        """By topic, the first event that was refused, or did not come back."""
        awaited = {topic: each[0].position for topic, each in self._awaited.items()}
        return awaited | {topic: first for topic, (first, _) in self._withheld.items()}

    def delivered_through(self, position: int) -> int:
        """Return the position up to which everything is delivered, if all up to ``position`` is
        acknowledged.
        """
        if not self._awaited and not self._withheld:
            return position
        doubtful = [
            each.position - 1
            for awaited in self._awaited.values()
            for each in (awaited[0],)
            if each.position
        ]
        bound = max(min(doubtful, default=position), position - MAX_HELD)
        refused = min((first - 1 for first, _ in self._withheld.values()), default=position)
        return min(position, bound, refused)

    def overdue(self, now: float) -> list[PostedMessage]:
        """Return, for each topic, the first message that should have come back by now."""
        return [
            awaited[0]
            for topic, awaited in self._awaited.items()
            if topic not in self.forbidden
            and (at := awaited[0].acknowledged) is not None
            and now - at > ECHO_TIMEOUT_SECONDS
        ]

    def expire(self, overdue: Iterable[PostedMessage], now: float) -> list[PostedMessage]:
        """Handle overdue messages that still have not come back. A topic whose message was already
        sent twice is marked as forbidden; the other messages are returned, to be sent again.
        """
        again = []
        for sent in overdue:
            awaited = self._awaited.get(sent.topic)
            if awaited is None or awaited[0] is not sent:
                continue
            if sent.topic in self._again:
                self.forbidden[sent.topic] = NO_ECHO_REASON
            else:
                self._again.add(sent.topic)
                sent.acknowledged = now
                again.append(sent)
        return again

    def forget(self, topic: str, *, withheld: bool = True) -> None:
        """Forget a topic that is no longer served, or that restarts with its withheld events."""
        self._awaited.pop(topic, None)
        self._again.discard(topic)
        self.forbidden.pop(topic, None)
        if withheld:
            self._withheld.pop(topic, None)

    @property
    def topics(self) -> set[str]:
        """All tracked topics."""
        return {*self._awaited, *self._withheld, *self.forbidden}


def topic_kind(topic: str) -> str:
    """Return the kind of a topic: ``event``, ``alert``, ``node/health``."""
    levels = topic.split("/")[3:]
    return "/".join(levels[::2]) if levels[:1] == ["node"] else "/".join(levels[1:2])
