"""Events that the thread of the journal's writer sends itself as soon as they are committed.

The event loop learns of a commit later, after other work that waits. So while nothing else has to
be sent first, it opens the connection for the events of one commit. It takes over their packets
when the commit is reported, and handles all acknowledgements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock

from common.chain.schema import Entry
from controller.mqtt.connection import PublisherConnection
from controller.mqtt.outgoing import OutgoingMessage

MAX_DIRECT_EVENTS = 4
"""Maximum events of a commit that is sent directly: those of one round. Larger commits are those of
many tables, which the event loop sends while the next one is written.
"""


class DirectEvents:
    """Sends the events of at most one commit between two calls of :meth:`open`.

    ``message`` returns the message of an event, or None if the event loop must decide about it. It
    is called in the writer's thread and may only read.
    """

    def __init__(self, message: Callable[[Entry], OutgoingMessage | None]) -> None:
        self._message = message
        self._lock = Lock()
        self._open = False
        """True if the events of the next commit may be sent."""
        self._connection: PublisherConnection | None = None
        self._through = 0
        """The position up to which all events had been sent when it was opened."""
        self._latest = 0
        """The position of the latest committed event."""
        self._sent: dict[int, int] = {}
        """Packet identifiers by the position of events that the event loop has not taken yet."""

    def open(self, connection: PublisherConnection, through: int) -> None:
        """Let the events of the next commit be sent; those up to the position ``through`` are sent.
        Called in the event loop.
        """
        if connection.v5 and connection.reserve(MAX_DIRECT_EVENTS):
            with self._lock:
                self._open, self._connection, self._through = True, connection, through

    def close(self) -> None:
        """Let no event be sent directly after this call. Called in the event loop."""
        with self._lock:
            self._open = False
        if self._connection is not None:
            self._connection.reserve(0)

    def forget(self) -> None:
        """Forget a connection that is lost, and what was sent on it. Called in the event loop."""
        self.close()
        self._connection = None
        self._sent.clear()

    def take(self, position: int) -> int | None:
        """Return the packet identifier of an event that was sent, once; None if it was not. Called
        in the event loop.
        """
        return self._sent.pop(position, None)

    def send(self, events: Sequence[Entry]) -> None:
        """Send the events of a commit, if that is allowed and none of them is a special case.
        Called in the writer's thread.
        """
        with self._lock:
            previous, self._latest = self._latest, events[-1].position
            is_open, self._open = self._open, False
            # those of an earlier commit, not yet reported to the event loop, must be sent first
            if not is_open or previous > self._through or len(events) > MAX_DIRECT_EVENTS:
                return
            messages = [message for event in events if (message := self._message(event))]
            if len(messages) == len(events) and self._connection is not None:
                packet_ids = self._connection.send_directly(messages)
                self._sent.update(
                    (event.position, packet_id)
                    for event, packet_id in zip(events, packet_ids, strict=False)
                )
