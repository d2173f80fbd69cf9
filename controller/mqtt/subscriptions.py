"""The daemon's subscriptions: commands, jackpots, and its own topics, which show messages of other
clients and echoes of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from common.contract.topics import Topics
from common.log import structlog
from controller.mqtt.connection import PublisherConnection
from controller.mqtt.tables_api import TablesApi


class TopicSubscriptions:
    """The subscriptions of every table, kept up to date when tables change."""

    def __init__(self, *, api: TablesApi, url: str) -> None:
        self.refused: set[str] = set()
        """Topics to which the broker refuses the subscription."""
        self.placed: set[str] = set()
        """Tables that were added or replaced during this connection, to whose topics it is not yet
        subscribed.
        """
        self.gained: set[str] = set()
        """Tables that this daemon has gained from another, whose alerts may still be retained."""
        self._api = api
        self._obsolete: set[str] = set()
        """Topics to unsubscribe from."""
        self._log = structlog.get_logger().bind(broker=url)

    @property
    def due(self) -> bool:
        """True if there is anything to subscribe to, or to unsubscribe from."""
        return bool(self.placed or self._obsolete)

    def restart(self) -> None:
        """Begin a connection, which has no subscriptions yet."""
        self.placed, self._obsolete = set(), set()

    def remove(self, table: str, topics: Topics, retained: Collection[str]) -> None:
        """Remove a table. ``retained``: its former retained topics."""
        self.gained.discard(table)
        self.placed.discard(table)
        alerts = topics.table(table, "alert/")
        self._obsolete |= {topic for topic in retained if not topic.startswith(alerts)}
        self._obsolete |= {topics.command(table), f"{alerts}+"}
        self._obsolete |= {topics.table(table, leaf) for leaf in ("event", "sealed", "reply/+")}

    def place(self, table: str) -> None:
        """Subscribe to the topics of an added or replaced table with the next :meth:`update`."""
        api = self._api
        self._obsolete.difference_update(
            [*api.own_topics_of(table), *api.subscriptions([table]), *api.echo_topics([table])]
        )
        self.placed.add(table)

    async def subscribe_to_own(self, connection: PublisherConnection) -> list[str]:
        """Subscribe to the retained topics, and to those on which messages come back. Return the
        topics that the broker refuses.
        """
        refused = await connection.subscribe_to(self._api.own_topics(), retained=False)
        if not connection.v5:
            refused += await connection.subscribe_to(self._api.echo_topics(), retained=False)
        return refused

    async def subscribe_to_commands(self, connection: PublisherConnection) -> list[str]:
        """Subscribe to commands, alerts and jackpots. Return the topics that the broker refuses."""
        refused = await connection.subscribe_to(self._api.subscriptions())
        # a retained state of a jackpot may be an old one
        return refused + await connection.subscribe_to(
            self._api.jackpots.topics(), as_published=False
        )

    def note_refused(self, topics: list[str]) -> None:
        """Log the topics to which the broker refuses the subscription."""
        if topics:
            self._log.error("broker refused subscriptions", topics=topics)

    async def update(
        self, connection: PublisherConnection, refresh: Callable[[PublisherConnection], None]
    ) -> None:
        """Subscribe to the topics of placed tables, ``refresh`` what they show, and unsubscribe
        from the topics of removed tables.
        """
        placed, self.placed = [t for t in self._api.tables if t in self.placed], set()
        obsolete, self._obsolete = sorted(self._obsolete), set()
        own = [topic for table in placed for topic in self._api.own_topics_of(table)]
        echoes = [] if connection.v5 else self._api.echo_topics(placed)
        commands, jackpots = self._api.subscriptions(placed), self._api.jackpots.topics(placed)
        self.note_refused(
            [
                *await connection.subscribe_to(own, retained=False),
                *await connection.subscribe_to(echoes, retained=False),
                *await connection.subscribe_to(commands),
                *await connection.subscribe_to(jackpots, as_published=False),
            ]
        )
        refresh(connection)
        await connection.unsubscribe_from(obsolete)

    async def subscribe_to_gained(self, connection: PublisherConnection) -> None:
        """Receive the alerts of gained tables that the broker still retains."""
        if self.gained:
            await connection.subscribe_to(self._api.alerts_of(sorted(self.gained)))
            self.gained = set()
