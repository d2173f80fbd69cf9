"""A service's connection to the broker, across any number of reconnects."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from typing import Any

import aiomqtt
import msgspec
from paho.mqtt.client import Client as PahoClient
from paho.mqtt.client import MQTTMessage
from paho.mqtt.reasoncodes import ReasonCode

from controller.broker.address import addresses
from controller.broker.certificates import file_expiry_warning
from controller.broker.client import BrokerClient
from controller.broker.failures import describe_error
from controller.broker.login import BrokerUnusableError
from devices.log import structlog
from subscribers.feed import AGAIN, BrokerLogin
from subscribers.overtaken import Overtaken

FIRST = 30.0
"""Seconds for the broker to take us."""
LATE = 600.0
"""Seconds for any other answer of it. It stands behind all that it sends us: after an outage that
is much, and whoever gave up early would hear it again, and again too late. That a broker is gone
the keep-alive tells.
"""

REFUSED = 5.0
"""Seconds after which topics that the broker refused are asked for again."""
RENEWED = 10.0
"""Seconds after which what stands is said again, as daemons do, where a subscription with a
wildcard gets nothing of what is retained.
"""

Hear = Callable[[str, bytes, bool], None]
"""Takes a message: its topic, its body, and whether it was retained."""


class _Client(BrokerClient):
    """Hands each message on as it comes, without a queue, but for retained ones that were
    overtaken. ``failed``: what went wrong with one.

    ``by_hand``: the broker is told that a message came by :meth:`acknowledge` alone.
    """

    def __init__(self, login: BrokerLogin, hear: Hear, *, by_hand: bool, **options: Any) -> None:
        super().__init__(login, **options)
        self._client.manual_ack_set(by_hand)
        self._by_hand = by_hand
        self._unacknowledged: deque[tuple[int, int]] = deque()
        self._hear = hear
        self._overtaken = Overtaken()
        self.failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def _on_message(
        self,
        client: PahoClient,  # noqa: ARG002
        userdata: Any,  # noqa: ARG002
        message: MQTTMessage,
    ) -> None:
        if self._overtaken(message.topic, message.retain):
            if self._by_hand:
                self._client.ack(message.mid, message.qos)
            return
        if self._by_hand:
            self._unacknowledged.append((message.mid, message.qos))
        try:
            self._hear(message.topic, bytes(message.payload), message.retain)
        except Exception as error:  # a defect of ours: the program ends, and starts again
            if not self.failed.done():
                self.failed.set_exception(error)

    def acknowledge(self, count: int) -> None:
        """Tell the broker of the first ``count`` messages that it was not told of."""
        for _ in range(min(count, len(self._unacknowledged))):
            self._client.ack(*self._unacknowledged.popleft())


class Connection:
    """``topics``: what is listened to at first; ``will``: topic and body of what the broker says
    when we are gone. ``hear`` is called for each message, and ``linked`` when the connection was
    made or lost.

    ``session``: the client id under which the broker keeps what comes while we are gone, and
    repeats every message that :meth:`acknowledge` was not called for. None: there is no session,
    and each message is acknowledged as it comes.
    """

    def __init__(
        self,
        login: BrokerLogin,
        topics: Sequence[str],
        will: tuple[str, bytes],
        hear: Hear,
        linked: Callable[[bool], None],
        session: str | None = None,
    ) -> None:
        self._login, self._topics, self._will = login, list(topics), will
        self._session = session
        self._hear, self._linked = hear, linked
        self._retained: dict[str, bytes] = {}
        """What waits to be published and retained."""
        self._standing: dict[str, bytes] = {}
        """What was, and is said again."""
        self._once: list[tuple[str, bytes]] = []
        self._more: list[str] = []
        self._told: set[str] = set()
        """Topics of which is told that they were refused."""
        self._work = asyncio.Event()
        self._client: _Client | None = None
        self._ended = False
        self._log = structlog.get_logger()

    @property
    def up(self) -> bool:
        """Whether there is a connection."""
        return self._client is not None

    def acknowledge(self, count: int) -> None:
        """The first ``count`` messages of this connection that were not acknowledged are kept."""
        if self._client is not None:
            self._client.acknowledge(count)

    def retain(self, topic: str, body: bytes, *, renewed: bool = True) -> None:
        """Publish what stands on a topic from now on; a later body replaces one that waits.

        Where the broker keeps retained messages from wildcards it is said again and again, unless
        it is not to be ``renewed``: then the caller says it anew itself.
        """
        self._retained[topic] = body
        if renewed and body:
            self._standing[topic] = body
        else:
            self._standing.pop(topic, None)
        self._work.set()

    def send(self, topic: str, body: bytes) -> None:
        """Publish once, if there is a connection."""
        if self.up:
            self._once.append((topic, body))
            self._work.set()

    def listen(self, topic: str) -> None:
        """Listen to this topic too."""
        if topic not in self._topics:
            self._topics.append(topic)
            self._more.append(topic)
            self._work.set()

    async def flush(self, last: Mapping[str, bytes]) -> None:
        """Publish this last, and wait until the broker has it."""
        client = self._client
        self._standing = {}
        if client is not None:
            for topic, body in {**self._retained, **last}.items():
                await client.publish(topic, body, qos=1, retain=True)

    def end(self) -> None:
        """Connect no more. A task that is cancelled in the moment in which the connection is lost
        may not hear of it.
        """
        self._ended = True

    async def run(self) -> None:
        """Stay connected."""
        said = ""
        for url in cycle(addresses(self._login.url)):
            if self._ended:
                return
            try:
                topic, body = self._will
                client = _Client(
                    msgspec.structs.replace(self._login, url=url),
                    self._hear,
                    by_hand=self._session is not None,
                    identifier=self._session,
                    clean_session=self._session is None,
                    protocol=aiomqtt.ProtocolVersion.V311,
                    keepalive=10,
                    timeout=FIRST,
                    will=aiomqtt.Will(topic, body, qos=1, retain=True),
                    max_queued_outgoing_messages=0,
                )
                async with client:
                    self._once = []
                    self._client, said = client, ""
                    self._linked(True)  # before anything is heard
                    async with asyncio.TaskGroup() as group:
                        group.create_task(self._subscribe(client))
                        group.create_task(self._publish(client))
                        group.create_task(self._wait(client))
                        group.create_task(self._renew())
                        group.create_task(self._watch(client))
                        group.create_task(self._look_at_certificate())
            except* (aiomqtt.MqttError, BrokerUnusableError) as errors:
                reason = describe_error(errors.exceptions[0], self._login)
                if reason != said:
                    said = reason
                    self._log.warning("no connection to the broker", reason=reason)
            if self._client is not None:
                self._client = None
                self._linked(False)
            await asyncio.sleep(AGAIN)

    async def _look_at_certificate(self) -> None:
        file = self._login.cert_file
        if what := await asyncio.to_thread(file_expiry_warning, file, time.time()):
            self._log.warning("the certificate ends; renew it", file=file, reason=what)

    async def _subscribe(self, client: BrokerClient) -> None:
        """A cluster of NATS that has just started refuses what it grants a moment later."""
        refused = await self._ask_for(client, self._topics)
        while refused and not self._ended:
            await asyncio.sleep(REFUSED)
            refused = await self._ask_for(client, refused)

    async def _ask_for(self, client: BrokerClient, topics: Sequence[str]) -> list[str]:
        """Subscribe. Returns what the broker refuses.

        Without a session, QoS 1 would bring nothing more: what the broker has not delivered is
        forgotten when the connection ends. NATS makes a replicated consumer for each topic with QoS
        1, and after a power cut keeps those that nobody will ask for.
        """
        if not topics:
            return []
        qos = 0 if self._session is None else 1
        wanted = [(each, qos) for each in topics]
        codes = await client.subscribe(wanted, timeout=LATE)
        if self._session is None:  # as TWICE says; what a session keeps may fill a broker's queue
            await client.subscribe(wanted, timeout=LATE)
        results = [code.value if isinstance(code, ReasonCode) else code for code in codes]
        refused = [each for each, code in zip(topics, results, strict=False) if code >= 0x80]
        if refused and not self._told.issuperset(refused):
            self._told.update(refused)
            self._log.warning("the broker refuses subscriptions", topics=refused)
        return refused

    async def _wait(self, client: BrokerClient) -> None:
        async for _ in client.messages:  # none comes: it ends when the connection does
            pass

    async def _renew(self) -> None:
        """Say again what stands, for those who have subscribed with a wildcard since."""
        while not self._login.wildcards_retained:
            await asyncio.sleep(RENEWED)
            self._retained = {**self._standing, **self._retained}
            self._work.set()

    async def _watch(self, client: _Client) -> None:
        await client.failed

    async def _publish(self, client: BrokerClient) -> None:
        while True:
            await self._work.wait()
            self._work.clear()
            once, self._once = self._once, []
            retained, self._retained = self._retained, {}
            more, self._more = self._more, []
            try:
                if more:
                    await self._ask_for(client, more)
                await asyncio.gather(
                    *(client.publish(topic, body, 1, timeout=LATE) for topic, body in once),
                    *(
                        client.publish(topic, body, 1, retain=True, timeout=LATE)
                        for topic, body in retained.items()
                    ),
                )
            except aiomqtt.MqttError:
                self._retained = {**retained, **self._retained}
                raise
