"""Which of the daemon's own topics the broker passes on.

A broker that forbids a publication says so with MQTT 5 (reason 135, not authorized). Without it the
broker acknowledges, and drops the message. So the daemon is subscribed to what it publishes, and
what does not come back is not known to have arrived.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import msgspec

from controller.mqtt.outgoing import Message

NOT_AUTHORIZED = "Not authorized"
"""How the MQTT library spells reason 135."""
ECHO_TIMEOUT_SECONDS = 10.0
"""Time allowed for a message to come back once it is acknowledged. Then it is sent once more, and
allowed the same again: a broker may drop what it sends with QoS 0.
"""
MAX_AWAITED = 64
"""Messages remembered for each topic. The first one stays: delivery resumes with it."""
MAX_HELD = 100_000
"""Entries of the journal that are held for delivery while nobody knows whether they arrived: the
broker may also forbid only to read them.
"""
REFUSED = "not authorized"
SILENT = "acknowledged, but it does not come back"


class Posted(msgspec.Struct):
    """A message that was posted on this connection."""

    topic: str
    digest: int
    position: int
    """Of an event in the journal; 0 for everything else."""
    acknowledged: float | None = None
    """The monotonic time."""


class Delivery:
    """What the broker does with the messages of the present connection, and which topics it does
    not pass on.
    """

    def __init__(self) -> None:
        self.forbidden: dict[str, str] = {}
        """By topic, how that is known. Stays until a message has passed."""
        self._echoing = False
        self._awaited: dict[str, deque[Posted]] = {}
        """By topic, what has not come back."""
        self._again: set[str] = set()
        """Topics on which the first of it was sent once more."""
        self._withheld: dict[str, tuple[int, int]] = {}
        """By topic, the first and the last event that the broker has refused."""

    def connected(self, *, echoing: bool) -> None:
        """A new connection. What was not delivered is posted again. ``echoing``: the broker sends
        us our own messages.
        """
        self._echoing = echoing
        self._awaited, self._again, self._withheld = {}, set(), {}

    def posted(self, message: Message, position: int = 0) -> Posted:
        """Note a message, before the broker has it."""
        sent = Posted(message.topic, hash(message.payload), position)
        if self._echoing:
            awaited = self._awaited.setdefault(message.topic, deque())
            awaited.append(sent)
            if len(awaited) > MAX_AWAITED:
                del awaited[1]
        return sent

    def answered(self, sent: Posted, refusal: str | None, now: float) -> int | None:
        """The broker has acknowledged a message, or refused it. Returns as :meth:`heard`."""
        sent.acknowledged = now
        if refusal is None:
            return None if self._echoing else self._passed(sent)
        self._drop(sent)
        if refusal == NOT_AUTHORIZED:
            self.forbidden[sent.topic] = REFUSED
            self.withhold(sent.topic, sent.position)
        else:  # it never passes, whatever the rules
            self._proceed(sent)
        return None

    def heard(self, topic: str, payload: bytes) -> int | None:
        """A message has come on one of our topics. If delivery resumes with it, returns the
        position of the first event of the topic to be sent again.
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

    def _passed(self, sent: Posted) -> int | None:
        resumes = self.forbidden.pop(sent.topic, None) is not None
        self._proceed(sent)
        return self._withheld[sent.topic][0] if resumes and sent.topic in self._withheld else None

    def _proceed(self, sent: Posted) -> None:
        """Nothing up to this event is withheld on its topic any more, if it is the next one."""
        first, last = self._withheld.get(sent.topic, (0, 0))
        if sent.position == last:
            self._withheld.pop(sent.topic, None)
        elif first <= sent.position < last:
            self._withheld[sent.topic] = sent.position + 1, last

    def _drop(self, sent: Posted) -> None:
        awaited = self._awaited.get(sent.topic)
        if awaited is not None:
            kept = deque(each for each in awaited if each is not sent)
            if kept:
                self._awaited[sent.topic] = kept
            else:
                del self._awaited[sent.topic]

    def withholds(self, topic: str) -> bool:
        """Whether the broker has refused an event on this topic, so that those behind it wait."""
        return topic in self._withheld and topic in self.forbidden

    def withhold(self, topic: str, position: int) -> None:
        """An event waits until the topic is no longer forbidden."""
        if position:
            first, last = self._withheld.get(topic, (position, position))
            self._withheld[topic] = min(first, position), max(last, position)

    def waiting(self) -> dict[str, int]:
        """By topic, the first event that was refused, or did not come back."""
        awaited = {topic: each[0].position for topic, each in self._awaited.items()}
        return awaited | {topic: first for topic, (first, _) in self._withheld.items()}

    def held(self, position: int) -> int:
        """How far everything is delivered, where all up to this position is acknowledged."""
        doubtful = [
            each.position - 1
            for awaited in self._awaited.values()
            for each in (awaited[0],)
            if each.position
        ]
        bound = max(min(doubtful, default=position), position - MAX_HELD)
        refused = min((first - 1 for first, _ in self._withheld.values()), default=position)
        return min(position, bound, refused)

    def overdue(self, now: float) -> list[Posted]:
        """For each topic the first message that should have come back by now."""
        return [
            awaited[0]
            for topic, awaited in self._awaited.items()
            if topic not in self.forbidden
            and (at := awaited[0].acknowledged) is not None
            and now - at > ECHO_TIMEOUT_SECONDS
        ]

    def judge(self, overdue: Iterable[Posted], now: float) -> list[Posted]:
        """Those of them that still have not come back. What was sent once more already is
        forbidden from now on; returns what is to be sent once more.
        """
        again = []
        for sent in overdue:
            awaited = self._awaited.get(sent.topic)
            if awaited is None or awaited[0] is not sent:
                continue
            if sent.topic in self._again:
                self.forbidden[sent.topic] = SILENT
            else:
                self._again.add(sent.topic)
                sent.acknowledged = now
                again.append(sent)
        return again

    def forget(self, topic: str, *, withheld: bool = True) -> None:
        """The topic is ours no more, or begins again with what is withheld."""
        self._awaited.pop(topic, None)
        self._again.discard(topic)
        self.forbidden.pop(topic, None)
        if withheld:
            self._withheld.pop(topic, None)

    @property
    def topics(self) -> set[str]:
        """All of which something is remembered."""
        return {*self._awaited, *self._withheld, *self.forbidden}


def kind(topic: str) -> str:
    """What is published there: ``event``, ``alert``, ``node/health``."""
    levels = topic.split("/")[3:]
    return "/".join(levels[::2]) if levels[:1] == ["node"] else "/".join(levels[1:2])
