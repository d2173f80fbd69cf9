"""The daemon's connection to a broker, with an acknowledgement for each message.

Each connection object is used once: on reuse the library would queue and repeat messages itself,
and the journal must be the only queue.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Collection, Sequence
from functools import partial
from threading import RLock
from typing import cast
from urllib.parse import urlsplit

import aiomqtt
import msgspec
from paho.mqtt.client import (
    MQTT_CLEAN_START_FIRST_ONLY,
    MQTTMessage,
)
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode
from paho.mqtt.subscribeoptions import SubscribeOptions

from common import clock
from common.broker.client import BrokerClient
from common.broker.failures import Disconnected, SilentError
from common.broker.library import MAX_PACKET_BYTES, PublishingClient
from controller.configuration.settings import BrokerConfig
from controller.mqtt.outgoing import (
    Acknowledged,
    OutgoingMessage,
    PublishWindow,
    publish_packet,
)

MAX_UNACKNOWLEDGED = 64
"""Maximum unacknowledged messages; fewer if the broker sets a lower Receive Maximum (MQTT 5)."""
MAX_QUEUED_MESSAGES = 1000
"""Maximum received messages that wait to be handled; further ones are discarded."""
MAX_TOPICS_PER_SUBSCRIBE = 8
"""Maximum topics in one SUBSCRIBE packet; some brokers reject more."""
MAX_UNANSWERED_SUBSCRIBES = 16
"""Maximum SUBSCRIBE packets that wait for their SUBACK: the topics of a thousand tables are
hundreds of packets, and a round trip for each would make most of a start.
"""


class IncomingMessage(msgspec.Struct, frozen=True):
    """A received message. Only MQTT 5 has ``response_topic`` and ``correlation``."""

    topic: str
    payload: bytes
    retain: bool
    response_topic: str | None = None
    correlation: bytes | None = None


def _connect_properties() -> Properties:
    """Return the CONNECT properties with this client's limits."""
    properties = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call] # paho's constructor has no annotations
    properties.MaximumPacketSize = MAX_PACKET_BYTES
    return properties


