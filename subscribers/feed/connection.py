"""MQTT connection of a service. Reconnects for as long as the service runs."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import aiomqtt
import msgspec
from paho.mqtt.client import MQTTMessage
from paho.mqtt.reasoncodes import ReasonCode

from common import clock
from common.broker.certificates import file_expiry_warning
from common.broker.client import BrokerClient
from common.broker.reconnecting import keep_connected
from common.log import structlog
from subscribers.feed.overtaken import Overtaken
from subscribers.feed.tables import BrokerLogin

KEEPALIVE_SECONDS = 10
CONNECT_TIMEOUT_SECONDS = 30.0
"""Maximum time for CONNACK."""
REPLY_TIMEOUT_SECONDS = 600.0
"""Maximum time for any other reply. A reply is queued behind the broker's backlog, which is long
after an outage: giving up earlier would make the broker resend all of it. The keep-alive detects a
dead broker.
"""

RESUBSCRIBE_DELAY_SECONDS = 5.0
"""Delay before subscribing again to refused topics."""
REPUBLISH_INTERVAL_SECONDS = 10.0
"""Interval at which retained messages are republished, as daemons do, if the broker does not
deliver them to wildcard subscriptions.
"""

MessageHandler = Callable[[str, bytes, bool], None]
"""Called with a message's topic, its body, and whether it was retained."""


class PublishingRight(Protocol):
    """What lets one of two services publish. ``client_id``: that of both at the broker, which ends
    the connection of one when it accepts the other.
    """

    client_id: str

    def check(self) -> None:
        """Return if this service may publish now, else end the process."""

    async def confirm(self) -> None:
        """Return once it is confirmed, by a request sent after the call, that it may publish."""


class _ServiceClient(BrokerClient):
    """Passes each message to ``on_message`` at once, without a queue. Drops retained messages that
    a later message has already replaced.

    ``manual_ack``: messages are acknowledged only by :meth:`acknowledge`. ``failed``: set if
    ``on_message`` raised; this is a bug, and the service must end. Nothing is passed on before
    :meth:`start`: the messages of a continued session arrive together with CONNACK.
    """

    def __init__(
        self, login: BrokerLogin, on_message: MessageHandler, *, manual_ack: bool, **options: Any
    ) -> None:
        super().__init__(login, **options)
        self.paho_client.manual_ack_set(manual_ack)
        self._manual_ack = manual_ack
        self._unacknowledged: deque[tuple[int, int]] = deque()
        self._handle = on_message
        self._early: list[MQTTMessage] | None = []
        """Messages that arrived before :meth:`start`; None after it."""
        self._overtaken = Overtaken()
        self.failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def start(self) -> None:
        """Pass on the messages that have arrived, and from now on each at once."""
        early, self._early = self._early, None
        for message in early or ():
            self._pass_on(message)

    def on_message(self, message: MQTTMessage) -> bool:
        """Pass a message on, or keep it until :meth:`start`."""
        if self._early is None:
            self._pass_on(message)
        else:
            self._early.append(message)
        return True

    def _pass_on(self, message: MQTTMessage) -> None:
        if self._overtaken(message.topic, message.retain):
            if self._manual_ack:
                self.paho_client.ack(message.mid, message.qos)
            return
        if self._manual_ack:
            self._unacknowledged.append((message.mid, message.qos))
        try:
            self._handle(message.topic, bytes(message.payload), message.retain)
        except Exception as error:  # a bug: the service ends, and its unit restarts it
            if not self.failed.done():
                self.failed.set_exception(error)

    def acknowledge(self, count: int) -> None:
        """Acknowledge the oldest ``count`` messages that are still unacknowledged."""
        for _ in range(min(count, len(self._unacknowledged))):
            self.paho_client.ack(*self._unacknowledged.popleft())


