"""The daemon's retained topics: publishes what has changed, and clears what is no longer served."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial

from common import clock
from common.contract.retained import Alert
from common.contract.topics import Topics
from common.log import structlog
from controller.mqtt.connection import IncomingMessage, PublisherConnection
from controller.mqtt.outgoing import OutgoingMessage
from controller.mqtt.own_topics import OwnTopics
from controller.mqtt.posting import MessagePoster
from controller.mqtt.subscriptions import TopicSubscriptions
from controller.mqtt.tables_api import RETAINED_LEAVES, TablesApi


class RetainedTopics:
    """The retained topics of every table and of the node, as they were last published. ``wake``:
    makes the publisher call :meth:`refresh` soon.
    """

    def __init__(
        self,
        *,
        api: TablesApi,
        poster: MessagePoster,
        own_topics: OwnTopics,
        subscriptions: TopicSubscriptions,
        wake: Callable[[], None],
        url: str,
    ) -> None:
        self.stale: dict[str, None] = {}
        """Tables with a retained topic that may have changed, in the order of the changes."""
        self._api = api
        self._poster = poster
        self._own_topics = own_topics
        self._subscriptions = subscriptions
        self._wake = wake
        self._bodies: dict[str, bytes | None] = {}
        """The bodies published on this connection."""
        self._alerts: dict[str, Alert] = {}
        """The alerts of every table, as published."""
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
        self._log = structlog.get_logger().bind(broker=url)

    def __len__(self) -> int:
        return len(self._bodies)

    def publish_all_again(self) -> None:
        """Publish every topic again with the next :meth:`refresh`."""
        self._bodies, self.stale = {}, dict.fromkeys(self._api.tables)

    def refresh(self, connection: PublisherConnection) -> None:
        """Publish each retained topic that has changed since it was last published, or that another
        client has overwritten; the rest follows when the window has room.
        """
        if self._alerts != self._api.alerts:
            self._alerts = dict(self._api.alerts)
            self.stale |= dict.fromkeys(self._api.tables)
        self.clear(connection)
        self._publish_changed(connection, self._api.node_retained())
        if self.stale:
            self._publish_stale(connection)
        for topic in sorted(self._own_topics.due_topics(clock.monotonic())):
            if self._api.is_elsewhere(topic):
                continue
            # an unknown alert is cleared
            self._publish(connection, topic, self._api.shown(topic).get(topic))
        connection.flush()

    def _publish_stale(self, connection: PublisherConnection) -> None:
        # a client that sees a table may send it a command, so subscribe to commands first
        placed = self._subscriptions.placed
        unready = {table: None for table in self.stale if table in placed} if placed else {}
        for table in unready:
            del self.stale[table]
        while self.stale and connection.pending < 2 * connection.window:
            del self.stale[table := next(iter(self.stale))]
            if table in self._api.tables and self._api.claims.has(table):
                self._publish_changed(connection, self._api.retained(table))
        self.stale |= unready

    def take_over(self, tables: Collection[str]) -> None:
        """Publish all topics of these tables again: another daemon had them."""
        for table in tables:
            for topic in self._api.retained(table):
                self._bodies.pop(topic, None)
        self.stale |= dict.fromkeys(tables)

    def remove(self, table: str, topics: Collection[str]) -> None:
        """Clear the topics of a removed table, unless another daemon has it."""
        self.stale.pop(table, None)
        if self._api.claims.is_left(table):
            self._cleared |= dict.fromkeys(topics, table)

    def place(self, table: str, before: Collection[str]) -> None:
        """Publish an added or replaced table, and clear those of its topics ``before`` that it no
        longer has.
        """
        now = self._api.retained(table)
        self._cleared |= {topic: table for topic in before if topic not in now}
        for topic in now:
            self._cleared.pop(topic, None)
        self.stale[table] = None

    def abandon(self, table: str, topics: Collection[str]) -> None:
        """Clear these topics of a table on each connection, unless this daemon has the table."""
        self._abandoned |= dict.fromkeys(topics, table)

    async def clear_removed(
        self, connection: PublisherConnection, removed: Mapping[str, Topics]
    ) -> None:
        """Clear the topics of tables that were ``removed`` while this daemon was down."""
        if removed:
            self._log.info("tables removed while the daemon was down", tables=sorted(removed))
        for table, topics in removed.items():
            self._removed_alerts[topics.table(table, "alert/")] = table
            self._cleared |= dict.fromkeys(
                (topics.table(table, leaf) for leaf in RETAINED_LEAVES), table
            )
        if self._removed_alerts:  # they stay if the broker's rules no longer include the table
            await connection.subscribe_to([f"{alerts}+" for alerts in self._removed_alerts])
        self._cleared = {
            topic: table
            for topic, table in self._cleared.items()
            if self._api.claims.is_left(table) or table in self._api.tables
        }

    def on_removed_alert(self, message: IncomingMessage) -> bool:
        """Clear an alert of a table that was removed while this daemon was down; return False for
        any other topic.
        """
        alerts, slash, _ = message.topic.rpartition("/")
        table = self._removed_alerts.get(alerts + slash)
        if table is None:
            return False
        if message.payload and message.retain and self._api.claims.is_left(table):
            self._cleared[message.topic] = table
            self._wake()
        return True

    def clear(self, connection: PublisherConnection) -> None:
        """Clear the topics of removed and abandoned tables."""
        if not self._cleared and not self._abandoned:
            return
        left = [t for t, table in self._abandoned.items() if table not in self._api.tables]
        self._publish_changed(connection, dict.fromkeys([*self._cleared, *left]))

    def post(self, connection: PublisherConnection, message: OutgoingMessage) -> None:
        """Post a retained message."""
        if not connection.v5:
            self._own_topics.remember([message])
        self._poster.post(connection, message, partial(self._on_acknowledged, message))

    def send_again(self, connection: PublisherConnection, topic: str) -> None:
        """Post a topic again, to see whether the broker delivers it."""
        if topic in (shown := self._api.shown(topic)):
            self._publish(connection, topic, shown[topic])

    def _publish_changed(
        self, connection: PublisherConnection, now: dict[str, bytes | None]
    ) -> None:
        for topic, body in now.items():
            if topic not in self._bodies or self._bodies[topic] != body:
                self._bodies[topic] = body
                self._publish(connection, topic, body)

    def _publish(self, connection: PublisherConnection, topic: str, body: bytes | None) -> None:
        self.post(connection, OutgoingMessage(topic, body or b"", retain=True))

    def _on_acknowledged(self, message: OutgoingMessage, refusal: str | None) -> None:
        self._poster.note_refusal(message, refusal)
        if not message.payload:
            self._cleared.pop(message.topic, None)
        self._wake()
