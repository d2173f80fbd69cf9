"""The daemon's side of MQTT: what each topic holds, and how commands are answered."""

from __future__ import annotations

import time
import traceback
from collections.abc import Mapping
from typing import cast

import msgspec
import structlog

from controller.contract.events import AnyEvent
from controller.contract.node import NodeStatus
from controller.contract.orders import (
    DeviceOrder,
    Recall,
    Reply,
    Sender,
    UnreadableCommandError,
    read_order,
)
from controller.contract.refusals import RejectedError
from controller.contract.retained import Alert
from controller.contract.topics import Topics, within
from controller.journal.schema import JournalUnusableError
from controller.mqtt.connection import Incoming, Message
from controller.tables.device_orders import command_device
from controller.tables.runner import TableRunner
from devices.device import Device

ANSWER = 262_144
"""Bytes of events in one answer to a recall, or fewer where the broker takes less; ``ENVELOPE``:
for the rest of the packet.
"""
ENVELOPE = 4096
CORRELATION = 1024
"""Bytes of correlation data that are returned."""
SILENT = 60.0
"""Seconds between two log lines about discarded commands."""


class ServedTable(msgspec.Struct, frozen=True):
    """One table with all that belongs to it; ``devices`` by id. A device that has said nothing for
    ``silence`` seconds of the table's clock cannot be up.
    """

    runner: TableRunner
    topics: Topics
    devices: dict[str, Device]
    silence: float