class ServiceConnection:
    """One logical connection of a service.

    ``topics`` are subscribed to after each connect. ``will`` is the topic and body of the last
    will, or None. ``on_message`` is called for each message, ``on_link`` with True after each
    connect and with False after each loss.

    ``session`` is the client id of a persistent session: the broker stores messages while the
    service is away and redelivers each one that :meth:`acknowledge` did not cover. With None there
    is no session, and every message is acknowledged on arrival. ``exclusive``: set if the service
    is one of two, of which one publishes. ``keepalive``: seconds after which a silent connection is
    checked.
    """

    def __init__(
        self,
        login: BrokerLogin,
        topics: Sequence[str],
        will: tuple[str, bytes] | None,
        on_message: MessageHandler,
        on_link: Callable[[bool], None],
        session: str | None = None,
        exclusive: PublishingRight | None = None,
        keepalive: int = KEEPALIVE_SECONDS,
    ) -> None:
        self._keepalive = keepalive
        self._exclusive = exclusive
        self._login, self._topics, self._will = login, list(topics), will
        self._session = session
        self._handle, self._on_link = on_message, on_link
        self._pending_retained: dict[str, bytes] = {}
        """Retained messages to publish, by topic."""
        self._republished: dict[str, bytes] = {}
        """Retained messages to republish periodically, by topic."""
        self._outgoing: list[tuple[str, bytes]] = []
        self._new_topics: list[str] = []
        self._logged_refusals: set[str] = set()
        """Refused topics that were already logged."""
        self._has_work = asyncio.Event()
        self._client: _ServiceClient | None = None
        self._ended = False
        self._logged_reason = ""
        self._log = structlog.get_logger()

    @property
    def up(self) -> bool:
        """True while connected."""
        return self._client is not None

    def acknowledge(self, count: int) -> None:
        """Acknowledge the oldest ``count`` messages of this connection: they are stored."""
        if self._client is not None:
            self._client.acknowledge(count)

    def retain(self, topic: str, body: bytes, *, republished: bool = True) -> None:
        """Publish a retained message; it replaces a pending one on the same topic.

        If the broker does not deliver retained messages to wildcard subscriptions, the message is
        republished periodically, unless the caller does that itself (``republished=False``).
        """
        self._pending_retained[topic] = body
        if republished and body:
            self._republished[topic] = body
        else:
            self._republished.pop(topic, None)
        self._has_work.set()

    def send(self, topic: str, body: bytes) -> None:
        """Publish a message that is not retained; drop it if not connected."""
        if self.up:
            self._outgoing.append((topic, body))
            self._has_work.set()

    def listen(self, topic: str) -> None:
        """Subscribe to one more topic."""
        if topic not in self._topics:
            self._topics.append(topic)
            self._new_topics.append(topic)
            self._has_work.set()

    async def flush(self, last: Mapping[str, bytes]) -> None:
        """Publish these retained messages last; return when the broker has acknowledged them."""
        client = self._client
        self._republished = {}
        if client is not None:
            for topic, body in {**self._pending_retained, **last}.items():
                self._check_exclusive()
                await client.publish(topic, body, qos=1, retain=True)

    def end(self) -> None:
        """Stop reconnecting. Cancelling the task is not enough: a cancellation that coincides with
        the loss of the connection can be swallowed.
        """
        self._ended = True

    async def run(self) -> None:
        """Connect, serve and reconnect until :meth:`end`."""
        await keep_connected(
            self._login, self._make_client, self._serve, self._on_loss, is_ended=lambda: self._ended
        )

    def _make_client(self, url: str) -> _ServiceClient:
        will = None if self._will is None else aiomqtt.Will(*self._will, qos=1, retain=True)
        return _ServiceClient(
            msgspec.structs.replace(self._login, url=url),
            self._handle,
            manual_ack=self._session is not None,
            identifier=self._exclusive.client_id if self._exclusive else self._session,
            clean_session=self._session is None,
            protocol=aiomqtt.ProtocolVersion.V311,
            keepalive=self._keepalive,
            timeout=CONNECT_TIMEOUT_SECONDS,
            will=will,
            max_queued_outgoing_messages=0,
        )

    def _check_exclusive(self) -> None:
        if self._exclusive is not None:
            self._exclusive.check()

    async def _serve(self, client: _ServiceClient) -> None:
        if self._exclusive is not None:
            await self._exclusive.confirm()
        self._outgoing = []
        self._client, self._logged_reason = client, ""
        self._on_link(True)  # before the first message
        client.start()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._subscribe(client))
            group.create_task(self._publish(client))
            group.create_task(self._wait(client))
            group.create_task(self._republish())
            group.create_task(self._raise_failure(client))
            group.create_task(self._check_certificate())

    def _on_loss(self, reason: str) -> None:
        if reason != self._logged_reason:
            self._logged_reason = reason
            self._log.warning("no connection to the broker", reason=reason)
        if self._client is not None:
            self._client = None
            self._on_link(False)

    async def _check_certificate(self) -> None:
        file = self._login.cert_file
        if reason := await asyncio.to_thread(file_expiry_warning, file, clock.wall()):
            self._log.warning("the certificate ends; renew it", file=file, reason=reason)

    async def _subscribe(self, client: BrokerClient) -> None:
        """Subscribe, and retry refused topics: a NATS cluster refuses some while it starts."""
        refused = await self._request_subscriptions(client, self._topics)
        while refused and not self._ended:
            await clock.sleep(RESUBSCRIBE_DELAY_SECONDS)
            refused = await self._request_subscriptions(client, refused)

    async def _request_subscriptions(
        self, client: BrokerClient, topics: Sequence[str]
    ) -> list[str]:
        """Subscribe and return the refused topics.

        Without a session QoS 0 is enough: undelivered messages are lost with the connection at any
        QoS. At QoS 1 NATS would also create a replicated consumer per topic, and keep it after a
        power cut although no client will use it.
        """
        if not topics:
            return []
        qos = 0 if self._session is None else 1
        subscriptions = [(topic, qos) for topic in topics]
        codes = await client.subscribe(subscriptions, timeout=REPLY_TIMEOUT_SECONDS)
        if self._session is None:
            # see SUBSCRIBE_PASSES; not with a session, whose backlog could fill the broker's queue
            await client.subscribe(subscriptions, timeout=REPLY_TIMEOUT_SECONDS)
        results = [code.value if isinstance(code, ReasonCode) else code for code in codes]
        refused = [topic for topic, code in zip(topics, results, strict=False) if code >= 0x80]
        if refused and not self._logged_refusals.issuperset(refused):
            self._logged_refusals.update(refused)
            self._log.warning("the broker refuses subscriptions", topics=refused)
        return refused

    async def _wait(self, client: BrokerClient) -> None:
        async for _ in client.messages:  # yields nothing; ends with the connection
            pass

    async def _republish(self) -> None:
        """Republish retained messages for clients that subscribed with a wildcard since."""
        while not self._login.wildcards_retained:
            await clock.sleep(REPUBLISH_INTERVAL_SECONDS)
            self._pending_retained = {**self._republished, **self._pending_retained}
            self._has_work.set()

    async def _raise_failure(self, client: _ServiceClient) -> None:
        await client.failed

    async def _publish(self, client: BrokerClient) -> None:
        while True:
            await self._has_work.wait()
            self._has_work.clear()
            outgoing, self._outgoing = self._outgoing, []
            retained, self._pending_retained = self._pending_retained, {}
            topics, self._new_topics = self._new_topics, []
            self._check_exclusive()
            try:
                if topics:
                    await self._request_subscriptions(client, topics)
                await asyncio.gather(
                    *(
                        client.publish(topic, body, 1, timeout=REPLY_TIMEOUT_SECONDS)
                        for topic, body in outgoing
                    ),
                    *(
                        client.publish(topic, body, 1, retain=True, timeout=REPLY_TIMEOUT_SECONDS)
                        for topic, body in retained.items()
                    ),
                )
            except aiomqtt.MqttError:
                self._pending_retained = {**retained, **self._pending_retained}
                raise
