"""Other clients that act as this daemon: another daemon with one of its tables, a client with its
client id, and one that publishes on its topics.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from functools import partial

from paho.mqtt.client import MQTTMessage

from common import clock
from common.broker.failures import (
    Disconnected,
    SilentError,
    describe_error,
    is_taken_over,
)
from common.broker.login import BrokerUnusableError
from common.contract.node import BrokerConnection
from common.contract.times import format_utc
from common.contract.topics import Topics
from common.log import structlog
from controller.configuration.settings import BrokerConfig
from controller.mqtt.connection import IncomingMessage, PublisherConnection
from controller.mqtt.node_alert import node_alert
from controller.mqtt.outbox import EventOutbox
from controller.mqtt.outgoing import OutgoingMessage
from controller.mqtt.own_topics import OwnTopics
from controller.mqtt.posting import MessagePoster
from controller.mqtt.retained import RetainedTopics
from controller.mqtt.subscriptions import TopicSubscriptions
from controller.mqtt.table_claims import CLAIM_INTERVAL_SECONDS
from controller.mqtt.tables_api import TablesApi

TWIN_ALERT_ID, SUSPICIOUS_CONNECTIONS = "broker-client-id", 3
"""Id of the alert that another client uses this daemon's client id, cleared when a connection
lasts. Not every broker reports this, so it is suspected after this many short connections in a row.
"""
SHORT_CONNECTION_SECONDS = 15.0
"""Duration below which a connection is short."""
FOREIGN_ALERT_ID, FOREIGN_ALERT_SECONDS = "broker-topics", 60.0
"""Id of the alert that another client publishes on this daemon's topics, and the seconds without
such a message after which it is cleared.
"""
RIVAL_ALERT_ID = "second-daemon"
"""Id of the alert that another daemon serves one of this daemon's tables, while its claim is
valid.
"""
CLAIM_MARGIN_SECONDS = 1.0
"""Time allowed, beyond the interval between claims, to receive one of every other daemon."""


class SecondDaemon:
    """Decides, with the claims of other daemons, which tables this daemon has, and publishes its
    own claim. ``changed`` is called when other tables are served here or elsewhere, ``wake`` when
    there is something to publish.
    """

    def __init__(
        self,
        *,
        api: TablesApi,
        poster: MessagePoster,
        outbox: EventOutbox,
        retained: RetainedTopics,
        subscriptions: TopicSubscriptions,
        changed: Callable[[], None],
        wake: Callable[[], None],
        url: str,
    ) -> None:
        self.connection: PublisherConnection | None = None
        """The connection, once the claims of other daemons were received."""
        self._api = api
        self._claims = api.claims
        self._poster = poster
        self._outbox = outbox
        self._retained = retained
        self._subscriptions = subscriptions
        self._changed = changed
        self._wake = wake
        self._published: list[OutgoingMessage] = []
        """This daemon's claim as published on the connection."""
        self._elsewhere: dict[str, str] = {}
        """The tables that another daemon had, with its node, at the last decision."""
        self._log = structlog.get_logger().bind(broker=url)

    async def subscribe(
        self, connection: PublisherConnection, *, wildcards_retained: bool
    ) -> list[str]:
        """Receive the retained claims. Return the topics that the broker refuses."""
        # with QoS 0 the broker sends the retained claims before it answers the next SUBSCRIBE
        refused = await connection.subscribe_to(self._claims.topics(), qos=0, as_published=False)
        if wildcards_retained:
            return refused
        # this broker delivers the claim of the node's previous run only by its topic, and none of
        # the others, whose next claims must be awaited
        refused += await connection.subscribe_to(
            self._claims.own_topics(), qos=0, as_published=False
        )
        if self._claims.is_new:
            await clock.sleep(CLAIM_INTERVAL_SECONDS + CLAIM_MARGIN_SECONDS)
        return refused

    async def await_claims(self, tables: Mapping[str, Topics]) -> None:
        """Receive the claims of other daemons on these tables, which are about to be added here."""
        claims = self._claims
        for table, topics in tables.items():
            claims.add(table, topics)
        if (connection := self.connection) is None:  # received on the next connection
            return
        with contextlib.suppress(Disconnected, BrokerUnusableError):
            # with QoS 0 the broker sends the retained claims before it answers the next SUBSCRIBE
            await connection.subscribe_to(claims.topics(), qos=0, as_published=False)
            await connection.subscribe_to(claims.topics(), qos=0, retained=False)
            claims.admit()
            self.decide()

    def begin(self, connection: PublisherConnection) -> None:
        """Decide and publish on this connection from now on."""
        self.connection, self._published = connection, []

    def republish(self) -> None:
        """Publish the claim again, before it expires."""
        self._published = []
        self.decide()

    def on_message(self, message: MQTTMessage) -> bool:
        """Handle a claim; return False for any other message."""
        if not self._claims.on_message(
            message.topic, bytes(message.payload), clock.monotonic(), stored=message.retain
        ):
            return False
        self.decide()
        return True

    def decide(self) -> None:
        """Decide which tables this daemon has, and publish its claim if it changed."""
        connection, claims = self.connection, self._claims
        if connection is None:
            return
        gained, lost = claims.decide(clock.monotonic(), format_utc(clock.wall()))
        self._outbox.note_tables(gained=gained, lost=lost)
        taken = sorted(gained & {*self._api.tables})  # an awaited table is not placed yet
        for table, node in self._api.take_over(taken).items():
            self._log.error("table taken over", table=table, of=node)
        self._subscriptions.gained.update(taken)
        self._retained.take_over(taken)
        elsewhere = claims.elsewhere()
        self._update_alert(claims.shared(), elsewhere)
        if gained or lost or elsewhere != self._elsewhere:
            self._elsewhere = elsewhere
            self._changed()
        if (claim := claims.messages()) != self._published:
            self._published = claim
            for message in claim:
                self._poster.post(connection, message, partial(self._on_acknowledged, message))
            connection.flush()
            self._wake()

    def _on_acknowledged(self, message: OutgoingMessage, refusal: str | None) -> None:
        self._poster.note_refusal(message, refusal)
        self._wake()

    def _update_alert(self, shared: dict[str, str], elsewhere: dict[str, str]) -> None:
        if not shared:
            if self._api.alerts.pop(RIVAL_ALERT_ID, None) is not None:
                self._log.info("no other daemon serves our tables any more")
                self._wake()
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
            alert = node_alert(RIVAL_ALERT_ID, "table.second_daemon", detail)
            self._api.alerts[RIVAL_ALERT_ID] = alert
            self._log.error(
                "another daemon serves a table of this one", reason=detail, alert=RIVAL_ALERT_ID
            )
            self._wake()


