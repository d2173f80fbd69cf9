"""Builds the messages that the daemon publishes on each topic."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import msgspec

from common import clock
from common.chain.hand_over import HandOver
from common.contract.node import NodeStatus, TableHealth
from common.contract.retained import Alert
from common.contract.times import format_utc
from common.contract.topics import Topics
from common.log import structlog
from controller.mqtt.command_desk import CommandDesk
from controller.mqtt.jackpots import JackpotFeeds
from controller.mqtt.outgoing import OutgoingMessage
from controller.mqtt.served_table import ServedTable
from controller.mqtt.table_claims import AssignedNumbers, TableClaims

RETAINED_LEAVES = ("info", "state", "result", "history", "shoe")
"""The retained topics of a table, without its alerts."""
HEALTH_BATCH_TABLES = 50
"""Tables whose health is collected in one turn of the event loop."""


class TablesApi:
    """The MQTT interface of every table of this daemon, and of the node itself. ``leased``: the
    daemon is one of a pair and holds the lease of the tables.
    """

    def __init__(
        self,
        node: str,
        boot: str,
        topics: Topics,
        served: Mapping[str, ServedTable],
        response_topics: tuple[str, ...] = (),
        *,
        leased: bool = False,
    ) -> None:
        self.alerts: dict[str, Alert] = {}
        """Alerts that concern every table but are in no journal, published under each table's
        ``alert/<id>``.
        """
        self.node: dict[str, bytes] = {}
        """The bodies of the node's own retained topics, ``health`` and ``checkpoint``."""
        self.claims = TableClaims(
            node,
            boot,
            {table: place.topics for table, place in served.items()},
            leased=leased,
            numbers=self._numbers,
        )
        self.commands = CommandDesk(served=served, response_topics=response_topics)
        self.jackpots = JackpotFeeds((place.topics, place.runner) for place in served.values())
        self.boot = boot
        self._node = node
        self._topics = topics
        self._served = served
        self._known_alerts: dict[str, None] = {}
        """The ids of all alerts that were ever in :attr:`alerts`, so that they are cleared."""
        self._removed_topics: dict[str, Topics] = {}
        """The topics of removed tables, of which events may still be pending."""
        self._log = structlog.get_logger()

    def status(self, *, online: bool) -> OutgoingMessage:
        """Return the node's status message; with ``online=False``, it is also the last will."""
        body = msgspec.json.encode(NodeStatus("online" if online else "offline", self.boot))
        return OutgoingMessage(self._topics.node(self._node, "status"), body, retain=True)

    async def health(self) -> dict[str, TableHealth]:
        """Return the tables' part of the retained ``health``. With many tables other work runs in
        between, so that no device waits.
        """
        elsewhere = self.claims.elsewhere()
        found: dict[str, TableHealth] = {}
        for table, served in [*self._served.items()]:
            found[table] = served.health(elsewhere.get(table))
            if len(found) % HEALTH_BATCH_TABLES == 0:
                await clock.sleep(0)
        return {table: found[table] for table in self._served if table in found}

    def detach(self, table: str) -> None:
        """Prepare for the removal or replacement of a table."""
        self._removed_topics[table] = self._served[table].topics
        self.jackpots.remove(table)

    def attach(self, table: str) -> None:
        """Complete the addition or replacement of a table."""
        self._removed_topics.pop(table, None)
        served = self._served[table]
        self.jackpots.add(served.topics, served.runner)

    def subscriptions(self, tables: Iterable[str] | None = None) -> list[str]:
        """Return the topic filters of commands and of alerts, by default for all tables. The broker
        may still retain alerts that were cleared while it was unreachable.
        """
        return [
            topic
            for table in (self._served if tables is None else tables)
            for topic in (self.topic(table, "command/+"), self.topic(table, "alert/+"))
        ]

    def alerts_of(self, tables: Iterable[str]) -> list[str]:
        """Return the topic filters of the alerts of these tables."""
        return [self.topic(table, "alert/+") for table in tables]

    def echo_topics(self, tables: Iterable[str] | None = None) -> list[str]:
        """Return the topics of these tables, by default of all, that the daemon reads only to see
        whether its messages come back.
        """
        return [
            self.topic(table, leaf)
            for table in (self._served if tables is None else tables)
            for leaf in (
                "event",
                *(["sealed"] if self._served[table].runner.table.face_down else []),
                "reply/+",
            )
        ]

    def serves(self, topic: str) -> bool:
        """Return True if the topic is one of the node, or of a table that this daemon has."""
        found = self._find(topic)
        return "/node/" in topic if found is None else self.claims.has(found[0])

    def is_echo(self, topic: str) -> bool:
        """Return True if the topic is read only to see whether messages come back."""
        found = self._find(topic)
        return found is not None and found[1].partition("/")[0] in ("event", "sealed", "reply")

    def own_topics(self) -> list[str]:
        """Return the retained topics without alerts, watched for messages of other clients."""
        found = [*self.node_retained(), self.status(online=True).topic]
        for table in self._served:
            found += self.own_topics_of(table)
        return found

    def own_topics_of(self, table: str) -> list[str]:
        """Return the retained topics of a table, without its alerts."""
        alerts = self.topic(table, "alert/")
        return [topic for topic in self.retained(table) if not topic.startswith(alerts)]

    def is_elsewhere(self, topic: str) -> bool:
        """Return True if this topic is of a table that another daemon has."""
        found = self._find(topic)
        return found is not None and not self.claims.has(found[0])

    def is_alert(self, topic: str) -> bool:
        """Return True if this topic is of an alert, also an unknown one, of one of the tables."""
        found = self._find(topic)
        return found is not None and found[1].startswith("alert/")

    def _numbers(self, table: str) -> AssignedNumbers:
        """Return the highest numbers assigned at a table."""
        served = self._served.get(table)
        if served is None:
            return AssignedNumbers()
        state = served.runner.table
        return AssignedNumbers(state.session, state.readings if state.face_down else 0)

    def take_over(self, tables: Collection[str]) -> dict[str, str]:
        """Take over these tables. Each that another daemon had in between reports the hand-over and
        continues after that one's numbers. Return these tables, with the node of that daemon.
        """
        former_nodes = {}
        for table in tables:
            former = self.claims.former_holder(table)
            if former is None or table not in self._served:
                continue
            now = clock.wall()
            numbers = former.numbers
            self._served[table].runner.take_over(
                HandOver(
                    instance=former.node,
                    boot=former.boot,
                    since=format_utc(now - max(0.0, clock.monotonic() - former.last_received)),
                    at=format_utc(now),
                    sessions={table: numbers.session},
                    readings={table: numbers.reading},
                )
            )
            former_nodes[table] = former.node
        return former_nodes

    def topic(self, table: str, leaf: str) -> str:
        """Return the topic of a table's ``leaf``, such as ``event`` or ``sealed``."""
        served = self._served.get(table)
        removed = self._removed_topics.get(table, self._topics)
        return (removed if served is None else served.topics).table(table, leaf)

    @property
    def tables(self) -> Iterable[str]:
        """The ids of all tables."""
        return self._served.keys()

    def served(self, table: str) -> ServedTable | None:
        """Return a table that this daemon serves; None if it was removed."""
        return self._served.get(table)

    def retained(self, table: str) -> dict[str, bytes | None]:
        """Return the body of every retained topic of a table; None clears the retained message."""
        served = self._served[table]
        self._known_alerts |= dict.fromkeys(self.alerts)
        bodies = {f"alert/{name}": self._alert(name) for name in self._known_alerts}
        bodies.update(served.runner.retained)
        return {served.topics.table(table, leaf): body for leaf, body in bodies.items()}

    def node_retained(self) -> dict[str, bytes | None]:
        """Return the node's retained topics, without its ``status``."""
        return {self._topics.node(self._node, leaf): body for leaf, body in self.node.items()}

    def shown(self, topic: str) -> dict[str, bytes | None]:
        """Return a retained topic with its body while the node is online; empty if the topic is not
        this daemon's.
        """
        if (found := self._find(topic)) is not None:
            bodies = self.retained(found[0])
        else:
            status = self.status(online=True)
            bodies = {**self.node_retained(), status.topic: status.payload}
        return {topic: bodies[topic]} if topic in bodies else {}

    def command(self, topic: str) -> tuple[str, str] | None:
        """Return the table and command that a topic names; None if it is not a command topic."""
        found = self._find(topic)
        if found is None or not found[1].startswith("command/"):
            return None
        return found[0], found[1].removeprefix("command/")

    def _find(self, topic: str) -> tuple[str, str] | None:
        """Return the table of a topic, and the leaf; None if the table is not served here."""
        root, version, site, table, leaf = (topic.split("/", 4) + [""] * 5)[:5]
        served = self._served.get(table)
        if served is None or f"{root}/{version}/{site}" != served.topics.root:
            return None
        return table, leaf

    def _alert(self, name: str) -> bytes | None:
        alert = self.alerts.get(name)
        return None if alert is None else msgspec.json.encode(alert)