class TablesApi:
    """Every table of this daemon, and the node itself."""

    def __init__(
        self,
        node: str,
        boot: str,
        topics: Topics,
        places: Mapping[str, ServedTable],
        response_topics: tuple[str, ...] = (),
    ) -> None:
        self.alerts: dict[str, Alert] = {}
        """What concerns every table but can be in no journal: shown under each table's
        ``alert/<id>``.
        """
        self.node: dict[str, bytes] = {}
        """The node's own retained topics: ``health`` and ``checkpoint``."""
        self.followed = 0
        self.refused = 0
        self.discarded = 0
        """Commands that nobody answered, because too many waited."""
        self.withheld = 0
        """Answers that were not sent where their command wanted them."""
        self._told = -SILENT
        self._response_topics = response_topics
        self._boot = boot
        self._node = node
        self._topics = topics
        self._places = places
        self._was: set[str] = set()
        self._log = structlog.get_logger()

    def status(self, *, online: bool) -> Message:
        """The birth message, or the farewell and last will."""
        body = msgspec.json.encode(NodeStatus("online" if online else "offline", self._boot))
        return Message(self._topics.node(self._node, "status"), body, retain=True)

    def subscriptions(self) -> list[str]:
        """Commands, and our own alerts, because a broker may hold some that were cleared while it
        could not be reached.
        """
        places = self._places.items()
        return [
            topic
            for id, p in places  # noqa: A001
            for topic in (p.topics.command(id), p.topics.table(id, "alert/+"))
        ]

    def own(self) -> list[str]:
        """Our other retained topics, to notice when somebody else publishes there."""
        alerts = tuple(place.topics.table(id, "alert/") for id, place in self._places.items())  # noqa: A001
        return [topic for topic in self.shown() if not topic.startswith(alerts)]

    def is_alert(self, topic: str) -> bool:
        """Whether this is the topic of an alert of one of our tables, known or not."""
        return any(
            topic.startswith(place.topics.table(id, "alert/"))
            for id, place in self._places.items()  # noqa: A001
        )

    def topic(self, table: str, leaf: str) -> str:
        """A topic of a table: ``event``, ``sealed``."""
        place = self._places.get(table)
        return (self._topics if place is None else place.topics).table(table, leaf)

    def retained(self) -> dict[str, bytes | None]:
        """Every retained topic except ``status``, and its body; None clears the
        retained message.
        """
        shown: dict[str, bytes | None] = dict.fromkeys(self._was)
        for id, place in self._places.items():  # noqa: A001
            shown.update(
                (place.topics.table(id, leaf), body) for leaf, body in place.runner.retained.items()
            )
            alerts = {
                place.topics.table(id, f"alert/{name}"): alert
                for name, alert in self.alerts.items()
            }
            shown.update((topic, msgspec.json.encode(alert)) for topic, alert in alerts.items())
            self._was |= alerts.keys()
        return shown | {
            self._topics.node(self._node, leaf): body for leaf, body in self.node.items()
        }

    def shown(self) -> dict[str, bytes | None]:
        """Every retained topic while online, and its body."""
        status = self.status(online=True)
        return {**self.retained(), status.topic: status.payload}

    def command(self, topic: str) -> tuple[str, str] | None:
        """The table and the command that a topic names; None if it is not a command's."""
        for id, place in self._places.items():  # noqa: A001
            if topic.startswith(prefix := place.topics.command(id, "")):
                return id, topic.removeprefix(prefix)
        return None

    def discard(self, table: str, name: str) -> None:
        """Count a command that is not answered because too many are waiting, and log it now and
        then.
        """
        self.discarded += 1
        if time.monotonic() - self._told >= SILENT:
            self._told = time.monotonic()
            self._log.warning(
                "commands are discarded: too many wait",
                table=table,
                command=name[:64],
                discarded=self.discarded,
            )

    async def answer(
        self, table: str, name: str, message: Incoming, largest: int | None = None
    ) -> list[Message]:
        """Follow a command and reply in at most ``largest`` bytes. Whatever goes wrong, the table
        continues.
        """
        if not message.payload:  # somebody cleared a retained command
            return []
        place = self._places[table]
        log = self._log.bind(table=table, command=name[:64])
        sender = Sender()
        try:
            sender, given = read_order(name, message.payload, place.runner.clock())
            if message.retain:
                raise RejectedError("retained_command")
            if isinstance(given, Recall):
                room = min(ANSWER, ANSWER if largest is None else largest - ENVELOPE)
                stored = cast("tuple[AnyEvent, ...]", place.runner.recall(given, room))
                reply = Reply(id=sender.id, ok=True, events=stored)  # as they were written
            else:
                log = log.bind(by=given.by, role=given.role)
                if isinstance(given, DeviceOrder):
                    await command_device(place.runner, place.devices, given)
                else:
                    await place.runner.follow(given)
                reply = Reply(id=sender.id, ok=True)
        except UnreadableCommandError as bad:
            sender, reply = bad.sender, Reply(id=bad.sender.id, ok=False, error=str(bad))
        except RejectedError as no:
            reply = Reply(id=sender.id, ok=False, error=str(no), refusal=no.refusal)
        except JournalUnusableError as no:
            reply = Reply(id=sender.id, ok=False, error=str(no))
        except Exception as error:  # a defect of ours: it costs this command, and nothing else
            where = traceback.extract_tb(error.__traceback__)[-1]
            hidden = place.runner.table.face_down  # its text may hold a card
            told = (
                {"error": type(error).__name__, "where": f"{where.filename}:{where.lineno}"}
                if hidden
                else {"exc_info": error}
            )
            log.error("defect: the daemon failed on a command", **told)
            what = (
                "the daemon failed on this command; its log says how. See what the events say "
                "before you send it again"
            )
            reply = Reply(id=sender.id, ok=False, error=what)
        if reply.ok:
            self.followed += 1
            log.info("command followed")
        else:
            self.refused += 1
            log.info("command refused", reason=reply.error)
        return self._replies(table, place.topics, sender, message, msgspec.json.encode(reply))

    def _replies(
        self, table: str, topics: Topics, sender: Sender, message: Incoming, body: bytes
    ) -> list[Message]:
        replies = []
        if sender.client is not None:
            replies.append(Message(topics.reply(table, sender.client), body))
        wanted = message.response_topic
        if wanted is not None:
            allowed = within(wanted, (topics.table(table, "reply"), *self._response_topics))
            if allowed and len(message.correlation or b"") <= CORRELATION:
                replies.append(Message(wanted, body, answers=message.correlation))
            else:
                self.withheld += 1
                self._log.info("answer withheld", table=table, response_topic=ascii(wanted[:64]))
        return replies
