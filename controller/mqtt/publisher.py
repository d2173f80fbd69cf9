"""The publisher: sends the journal's events to the broker in order, and receives commands.

On each connection it subscribes, refreshes every retained topic, publishes ``online``, and then the
events after the cursor. From then on, an event is sent as soon as it is committed, and the retained
topics follow it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from itertools import cycle

import msgspec
from paho.mqtt.client import MQTTMessage

from common import clock, randomness
from common.broker.address import addresses
from common.broker.failures import Disconnected, describe_error, needs_operator
from common.broker.login import BrokerUnusableError
from common.contract.node import BrokerConnection
from common.contract.orders import RECALL
from common.contract.topics import Topics
from common.log import structlog
from common.wakeup import Wakeup
from controller.configuration.settings import BrokerConfig
from controller.journal.journal import Journal
from controller.mqtt.command_desk import queue_key
from controller.mqtt.connection import IncomingMessage, PublisherConnection
from controller.mqtt.delivery import ECHO_TIMEOUT_SECONDS
from controller.mqtt.delivery_rules import DeliveryRules
from controller.mqtt.intake import CommandQueues
from controller.mqtt.motion import MotionPublisher
from controller.mqtt.outbox import EventOutbox
from controller.mqtt.outgoing import OutgoingMessage
from controller.mqtt.own_topics import OwnTopics
from controller.mqtt.posting import MessagePoster
from controller.mqtt.retained import RetainedTopics
from controller.mqtt.rivals import ClientIdTwin, ForeignWriter, SecondDaemon
from controller.mqtt.subscriptions import TopicSubscriptions
from controller.mqtt.table_claims import CLAIM_INTERVAL_SECONDS
from controller.mqtt.tables_api import TablesApi
from controller.mqtt.timers import ConnectionTimers
from controller.tables.stages import Stages

MIN_RETRY_SECONDS, MAX_RETRY_SECONDS = 0.25, 15.0
"""Seconds between attempts to connect; doubled after each failure, with jitter."""
MIN_REFUSED_RETRY_SECONDS, MAX_REFUSED_RETRY_SECONDS = 2.0, 60.0
"""The delay if the broker refuses the connection: longer, so that no account is locked and no log
flooded.
"""
JOURNAL_RETRY_SECONDS = 1.0
"""Seconds between attempts to read an unreadable journal."""
FORBIDDEN_RETRY_SECONDS = 30.0
"""Time between attempts to publish what the broker forbids."""
REPUBLISH_INTERVAL_SECONDS = 600.0
"""The interval at which all retained topics are published again: foreign messages above the maximum
packet size are not detected. If the broker does not deliver retained messages to wildcard
subscriptions, they are published as often as claims, for later subscribers.
"""


async def _confirmed() -> None:
    return


class Exclusive(msgspec.Struct, frozen=True):
    """Ensures that only one daemon publishes. ``check`` does not return if this daemon has lost the
    right; ``confirm`` returns once a new request has confirmed the right. ``taken_over``: another
    daemon had the tables before. ``max_keepalive``: maximum seconds without traffic after which a
    silent broker is noticed; the configured keepalive may be shorter.
    """

    check: Callable[[], None] = lambda: None
    confirm: Callable[[], Awaitable[None]] = _confirmed
    taken_over: bool = False
    max_keepalive: int | None = None


class Publisher:
    """The connection to the broker, re-established for as long as the daemon runs. ``changed`` is
    called when it is made or lost.

    The daemons of a pair share one client id: the broker ends the connection of one when it accepts
    the other. The publishing daemon has confirmed on its present connection that it holds the
    lease. So the broker receives everything that the other one wrote before, even if that one was
    frozen in mid-write and its clock stopped.
    """

    def __init__(
        self,
        *,
        broker: BrokerConfig,
        client_id: str,
        journal: Journal,
        api: TablesApi,
        stages: Stages | None = None,
        changed: Callable[[], None] = lambda: None,
        exclusive: Exclusive | None = None,
    ) -> None:
        self._health = health = BrokerConnection()
        self._broker = broker
        self._addresses = cycle(addresses(broker.url))
        """The broker's nodes, in the order of attempts."""
        self._client_id = client_id
        self._journal = journal
        self._api = api
        self._changed = changed
        self._exclusive = exclusive or Exclusive()
        self._wake = Wakeup()
        self._end = asyncio.Event()
        self._retry_now = Wakeup()
        """Set to skip the pause before the next attempt to connect."""
        url, wake = broker.url, self._wake.set
        self._own_topics = own_topics = OwnTopics()
        self._poster = poster = MessagePoster(
            api=api, health=health, own_topics=own_topics, on_turn=self._on_turn, url=url
        )
        self.outbox = outbox = EventOutbox(
            journal=journal,
            api=api,
            poster=poster,
            health=health,
            stages=stages or Stages(),
            wake=wake,
            url=url,
        )
        self.motion = MotionPublisher(api=api, poster=poster, url=url)
        self._subscriptions = subscriptions = TopicSubscriptions(api=api, url=url)
        self._retained = retained = RetainedTopics(
            api=api,
            poster=poster,
            own_topics=own_topics,
            subscriptions=subscriptions,
            wake=wake,
            url=url,
        )
        self._rules = DeliveryRules(
            api=api,
            poster=poster,
            outbox=outbox,
            retained=retained,
            subscriptions=subscriptions,
            health=health,
            changed=changed,
            wake=wake,
            url=url,
        )
        self._second_daemon = SecondDaemon(
            api=api,
            poster=poster,
            outbox=outbox,
            retained=retained,
            subscriptions=subscriptions,
            changed=changed,
            wake=wake,
            url=url,
        )
        self._twin = ClientIdTwin(
            api=api, health=health, client_id=client_id, broker=broker, wake=wake
        )
        self._foreign_writer = ForeignWriter(
            api=api, health=health, own_topics=own_topics, wake=wake, url=url
        )
        self._log = structlog.get_logger().bind(broker=url)
        journal.on_stored, journal.on_commit = outbox.direct.send, outbox.send

    @property
    def position(self) -> int:
        """The position up to which every event is acknowledged, and none is known to have been
        dropped.
        """
        return self.outbox.position

    def health(self) -> BrokerConnection:
        """Return the part of the retained ``health`` about the connection."""
        return self._health

    def wake(self, table: str | None = None) -> None:
        """Publish the changed retained topics of that table, or of the node, soon."""
        if table is not None:
            self._retained.stale[table] = None
        self._wake.set()

    def send_now(self, messages: list[OutgoingMessage]) -> None:
        """Send messages now; without a connection they are dropped."""
        self._poster.send_now(messages)

    async def await_claims(self, tables: Mapping[str, Topics]) -> None:
        """Receive the claims of other daemons on these tables, which are about to be added here."""
        await self._second_daemon.await_claims(tables)

    def reload(
        self,
        removed: Mapping[str, Topics],
        placed: Collection[str],
        before: Mapping[str, Collection[str]],
    ) -> None:
        """Apply a change of the tables: some were ``removed``, others ``placed``, that is replaced,
        or added after :meth:`await_claims`. ``before``: the former retained topics of each table.
        """
        for table, topics in removed.items():
            self._api.claims.remove(table)
            self.outbox.note_tables(gained=[table])
            self._subscriptions.remove(table, topics, before[table])
            self._retained.remove(table, before[table])
        for table in placed:
            self._subscriptions.place(table)
            self._retained.place(table, before.get(table, ()))
        if (connection := self._second_daemon.connection) is not None:
            # before another daemon learns from the claim that a table is free
            self._retained.clear(connection)
        self._second_daemon.decide()
        self.wake()

    def abandon(self, table: str, topics: Collection[str]) -> None:
        """Clear these retained topics of a table on each connection, unless this daemon has it."""
        self._retained.abandon(table, topics)
        self.wake()

    def end(self) -> None:
        """Make :meth:`run` send pending messages, publish ``offline`` and return."""
        self._end.set()
        self._wake.set()
        self._retry_now.set()

    def reconnect_now(self) -> None:
        """Make the next attempt to connect now, if there is no connection."""
        self._retry_now.set()

    async def run(self) -> None:
        """Publish until :meth:`end`, through every outage of the broker."""
        pause = 0.0
        while not self._end.is_set():
            in_vain = False
            try:
                async with self._connect() as connection, asyncio.TaskGroup() as group:
                    # In one group: the reader notices a dead connection at once, the sender only at
                    # its next timeout.
                    reader, sender = (
                        group.create_task(self._read(connection)),
                        group.create_task(self._send(connection)),
                    )
                    await asyncio.wait((reader, sender), return_when=asyncio.FIRST_COMPLETED)
                    if not sender.done():
                        reader.result()  # raises the reader's error, if it failed
                        raise RuntimeError(
                            "reader task ended unexpectedly: commands would no longer be received"
                        )
                    sender.result()
                    reader.cancel()
            except* (Disconnected, BrokerUnusableError) as errors:
                error = _first_error(errors)
                self._log_outage(error)
                in_vain = self._twin.suspect(error) or needs_operator(error)
            if (task := asyncio.current_task()) is not None and task.cancelling():
                # Python 3.11 loses a cancellation when the task group fails at the same moment
                raise asyncio.CancelledError
            lasted = self._twin.connected_seconds
            self._api.claims.on_disconnected(clock.monotonic())
            self._second_daemon.connection = None
            self._health.connected = False
            self._changed()
            pause = next_pause(pause, lasted, in_vain=in_vain)
            await self._retry_now.wait(pause * (1 + randomness.fraction()) / 2)
            if not self._end.is_set():
                self._retry_now.clear()

    @contextlib.asynccontextmanager
    async def _connect(self) -> AsyncIterator[PublisherConnection]:
        if not self._journal.is_flushed:
            raise Disconnected("the journal must store first: its log may not be on the disk yet")
        # otherwise connecting could end the connection of the daemon that has the right to publish
        await self._exclusive.confirm()
        connection = PublisherConnection(
            msgspec.structs.replace(self._broker, url=next(self._addresses)),
            client_id=self._client_id,
            will=self._api.status(online=False),
            on_discard=self._count_discarded,
            intercept=self._on_direct_message,
            before_write=self._exclusive.check,
            keepalive=min(
                self._broker.keepalive, self._exclusive.max_keepalive or self._broker.keepalive
            ),
        )
        async with contextlib.AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(connection)
                yield connection
            except BaseException:  # after any failure the broker must publish the last will
                connection.abandon()
                raise

    def _log_outage(self, error: Exception) -> None:
        """Log when an outage begins and when its reason changes, but not each attempt."""
        trouble = describe_error(error, self._broker)
        if self._health.connected or trouble != self._health.trouble:
            level = self._log.error if needs_operator(error) else self._log.warning
            level(
                "broker lost" if self._health.connected else "broker not reached",
                reason=trouble,
                position=self.position,
            )
        self._health.trouble = trouble

    def _count_discarded(self) -> None:
        self._health.thrown_away += 1

    async def _read(self, connection: PublisherConnection) -> None:
        async def answer(order: tuple[str, str, IncomingMessage]) -> None:
            if not self._api.claims.has(order[0]):
                return  # the daemon that has the table answers
            await self._poster.deliver(
                connection, await self._api.commands.answer(*order, connection.largest)
            )

        try:
            async with asyncio.TaskGroup() as group:
                await self._receive(connection, CommandQueues(group, answer))
        except* Disconnected as errors:
            raise connection.disconnect_reason(_first_error(errors)) from None

    async def _receive(
        self,
        connection: PublisherConnection,
        intake: CommandQueues[tuple[str, str, IncomingMessage]],
    ) -> None:
        async for message in connection.messages:
            properties = message.properties
            incoming = IncomingMessage(
                topic=str(message.topic),
                payload=bytes(message.payload),
                retain=message.retain,
                response_topic=getattr(properties, "ResponseTopic", None),
                correlation=getattr(properties, "CorrelationData", None),
            )
            command = self._api.command(incoming.topic)
            if command is None:
                self._on_own_topic(incoming, v5=connection.v5)
                continue
            table, name = command
            if not intake.put(
                table, queue_key(incoming.payload), (table, name, incoming), recall=name == RECALL
            ):
                self._api.commands.discard(table, name)

    def _on_direct_message(self, message: MQTTMessage) -> bool:
        """Handle a claim of another daemon, the state of a jackpot, or a message of this daemon
        that came back.
        """
        topic, body = message.topic, bytes(message.payload)
        if not message.retain:
            delivery = self._poster.delivery
            known = len(delivery.forbidden)
            first = delivery.on_message(topic, body)
            if len(delivery.forbidden) < known:
                self._on_turn(topic, first)
            if self._api.is_echo(topic):
                return True
        return self._second_daemon.on_message(message) or self._api.jackpots.on_message(
            topic, body, held=message.retain
        )

    def _on_turn(self, topic: str, first: int | None) -> None:
        """Handle that the broker has begun or ceased to forbid a topic."""
        if first is not None:
            self.outbox.resume(topic, first)
        self._rules.update_alert()

    async def _send(self, connection: PublisherConnection) -> None:
        await self._exclusive.confirm()  # the broker has ended the other daemon's connection
        backlog = self._journal.head()  # events up to here happened without a connection
        await self._prepare(connection)
        self._retained.refresh(connection)
        while connection.pending:
            await self._wait(connection)
            self._retained.refresh(connection)
        await self._poster.deliver(connection, [self._api.status(online=True)])
        health = self._health
        health.connected, health.trouble = True, None
        self._twin.on_connected()
        health.connects += 1
        self._changed()
        self._log.info(
            "broker connected", backlog=self.position < backlog, topics=len(self._retained)
        )
        timers = ConnectionTimers()
        timers.once(MAX_REFUSED_RETRY_SECONDS, self._twin.clear)
        timers.every(self._republish_interval, self._republish_all)
        timers.every(CLAIM_INTERVAL_SECONDS, self._second_daemon.republish)
        timers.every(FORBIDDEN_RETRY_SECONDS, self._rules.retry_forbidden)
        timers.every(ECHO_TIMEOUT_SECONDS / 2, self._rules.request_check)
        try:
            await self._publish(connection, backlog)
        finally:
            timers.cancel()

    async def _prepare(self, connection: PublisherConnection) -> None:
        """Subscribe, and decide which tables this daemon has."""
        api, claims, subscriptions = self._api, self._api.claims, self._subscriptions
        self._own_topics.reset()
        self._poster.delivery.on_connected(echoing=not connection.v5)
        self.outbox.on_connected()
        claims.on_connected(clock.monotonic())
        refused = await self._second_daemon.subscribe(
            connection, wildcards_retained=self._broker.wildcards_retained
        )
        subscriptions.restart()
        refused += await subscriptions.subscribe_to_own(connection)
        claims.admit()
        await self._retained.clear_removed(connection, claims.removed_before())
        self._second_daemon.begin(connection)
        # before the new claim, which no longer names their tables
        self._retained.clear(connection)
        self._second_daemon.decide()
        refused += await subscriptions.subscribe_to_commands(connection)
        subscriptions.note_refused(refused)
        subscriptions.refused = set(refused)
        self._rules.update_alert()
        # the broker may retain alerts of another daemon that had the tables before
        subscriptions.gained = set(api.tables) if self._exclusive.taken_over else set()
        self._retained.publish_all_again()

    @property
    def _republish_interval(self) -> float:
        """Seconds between two publications of all retained topics."""
        return (
            REPUBLISH_INTERVAL_SECONDS
            if self._broker.wildcards_retained
            else CLAIM_INTERVAL_SECONDS
        )

    def _republish_all(self) -> None:
        self._retained.publish_all_again()
        if (connection := self._poster.connection) is not None:
            # for clients to which the broker could not deliver it
            self._retained.post(connection, self._api.status(online=True))
        self.wake()

    async def _publish(self, connection: PublisherConnection, backlog: int) -> None:
        """Publish until :meth:`end`. Events up to position ``backlog`` are marked historical."""
        self._poster.connection = connection
        self.outbox.begin(backlog)
        try:
            while True:
                self.outbox.send()
                self._retained.refresh(connection)
                if self._subscriptions.due:
                    await self._subscriptions.update(connection, self._retained.refresh)
                await self._rules.check(connection)
                await self._subscriptions.subscribe_to_gained(connection)
                if self._end.is_set() and not connection.pending:
                    break
                await self._wait(connection)
        finally:
            self._poster.connection = self._second_daemon.connection = None
            self.outbox.end()
        left = self._api.claims.messages(left=True)
        await self._poster.deliver(connection, [*left, self._api.status(online=False)])

    async def _wait(self, connection: PublisherConnection) -> None:
        """Wait until there is something to do. Raises :data:`Disconnected` if the broker does not
        acknowledge.
        """
        timeout = connection.acknowledgement_time_left()
        if self.outbox.unreadable:
            timeout = min(JOURNAL_RETRY_SECONDS, timeout or JOURNAL_RETRY_SECONDS)
        await self._wake.wait(timeout)
        self._wake.clear()

    def _on_own_topic(self, message: IncomingMessage, *, v5: bool) -> None:
        """Handle a message on one of this daemon's retained topics."""
        if not self._api.is_elsewhere(message.topic) and not self._retained.on_removed_alert(
            message
        ):
            self._foreign_writer.on_own_topic(message, v5=v5)


def next_pause(pause: float, lasted: float, *, in_vain: bool) -> float:
    """Return the seconds before the next attempt, after the previous pause and a connection that
    ``lasted`` seconds.

    The pause doubles each time. A connection shorter than the longest pause does not reset it, or
    two clients with one id would displace each other four times a second.
    """
    shortest, longest = (
        (MIN_REFUSED_RETRY_SECONDS, MAX_REFUSED_RETRY_SECONDS)
        if in_vain
        else (MIN_RETRY_SECONDS, MAX_RETRY_SECONDS)
    )
    return shortest if lasted > longest else min(max(pause * 2, shortest), longest)


def _first_error(group: BaseExceptionGroup[Exception]) -> Exception:
    """Return the first error within nested groups."""
    inner = group.exceptions[0]
    return _first_error(inner) if isinstance(inner, BaseExceptionGroup) else inner