class PublisherConnection(BrokerClient):
    """A connection, used with ``async with``. Raises :data:`Disconnected` or
    ``BrokerUnusableError`` if it cannot be made.

    ``on_discard`` is called for each incoming message that is malformed or for which there is no
    room. ``intercept`` is called for every message, in the order of the broker's packets, and
    returns True if it has handled the message. ``before_write`` is called directly before each
    write.
    """

    def __init__(
        self,
        broker: BrokerConfig,
        *,
        client_id: str,
        will: OutgoingMessage,
        on_discard: Callable[[], None] = lambda: None,
        intercept: Callable[[MQTTMessage], bool] = lambda _: False,
        before_write: Callable[[], None] = lambda: None,
        keepalive: int | None = None,
    ) -> None:
        address = urlsplit(broker.url)
        self.v5 = broker.protocol == "5" and address.scheme != "embedded"
        self._outgoing = PublishWindow(self._send)
        self._outgoing.v5 = self.v5
        self._replies: set[asyncio.Future[str | None]] = set()
        self._flushing = False
        super().__init__(
            broker,
            paho_class=PublishingClient,
            identifier=client_id,
            protocol=aiomqtt.ProtocolVersion.V5 if self.v5 else aiomqtt.ProtocolVersion.V311,
            clean_session=None if self.v5 else True,
            clean_start=True if self.v5 else MQTT_CLEAN_START_FIRST_ONLY,
            will=aiomqtt.Will(will.topic, will.payload, qos=1, retain=will.retain),
            properties=_connect_properties() if self.v5 else None,
            keepalive=broker.keepalive if keepalive is None else keepalive,
            timeout=float(broker.keepalive),
            max_queued_incoming_messages=MAX_QUEUED_MESSAGES,
            socket_options=[(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)],
        )
        self.ended.add_done_callback(self._fail_pending)
        self._on_discard = on_discard
        self._intercept = intercept
        self._publishing = cast("PublishingClient", self.paho_client)
        self._publishing.thrown_away = on_discard
        self._publishing.acknowledge = self._puback
        self._publishing.before_write = before_write
        self._publishing.socket_lock = RLock()

    @property
    def largest(self) -> int | None:
        """The largest packet that the broker accepts, in bytes; None if it sets no limit."""
        return self._outgoing.largest

    async def subscribe_to(
        self,
        topics: Sequence[str],
        *,
        qos: int = 1,
        retained: bool = True,
        as_published: bool = True,
    ) -> list[str]:
        """Subscribe, and return the topics that the broker refuses.

        With MQTT 5, this client's own messages are not sent back, and messages keep their retain
        flag; without ``as_published`` only those have it that the broker already retains. Without
        ``retained``, the broker does not send these.

        With MQTT 3.1.1 the QoS is always 0. The session ends with the connection, so QoS 1 would
        add nothing, and NATS needs some 70 ms to create a replicated consumer for each subscription
        with QoS 1.
        """
        options = SubscribeOptions(
            qos=qos,
            noLocal=True,
            retainAsPublished=as_published,
            retainHandling=0 if retained else 2,
        )
        size = MAX_TOPICS_PER_SUBSCRIBE
        batches = [topics[first : first + size] for first in range(0, len(topics), size)]
        refused: list[str] = []
        for first in range(0, len(batches), MAX_UNANSWERED_SUBSCRIBES):
            together = batches[first : first + MAX_UNANSWERED_SUBSCRIBES]
            for found in await asyncio.gather(
                *(self._subscribe_batch(batch, options) for batch in together)
            ):
                refused += found
        return refused

    async def _subscribe_batch(self, topics: Sequence[str], options: SubscribeOptions) -> list[str]:
        codes = await self.subscribe(
            [(topic, options) for topic in topics] if self.v5 else [(topic, 0) for topic in topics]
        )
        reasons = [code.value if isinstance(code, ReasonCode) else code for code in codes]
        return [topic for topic, code in zip(topics, reasons, strict=False) if code >= 0x80]

    async def unsubscribe_from(self, topics: Sequence[str]) -> None:
        """Unsubscribe from these topics."""
        for first in range(0, len(topics), MAX_TOPICS_PER_SUBSCRIBE):
            await self.unsubscribe(list(topics[first : first + MAX_TOPICS_PER_SUBSCRIBE]))

    @property
    def pending(self) -> int:
        """Messages posted and not yet acknowledged."""
        return self._outgoing.pending

    @property
    def window(self) -> int:
        """Maximum messages that may be unacknowledged at a time."""
        return self._outgoing.limit

    def post(self, message: OutgoingMessage, acknowledged: Acknowledged) -> None:
        """Queue a message; :meth:`flush` sends it. ``acknowledged`` is called when the broker has
        replied; it is never called if the connection is lost first.
        """
        self._outgoing.post(message, acknowledged)

    def flush(self) -> None:
        """Write queued messages, in order, as far as the window has room. The rest is written as
        the broker acknowledges.
        """
        self._outgoing.flush()

    def send_unacknowledged(self, messages: Sequence[OutgoingMessage]) -> None:
        """Send messages with QoS 0 now, together: they may be lost, and nothing reports it."""
        packets = (publish_packet(message, None, v5=self.v5) for message in messages)
        self._send(b"".join(packets))

    def reserve(self, count: int) -> bool:
        """Reserve room for messages of :meth:`send_directly`; see :class:`PublishWindow`."""
        return self._outgoing.reserve(count)

    def send_directly(self, messages: Sequence[OutgoingMessage]) -> Collection[int]:
        """Write messages to the socket from another thread, unless other packets wait for it.
        Return their packet identifiers, which :meth:`adopt` takes in the event loop; none if they
        were not sent.
        """
        packets = self._outgoing.direct_packets(messages)
        sent: bool | None = None
        try:
            sent = self._publishing.send_first(b"".join(packets.values())) if packets else None
        except OSError as error:  # as in :meth:`write`
            self.loop.call_soon_threadsafe(self.fail, error)
        if sent is None:
            self._outgoing.unsent(packets)
            return ()
        if not sent:
            self.loop.call_soon_threadsafe(self.write)
        return packets

    def adopt(self, packet_id: int, acknowledged: Acknowledged) -> None:
        """Take over a message that was sent directly. ``acknowledged``: see :meth:`post`."""
        self._outgoing.adopt(packet_id, acknowledged)

    def acknowledgement_time_left(self) -> float | None:
        """Return the seconds left for the broker to acknowledge the oldest message; None if none is
        unacknowledged. Raises :data:`Disconnected` if the time is over.
        """
        oldest = self._outgoing.oldest
        if oldest is None:
            return None
        left = oldest + self.timeout - clock.monotonic()
        if left <= 0:
            raise SilentError(f"no acknowledgement within {self.timeout:g} s")
        return left

    async def deliver(self, messages: Sequence[OutgoingMessage]) -> list[str | None]:
        """Publish in order and wait for every acknowledgement. Returns None for each accepted
        message, or why it was refused. Raises :data:`Disconnected`.
        """
        answers: list[asyncio.Future[str | None]] = []
        for message in messages:
            answer = self.loop.create_future()
            answers.append(answer)
            self._replies.add(answer)
            answer.add_done_callback(self._replies.discard)
            self.post(message, partial(_resolve, answer))
        self.flush()
        try:
            async with asyncio.timeout(self.timeout):
                return await asyncio.gather(*answers)
        except TimeoutError:
            raise SilentError(f"no acknowledgement within {self.timeout:g} s") from None

    def on_connack(self, properties: Properties | None) -> None:
        """Apply the limits of the broker."""
        self._outgoing.largest = getattr(properties, "MaximumPacketSize", None)
        self._outgoing.limit = min(
            MAX_UNACKNOWLEDGED, getattr(properties, "ReceiveMaximum", MAX_UNACKNOWLEDGED)
        )

    def on_message(self, message: MQTTMessage) -> bool:
        """Offer a message to ``intercept``, and discard it if the queue is full."""
        if self._intercept(message):
            return True
        is_full = len(self.messages) >= MAX_QUEUED_MESSAGES
        if is_full:
            self._on_discard()
        return is_full

    def _puback(self, packet_id: int, reason: int) -> None:
        self._outgoing.acknowledge(packet_id, reason)
        if self._outgoing.pending and not self._flushing:
            self._flushing = True
            self.loop.call_soon(self._flush_later)

    def _flush_later(self) -> None:
        """Flush once for all acknowledgements that arrived together."""
        self._flushing = False
        self.flush()

    def _send(self, packets: bytes) -> None:
        """Write packets now: the library would wait for three turns of the event loop."""
        try:
            all_sent = self._publishing.send(packets)
        except OSError as error:  # as in :meth:`write`
            self.fail(error)
        else:
            if not all_sent:
                # not now: if it fails while the library passes a message on, it closes the socket
                # under a lock that it holds already, and waits for itself
                self.loop.call_soon(self.write)

    def _fail_pending(self, disconnected: asyncio.Future[None]) -> None:
        """Fail all messages awaiting acknowledgement, because the connection is lost."""
        reason = None if disconnected.cancelled() else disconnected.exception()
        self._outgoing.forget()
        for answer in list(self._replies):
            if not answer.done():
                answer.set_exception(Disconnected(str(reason or "disconnected")))

    def disconnect_reason(self, error: Exception) -> Exception:
        """Return the broker's reason for ending the connection; ``error`` if it gave none."""
        ended = self.ended
        reason = (ended.exception() if ended.done() and not ended.cancelled() else None) or error
        return (
            reason
            if isinstance(reason, Disconnected)
            else Disconnected(f"{type(reason).__name__}: {reason}")
        )


def _resolve(answer: asyncio.Future[str | None], refusal: str | None) -> None:
    if not answer.done():  # the waiting task is gone
        answer.set_result(refusal)