class ClientIdTwin:
    """Another client that uses this daemon's client id, so that the broker ends the connection of
    one when it accepts the other. ``wake`` is called when there is something to publish.
    """

    def __init__(
        self,
        *,
        api: TablesApi,
        health: BrokerConnection,
        client_id: str,
        broker: BrokerConfig,
        wake: Callable[[], None],
    ) -> None:
        self._api = api
        self._health = health
        self._client_id = client_id
        self._broker = broker
        self._wake = wake
        self._connected_at = 0.0
        """The monotonic time at which the connection was made."""
        self._short_connections = 0
        """The number of short connections in a row."""
        self._log = structlog.get_logger().bind(broker=broker.url)

    @property
    def connected_seconds(self) -> float:
        """Seconds since the connection was made; 0 without one."""
        return clock.monotonic() - self._connected_at if self._health.connected else 0.0

    def on_connected(self) -> None:
        """Handle a new connection."""
        self._connected_at = clock.monotonic()

    def suspect(self, error: Exception) -> bool:
        """Return True if another client seems to use this daemon's client id, and raise the alert.
        A broker that stops replying is no sign of it: a cluster does when it has lost a node.
        """
        if isinstance(error, SilentError):
            return False
        if self._health.connected:
            is_short = self.connected_seconds < SHORT_CONNECTION_SECONDS
            self._short_connections = self._short_connections + 1 if is_short else 0
        if not is_taken_over(error) and self._short_connections < SUSPICIOUS_CONNECTIONS:
            return False
        if TWIN_ALERT_ID not in self._api.alerts:
            detail = (
                "the broker ends this daemon's connections soon after it accepts them "
                f"({describe_error(error, self._broker)}): does another client use the client id "
                f"{self._client_id!r} too? Give each its own broker.client_id, or its own site.node"
            )
            self._api.alerts[TWIN_ALERT_ID] = node_alert(TWIN_ALERT_ID, "broker.client_id", detail)
            self._log.error(
                "another client has our client id, it seems",
                client_id=self._client_id,
                alert=TWIN_ALERT_ID,
            )
        return True

    def clear(self) -> None:
        """Clear the alert, once a connection has lasted."""
        self._short_connections = 0
        if self._api.alerts.pop(TWIN_ALERT_ID, None) is not None:
            self._wake()


class ForeignWriter:
    """Another client that publishes on this daemon's topics. ``wake``: makes the publisher correct
    them.
    """

    def __init__(
        self,
        *,
        api: TablesApi,
        health: BrokerConnection,
        own_topics: OwnTopics,
        wake: Callable[[], None],
        url: str,
    ) -> None:
        self._api = api
        self._health = health
        self._own_topics = own_topics
        self._wake = wake
        self._last = 0.0
        """The monotonic time of the last foreign message on this daemon's topics."""
        self._log = structlog.get_logger().bind(broker=url)

    def on_own_topic(self, message: IncomingMessage, *, v5: bool) -> None:
        """Handle a message on one of this daemon's topics: if another client published it, publish
        the right state again.
        """
        if not self._api.is_alert(message.topic):
            held_before = message.retain and not v5  # MQTT 5 does not send these
            if held_before or not self._health.connected:
                return
        known = self._own_topics.foreign
        if self._own_topics.is_foreign(message, self._api.shown(message.topic)):
            asyncio.get_running_loop().call_later(
                self._own_topics.wait(clock.monotonic()), self._wake
            )
        if self._own_topics.foreign > known and not self._api.is_alert(message.topic):
            self._raise_alert(message.topic)

    def _raise_alert(self, topic: str) -> None:
        self._health.foreign += 1
        self._last = clock.monotonic()
        if FOREIGN_ALERT_ID not in self._api.alerts:
            detail = (
                f"another client publishes on this daemon's topic {topic}; the message was "
                "replaced. Is there a second daemon with the same site.node, or the same table? "
                "Otherwise let the broker's access rules keep others from the daemon's topics"
            )
            self._api.alerts[FOREIGN_ALERT_ID] = node_alert(
                FOREIGN_ALERT_ID, "broker.topics", detail
            )
            self._log.error(
                "another client publishes on this daemon's topics",
                topic=topic,
                alert=FOREIGN_ALERT_ID,
            )
            asyncio.get_running_loop().call_later(FOREIGN_ALERT_SECONDS, self._clear_alert)

    def _clear_alert(self) -> None:
        left = self._last + FOREIGN_ALERT_SECONDS - clock.monotonic()
        if left > 0:
            asyncio.get_running_loop().call_later(left, self._clear_alert)
        elif self._api.alerts.pop(FOREIGN_ALERT_ID, None) is not None:
            self._wake()
