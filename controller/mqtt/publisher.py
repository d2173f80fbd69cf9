"""The publisher: sends the journal's events to the broker in order, and receives commands.

On each connection it subscribes, refreshes every retained topic, publishes ``online``, and then the
events after the cursor. From then on an event is sent in the turn of the event loop that hears of
its commit; retained topics follow it. The cursor moves only past events that the broker has
acknowledged. Others are sent again, and consumers drop duplicates by (table, boot, seq).
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from functools import partial
from itertools import cycle

import msgspec
from paho.mqtt.client import MQTTMessage

from controller.broker.address import addresses
from controller.broker.failures import (
    Disconnected,
    SilentError,
    describe_error,
    is_taken_over,
    needs_operator,
)
from controller.broker.login import BrokerUnusableError
from controller.configuration.settings import BrokerConfig
from controller.contract.node import BrokerConnection
from controller.contract.notation import mark_historical as marked
from controller.contract.orders import RECALL
from controller.contract.retained import Alert
from controller.contract.times import utc
from controller.contract.topics import Topics
from controller.journal.journal import Journal
from controller.journal.mono import age_ns
from controller.journal.schema import Entry, JournalUnusableError
from controller.mqtt.connection import Connection, Incoming
from controller.mqtt.delivery import ECHO_TIMEOUT_SECONDS, NOT_AUTHORIZED, Delivery, Posted, kind
from controller.mqtt.intake import Intake
from controller.mqtt.outgoing import Acknowledged, Message
from controller.mqtt.own_topics import OwnTopics
from controller.mqtt.table_claims import RENEWED as CLAIMED
from controller.mqtt.tables_api import LEAVES, TablesApi, line_of
from controller.tables.stages import Stages
from devices.log import structlog

BACKLOG = 64
"""The most events awaiting acknowledgement. After an outage thousands may be due; retained topics
go between them, so that no display waits for the backlog.
"""
SHORTEST, LONGEST = 0.25, 15.0
"""Seconds between attempts to connect; doubled after each failure, with jitter."""
SHORTEST_REFUSED, LONGEST_REFUSED = 2.0, 60.0
"""The same when the broker refuses us: longer, so that no account is locked and no log is flooded.
"""
UNREADABLE = 1.0
"""Seconds between attempts to read an unreadable journal."""
TWIN, SUSPICIOUS = "broker-client-id", 3
"""The alert that another client uses our client id, cleared when a connection lasts. Not every
broker reports this, so it is suspected after this many short connections in a row.
"""
FOREIGN = "broker-topics"
"""The alert that another client publishes on our topics, cleared after a minute without such a
message.
"""
RIVAL = "second-daemon"
"""The alert that another daemon serves a table of ours too, as long as its claim stands."""
RULES = "broker-rules"
"""The alert that the broker does not pass on what we publish, or keeps our topics from us."""
RETRY_SECONDS = 30.0
"""Time between attempts to publish what the broker forbids."""
QUIET, RENEWED = 60.0, 600.0
"""Seconds: that minute, and the interval at which all retained topics are published again. We
cannot see foreign messages that are too large for us. Where the broker keeps retained messages from
wildcards they are published as often as claims, for whoever has subscribed since.
"""
HEARD = 1.0
"""Seconds more than between two claims within which one of another daemon must have come."""


async def _ours() -> None:
    return


class Exclusive(msgspec.Struct, frozen=True):
    """That only one daemon may publish. ``hold`` does not return if it is not us; ``confirm``
    returns once it is sure, by an answer to what was asked from then on, that it is.
    ``taken_over``: another one had the tables before.
    """

    hold: Callable[[], None] = lambda: None
    confirm: Callable[[], Awaitable[None]] = _ours
    taken_over: bool = False


class _Sent(msgspec.Struct):
    """An event that awaits its acknowledgement."""

    position: int
    mono_ns: int
    acknowledged: bool = False
    """Or not to be published at all."""


class Publisher:
    """The connection to the broker, re-established for as long as the daemon runs. ``changed`` is
    called when it is made or lost.

    The daemons of a pair have one client id: the broker ends the connection of one when it takes
    the other. Whoever publishes has confirmed on this very connection that it has the lease; so in
    the broker's order all that the other one wrote comes before, also if it was frozen in
    mid-write and its clock stood still.
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
        self.standing = BrokerConnection()
        self.position = outbox.cursor()
        """The position up to which every event is acknowledged, and none is known to have been
        dropped. The journal's cursor follows with a delay, which can only cause duplicates.
        """
        self._acknowledged = self.position
        """The position of the last acknowledged event."""
        self._delivery = Delivery()
        self._unread: set[str] = set()
        """Topics to which the broker refuses to subscribe us."""
        self._refused = set[str]()
        """Topics of ours on which the broker refused the last message."""
        self._look = False
        """It is time to look which messages did not come back."""
        self._resuming: set[str] = set()
        """Topics of which events are sent again; of others, none up to ``_past`` is."""
        self._past = 0
        self._broker = broker
        self._addresses = cycle(addresses(broker.url))
        """Of the broker's nodes, the one to connect to next."""
        self._client_id = client_id
        self._outbox = outbox
        self._api = api
        self._stages = stages or Stages()
        self._changed = changed
        self._exclusive = exclusive or Exclusive()
        self._wake = asyncio.Event()
        self._end = asyncio.Event()
        self._hurry = asyncio.Event()
        """Set when the next attempt to connect is to be made now."""
        self._answered = 0.0
        """The monotonic time of the last acknowledgement, or at which events began to wait for
        one.
        """
        self._connection: Connection | None = None
        """The connection, once events are sent on it."""
        self._sent = self.position
        """The position of the last event sent on it."""
        self._unacknowledged: deque[_Sent] = deque()
        self._historical = 0
        """Events up to this position happened while we were not connected."""
        self._unreadable = False
        self._claiming: Connection | None = None
        """The connection, once it is known which tables are ours."""
        self._claimed: list[Message] = []
        """Our claim as published on it."""
        self._lost: dict[str, int] = {}
        """Tables that were ours, with the position of their last entry as such."""
        self._taken: set[str] = set()
        """Tables that another daemon had and that are ours now."""
        self._stale: set[str] = set()
        """The tables of which a retained topic may have changed."""
        self._placed: set[str] = set()
        """Tables that were placed on this connection, which is not subscribed to their topics."""
        self._unheard: set[str] = set()
        """Topics that the connection need not be subscribed to any more."""
        self._cleared: dict[str, str] = {}
        """Retained topics that are no more, each with its table, until the broker has cleared them.
        """
        self._abandoned: dict[str, str] = {}
        """Retained topics, each with its table, that another daemon has left and nobody serves."""
        self._removed_alerts: dict[str, str] = {}
        """Tables that the previous run had and that are not configured any more: the beginning of
        their alerts' topics, each with its table.
        """
        self._alerts: dict[str, Alert] = {}
        """The alerts of every table, as published."""
        self._shown: dict[str, bytes | None] = {}
        self._own = OwnTopics()
        self._foreign = 0.0
        """The monotonic time of the last foreign message on our topics."""
        self._since = 0.0
        """The monotonic time at which the connection was made."""
        self._short = 0
        """The number of short connections in a row."""
        self._log = structlog.get_logger().bind(broker=broker.url)
        outbox.on_commit = self._send_events

    def wake(self, table: str | None = None) -> None:
        """Publish soon: a retained topic of that table changed, or one of the node."""
        if table is not None:
            self._stale.add(table)
        self._wake.set()

    def tell(self, messages: list[Message]) -> None:
        """Send these now; without a connection they are dropped."""
        if (connection := self._connection) is not None and messages:
            for message in messages:
                self._publish_one(connection, message, partial(self._note_refusal, message))
            connection.flush()

    async def expect(self, tables: Mapping[str, Topics]) -> None:
        """Hear whether another daemon has these tables, which are about to be placed here."""
        claims = self._api.claims
        for table, topics in tables.items():
            claims.add(table, topics)
        if (connection := self._claiming) is None:  # heard as soon as there is a connection
            return
        with contextlib.suppress(Disconnected, BrokerUnusableError):
            # with QoS 0 the claims that the broker holds come before it answers the next SUBSCRIBE
            await connection.listen(claims.topics(), qos=0, as_published=False)
            await connection.listen(claims.topics(), qos=0, retained=False)
            claims.admit()
            self._settle()

    def reload(
        self,
        removed: Mapping[str, Topics],
        placed: Collection[str],
        before: Mapping[str, Collection[str]],
    ) -> None:
        """Tables were removed, and others placed: anew, or after :meth:`expect`. ``before``: by
        table the retained topics that it had.
        """
        api, claims = self._api, self._api.claims
        for table, topics in removed.items():
            claims.remove(table)
            self._lost.pop(table, None)
            for each in (self._stale, self._taken, self._placed):
                each.discard(table)
            alerts = topics.table(table, "alert/")
            self._unheard |= {topic for topic in before[table] if not topic.startswith(alerts)}
            self._unheard |= {topics.command(table), f"{alerts}+"}
            self._unheard |= {topics.table(table, leaf) for leaf in ("event", "sealed", "reply/+")}
            if claims.left(table):
                self._cleared |= dict.fromkeys(before[table], table)
        for table in placed:
            now = [*api.own_of(table), *api.subscriptions([table]), *api.echoes([table])]
            self._unheard.difference_update(now)
            shown = api.retained(table)
            self._cleared |= {t: table for t in before.get(table, ()) if t not in shown}
            for topic in shown:
                self._cleared.pop(topic, None)
        self._placed.update(placed)
        self._stale.update(placed)
        if (connection := self._claiming) is not None:
            self._clear(connection)  # before those who wait for a table hear that it is free
        self._settle()
        self.wake()

    def abandon(self, table: str, topics: Collection[str]) -> None:
        """Clear these retained topics of a table as long as this daemon does not have it."""
        self._abandoned |= dict.fromkeys(topics, table)
        self.wake()

    def end(self) -> None:
        """Make :meth:`run` send what is pending, publish ``offline`` and return."""
        self._end.set()
        self._wake.set()
        self._hurry.set()

    def hasten(self) -> None:
        """Make the next attempt to connect now, if there is no connection."""
        self._hurry.set()

    @property
    def unanswered(self) -> float:
        """Seconds for which the broker has acknowledged nothing of what it was sent."""
        return time.monotonic() - self._answered if self._unacknowledged else 0.0

    async def run(self) -> None:
        """Publish until :meth:`end`, through every outage of the broker."""
        pause = 0.0
        while not self._end.is_set():
            in_vain = False
            try:
                async with self._connect() as connection, asyncio.TaskGroup() as both:
                    # In one group: the reader notices a dead connection at once, the sender only at
                    # its next timeout.
                    reader, sender = (
                        both.create_task(self._read(connection)),
                        both.create_task(self._send(connection)),
                    )
                    await asyncio.wait((reader, sender), return_when=asyncio.FIRST_COMPLETED)
                    if not sender.done():
                        reader.result()  # raises the reader's error, if it failed
                        raise RuntimeError(
                            "the reader has ended, and no command would be heard any more"
                        )
                    sender.result()
                    reader.cancel()
            except* (Disconnected, BrokerUnusableError) as group:
                error = _first(group)
                self._say(error)
                in_vain = needs_operator(error) or self._suspect(error)
            if (task := asyncio.current_task()) is not None and task.cancelling():
                # Python 3.11 loses a cancellation when the task group fails at the same moment
                raise asyncio.CancelledError
            lasted = self._lasted
            self._api.claims.disconnected(time.monotonic())
            self._claiming = None
            self.standing.connected = False
            self._changed()
            pause = next_pause(pause, lasted, in_vain=in_vain)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause * random.uniform(0.5, 1.0)):  # noqa: S311 - a jitter
                    await self._hurry.wait()
            if not self._end.is_set():
                self._hurry.clear()

    @contextlib.asynccontextmanager
    async def _connect(self) -> AsyncIterator[Connection]:
        await self._exclusive.confirm()  # lest we end the connection of one who publishes by right
        connection = Connection(
            msgspec.structs.replace(self._broker, url=next(self._addresses)),
            client_id=self._client_id,
            will=self._api.status(online=False),
            thrown_away=self._throw_away,
            heard=self._hear,
            hold=self._exclusive.hold,
        )
        async with contextlib.AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(connection)
                yield connection
            except BaseException:  # on any failure the last will must announce that we are gone
                connection.abandon()
                raise

    def _say(self, error: Exception) -> None:
        """Log when an outage begins and when its reason changes, but not each attempt."""
        trouble = describe_error(error, self._broker)
        if self.standing.connected or trouble != self.standing.trouble:
            level = self._log.error if needs_operator(error) else self._log.warning
            level(
                "broker lost" if self.standing.connected else "broker not reached",
                reason=trouble,
                position=self.position,
            )
        self.standing.trouble = trouble

    @property
    def _lasted(self) -> float:
        return time.monotonic() - self._since if self.standing.connected else 0.0

    def _suspect(self, error: Exception) -> bool:
        """Whether another client seems to have taken our place; raises the alert if so. No client
        takes it where the broker falls silent: a cluster does when it has lost a node.
        """
        if isinstance(error, SilentError):
            return False
        if self.standing.connected:
            self._short = self._short + 1 if self._lasted < LONGEST else 0
        if not is_taken_over(error) and self._short < SUSPICIOUS:
            return False
        if TWIN not in self._api.alerts:
            detail = (
                "the broker ends our connections soon after it took them "
                f"({describe_error(error, self._broker)}): has another client "
            )
            detail += (
                f"the client id {self._client_id!r} too? Give each its own "
                "broker.client_id, or its own site.node"
            )
            self._api.alerts[TWIN] = _alert(TWIN, "broker.client_id", detail)
            self._log.error("another client has our client id, it seems", client_id=self._client_id)
        return True

    def _throw_away(self) -> None:
        self.standing.thrown_away += 1

    async def _read(self, connection: Connection) -> None:
        async def answer(order: tuple[str, str, Incoming]) -> None:
            if not self._api.claims.has(order[0]):
                return  # the daemon that has the table answers
            await self._deliver(connection, await self._api.answer(*order, connection.largest))

        try:
            async with asyncio.TaskGroup() as group:
                await self._listen(connection, Intake(group, answer))
        except* Disconnected as errors:
            raise connection.why(_first(errors)) from None

    async def _listen(
        self, connection: Connection, intake: Intake[tuple[str, str, Incoming]]
    ) -> None:
        async for message in connection.messages:
            properties = message.properties
            incoming = Incoming(
                topic=str(message.topic),
                payload=bytes(message.payload),
                retain=message.retain,
                response_topic=getattr(properties, "ResponseTopic", None),
                correlation=getattr(properties, "CorrelationData", None),
            )
            named = self._api.command(incoming.topic)
            if named is None:
                self._overhear(incoming, v5=connection.v5)
                continue
            table, name = named
            if not intake.put(
                table, line_of(incoming.payload), (table, name, incoming), recall=name == RECALL
            ):
                self._api.discard(table, name)

    def _overhear(self, message: Incoming, *, v5: bool) -> None:
        """Handle a message on one of our own topics: if another client published it, publish our
        state again.
        """
        if self._api.is_elsewhere(message.topic):
            return
        alerts, slash, _ = message.topic.rpartition("/")
        if (table := self._removed_alerts.get(alerts + slash)) is not None:
            if message.payload and message.retain and self._api.claims.left(table):
                self._cleared[message.topic] = table
                self.wake()
            return
        if not self._api.is_alert(message.topic):
            held_before = message.retain and not v5  # MQTT 5 does not send it to us
            if held_before or not self.standing.connected:
                return
        known = self._own.foreign
        if self._own.heard(message, self._api.shown(message.topic)):
            asyncio.get_running_loop().call_later(self._own.wait(time.monotonic()), self.wake)
        if self._own.foreign > known and not self._api.is_alert(message.topic):
            self._accuse(message.topic)

    def _accuse(self, topic: str) -> None:
        self.standing.foreign += 1
        self._foreign = time.monotonic()
        if FOREIGN not in self._api.alerts:
            detail = (
                f"another client of the broker publishes on our topic {topic}: it was put "
                "right. Is there a second daemon with the "
            )
            detail += (
                "same site.node, or the same table? Else let the broker's access rules keep "
                "others from our topics"
            )
            self._api.alerts[FOREIGN] = _alert(FOREIGN, "broker.topics", detail)
            self._log.error("somebody else publishes on our topics", topic=topic)
            asyncio.get_running_loop().call_later(QUIET, self._acquit)

    def _acquit(self) -> None:
        left = self._foreign + QUIET - time.monotonic()
        if left > 0:
            asyncio.get_running_loop().call_later(left, self._acquit)
        elif self._api.alerts.pop(FOREIGN, None) is not None:
            self.wake()

    def _renew(self) -> None:
        self._shown = {}
        self._stale = set(self._api.tables)
        if (connection := self._connection) is not None and not self._broker.wildcards_retained:
            self._post_status(connection)
        self.wake()
        self._renewal = asyncio.get_running_loop().call_later(self._renewed, self._renew)

    @property
    def _renewed(self) -> float:
        """Seconds until all retained topics are published again."""
        return RENEWED if self._broker.wildcards_retained else CLAIMED

    def _post_status(self, connection: Connection) -> None:
        """Say ``online`` once more, for those who have subscribed with a wildcard since."""
        status = self._api.status(online=True)
        if not connection.v5:
            self._own.said([status])
        self._publish_one(connection, status, partial(self._note_retained, status))

    def _publish_one(
        self, connection: Connection, message: Message, then: Acknowledged, position: int = 0
    ) -> None:
        """Post a message, and follow what the broker does with it."""
        sent = self._delivery.posted(message, position)
        connection.post(message, partial(self._on_answer, sent, then))

    def _on_answer(self, sent: Posted, then: Acknowledged, refusal: str | None) -> None:
        if not self._api.serves(sent.topic):  # a response topic, or a table that was removed
            self._delivery.forget(sent.topic)
            then(refusal)
            return
        known = sent.topic in self._delivery.forbidden
        first = self._delivery.answered(sent, refusal, time.monotonic())
        then(refusal)
        if refusal is None:
            self._refused.discard(sent.topic)
        if known != (sent.topic in self._delivery.forbidden):
            self._resume(sent.topic, first)

    def _resume(self, topic: str, first: int | None) -> None:
        """If a topic is no longer forbidden, send its events from the position ``first`` again."""
        if first is not None:
            if self._sent >= self._past:
                self._resuming.clear()
            self._past = max(self._past, self._sent)
            self._historical = max(self._historical, self._past)
            self._resuming.add(topic)
            self._sent = min(self._sent, first - 1)
            self._log.info("delivery resumes", topic=topic, position=first)
            self._wake.set()
        self._tell_rules()

    def _tell_rules(self) -> None:
        """Raise or clear the alert that the broker's rules keep messages from being delivered."""
        forbidden = self._delivery.forbidden
        counted = Counter(map(kind, forbidden))
        if counted != self.standing.forbidden:
            self.standing.forbidden = dict(sorted(counted.items()))
            self._changed()
        parts = [
            f"{name} ({next(t for t in forbidden if kind(t) == name)}"
            f"{f' and {count - 1} more' if count > 1 else ''}): "
            f"{next(why for t, why in forbidden.items() if kind(t) == name)}"
            for name, count in sorted(counted.items())
        ]
        if self._unread:
            parts.append(
                f"it refuses to let this daemon read {', '.join(sorted(self._unread)[:3])}"
                f"{f' and {len(self._unread) - 3} more' if len(self._unread) > 3 else ''}, so that "
                "nobody knows what of it is delivered"
            )
        known = self._api.alerts.get(RULES)
        if not parts:
            if self._api.alerts.pop(RULES, None) is not None:
                self._log.info("the broker passes on everything")
                self._wake.set()
            return
        detail = (
            f"the broker's rules keep messages back: {'; '.join(parts)}. Let the daemon's user "
            "write and read all its topics: `novamas acl` prints the rules. The events are in the "
            "journal and are sent again then"
        )
        if known is None or known.detail != detail:
            self._api.alerts[RULES] = _alert(RULES, "broker.rules", detail)
            self._log.error("the broker's rules keep messages back", topics=sorted(forbidden)[:20])
            self._wake.set()

    async def _look_for_echoes(self, connection: Connection) -> None:
        """Judge what should have come back. The answer to a SUBSCRIBE shows that all that the
        broker had sent before has been read.
        """
        self._look = False
        for topic in self._delivery.topics:
            if not self._api.serves(topic):  # its table was removed, or another daemon has it
                self._delivery.forget(topic)
        if not (overdue := self._delivery.overdue(time.monotonic())):
            return
        await connection.listen([self._api.status(online=True).topic], retained=False)
        for sent in self._delivery.judge(overdue, time.monotonic()):
            self._say_again(connection, sent.topic, sent.position)
        self._tell_rules()
        connection.flush()

    def _say_again(self, connection: Connection, topic: str, position: int) -> None:
        """Publish once more, to see whether the broker passes it on."""
        if position:
            with contextlib.suppress(JournalUnusableError):  # the next one is in time
                for event in self._outbox.events_after(position - 1, 1):
                    message = self._message(event, historical=True)
                    self._publish_one(connection, message, self._note_probe, event.position)
        elif topic in (shown := self._api.shown(topic)):
            self._post(connection, topic, shown[topic])

    def _note_probe(self, _refusal: str | None) -> None:
        self._advance()
        self._wake.set()

    def _retry(self) -> None:
        """Try what is forbidden, to learn whether the broker's rules were mended."""
        loop = asyncio.get_running_loop()
        self._retrying = loop.call_later(RETRY_SECONDS, self._retry)
        if (connection := self._connection) is not None:
            waiting = self._delivery.waiting()
            for topic in list(self._delivery.forbidden):
                self._say_again(connection, topic, waiting.get(topic, 0))
            connection.flush()

    def _look_soon(self) -> None:
        self._looking = asyncio.get_running_loop().call_later(
            ECHO_TIMEOUT_SECONDS / 2, self._look_soon
        )
        self._look = True
        self._wake.set()

    async def _send(self, connection: Connection) -> None:
        await self._exclusive.confirm()  # by now the broker has ended every other's connection
        backlog = self._outbox.head()  # events up to here happened while we were not connected
        self._own.connected()
        self._delivery.connected(echoing=not connection.v5)
        self._resuming, self._past = set(), 0
        claims = self._api.claims
        claims.connected(time.monotonic())
        # with QoS 0 the claims that the broker holds come before it answers the next SUBSCRIBE
        refused = await connection.listen(claims.topics(), qos=0, as_published=False)
        if not self._broker.wildcards_retained:
            refused += await self._hear_claims_said(connection)
        self._placed, self._unheard = set(), set()
        refused += await connection.listen(self._api.own(), retained=False)
        if not connection.v5:
            refused += await connection.listen(self._api.echoes(), retained=False)
        claims.admit()
        await self._clear_removed(connection)
        self._cleared = {
            topic: table
            for topic, table in self._cleared.items()
            if claims.left(table) or table in self._api.tables
        }
        self._claiming, self._claimed = connection, []
        self._clear(connection)  # before our new claim, which names them no more
        self._settle()
        refused += await connection.listen(self._api.subscriptions())
        # a statement that the broker holds may be an old one
        refused += await connection.listen(self._api.jackpots.topics(), as_published=False)
        if refused:
            self._log.error("broker refused subscriptions", topics=refused)
        self._unread = set(refused)
        self._tell_rules()
        # where another daemon had the tables, the broker may hold alerts that are none of ours
        self._taken = set(self._api.tables) if self._exclusive.taken_over else set()
        self._shown, self._stale = {}, set(self._api.tables)
        self._refresh(connection)
        while connection.pending:
            await self._wait(connection)
            self._refresh(connection)
        await self._deliver(connection, [self._api.status(online=True)])
        standing = self.standing
        standing.connected, standing.trouble = True, None
        self._since = time.monotonic()
        standing.connects += 1
        self._changed()
        self._log.info("broker connected", backlog=self.position < backlog, topics=len(self._shown))
        loop = asyncio.get_running_loop()
        lasting = loop.call_later(LONGEST_REFUSED, self._lasts)
        self._renewal = loop.call_later(self._renewed, self._renew)
        self._claiming_again = loop.call_later(CLAIMED, self._claim_again)
        self._retrying = loop.call_later(RETRY_SECONDS, self._retry)
        self._looking = loop.call_later(ECHO_TIMEOUT_SECONDS / 2, self._look_soon)
        try:
            await self._publish(connection, backlog)
        finally:
            lasting.cancel()
            self._renewal.cancel()
            self._claiming_again.cancel()
            self._retrying.cancel()
            self._looking.cancel()

    async def _clear_removed(self, connection: Connection) -> None:
        """Clear what the broker retains of tables that were removed while this daemon was down."""
        removed = self._api.claims.removed_before()
        if removed:
            self._log.info("tables removed while the daemon was down", tables=sorted(removed))
        for table, topics in removed.items():
            self._removed_alerts[topics.table(table, "alert/")] = table
            self._cleared |= dict.fromkeys((topics.table(table, leaf) for leaf in LEAVES), table)
        if self._removed_alerts:  # where the broker's rules know the table no more, its alerts stay
            await connection.listen([f"{alerts}+" for alerts in self._removed_alerts])

    async def _hear_claims_said(self, connection: Connection) -> list[str]:
        """Hear the claims of other daemons from those who say them: this broker keeps them from a
        wildcard. It gives us our own of the run before.
        """
        refused = await connection.listen(self._api.claims.own_topics(), qos=0, as_published=False)
        if self._api.claims.is_new:
            await asyncio.sleep(CLAIMED + HEARD)
        return refused

    def _lasts(self) -> None:
        """Clear the alert about a second client: the connection has lasted."""
        self._short = 0
        if self._api.alerts.pop(TWIN, None) is not None:
            self.wake()

    async def _publish(self, connection: Connection, backlog: int) -> None:
        """Publish until the end. Events up to the position ``backlog`` are marked historical."""
        self._connection, self._historical = connection, backlog
        self._sent = self._acknowledged = self.position
        self._unreadable = False
        self._unacknowledged.clear()
        try:
            while True:
                self._send_events()
                self._refresh(connection)
                if self._placed or self._unheard:
                    await self._subscribe_anew(connection)
                if self._look:
                    await self._look_for_echoes(connection)
                if self._taken:  # the broker may hold alerts of the daemon that had them
                    await connection.listen(self._api.alerts_of(self._taken))
                    self._taken = set()
                if self._end.is_set() and not connection.pending:
                    break
                await self._wait(connection)
        finally:
            self._connection = self._claiming = None
        left = self._api.claims.messages(left=True)
        await self._deliver(connection, [*left, self._api.status(online=False)])

    async def _subscribe_anew(self, connection: Connection) -> None:
        """Subscribe to the topics of the tables that were placed, and to no others' any more."""
        placed, self._placed = [t for t in self._api.tables if t in self._placed], set()
        gone, self._unheard = sorted(self._unheard), set()
        own = [topic for table in placed for topic in self._api.own_of(table)]
        commands, jackpots = self._api.subscriptions(placed), self._api.jackpots.topics(placed)
        refused = await connection.listen(own, retained=False)
        if not connection.v5:
            refused += await connection.listen(self._api.echoes(placed), retained=False)
        refused += await connection.listen(commands)
        refused += await connection.listen(jackpots, as_published=False)
        if refused:
            self._log.error("broker refused subscriptions", topics=refused)
        self._refresh(connection)
        await connection.forget(gone)

    def _hear(self, message: MQTTMessage) -> bool:
        """Take a claim of another daemon, what the controller of a jackpot says, or what comes back
        of our own.
        """
        body, jackpots = bytes(message.payload), self._api.jackpots
        topic = message.topic
        if not message.retain:
            known = len(self._delivery.forbidden)
            first = self._delivery.heard(topic, body)
            if len(self._delivery.forbidden) < known:
                self._resume(topic, first)
            if self._api.is_echo(topic):
                return True
        return self._hear_claim(message) or jackpots.heard(message.topic, body, held=message.retain)

    def _hear_claim(self, message: MQTTMessage) -> bool:
        claims = self._api.claims
        if not claims.heard(
            message.topic, bytes(message.payload), time.monotonic(), stored=message.retain
        ):
            return False
        self._settle()
        return True

    def _claim_again(self) -> None:
        self._claimed = []
        self._settle()
        self._claiming_again = asyncio.get_running_loop().call_later(CLAIMED, self._claim_again)

    def _settle(self) -> None:
        """Decide which tables are ours, and publish our claim if it is another."""
        connection, claims = self._claiming, self._api.claims
        if connection is None:
            return
        taken, lost = claims.settle(time.monotonic(), utc(time.time()))
        for table in lost:
            self._lost[table] = self._outbox.head()
        for table in taken:
            self._lost.pop(table, None)
        taken &= {*self._api.tables}  # one that is expected is not placed yet
        for table, node in self._api.take_over(taken).items():
            self._log.error("table taken over", table=table, of=node)
        self._taken |= taken
        for table in taken:
            for topic in self._api.retained(table):
                self._shown.pop(topic, None)
        self._stale |= taken
        self._tell_rivals(claims.shared(), claims.elsewhere())
        if (claimed := claims.messages()) != self._claimed:
            self._claimed = claimed
            for message in claimed:
                self._publish_one(connection, message, partial(self._note_retained, message))
            connection.flush()
            self._changed()
            self._wake.set()

    def _tell_rivals(self, shared: dict[str, str], elsewhere: dict[str, str]) -> None:
        if not shared:
            if self._api.alerts.pop(RIVAL, None) is not None:
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
        known = self._api.alerts.get(RIVAL)
        if known is None or known.detail != detail:
            self._api.alerts[RIVAL] = _alert(RIVAL, "table.second_daemon", detail)
            self._log.error("another daemon serves a table of ours", reason=detail)
            self._wake.set()

    async def _wait(self, connection: Connection) -> None:
        """Wait until there is something to do. Raises :data:`Disconnected` if the broker does not
        acknowledge.
        """
        patience = connection.patience()
        if self._unreadable:
            patience = min(UNREADABLE, patience or UNREADABLE)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await self._wake.wait()
        self._wake.clear()

    def _send_events(self) -> None:
        """Send the next events, as far as there is room for them. Called when events were committed
        and when some were acknowledged.
        """
        connection = self._connection
        if connection is None:
            return
        try:
            most = min(BACKLOG, connection.window)
            while (room := most - len(self._unacknowledged)) > 0 and (events := self._events(room)):
                for event in events:
                    sent = _Sent(event.position, event.mono_ns)
                    if not self._unacknowledged:
                        self._answered = time.monotonic()
                    self._unacknowledged.append(sent)
                    if self._is_elsewhere(event):
                        sent.acknowledged = True
                        continue
                    historical = event.position <= self._historical
                    message = self._message(event, historical=historical)
                    past = event.position <= self._past and message.topic not in self._resuming
                    if past or self._delivery.withholds(message.topic):
                        if not past:
                            self._delivery.withhold(message.topic, event.position)
                        sent.acknowledged = True
                        continue
                    noted = partial(self._note_event, message, sent)
                    self._publish_one(connection, message, noted, event.position)
                self._sent = events[-1].position
                self._advance()
            self._unreadable = False
        except JournalUnusableError as error:
            # the journal looks whether it is damaged, and goes on in another file
            if not self._unreadable:
                self._unreadable = True
                self._log.error("events cannot be read", reason=str(error), position=self.position)
                self._wake.set()
        connection.flush()

    def _events(self, most: int) -> list[Entry]:
        """The next events. If there are none, move past the inputs, so that they are not searched
        again.
        """
        head = self._outbox.head()
        events = self._outbox.events_after(self._sent, most) if head > self._sent else []
        if not events:
            self._sent = max(self._sent, head)
            if not self._unacknowledged:
                self._acknowledged = max(self._acknowledged, head)
                self.position = max(self.position, self._delivery.held(self._acknowledged))
        return events

    def _note_event(self, message: Message, sent: _Sent, refusal: str | None) -> None:
        """The broker has answered for an event: move the cursor past all that are acknowledged."""
        self._note_refusal(message, refusal)
        sent.acknowledged = True
        self._answered = time.monotonic()
        if sent.position > self._historical:
            self._stages.acknowledged.add(age_ns(sent.mono_ns))
        self.standing.published += refusal is None
        self._advance()
        self._wake.set()

    def _is_elsewhere(self, event: Entry) -> bool:
        """Whether it happened while another daemon had the table, which published what happened."""
        if event.boot != self._api.boot or self._api.claims.has(event.table):
            return False
        return event.position > self._lost.get(event.table, 0)

    def _advance(self) -> None:
        waiting, before = self._unacknowledged, self.position
        while waiting and waiting[0].acknowledged:
            self._acknowledged = max(self._acknowledged, waiting.popleft().position)
        self.position = max(before, self._delivery.held(self._acknowledged))
        if self.position > before:
            self._outbox.move_cursor(self.position)

    def _refresh(self, connection: Connection) -> None:
        """Publish each retained topic that has changed since we last published it, or that another
        client has overwritten; as far as the broker takes them now.
        """
        if self._alerts != self._api.alerts:
            self._alerts = dict(self._api.alerts)
            self._stale.update(self._api.tables)
        self._clear(connection)
        self._show(connection, self._api.node_retained())
        unready = self._stale & self._placed  # who sees a table may give it a command
        self._stale -= unready
        while self._stale and connection.pending < 2 * connection.window:
            table = self._stale.pop()
            if table in self._api.tables and self._api.claims.has(table):
                self._show(connection, self._api.retained(table))
        self._stale |= unready
        for topic in self._own.take(time.monotonic()):
            if self._api.is_elsewhere(topic):
                continue
            # an unknown alert is cleared
            self._post(connection, topic, self._api.shown(topic).get(topic))
        connection.flush()

    def _clear(self, connection: Connection) -> None:
        left = [t for t, table in self._abandoned.items() if table not in self._api.tables]
        self._show(connection, dict.fromkeys([*self._cleared, *left]))

    def _show(self, connection: Connection, now: dict[str, bytes | None]) -> None:
        for topic, body in now.items():
            if topic not in self._shown or self._shown[topic] != body:
                self._shown[topic] = body
                self._post(connection, topic, body)

    def _post(self, connection: Connection, topic: str, body: bytes | None) -> None:
        message = Message(topic, body or b"", retain=True)
        if not connection.v5:
            self._own.said([message])
        self._publish_one(connection, message, partial(self._note_retained, message))

    def _note_retained(self, message: Message, refusal: str | None) -> None:
        self._note_refusal(message, refusal)
        if not message.payload:
            self._cleared.pop(message.topic, None)
        self._wake.set()

    def _note_refusal(self, message: Message, refusal: str | None) -> None:
        """What the broker does not take must not keep back the rest; the journal has it."""
        if refusal is not None:
            self.standing.refused += 1
            if refusal == NOT_AUTHORIZED and self._api.serves(message.topic):
                if message.topic in self._refused:  # the alert stays
                    return
                self._refused.add(message.topic)
            self._log.error(
                "broker refused a message",
                topic=message.topic,
                bytes=len(message.payload),
                reason=refusal,
            )

    async def _deliver(self, connection: Connection, messages: list[Message]) -> None:
        if not connection.v5:
            self._own.said(messages)
        sent = [self._delivery.posted(message) for message in messages]
        for each, message, refusal in zip(
            sent, messages, await connection.deliver(messages), strict=True
        ):
            self._on_answer(each, partial(self._note_refusal, message), refusal)

    def _message(self, event: Entry, *, historical: bool) -> Message:
        body = event.body
        if event.kind != "event":
            return Message(self._api.topic(event.table, "sealed"), body)
        if historical:
            try:
                body = marked(body)
            except ValueError as error:  # damaged: better published unmarked than not at all
                self._log.error(
                    "event not marked historical", position=event.position, reason=str(error)
                )
        return Message(self._api.topic(event.table, "event"), body)


def next_pause(pause: float, lasted: float, *, in_vain: bool) -> float:
    """Seconds before the next attempt, after the previous pause and a connection that ``lasted`` so
    many seconds.

    The pause doubles each time. A connection shorter than the longest pause does not reset it, or
    two clients with one id would displace each other four times a second.
    """
    shortest, longest = (SHORTEST_REFUSED, LONGEST_REFUSED) if in_vain else (SHORTEST, LONGEST)
    return shortest if lasted > longest else min(max(pause * 2, shortest), longest)


def _alert(alert: str, what: str, detail: str) -> Alert:
    return Alert(alert=alert, what=what, severity="fault", raised=utc(time.time()), detail=detail)


def _first(group: BaseExceptionGroup[Exception]) -> Exception:
    """The first error within nested groups."""
    inner = group.exceptions[0]
    return _first(inner) if isinstance(inner, BaseExceptionGroup) else inner
