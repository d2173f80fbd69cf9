"""Builds the messages that the daemon publishes on each topic, and executes commands."""

from __future__ import annotations

import asyncio
import traceback
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import cast

import msgspec
from msgspec.structs import replace

from controller.contract.commands import CommandRefused, Signature
from controller.contract.events import AnyEvent
from controller.contract.node import NodeStatus, PeopleHealth, ReloadHealth, StandbyHealth
from controller.contract.orders import (
    RECALL,
    DeviceOrder,
    Recall,
    Reply,
    Sender,
    UnreadableCommandError,
    client_of,
    read_order,
)
from controller.contract.refusals import RejectedError
from controller.contract.retained import Alert
from controller.contract.times import format_utc
from controller.contract.topics import Topics, level, may_respond_to
from controller.journal.schema import JournalUnusableError
from controller.journal.setup import HandOver
from controller.mqtt.connection import IncomingMessage
from controller.mqtt.jackpots import JackpotFeeds
from controller.mqtt.outgoing import OutgoingMessage
from controller.mqtt.table_claims import AssignedNumbers, TableClaims
from controller.people.gate import CommandGate, signature_by, signature_of
from controller.people.signed_command import claims_of, kid_of
from controller.tables.device_orders import command_device
from controller.tables.runner import NotStoredError, TableRunner
from devices import clock
from devices.device import DeviceSupervisor
from devices.log import structlog

MAX_RECALL_BYTES = 262_144
"""Maximum size of events in one reply to a recall; less if the broker accepts less."""
RESERVED_PACKET_BYTES = 4096
"""Bytes reserved for the rest of that packet."""
MAX_CORRELATION_BYTES = 1024
"""Maximum size of correlation data that is returned."""
UNREADABLE, FAILED = "unreadable", "failed"
"""Reasons of refusals that are no key of a text: the body is no such command; the daemon or its
journal failed.
"""
DISCARD_LOG_SECONDS = 60.0
"""Seconds between two log lines about discarded commands."""
MAX_CLIENTS = 1000
"""Clients whose refused recalls are known; with more, a refusal may be logged again."""


def is_token(body: bytes) -> bool:
    """Return True if a body can be a signed command: it is not a JSON object."""
    return not body.lstrip().startswith(b"{")


def queue_key(body: bytes) -> str | None:
    """Return the queue of a command: the key that it names, or its client."""
    if not is_token(body):
        return client_of(body)
    try:
        return kid_of(body)
    except RejectedError:
        return None


def sender_of(name: str, body: bytes) -> Sender:
    """Return the address of the reply, as far as the body can be read, without verifying a
    signature.
    """
    try:
        claims = claims_of(body)
        return Sender(claims.client, claims.jti)
    except RejectedError:
        pass
    try:
        return read_order(name, body, 0.0)[0]
    except UnreadableCommandError as bad:
        return bad.sender


RETAINED_LEAVES = ("info", "state", "result", "history", "shoe")
"""The retained topics of a table, without its alerts."""


class ServedTable(msgspec.Struct, frozen=True):
    """One table with its runner, topics and devices."""

    runner: TableRunner
    topics: Topics
    devices: dict[str, DeviceSupervisor]
    """The devices by id."""
    silence: float
    """Seconds on the table's clock after which a silent device counts as down."""
    gate: CommandGate | None = None
    """Checks signed commands; None if there are no people."""
    required: bool = True
    """With a gate: whether commands must be signed."""


