"""Posts the daemon's messages on the present connection, and follows whether each is delivered."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from common import clock
from common.contract.node import BrokerConnection
from common.log import structlog
from controller.mqtt.connection import PublisherConnection
from controller.mqtt.delivery import NEVER_ACCEPTED, DeliveryTracker, PostedMessage
from controller.mqtt.outgoing import Acknowledged, OutgoingMessage
from controller.mqtt.own_topics import OwnTopics
from controller.mqtt.tables_api import TablesApi


class MessagePoster:
    """Posts messages and handles their acknowledgements. ``on_turn`` is called with a topic when
    the broker begins or ceases to forbid it, and with the position of the first event to send again
    on it, if there is one.
    """

    def __init__(
        self,
        *,
        api: TablesApi,
        health: BrokerConnection,
        own_topics: OwnTopics,
        on_turn: Callable[[str, int | None], None],
        url: str,
    ) -> None:
        self.connection: PublisherConnection | None = None
        """The connection, while events are sent on it."""
        self.delivery = DeliveryTracker()
        self._api = api
        self._health = health
        self._own_topics = own_topics
        self._on_turn = on_turn
        self._refused = set[str]()
        """This daemon's topics on which the broker refused the last message."""
        self._log = structlog.get_logger().bind(broker=url)

    def post(
        self,
        connection: PublisherConnection,
        message: OutgoingMessage,
        then: Acknowledged,
        position: int = 0,
        packet_id: int | None = None,
    ) -> None:
        """Post a message, and track its delivery. ``then`` is called with the acknowledgement;
        ``position``: that of an event in the journal; ``packet_id``: the message was already sent
        with this identifier.
        """
        sent = self.delivery.track(message, position)
        acknowledged = partial(self._on_acknowledged, sent, then)
        if packet_id is None:
            connection.post(message, acknowledged)
        else:
            connection.adopt(packet_id, acknowledged)

    def send_now(self, messages: list[OutgoingMessage]) -> None:
        """Send messages now; without a connection they are dropped."""
        if (connection := self.connection) is not None and messages:
            for message in messages:
                self.post(connection, message, partial(self.note_refusal, message))
            connection.flush()

    async def deliver(
        self, connection: PublisherConnection, messages: list[OutgoingMessage]
    ) -> None:
        """Publish in order and wait for every acknowledgement."""
        if not connection.v5:
            self._own_topics.remember(messages)
        sent = [self.delivery.track(message) for message in messages]
        for each, message, refusal in zip(
            sent, messages, await connection.deliver(messages), strict=True
        ):
            self._on_acknowledged(each, partial(self.note_refusal, message), refusal)

    def note_refusal(self, message: OutgoingMessage, refusal: str | None) -> None:
        """Count and log a refused message. Later ones do not wait for it; the journal has it."""
        if refusal is not None:
            self._health.refused += 1
            if refusal not in NEVER_ACCEPTED and self._api.serves(message.topic):
                if message.topic in self._refused:  # the alert stays
                    return
                self._refused.add(message.topic)
            self._log.error(
                "broker refused a message",
                topic=message.topic,
                bytes=len(message.payload),
                reason=refusal,
            )

    def _on_acknowledged(
        self, sent: PostedMessage, then: Acknowledged, refusal: str | None
    ) -> None:
        if not self._api.serves(sent.topic):  # a response topic, or a table that was removed
            self.delivery.forget(sent.topic)
            then(refusal)
            return
        known = sent.topic in self.delivery.forbidden
        first = self.delivery.on_acknowledged(sent, refusal, clock.monotonic())
        then(refusal)
        if refusal is None:
            self._refused.discard(sent.topic)
        if known != (sent.topic in self.delivery.forbidden):
            self._on_turn(sent.topic, first)
