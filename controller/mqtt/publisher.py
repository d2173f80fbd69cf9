"""The publisher: sends the journal's events to the broker in order, and receives commands.

On each connection it subscribes, refreshes every retained topic, publishes ``online``, and then the
events after the cursor. From then on, an event is sent in the same turn of the event loop in which
its commit is reported, and the retained topics follow it. The cursor moves only past events that
the broker has acknowledged. Others are sent again, and consumers drop duplicates by (table, boot,
seq).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from functools import partial
from itertools import cycle

import msgspec
from paho.mqtt.client import MQTTMessage

from common import clock, randomness
from common.broker.address import addresses
from common.broker.failures import (
    Disconnected,
    SilentError,
    describe_error,
    is_taken_over,
    needs_operator,
)
from common.broker.login import BrokerUnusableError
from common.chain.schema import Entry, JournalUnusableError
from common.contract.node import BrokerConnection
from common.contract.notation import mark_historical
from common.contract.orders import RECALL
from common.contract.retained import Alert
from common.contract.times import format_utc
from common.contract.topics import Topics
from common.log import structlog
from controller.configuration.settings import BrokerConfig
from controller.journal.journal import Journal
from controller.journal.mono import age_ns
from controller.mqtt.connection import IncomingMessage, PublisherConnection
from controller.mqtt.delivery import (
    ECHO_TIMEOUT_SECONDS,
    NEVER_ACCEPTED,
    NO_ECHO_REASON,
    REFUSED_REASON,
    DeliveryTracker,
    PostedMessage,
    topic_kind,
)
from controller.mqtt.intake import CommandQueues
from controller.mqtt.outgoing import Acknowledged, OutgoingMessage
from controller.mqtt.own_topics import OwnTopics
from controller.mqtt.table_claims import CLAIM_INTERVAL_SECONDS
from controller.mqtt.tables_api import RETAINED_LEAVES, TablesApi, queue_key
from controller.tables.stages import Stages

MAX_UNACKNOWLEDGED_EVENTS = 64
"""Maximum unacknowledged events. After an outage thousands may be due; retained topics are sent in
between, so that displays do not wait for the backlog.
"""
MIN_RETRY_SECONDS, MAX_RETRY_SECONDS = 0.25, 15.0
"""Seconds between attempts to connect; doubled after each failure, with jitter."""
MIN_REFUSED_RETRY_SECONDS, MAX_REFUSED_RETRY_SECONDS = 2.0, 60.0
"""The delay if the broker refuses the connection: longer, so that no account is locked and no log
flooded.
"""
JOURNAL_RETRY_SECONDS = 1.0
"""Seconds between attempts to read an unreadable journal."""
TWIN_ALERT_ID, SUSPICIOUS_CONNECTIONS = "broker-client-id", 3
"""Id of the alert that another client uses this daemon's client id, cleared when a connection
lasts. Not every broker reports this, so it is suspected after this many short connections in a row.
"""
FOREIGN_ALERT_ID = "broker-topics"
"""Id of the alert that another client publishes on this daemon's topics, cleared after a minute
without such a message.
"""
RIVAL_ALERT_ID = "second-daemon"
"""Id of the alert that another daemon serves one of this daemon's tables, while its claim is
valid.
"""
RULES_ADVICE = "Let the daemon's user write and read all its topics: `novamas acl` prints the rules"
QUOTA_ADVICE = "See the broker's log, its quotas and its disk"
RULES_ALERT_ID = "broker-rules"
"""Id of the alert that the broker does not deliver this daemon's messages, or does not let it read
its topics.
"""
FORBIDDEN_RETRY_SECONDS = 30.0
"""Time between attempts to publish what the broker forbids."""
FOREIGN_ALERT_SECONDS, REPUBLISH_INTERVAL_SECONDS = 60.0, 600.0
"""That minute, and the interval at which all retained topics are published again: foreign messages
above the maximum packet size are not detected. If the broker does not deliver retained messages to
wildcard subscriptions, they are published as often as claims, for later subscribers.
"""
CLAIM_MARGIN_SECONDS = 1.0
"""Time allowed, beyond the interval between claims, to receive one of every other daemon."""


async def _confirmed() -> None:
    return


class Exclusive(msgspec.Struct, frozen=True):
    """Ensures that only one daemon publishes. ``check`` does not return if this daemon has lost the
    right; ``confirm`` returns once a new request has confirmed the right. ``taken_over``: another
    daemon had the tables before.
    """

    check: Callable[[], None] = lambda: None
    confirm: Callable[[], Awaitable[None]] = _confirmed
    taken_over: bool = False


class _SentEvent(msgspec.Struct):
    """An event that awaits its acknowledgement."""

    position: int
    mono_ns: int
    acknowledged: bool = False
    """Or not to be published at all."""


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
        broker: BrokerConfig,
        client_id: str,
        outbox: Journal,
        api: TablesApi,
        stages: Stages | None = None,
        changed: Callable[[], None] = lambda: None,
        exclusive: Exclusive | None = None,
    ) -> None:
        self.health = BrokerConnection()
        self.position = outbox.cursor()
        """The position up to which every event is acknowledged, and none is known to have been
        dropped. The journal's cursor follows with a delay, which can only cause duplicates.
        """
        self._acknowledged = self.position
        """The position of the last acknowledged event."""
        self._delivery = DeliveryTracker()
        self._refused_subscriptions: set[str] = set()
        """Topics to which the broker refuses the subscription."""
        self._refused_publications = set[str]()
        """This daemon's topics on which the broker refused the last message."""
        self._echo_check_due = False
        """It is time to check which messages did not come back."""
        self._resuming: set[str] = set()
        """Topics whose events are sent again."""
        self._resent_through = 0
        """The position up to which only events of these topics are sent."""
        self._broker = broker
        self._addresses = cycle(addresses(broker.url))
        """The broker's nodes, in the order of attempts."""
        self._client_id = client_id
        self._outbox = outbox
        self._api = api
        self._stages = stages or Stages()
        self._changed = changed
        self._exclusive = exclusive or Exclusive()
        self._wake = asyncio.Event()
        self._end = asyncio.Event()
        self._retry_now = asyncio.Event()
        """Set to skip the pause before the next attempt to connect."""
        self._last_acknowledged = 0.0
        """The monotonic time of the last acknowledgement, or since which events wait for one."""
        self._connection: PublisherConnection | None = None
        """The connection, while events are sent on it."""
        self._sent = self.position
        """The position of the last event sent on it."""
        self._unacknowledged: deque[_SentEvent] = deque()
        self._historical = 0
        """Events up to this position happened while there was no connection."""
        self._journal_unreadable = False
        self._claims_connection: PublisherConnection | None = None
        """The connection, once the claims of other daemons were received."""
        self._published_claims: list[OutgoingMessage] = []
        """This daemon's claim as published on it."""
        self._lost: dict[str, int] = {}
        """Former tables of this daemon, with the position of their last entry."""
        self._gained: set[str] = set()
        """Tables that this daemon has gained from another, whose alerts may still be retained."""
        self._stale: set[str] = set()
        """Tables with a retained topic that may have changed."""
        self._placed: set[str] = set()
        """Tables that were added or replaced during this connection, to whose topics it is not yet
        subscribed.
        """
        self._unsubscribable: set[str] = set()
        """Topics to unsubscribe from."""
        self._cleared: dict[str, str] = {}
        """Retained topics to clear, each with its table, until the broker has acknowledged it."""
        self._abandoned: dict[str, str] = {}
        """Retained topics that another daemon has left behind, each with its table, which no daemon
        serves.
        """
        self._removed_alerts: dict[str, str] = {}
        """The prefix of the topics of alerts of each table of the previous run that is no longer
        configured, with the table.
        """
        self._alerts: dict[str, Alert] = {}
        """The alerts of every table, as published."""
        self._published_bodies: dict[str, bytes | None] = {}
        self._own_topics = OwnTopics()
        self._last_foreign = 0.0
        """The monotonic time of the last foreign message on this daemon's topics."""
        self._connected_at = 0.0
        """The monotonic time at which the connection was made."""
        self._short_connections = 0
        """The number of short connections in a row."""
        self._log = structlog.get_logger().bind(broker=broker.url)
        outbox.on_commit = self._send_events

    def wake(self, table: str | None = None) -> None:
        """Publish the changed retained topics of that table, or of the node, soon."""
        if table is not None:
            self._stale.add(table)
        self._wake.set()

    def send_now(self, messages: list[OutgoingMessage]) -> None:
        """Send messages now; without a connection they are dropped."""
        if (connection := self._connection) is not None and messages:
            for message in messages:
                self._publish_one(connection, message, partial(self._note_refusal, message))
            connection.flush()

    async def await_claims(self, tables: Mapping[str, Topics]) -> None:
        """Receive the claims of other daemons on these tables, which are about to be added here."""
        claims = self._api.claims
        for table, topics in tables.items():
            claims.add(table, topics)
        if (connection := self._claims_connection) is None:  # received on the next connection
            return
        with contextlib.suppress(Disconnected, BrokerUnusableError):
            # with QoS 0 the broker sends the retained claims before it answers the next SUBSCRIBE
            await connection.subscribe_to(claims.topics(), qos=0, as_published=False)
            await connection.subscribe_to(claims.topics(), qos=0, retained=False)
            claims.admit()
            self._decide_tables()

    def reload(
        self,
        removed: Mapping[str, Topics],
        placed: Collection[str],
        before: Mapping[str, Collection[str]],
    ) -> None:
        """Apply a change of the tables: some were ``removed``, others ``placed``, that is replaced,
        or added after :meth:`await_claims`. ``before``: the former retained topics of each table.
        """
        api, claims = self._api, self._api.claims
        for table, topics in removed.items():
            claims.remove(table)
            self._lost.pop(table, None)
            for each in (self._stale, self._gained, self._placed):
                each.discard(table)
            alerts = topics.table(table, "alert/")
            self._unsubscribable |= {
                topic for topic in before[table] if not topic.startswith(alerts)
            }
            self._unsubscribable |= {topics.command(table), f"{alerts}+"}
            self._unsubscribable |= {
                topics.table(table, leaf) for leaf in ("event", "sealed", "reply/+")
            }
            if claims.is_left(table):
                self._cleared |= dict.fromkeys(before[table], table)
        for table in placed:
            now = [
                *api.own_topics_of(table),
                *api.subscriptions([table]),
                *api.echo_topics([table]),
            ]
            self._unsubscribable.difference_update(now)
            shown = api.retained(table)
            self._cleared |= {t: table for t in before.get(table, ()) if t not in shown}
            for topic in shown:
                self._cleared.pop(topic, None)
        self._placed.update(placed)
        self._stale.update(placed)
        if (connection := self._claims_connection) is not None:
            # before another daemon learns from the claim that a table is free
            self._clear_topics(connection)
        self._decide_tables()
        self.wake()

    def abandon(self, table: str, topics: Collection[str]) -> None:
        """Clear these retained topics of a table on each connection, unless this daemon has it."""
        self._abandoned |= dict.fromkeys(topics, table)
        self.wake()

    def end(self) -> None:
        """Make :meth:`run` send pending messages, publish ``offline`` and return."""
        self._end.set()
        self._wake.set()
        self._retry_now.set()

    def reconnect_now(self) -> None:
        """Make the next attempt to connect now, if there is no connection."""
        self._retry_now.set()

    @property
    def unacknowledged_seconds(self) -> float:
        """Seconds for which the broker has acknowledged none of the pending events."""
        return clock.monotonic() - self._last_acknowledged if self._unacknowledged else 0.0

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
                in_vain = needs_operator(error) or self._suspect_twin(error)
            if (task := asyncio.current_task()) is not None and task.cancelling():
                # Python 3.11 loses a cancellation when the task group fails at the same moment
                raise asyncio.CancelledError
            lasted = self._connected_seconds
            self._api.claims.on_disconnected(clock.monotonic())
            self._claims_connection = None
            self.health.connected = False
            self._changed()
            pause = next_pause(pause, lasted, in_vain=in_vain)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause * (1 + randomness.fraction()) / 2):
                    await self._retry_now.wait()
            if not self._end.is_set():
                self._retry_now.clear()

    @contextlib.asynccontextmanager
    async def _connect(self) -> AsyncIterator[PublisherConnection]:
        # otherwise connecting could end the connection of the daemon that has the right to publish
        await self._exclusive.confirm()
        connection = PublisherConnection(
            msgspec.structs.replace(self._broker, url=next(self._addresses)),
            client_id=self._client_id,
            will=self._api.status(online=False),
            on_discard=self._count_discarded,
            intercept=self._on_direct_message,
            before_write=self._exclusive.check,
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
        if self.health.connected or trouble != self.health.trouble:
            level = self._log.error if needs_operator(error) else self._log.warning
            level(
                "broker lost" if self.health.connected else "broker not reached",
                reason=trouble,
                position=self.position,
            )
        self.health.trouble = trouble

    @property
    def _connected_seconds(self) -> float:
        return clock.monotonic() - self._connected_at if self.health.connected else 0.0

    def _suspect_twin(self, error: Exception) -> bool:
        """Return True if another client seems to use this daemon's client id, and raise the alert.
        A broker that stops replying is no sign of it: a cluster does when it has lost a node.
        """
        if isinstance(error, SilentError):
            return False
        if self.health.connected:
            is_short = self._connected_seconds < MAX_RETRY_SECONDS
            self._short_connections = self._short_connections + 1 if is_short else 0
        if not is_taken_over(error) and self._short_connections < SUSPICIOUS_CONNECTIONS:
            return False
        if TWIN_ALERT_ID not in self._api.alerts:
            detail = (
                "the broker ends this daemon's connections soon after it accepts them "
                f"({describe_error(error, self._broker)}): does another client use the client id "
                f"{self._client_id!r} too? Give each its own broker.client_id, or its own site.node"
            )
            self._api.alerts[TWIN_ALERT_ID] = _alert(TWIN_ALERT_ID, "broker.client_id", detail)
            self._log.error(
                "another client has our client id, it seems",
                client_id=self._client_id,
                alert=TWIN_ALERT_ID,
            )
        return True

    def _count_discarded(self) -> None:
        self.health.thrown_away += 1

    async def _read(self, connection: PublisherConnection) -> None:
        async def answer(order: tuple[str, str, IncomingMessage]) -> None:
            if not self._api.claims.has(order[0]):
                return  # the daemon that has the table answers
            await self._deliver(connection, await self._api.answer(*order, connection.largest))

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
                self._api.discard(table, name)

    def _on_own_topic(self, message: IncomingMessage, *, v5: bool) -> None:
        """Handle a message on one of this daemon's topics: if another client published it, publish
        the right state again.
        """
        if self._api.is_elsewhere(message.topic):
            return
        alerts, slash, _ = message.topic.rpartition("/")
        if (table := self._removed_alerts.get(alerts + slash)) is not None:
            if message.payload and message.retain and self._api.claims.is_left(table):
                self._cleared[message.topic] = table
                self.wake()
            return
        if not self._api.is_alert(message.topic):
            held_before = message.retain and not v5  # MQTT 5 does not send these
            if held_before or not self.health.connected:
                return
        known = self._own_topics.foreign
        if self._own_topics.is_foreign(message, self._api.shown(message.topic)):
            asyncio.get_running_loop().call_later(
                self._own_topics.wait(clock.monotonic()), self.wake
            )
        if self._own_topics.foreign > known and not self._api.is_alert(message.topic):
            self._raise_foreign_alert(message.topic)

    def _raise_foreign_alert(self, topic: str) -> None:
        self.health.foreign += 1
        self._last_foreign = clock.monotonic()
        if FOREIGN_ALERT_ID not in self._api.alerts:
            detail = (
                f"another client publishes on this daemon's topic {topic}; the message was "
                "replaced. Is there a second daemon with the same site.node, or the same table? "
                "Otherwise let the broker's access rules keep others from the daemon's topics"
            )
            self._api.alerts[FOREIGN_ALERT_ID] = _alert(FOREIGN_ALERT_ID, "broker.topics", detail)
            self._log.error(
                "another client publishes on this daemon's topics",
                topic=topic,
                alert=FOREIGN_ALERT_ID,
            )
            asyncio.get_running_loop().call_later(FOREIGN_ALERT_SECONDS, self._clear_foreign_alert)

    def _clear_foreign_alert(self) -> None:
        left = self._last_foreign + FOREIGN_ALERT_SECONDS - clock.monotonic()
        if left > 0:
            asyncio.get_running_loop().call_later(left, self._clear_foreign_alert)
        elif self._api.alerts.pop(FOREIGN_ALERT_ID, None) is not None:
            self.wake()

    def _republish_all(self) -> None:
        self._published_bodies = {}
        self._stale = set(self._api.tables)
        if (connection := self._connection) is not None and not self._broker.wildcards_retained:
            self._post_status(connection)
        self.wake()
        self._republish_timer = asyncio.get_running_loop().call_later(
            self._republish_interval, self._republish_all
        )

    @property
    def _republish_interval(self) -> float:
        """Seconds between two publications of all retained topics."""
        return (
            REPUBLISH_INTERVAL_SECONDS
            if self._broker.wildcards_retained
            else CLAIM_INTERVAL_SECONDS
        )

    def _post_status(self, connection: PublisherConnection) -> None:
        """Publish ``online`` again, for clients that have subscribed with a wildcard since."""
        status = self._api.status(online=True)
        if not connection.v5:
            self._own_topics.remember([status])
        self._publish_one(connection, status, partial(self._note_retained, status))

    def _publish_one(
        self,
        connection: PublisherConnection,
        message: OutgoingMessage,
        then: Acknowledged,
        position: int = 0,
    ) -> None:
        """Post a message, and track its delivery. ``then`` is called with the acknowledgement."""
        sent = self._delivery.track(message, position)
        connection.post(message, partial(self._on_acknowledged, sent, then))

    def _on_acknowledged(
        self, sent: PostedMessage, then: Acknowledged, refusal: str | None
    ) -> None:
        if not self._api.serves(sent.topic):  # a response topic, or a table that was removed
            self._delivery.forget(sent.topic)
            then(refusal)
            return
        known = sent.topic in self._delivery.forbidden
        first = self._delivery.on_acknowledged(sent, refusal, clock.monotonic())
        then(refusal)
        if refusal is None:
            self._refused_publications.discard(sent.topic)
        if known != (sent.topic in self._delivery.forbidden):
            self._resume(sent.topic, first)

    def _resume(self, topic: str, first: int | None) -> None:
        """If a topic is no longer forbidden, send its events from the position ``first`` again."""
        if first is not None:
            if self._sent >= self._resent_through:
                self._resuming.clear()
            self._resent_through = max(self._resent_through, self._sent)
            self._historical = max(self._historical, self._resent_through)
            self._resuming.add(topic)
            self._sent = min(self._sent, first - 1)
            self._log.info("delivery resumes", topic=topic, position=first)
            self._wake.set()
        self._update_rules_alert()

    def _update_rules_alert(self) -> None:
        """Raise or clear the alert that the broker's rules keep messages from being delivered."""
        forbidden = self._delivery.forbidden
        counted = Counter(map(topic_kind, forbidden))
        if counted != self.health.forbidden:
            self.health.forbidden = dict(sorted(counted.items()))
            self._changed()
        parts = [
            f"{name} ({next(t for t in forbidden if topic_kind(t) == name)}"
            f"{f' and {count - 1} more' if count > 1 else ''}): "
            f"{next(why for t, why in forbidden.items() if topic_kind(t) == name)}"
            for name, count in sorted(counted.items())
        ]
        if refused := sorted(self._refused_subscriptions):
            parts.append(
                f"it refuses to let this daemon read {', '.join(refused[:3])}"
                f"{f' and {len(refused) - 3} more' if len(refused) > 3 else ''}, so it is unknown "
                "which messages there are delivered"
            )
        known = self._api.alerts.get(RULES_ALERT_ID)
        if not parts:
            if self._api.alerts.pop(RULES_ALERT_ID, None) is not None:
                self._log.info("the broker passes on everything")
                self._wake.set()
            return
        is_rule = refused or {REFUSED_REASON, NO_ECHO_REASON} & set(forbidden.values())
        detail = (
            f"the broker's rules keep messages back: {'; '.join(parts)}. "
            f"{RULES_ADVICE if is_rule else QUOTA_ADVICE}. The events are in the journal and are "
            "sent again then"
        )
        if known is None or known.detail != detail:
            self._api.alerts[RULES_ALERT_ID] = _alert(RULES_ALERT_ID, "broker.rules", detail)
            self._log.error(
                "the broker's rules keep messages back",
                topics=sorted(forbidden)[:20],
                alert=RULES_ALERT_ID,
            )
            self._wake.set()

    async def _check_echoes(self, connection: PublisherConnection) -> None:
        """Check the messages that should have come back. The reply to a SUBSCRIBE shows that
        everything that the broker sent before it has been read.
        """
        self._echo_check_due = False
        for topic in self._delivery.topics:
            if not self._api.serves(topic):  # its table was removed, or another daemon has it
                self._delivery.forget(topic)
        if not (overdue := self._delivery.overdue(clock.monotonic())):
            return
        await connection.subscribe_to([self._api.status(online=True).topic], retained=False)
        for sent in self._delivery.expire(overdue, clock.monotonic()):
            self._publish_again(connection, sent.topic, sent.position)
        self._update_rules_alert()
        connection.flush()

    def _publish_again(self, connection: PublisherConnection, topic: str, position: int) -> None:
        """Publish a message again, to see whether the broker delivers it."""
        if position:
            with contextlib.suppress(JournalUnusableError):  # the next retry will do
                for event in self._outbox.events_after(position - 1, 1):
                    message = self._message(event, historical=True)
                    self._publish_one(connection, message, self._note_probe, event.position)
        elif topic in (shown := self._api.shown(topic)):
            self._publish_retained(connection, topic, shown[topic])

    def _note_probe(self, _refusal: str | None) -> None:
        self._advance()
        self._wake.set()

    def _retry_forbidden(self) -> None:
        """Publish on the forbidden topics, to see whether the broker's rules were corrected."""
        loop = asyncio.get_running_loop()
        self._retry_timer = loop.call_later(FORBIDDEN_RETRY_SECONDS, self._retry_forbidden)
        if (connection := self._connection) is not None:
            waiting = self._delivery.waiting()
            for topic in list(self._delivery.forbidden):
                self._publish_again(connection, topic, waiting.get(topic, 0))
            connection.flush()

    def _schedule_echo_check(self) -> None:
        self._echo_check_timer = asyncio.get_running_loop().call_later(
            ECHO_TIMEOUT_SECONDS / 2, self._schedule_echo_check
        )
        self._echo_check_due = True
        self._wake.set()

    async def _send(self, connection: PublisherConnection) -> None:
        await self._exclusive.confirm()  # the broker has ended the other daemon's connection
        backlog = self._outbox.head()  # events up to here happened without a connection
        self._own_topics.reset()
        self._delivery.on_connected(echoing=not connection.v5)
        self._resuming, self._resent_through = set(), 0
        claims = self._api.claims
        claims.on_connected(clock.monotonic())
        # with QoS 0 the broker sends the retained claims before it answers the next SUBSCRIBE
        refused = await connection.subscribe_to(claims.topics(), qos=0, as_published=False)
        if not self._broker.wildcards_retained:
            refused += await self._subscribe_to_claims(connection)
        self._placed, self._unsubscribable = set(), set()
        refused += await connection.subscribe_to(self._api.own_topics(), retained=False)
        if not connection.v5:
            refused += await connection.subscribe_to(self._api.echo_topics(), retained=False)
        claims.admit()
        await self._clear_removed(connection)
        self._cleared = {
            topic: table
            for topic, table in self._cleared.items()
            if claims.is_left(table) or table in self._api.tables
        }
        self._claims_connection, self._published_claims = connection, []
        self._clear_topics(connection)  # before the new claim, which no longer names their tables
        self._decide_tables()
        refused += await connection.subscribe_to(self._api.subscriptions())
        # a retained state of a jackpot may be an old one
        refused += await connection.subscribe_to(self._api.jackpots.topics(), as_published=False)
        if refused:
            self._log.error("broker refused subscriptions", topics=refused)
        self._refused_subscriptions = set(refused)
        self._update_rules_alert()
        # the broker may retain alerts of another daemon that had the tables before
        self._gained = set(self._api.tables) if self._exclusive.taken_over else set()
        self._published_bodies, self._stale = {}, set(self._api.tables)
        self._refresh(connection)
        while connection.pending:
            await self._wait(connection)
            self._refresh(connection)
        await self._deliver(connection, [self._api.status(online=True)])
        health = self.health
        health.connected, health.trouble = True, None
        self._connected_at = clock.monotonic()
        health.connects += 1
        self._changed()
        self._log.info(
            "broker connected", backlog=self.position < backlog, topics=len(self._published_bodies)
        )
        loop = asyncio.get_running_loop()
        stable_timer = loop.call_later(MAX_REFUSED_RETRY_SECONDS, self._on_stable)
        self._republish_timer = loop.call_later(self._republish_interval, self._republish_all)
        self._claims_timer = loop.call_later(CLAIM_INTERVAL_SECONDS, self._republish_claims)
        self._retry_timer = loop.call_later(FORBIDDEN_RETRY_SECONDS, self._retry_forbidden)
        self._echo_check_timer = loop.call_later(
            ECHO_TIMEOUT_SECONDS / 2, self._schedule_echo_check
        )
        try:
            await self._publish(connection, backlog)
        finally:
            stable_timer.cancel()
            self._republish_timer.cancel()
            self._claims_timer.cancel()
            self._retry_timer.cancel()
            self._echo_check_timer.cancel()

    async def _clear_removed(self, connection: PublisherConnection) -> None:
        """Clear the retained topics of tables that were removed while this daemon was down."""
        removed = self._api.claims.removed_before()
        if removed:
            self._log.info("tables removed while the daemon was down", tables=sorted(removed))
        for table, topics in removed.items():
            self._removed_alerts[topics.table(table, "alert/")] = table
            self._cleared |= dict.fromkeys(
                (topics.table(table, leaf) for leaf in RETAINED_LEAVES), table
            )
        if self._removed_alerts:  # they stay if the broker's rules no longer include the table
            await connection.subscribe_to([f"{alerts}+" for alerts in self._removed_alerts])

    async def _subscribe_to_claims(self, connection: PublisherConnection) -> list[str]:
        """Subscribe to the claim of the previous run of this node by its topic, since this broker
        does not deliver retained claims to a wildcard, and wait for the next claims of others.
        """
        refused = await connection.subscribe_to(
            self._api.claims.own_topics(), qos=0, as_published=False
        )
        if self._api.claims.is_new:
            await clock.sleep(CLAIM_INTERVAL_SECONDS + CLAIM_MARGIN_SECONDS)
        return refused

    def _on_stable(self) -> None:
        """Clear the alert about a second client, once a connection has lasted."""
        self._short_connections = 0
        if self._api.alerts.pop(TWIN_ALERT_ID, None) is not None:
            self.wake()

    async def _publish(self, connection: PublisherConnection, backlog: int) -> None:
        """Publish until :meth:`end`. Events up to position ``backlog`` are marked historical."""
        self._connection, self._historical = connection, backlog
        self._sent = self._acknowledged = self.position
        self._journal_unreadable = False
        self._unacknowledged.clear()
        try:
            while True:
                self._send_events()
                self._refresh(connection)
                if self._placed or self._unsubscribable:
                    await self._update_subscriptions(connection)
                if self._echo_check_due:
                    await self._check_echoes(connection)
                if self._gained:  # alerts of the daemon that had them may still be retained
                    await connection.subscribe_to(self._api.alerts_of(self._gained))
                    self._gained = set()
                if self._end.is_set() and not connection.pending:
                    break
                await self._wait(connection)
        finally:
            self._connection = self._claims_connection = None
        left = self._api.claims.messages(left=True)
        await self._deliver(connection, [*left, self._api.status(online=False)])

    async def _update_subscriptions(self, connection: PublisherConnection) -> None:
        """Subscribe to the topics of placed tables, and unsubscribe from those of removed ones."""
        placed, self._placed = [t for t in self._api.tables if t in self._placed], set()
        obsolete, self._unsubscribable = sorted(self._unsubscribable), set()
        own = [topic for table in placed for topic in self._api.own_topics_of(table)]
        commands, jackpots = self._api.subscriptions(placed), self._api.jackpots.topics(placed)
        refused = await connection.subscribe_to(own, retained=False)
        if not connection.v5:
            refused += await connection.subscribe_to(self._api.echo_topics(placed), retained=False)
        refused += await connection.subscribe_to(commands)
        refused += await connection.subscribe_to(jackpots, as_published=False)
        if refused:
            self._log.error("broker refused subscriptions", topics=refused)
        self._refresh(connection)
        await connection.unsubscribe_from(obsolete)

    def _on_direct_message(self, message: MQTTMessage) -> bool:
        """Handle a claim of another daemon, the state of a jackpot, or a message of this daemon
        that came back.
        """
        body, jackpots = bytes(message.payload), self._api.jackpots
        topic = message.topic
        if not message.retain:
            known = len(self._delivery.forbidden)
            first = self._delivery.on_message(topic, body)
            if len(self._delivery.forbidden) < known:
                self._resume(topic, first)
            if self._api.is_echo(topic):
                return True
        return self._on_claim(message) or jackpots.on_message(
            message.topic, body, held=message.retain
        )

    def _on_claim(self, message: MQTTMessage) -> bool:
        claims = self._api.claims
        if not claims.on_message(
            message.topic, bytes(message.payload), clock.monotonic(), stored=message.retain
        ):
            return False
        self._decide_tables()
        return True

    def _republish_claims(self) -> None:
        self._published_claims = []
        self._decide_tables()
        self._claims_timer = asyncio.get_running_loop().call_later(
            CLAIM_INTERVAL_SECONDS, self._republish_claims
        )

    def _decide_tables(self) -> None:
        """Decide which tables this daemon has, and publish its claim if it changed."""
        connection, claims = self._claims_connection, self._api.claims
        if connection is None:
            return
        gained, lost = claims.decide(clock.monotonic(), format_utc(clock.wall()))
        for table in lost:
            self._lost[table] = self._outbox.head()
        for table in gained:
            self._lost.pop(table, None)
        gained &= {*self._api.tables}  # an awaited table is not placed yet
        for table, node in self._api.take_over(gained).items():
            self._log.error("table taken over", table=table, of=node)
        self._gained |= gained
        for table in gained:
            for topic in self._api.retained(table):
                self._published_bodies.pop(topic, None)
        self._stale |= gained
        self._update_rival_alert(claims.shared(), claims.elsewhere())
        if (claim := claims.messages()) != self._published_claims:
            self._published_claims = claim
            for message in claim:
                self._publish_one(connection, message, partial(self._note_retained, message))
            connection.flush()
            self._changed()
            self._wake.set()

    def _update_rival_alert(self, shared: dict[str, str], elsewhere: dict[str, str]) -> None:
        if not shared:
            if self._api.alerts.pop(RIVAL_ALERT_ID, None) is not None:
                self._log.info("no other daemon serves our tables any more")
                self._wake.set()
            return
        conflicts = [
            f"table {table} is served by the daemon {node} too, and "
            f"{'that one' if table in elsewhere else 'this one'} has it"
            for table, node in sorted(shared.items())
        ]
        detail = (
            f"{'; '.join(conflicts)}. Remove the table from one of the two configurations, or stop "
            "one daemon"
        )
        known = self._api.alerts.get(RIVAL_ALERT_ID)
        if known is None or known.detail != detail:
            self._api.alerts[RIVAL_ALERT_ID] = _alert(RIVAL_ALERT_ID, "table.second_daemon", detail)
            self._log.error(
                "another daemon serves a table of this one", reason=detail, alert=RIVAL_ALERT_ID
            )
            self._wake.set()

    async def _wait(self, connection: PublisherConnection) -> None:
        """Wait until there is something to do. Raises :data:`Disconnected` if the broker does not
        acknowledge.
        """
        timeout = connection.acknowledgement_time_left()
        if self._journal_unreadable:
            timeout = min(JOURNAL_RETRY_SECONDS, timeout or JOURNAL_RETRY_SECONDS)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                await self._wake.wait()
        self._wake.clear()

    def _send_events(self) -> None:
        """Send the next events, as far as the window has room. Called after each commit and after
        acknowledgements.
        """
        connection = self._connection
        if connection is None:
            return
        try:
            limit = min(MAX_UNACKNOWLEDGED_EVENTS, connection.window)
            while (room := limit - len(self._unacknowledged)) > 0 and (
                events := self._events(room)
            ):
                for event in events:
                    sent = _SentEvent(event.position, event.mono_ns)
                    if not self._unacknowledged:
                        self._last_acknowledged = clock.monotonic()
                    self._unacknowledged.append(sent)
                    if self._is_elsewhere(event):
                        sent.acknowledged = True
                        continue
                    historical = event.position <= self._historical
                    message = self._message(event, historical=historical)
                    past = (
                        event.position <= self._resent_through
                        and message.topic not in self._resuming
                    )
                    if past or self._delivery.withholds(message.topic):
                        if not past:
                            self._delivery.withhold(message.topic, event.position)
                        sent.acknowledged = True
                        continue
                    on_acknowledged = partial(self._note_event, message, sent)
                    self._publish_one(connection, message, on_acknowledged, event.position)
                self._sent = events[-1].position
                self._advance()
            self._journal_unreadable = False
        except JournalUnusableError as error:
            # the journal checks the file for damage, and replaces it if necessary
            if not self._journal_unreadable:
                self._journal_unreadable = True
                self._log.error("events cannot be read", reason=str(error), position=self.position)
                self._wake.set()
        connection.flush()

    def _events(self, limit: int) -> list[Entry]:
        """Return the next events. If there are none, move past the inputs, so that they are not
        searched again.
        """
        head = self._outbox.head()
        events = self._outbox.events_after(self._sent, limit) if head > self._sent else []
        if not events:
            self._sent = max(self._sent, head)
            if not self._unacknowledged:
                self._acknowledged = max(self._acknowledged, head)
                self.position = max(
                    self.position, self._delivery.delivered_through(self._acknowledged)
                )
        return events

    def _note_event(self, message: OutgoingMessage, sent: _SentEvent, refusal: str | None) -> None:
        """Handle the reply for an event: move the cursor past all acknowledged events."""
        self._note_refusal(message, refusal)
        sent.acknowledged = True
        self._last_acknowledged = clock.monotonic()
        if sent.position > self._historical:
            self._stages.acknowledged.add(age_ns(sent.mono_ns))
        self.health.published += refusal is None
        self._advance()
        self._wake.set()

    def _is_elsewhere(self, event: Entry) -> bool:
        """Return True if the event is from a time when another daemon had the table and published
        it.
        """
        if event.boot != self._api.boot or self._api.claims.has(event.table):
            return False
        return event.position > self._lost.get(event.table, 0)

    def _advance(self) -> None:
        waiting, before = self._unacknowledged, self.position
        while waiting and waiting[0].acknowledged:
            self._acknowledged = max(self._acknowledged, waiting.popleft().position)
        self.position = max(before, self._delivery.delivered_through(self._acknowledged))
        if self.position > before:
            self._outbox.move_cursor(self.position)

    def _refresh(self, connection: PublisherConnection) -> None:
        """Publish each retained topic that has changed since it was last published, or that another
        client has overwritten; the rest follows when the window has room.
        """
        if self._alerts != self._api.alerts:
            self._alerts = dict(self._api.alerts)
            self._stale.update(self._api.tables)
        self._clear_topics(connection)
        self._publish_changed(connection, self._api.node_retained())
        # a client that sees a table may send it a command, so subscribe to commands first
        unready = self._stale & self._placed
        self._stale -= unready
        while self._stale and connection.pending < 2 * connection.window:
            table = self._stale.pop()
            if table in self._api.tables and self._api.claims.has(table):
                self._publish_changed(connection, self._api.retained(table))
        self._stale |= unready
        for topic in self._own_topics.due_topics(clock.monotonic()):
            if self._api.is_elsewhere(topic):
                continue
            # an unknown alert is cleared
            self._publish_retained(connection, topic, self._api.shown(topic).get(topic))
        connection.flush()

    def _clear_topics(self, connection: PublisherConnection) -> None:
        left = [t for t, table in self._abandoned.items() if table not in self._api.tables]
        self._publish_changed(connection, dict.fromkeys([*self._cleared, *left]))

    def _publish_changed(
        self, connection: PublisherConnection, now: dict[str, bytes | None]
    ) -> None:
        for topic, body in now.items():
            if topic not in self._published_bodies or self._published_bodies[topic] != body:
                self._published_bodies[topic] = body
                self._publish_retained(connection, topic, body)

    def _publish_retained(
        self, connection: PublisherConnection, topic: str, body: bytes | None
    ) -> None:
        message = OutgoingMessage(topic, body or b"", retain=True)
        if not connection.v5:
            self._own_topics.remember([message])
        self._publish_one(connection, message, partial(self._note_retained, message))

    def _note_retained(self, message: OutgoingMessage, refusal: str | None) -> None:
        self._note_refusal(message, refusal)
        if not message.payload:
            self._cleared.pop(message.topic, None)
        self._wake.set()

    def _note_refusal(self, message: OutgoingMessage, refusal: str | None) -> None:
        """Count and log a refused message. Later ones do not wait for it; the journal has it."""
        if refusal is not None:
            self.health.refused += 1
            if refusal not in NEVER_ACCEPTED and self._api.serves(message.topic):
                if message.topic in self._refused_publications:  # the alert stays
                    return
                self._refused_publications.add(message.topic)
            self._log.error(
                "broker refused a message",
                topic=message.topic,
                bytes=len(message.payload),
                reason=refusal,
            )

    async def _deliver(
        self, connection: PublisherConnection, messages: list[OutgoingMessage]
    ) -> None:
        if not connection.v5:
            self._own_topics.remember(messages)
        sent = [self._delivery.track(message) for message in messages]
        for each, message, refusal in zip(
            sent, messages, await connection.deliver(messages), strict=True
        ):
            self._on_acknowledged(each, partial(self._note_refusal, message), refusal)

    def _message(self, entry: Entry, *, historical: bool) -> OutgoingMessage:
        body = entry.body
        if entry.kind != "event":
            return OutgoingMessage(self._api.topic(entry.table, "sealed"), body)
        if historical:
            try:
                body = mark_historical(body)
            except ValueError as error:  # damaged: better published unmarked than not at all
                self._log.error(
                    "event not marked historical", position=entry.position, reason=str(error)
                )
        return OutgoingMessage(self._api.topic(entry.table, "event"), body)


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


def _alert(alert: str, what: str, detail: str) -> Alert:
    return Alert(
        alert=alert, what=what, severity="fault", raised=format_utc(clock.wall()), detail=detail
    )


def _first_error(group: BaseExceptionGroup[Exception]) -> Exception:
    """Return the first error within nested groups."""
    inner = group.exceptions[0]
    return _first_error(inner) if isinstance(inner, BaseExceptionGroup) else inner