class TablesApi:
    """The MQTT interface of every table of this daemon, and of the node itself."""

    def __init__(
        self,
        node: str,
        boot: str,
        topics: Topics,
        places: Mapping[str, ServedTable],
        response_topics: tuple[str, ...] = (),
        standby: StandbyHealth | None = None,
    ) -> None:
        self.alerts: dict[str, Alert] = {}
        """Alerts that concern every table but are in no journal, published under each table's
        ``alert/<id>``.
        """
        self.node: dict[str, bytes] = {}
        """The bodies of the node's own retained topics, ``health`` and ``checkpoint``."""
        self.followed = 0
        self.refused = 0
        self._recalls: dict[tuple[str, str | None], str] = {}
        """Why the last recall of a client at a table was refused."""
        self.refusals: dict[str, int] = {}
        """The refused commands by reason: the key of the refusal, or :data:`UNREADABLE` and
        :data:`FAILED`.
        """
        self.people: PeopleHealth | None = None
        """Who may act; None if no signature is required."""
        self.reload: ReloadHealth | None = None
        """The last reload of the configuration."""
        self.discarded = 0
        """Commands discarded unanswered because too many were waiting."""
        self.withheld = 0
        """Answers not sent to the response topic that their command named."""
        self._last_discard_log = -DISCARD_LOG_SECONDS
        self.standby = standby
        """By which right the daemon of a pair serves the tables."""
        self.claims = TableClaims(
            node,
            boot,
            {table: place.topics for table, place in places.items()},
            leased=standby is not None,
            numbers=self._numbers,
        )
        self.jackpots = JackpotFeeds((place.topics, place.runner) for place in places.values())
        self.boot = boot
        self._response_topics = response_topics
        self._node = node
        self._topics = topics
        self._places = places
        self._was: set[str] = set()
        """The alerts of :attr:`alerts` that were ever published."""
        self._held: dict[str, asyncio.Event] = {}
        """Tables whose commands wait, and what they wait for."""
        self._answering: Counter[str] = Counter()
        """By table, the commands that are being answered."""
        self._answered: dict[str, asyncio.Event] = {}
        """By table, who waits until none is."""
        self._gone: dict[str, Topics] = {}
        """The topics of removed tables: their events may still be due."""
        self._log = structlog.get_logger()

    def status(self, *, online: bool) -> OutgoingMessage:
        """The node's status message: the birth if ``online``, else the farewell and last will."""
        body = msgspec.json.encode(NodeStatus("online" if online else "offline", self.boot))
        return OutgoingMessage(self._topics.node(self._node, "status"), body, retain=True)

    async def pause_commands(self, table: str) -> None:
        """Hold back new commands to a table until :meth:`resume_commands`, and return when the
        earlier ones are answered.
        """
        self._held.setdefault(table, asyncio.Event())
        if self._answering[table]:
            await self._answered.setdefault(table, asyncio.Event()).wait()

    def resume_commands(self, table: str) -> None:
        """Release the held-back commands to a table."""
        if (held := self._held.pop(table, None)) is not None:
            held.set()

    def leave(self, table: str) -> None:
        """Prepare a table for its removal or replacement."""
        self._gone[table] = self._places[table].topics
        self.jackpots.remove(table)

    def join(self, table: str) -> None:
        """Add a table that was placed."""
        self._gone.pop(table, None)
        place = self._places[table]
        self.jackpots.add(place.topics, place.runner)

    def subscriptions(self, tables: Iterable[str] | None = None) -> list[str]:
        """The topics of commands and of our own alerts, by default of all tables. The broker may
        still hold alerts that were cleared while it was unreachable.
        """
        return [
            topic
            for table in (self._places if tables is None else tables)
            for topic in (self.topic(table, "command/+"), self.topic(table, "alert/+"))
        ]

    def alerts_of(self, tables: Iterable[str]) -> list[str]:
        """The topics of all alerts of these tables."""
        return [self.topic(table, "alert/+") for table in tables]

    def echo_topics(self, tables: Iterable[str] | None = None) -> list[str]:
        """The topics of these tables, by default of all, that are read only to see whether what we
        publish there comes back.
        """
        return [
            self.topic(table, leaf)
            for table in (self._places if tables is None else tables)
            for leaf in (
                "event",
                *(["sealed"] if self._places[table].runner.table.face_down else []),
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
        """Our other retained topics, watched for messages that another client publishes there."""
        found = [*self.node_retained(), self.status(online=True).topic]
        for table in self._places:
            found += self.own_topics_of(table)
        return found

    def own_topics_of(self, table: str) -> list[str]:
        """Return the same for one table."""
        alerts = self.topic(table, "alert/")
        return [topic for topic in self.retained(table) if not topic.startswith(alerts)]

    def is_elsewhere(self, topic: str) -> bool:
        """Return True if this topic is of a table that another daemon has."""
        found = self._find(topic)
        return found is not None and not self.claims.has(found[0])

    def is_alert(self, topic: str) -> bool:
        """Whether this topic is an alert of one of our tables, whether or not we know the alert."""
        found = self._find(topic)
        return found is not None and found[1].startswith("alert/")

    def _numbers(self, table: str) -> AssignedNumbers:
        """The highest numbers that were given at that table."""
        place = self._places.get(table)
        if place is None:
            return AssignedNumbers()
        known = place.runner.table
        return AssignedNumbers(known.session, known.readings if known.face_down else 0)

    def take_over(self, tables: Collection[str]) -> dict[str, str]:
        """Take over these tables: each that another daemon had in between continues beyond its
        numbers, and reports so first. Gives those, with the node of that daemon.
        """
        told = {}
        for table in tables:
            former = self.claims.former_holder(table)
            if former is None or table not in self._places:
                continue
            now = clock.wall()
            numbers = former.numbers
            self._places[table].runner.take_over(
                HandOver(
                    instance=former.node,
                    boot=former.boot,
                    since=format_utc(now - max(0.0, clock.monotonic() - former.last_received)),
                    at=format_utc(now),
                    sessions={table: numbers.session},
                    readings={table: numbers.reading},
                )
            )
            told[table] = former.node
        return told

    def topic(self, table: str, leaf: str) -> str:
        """The full topic of a table's ``leaf``, such as ``event`` or ``sealed``."""
        place = self._places.get(table)
        gone = self._gone.get(table, self._topics)
        return (gone if place is None else place.topics).table(table, leaf)

    @property
    def tables(self) -> Iterable[str]:
        """The ids of all tables."""
        return self._places.keys()

    def retained(self, table: str) -> dict[str, bytes | None]:
        """The body of every retained topic of a table; None clears the retained message."""
        place = self._places[table]
        self._was |= self.alerts.keys()
        bodies = {f"alert/{name}": self._alert(name) for name in self._was}
        bodies.update(place.runner.retained)
        return {place.topics.table(table, leaf): body for leaf, body in bodies.items()}

    def node_retained(self) -> dict[str, bytes | None]:
        """Return the node's retained topics, without its ``status``."""
        return {self._topics.node(self._node, leaf): body for leaf, body in self.node.items()}

    def shown(self, topic: str) -> dict[str, bytes | None]:
        """A retained topic with its body while the node is online; empty if it is not this
        daemon's.
        """
        if (found := self._find(topic)) is not None:
            bodies = self.retained(found[0])
        else:
            status = self.status(online=True)
            bodies = {**self.node_retained(), status.topic: status.payload}
        return {topic: bodies[topic]} if topic in bodies else {}

    def command(self, topic: str) -> tuple[str, str] | None:
        """The table and command that a topic names; None if it is not a command topic."""
        found = self._find(topic)
        if found is None or not found[1].startswith("command/"):
            return None
        return found[0], found[1].removeprefix("command/")

    def _find(self, topic: str) -> tuple[str, str] | None:
        """The table of a topic, and what follows the table's name in it."""
        root, version, site, table, leaf = (topic.split("/", 4) + [""] * 5)[:5]
        place = self._places.get(table)
        if place is None or f"{root}/{version}/{site}" != place.topics.root:
            return None
        return table, leaf

    def _alert(self, name: str) -> bytes | None:
        alert = self.alerts.get(name)
        return None if alert is None else msgspec.json.encode(alert)

    def discard(self, table: str, name: str) -> None:
        """Count a command discarded because too many are waiting, and log at most one per
        :data:`DISCARD_LOG_SECONDS` seconds.
        """
        self.discarded += 1
        if clock.monotonic() - self._last_discard_log >= DISCARD_LOG_SECONDS:
            self._last_discard_log = clock.monotonic()
            self._log.warning(
                "commands are discarded: too many wait",
                table=table,
                command=name[:64],
                discarded=self.discarded,
            )

    async def answer(
        self, table: str, name: str, message: IncomingMessage, largest: int | None = None
    ) -> list[OutgoingMessage]:
        """Follow a command and return the replies, each in a packet of at most ``largest`` bytes.
        No failure stops the table.
        """
        if not message.payload:  # another client cleared a retained command
            return []
        while (held := self._held.get(table)) is not None:
            await held.wait()
        place = self._places.get(table)
        if place is None:
            self._log.info("command not answered: the table was removed", table=table)
            return []
        self._answering[table] += 1
        try:
            return await self._answer(place, table, name, message, largest)
        finally:
            self._answering[table] -= 1
            if not self._answering[table] and (done := self._answered.pop(table, None)) is not None:
                done.set()

    async def _answer(
        self,
        place: ServedTable,
        table: str,
        name: str,
        message: IncomingMessage,
        largest: int | None,
    ) -> list[OutgoingMessage]:
        log = self._log.bind(table=table, command=name[:64])
        sender, why = Sender(), FAILED
        proof: Signature | None = None
        try:
            if place.gate is None or not (place.required or is_token(message.payload)):
                sender, given = read_order(name, message.payload, place.runner.clock())
                if message.retain:
                    raise RejectedError("retained_command")
                signed: tuple[Signature, ...] = ()
            else:
                sender = sender_of(name, message.payload)
                if message.retain:
                    raise RejectedError("retained_command")
                now, at = clock.wall(), place.runner.clock()
                by = place.gate.verify(message.payload, now)
                log = log.bind(by=by.person.name, role=by.claims.role)
                proof = signature_of(by, message.payload)
                standing = place.runner.table.preview
                passed = place.gate.permit(by, message.payload, name, now, at, standing)
                given, signed = passed.command, passed.signed
            if isinstance(given, Recall):
                room = min(
                    MAX_RECALL_BYTES,
                    MAX_RECALL_BYTES if largest is None else largest - RESERVED_PACKET_BYTES,
                )
                stored = cast("tuple[AnyEvent, ...]", await _recall(place, given, room))
                chain = place.runner.chain(given) if given.positions else None
                reply = Reply(id=sender.id, ok=True, events=stored, chain=chain)  # as stored
            else:
                log = log.bind(by=given.by, role=given.role)
                if isinstance(given, DeviceOrder):
                    await command_device(place.runner, place.devices, given, signed)
                else:
                    await place.runner.execute(replace(given, signed=signed))
                reply = Reply(id=sender.id, ok=True)
        except UnreadableCommandError as bad:
            sender = sender if proof else bad.sender
            reply, why = Reply(id=sender.id, ok=False, error=str(bad)), UNREADABLE
        except NotStoredError as no:  # it may still be followed
            why, proof = no.refusal.key, None
            reply = Reply(id=sender.id, ok=False, error=str(no), refusal=no.refusal)
        except RejectedError as no:
            why = no.refusal.key
            reply = Reply(id=sender.id, ok=False, error=str(no), refusal=no.refusal)
        except JournalUnusableError as no:
            reply = Reply(id=sender.id, ok=False, error=str(no))
        except Exception as error:  # our own defect: only this command fails
            where = traceback.extract_tb(error.__traceback__)[-1]
            hidden = place.runner.table.face_down  # the error's text may reveal a card
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
        else:
            self.refused += 1
            self.refusals[why] = self.refusals.get(why, 0) + 1
        if name != RECALL or self._is_news((table, sender.client), reply.error):
            if reply.ok:
                log.info("command followed")
            else:
                # the text of a refusal can name persons
                unread = {"reason": reply.error} if why == UNREADABLE else {}
                log.info("command refused", refusal=why, **unread)
        if not reply.ok and proof is not None:
            _store_refusal(place, proof, why)
        return self._replies(table, place.topics, sender, message, msgspec.json.encode(reply))

    def _is_news(self, asking: tuple[str, str | None], error: str | None) -> bool:
        """Whether a recall is refused otherwise than the last one of that client at that table, or
        no longer. Recorders ask four times a minute: that each is answered is not news.
        """
        if error == self._recalls.get(asking):
            return False
        if len(self._recalls) >= MAX_CLIENTS:
            self._recalls.clear()
        if error is None:
            self._recalls.pop(asking, None)
        else:
            self._recalls[asking] = error
        return True

    def expired_replies(
        self, now: float, tables: Iterable[str] | None = None
    ) -> list[OutgoingMessage]:
        """The replies to the first persons of commands that no second person gave in time (``now``:
        seconds since 1970), or whose round or session has changed since, at these tables, by
        default at all. They are counted and kept as refused.
        """
        messages = []
        for table in self._places if tables is None else tables:
            place = self._places[table]
            gate, standing = place.gate, place.runner.table.preview
            for each in gate.expired(now, standing) if gate is not None else ():
                token = each.first.token.encode()
                claims, refusal = claims_of(token), RejectedError(each.over).refusal
                name = level(claims.command)
                self.refusals[refusal.key] = self.refusals.get(refusal.key, 0) + 1
                self._log.info("no second person", table=table, command=name, by=each.first.name)
                if (first := signature_by(each.first)) is not None:
                    _store_refusal(place, first, refusal.key)
                if claims.client is not None:
                    reply = Reply(id=claims.jti, ok=False, error=refusal.error(), refusal=refusal)
                    topic = place.topics.reply(table, claims.client)
                    messages.append(OutgoingMessage(topic, msgspec.json.encode(reply)))
        return messages

    def _replies(
        self, table: str, topics: Topics, sender: Sender, message: IncomingMessage, body: bytes
    ) -> list[OutgoingMessage]:
        replies = []
        if sender.client is not None:
            replies.append(OutgoingMessage(topics.reply(table, sender.client), body))
        wanted = message.response_topic
        if wanted is not None:
            allowed = may_respond_to(wanted, (topics.table(table, "reply"), *self._response_topics))
            if allowed and len(message.correlation or b"") <= MAX_CORRELATION_BYTES:
                replies.append(OutgoingMessage(wanted, body, answers=message.correlation))
            else:
                self.withheld += 1
                self._log.info("answer withheld", table=table, response_topic=ascii(wanted[:64]))
        return replies


async def _recall(place: ServedTable, given: Recall, room: int) -> tuple[msgspec.Raw, ...]:
    """The events that are stored. The end of the events is reported only when everything that was
    accepted before is stored. Raises :class:`RejectedError`.
    """
    found = place.runner.recall(given, room)
    if not found:
        if not await place.runner.wait_stored():
            raise RejectedError("not_stored_yet")
        found = place.runner.recall(given, room)
    return found


def _store_refusal(place: ServedTable, proof: Signature, why: str) -> None:
    """Store in the journal that a command of a known person was refused."""
    refused = CommandRefused(
        at=place.runner.clock(),
        by=proof.name,
        role=proof.role,
        command=claims_of(proof.token.encode()).command,
        refusal=why,
        signed=(proof,),
    )
    place.runner.store_refusal(refused)
