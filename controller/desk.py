"""The daemon's side of MQTT: what it shows under which topic, and how it answers what comes in."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import structlog

from controller.connection import Incoming, Message
from controller.games.game import Rejected
from controller.journal.schema import JournalUnusable
from controller.orders import DeviceOrder, Recall, Reply, Sender, Unreadable, read_order
from controller.retained import Alert
from controller.station import Station
from controller.topics import Topics
from devices.device import CommandRefused, Device


class Place(msgspec.Struct, frozen=True):
    """One table with all that belongs to it; ``devices`` by id. A device that has said nothing for ``silence`` seconds of the
    table's clock cannot be up.
    """

    station: Station
    topics: Topics
    devices: dict[str, Device]
    silence: float


class Status(msgspec.Struct, frozen=True):
    """Topic ``status`` of the node: birth, farewell and last will."""

    status: str
    boot: str


class Desk:
    """Every table of this daemon, and the node itself."""

    def __init__(self, node: str, boot: str, topics: Topics, places: Mapping[str, Place]) -> None:
        self.alerts: dict[str, Alert] = {}
        """What concerns every table but can be in no journal: shown under each table's ``alert/<id>``."""
        self.node: dict[str, bytes] = {}
        """The node's own retained topics: ``health`` and ``checkpoint``."""
        self.followed = 0
        self.refused = 0
        self._boot = boot
        self._node = node
        self._topics = topics
        self._places = places
        self._was: set[str] = set()
        self._log = structlog.get_logger()

    def status(self, *, online: bool) -> Message:
        """Birth, or farewell and last will."""
        body = msgspec.json.encode(Status("online" if online else "offline", self._boot))
        return Message(self._topics.node(self._node, "status"), body, retain=True)

    def subscriptions(self) -> list[str]:
        """Commands, and our own alerts, of which a broker may hold some that were cleared while we could not reach it."""
        places = self._places.items()
        return [topic for id, p in places for topic in (p.topics.command(id), p.topics.table(id, "alert/+"))]  # noqa: A001

    def topic(self, table: str, leaf: str) -> str:
        """A topic of a table: ``event``, ``sealed``."""
        place = self._places.get(table)
        return (self._topics if place is None else place.topics).table(table, leaf)

    def retained(self) -> dict[str, bytes | None]:
        """Every retained topic but ``status``, and what it holds; None: nothing any more."""
        shown: dict[str, bytes | None] = dict.fromkeys(self._was)
        for id, place in self._places.items():  # noqa: A001
            shown.update((place.topics.table(id, leaf), body) for leaf, body in place.station.retained.items())
            alerts = {place.topics.table(id, f"alert/{name}"): alert for name, alert in self.alerts.items()}
            shown.update((topic, msgspec.json.encode(alert)) for topic, alert in alerts.items())
            self._was |= alerts.keys()
        return shown | {self._topics.node(self._node, leaf): body for leaf, body in self.node.items()}

    async def answer(self, message: Incoming) -> list[Message]:
        """Follow a command and reply to it; clear an alert that is left over."""
        for id, place in self._places.items():  # noqa: A001
            if message.topic.startswith(place.topics.table(id, "alert/")):
                left_over = message.retain and message.payload and self.retained().get(message.topic) is None
                return [Message(message.topic, b"", retain=True)] if left_over else []
            prefix = place.topics.command(id, "")
            if message.topic.startswith(prefix):
                return await self._follow(id, place, message.topic.removeprefix(prefix), message)
        return []

    async def _follow(self, table: str, place: Place, name: str, message: Incoming) -> list[Message]:
        if not message.payload:  # somebody cleared a retained command
            return []
        log = self._log.bind(table=table, command=name)
        reply = Reply(id=None, ok=True)
        sender = Sender()
        try:
            sender, given = read_order(name, message.payload, place.station.clock())
            if message.retain:
                raise Rejected("a command is never retained: it would be followed again after each reconnect")
            if isinstance(given, Recall):
                reply = Reply(id=sender.id, ok=True, events=place.station.recall(given))
            else:
                log = log.bind(by=given.by, role=given.role)
                if isinstance(given, DeviceOrder):
                    self._send(place, given)
                else:
                    await place.station.follow(given)
                reply = Reply(id=sender.id, ok=True)
        except Unreadable as bad:
            sender, reply = bad.sender, Reply(id=bad.sender.id, ok=False, error=str(bad))
        except (Rejected, JournalUnusable) as no:
            reply = Reply(id=sender.id, ok=False, error=str(no))
        if reply.ok:
            self.followed += 1
            log.info("command followed")
        else:
            self.refused += 1
            log.info("command refused", reason=reply.error)
        return self._replies(table, place.topics, sender, message, msgspec.json.encode(reply))

    def _send(self, place: Place, order: DeviceOrder) -> None:
        device = place.devices.get(order.device)
        if device is None:
            raise Rejected(f"no device {order.device!r} at this table; there are: {', '.join(sorted(place.devices)) or 'none'}")
        try:
            device.send(order.command, order.argument)
        except CommandRefused as refused:
            raise Rejected(str(refused)) from None

    def _replies(self, table: str, topics: Topics, sender: Sender, message: Incoming, body: bytes) -> list[Message]:
        replies = []
        if sender.client is not None:
            replies.append(Message(topics.reply(table, sender.client), body))
        wanted = message.response_topic
        if wanted and not set("+#") & set(wanted):
            # Nobody may have us write into our own topics, except where we write replies.
            ours = wanted.startswith(("novamas/", "novamas-sim/")) and not wanted.startswith(topics.reply(table, ""))
            if not ours:
                replies.append(Message(wanted, body, answers=message.correlation))
        return replies
