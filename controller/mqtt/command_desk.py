"""Executes commands, and answers each."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TypedDict, cast

import msgspec
from msgspec.structs import replace

from common import clock
from common.chain.schema import JournalUnusableError
from common.contract.commands import AnyCommand, CommandRefused, Signature
from common.contract.events import AnyEvent
from common.contract.orders import (
    RECALL,
    DeviceOrder,
    Recall,
    Reply,
    Sender,
    UnreadableCommandError,
    client_of,
    read_order,
)
from common.contract.refusals import RejectedError
from common.contract.topics import Topics, level, may_respond_to
from common.errors import error_fields
from common.log import structlog
from common.people.signed_command import claims_of, kid_of
from common.people.two_persons import CommandSigner
from controller.mqtt.connection import IncomingMessage
from controller.mqtt.outgoing import OutgoingMessage
from controller.mqtt.served_table import ServedTable
from controller.people.gate import signature_by, signature_of
from controller.tables.device_orders import command_device
from controller.tables.runner import NotStoredError

MAX_RECALL_BYTES = 262_144
"""Maximum size of events in one reply to a recall; less if the broker accepts less."""
RESERVED_PACKET_BYTES = 4096
"""Bytes reserved for the rest of that packet."""
MAX_CORRELATION_BYTES = 1024
"""Maximum size of correlation data that is returned."""
UNREADABLE, FAILED = "unreadable", "failed"
"""Reasons of refusals without a text: the body is not such a command; the daemon or its journal
failed.
"""
DEFECT_REPLY = (
    "the daemon failed on this command; its log says how. See what the events say before you send "
    "it again"
)
DISCARD_LOG_SECONDS = 60.0
"""Seconds between two log lines about discarded commands."""
MAX_CLIENTS = 1000
"""Maximum clients whose refused recalls are remembered; with more, one may be logged again."""


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
    """Return the address of the reply to a command that is not verified, as far as its body can be
    read.
    """
    try:
        claims = claims_of(body)
        return Sender(claims.client, claims.jti)
    except RejectedError:
        pass
    try:
        return read_order(name, body, 0.0)[0]
    except UnreadableCommandError as error:
        return error.sender


class CommandsHealth(TypedDict):
    """The part of the retained ``health`` about commands."""

    commands_followed: int
    commands_refused: int
    refusals: dict[str, int]
    commands_discarded: int
    answers_withheld: int


class CommandDesk:
    """The commands to every table of this daemon. ``response_topics``: those that a command may
    name for its reply.
    """

    def __init__(
        self, *, served: Mapping[str, ServedTable], response_topics: tuple[str, ...]
    ) -> None:
        self.followed = 0
        self.refused = 0
        self._recalls: dict[tuple[str, str | None], str] = {}
        """By table and client, why its last recall was refused."""
        self.refusals: dict[str, int] = {}
        """The refused commands by reason: the key of the refusal, or :data:`UNREADABLE` and
        :data:`FAILED`.
        """
        self.discarded = 0
        """Commands discarded unanswered because too many were waiting."""
        self.withheld = 0
        """Replies not sent to the response topic that their command named."""
        self._last_discard_log = -DISCARD_LOG_SECONDS
        self._served = served
        self._response_topics = response_topics
        self._paused: dict[str, asyncio.Event] = {}
        """By table whose commands are paused, the event that they wait for."""
        self._in_progress: Counter[str] = Counter()
        """By table, the commands that are being answered."""
        self._idle: dict[str, asyncio.Event] = {}
        """By table, the event that is set when no command is in progress."""
        self._log = structlog.get_logger()

    def health(self) -> CommandsHealth:
        """Return the desk's part of the retained ``health``."""
        return {
            "commands_followed": self.followed,
            "commands_refused": self.refused,
            "refusals": dict(self.refusals),
            "commands_discarded": self.discarded,
            "answers_withheld": self.withheld,
        }

    async def pause(self, table: str) -> None:
        """Delay new commands to a table until :meth:`resume`. Returns when the earlier
        ones are answered.
        """
        self._paused.setdefault(table, asyncio.Event())
        if self._in_progress[table]:
            await self._idle.setdefault(table, asyncio.Event()).wait()

    def resume(self, table: str) -> None:
        """Execute the delayed commands to a table."""
        if (resumed := self._paused.pop(table, None)) is not None:
            resumed.set()

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
        """Execute a command and return the replies, each in a packet of at most ``largest`` bytes.
        A failure affects only this command.
        """
        if not message.payload:  # another client cleared a retained command
            return []
        while (resumed := self._paused.get(table)) is not None:
            await resumed.wait()
        served = self._served.get(table)
        if served is None:
            self._log.info("command not answered: the table was removed", table=table)
            return []
        self._in_progress[table] += 1
        try:
            return await self._answer(served, table, name, message, largest)
        finally:
            self._in_progress[table] -= 1
            if not self._in_progress[table] and (done := self._idle.pop(table, None)) is not None:
                done.set()

    async def _answer(
        self,
        served: ServedTable,
        table: str,
        name: str,
        message: IncomingMessage,
        largest: int | None,
    ) -> list[OutgoingMessage]:
        log = self._log.bind(table=table, command=name[:64])
        sender, reason = Sender(), FAILED
        signature: Signature | None = None
        first: CommandSigner | None = None
        try:
            if served.gate is None or not (served.required or is_token(message.payload)):
                sender, command = read_order(name, message.payload, served.runner.clock())
                if message.retain:
                    raise RejectedError("retained_command")
                signed: tuple[Signature, ...] = ()
            else:
                now, at = clock.wall(), served.runner.clock()
                try:
                    if message.retain:
                        raise RejectedError("retained_command")
                    verified = served.gate.verify(message.payload, now)
                except Exception:
                    sender = sender_of(name, message.payload)
                    raise
                sender = Sender(verified.claims.client, verified.claims.jti)
                log = log.bind(by=verified.person.name, role=verified.claims.role)
                signature = signature_of(verified, message.payload)
                preview = served.runner.table.preview
                permitted = served.gate.permit(verified, message.payload, name, now, at, preview)
                command, signed = permitted.command, permitted.signed
                first = permitted.first if permitted.second is not None else None
            if not isinstance(command, Recall):
                log = log.bind(by=command.by, role=command.role)
            reply = await _execute(served, command, signed, sender, largest)
        except UnreadableCommandError as error:
            sender = error.sender if sender.id is None else sender
            reply, reason = Reply(id=sender.id, ok=False, error=str(error)), UNREADABLE
        except NotStoredError as error:  # it may still be executed
            reason, signature = error.refusal.key, None
            reply = Reply(id=sender.id, ok=False, error=str(error), refusal=error.refusal)
        except RejectedError as error:
            reason = error.refusal.key
            reply = Reply(id=sender.id, ok=False, error=str(error), refusal=error.refusal)
        except JournalUnusableError as error:
            reply = Reply(id=sender.id, ok=False, error=str(error))
        except Exception as error:  # a bug: only this command fails
            fields = error_fields(error, confidential=served.runner.table.face_down)
            log.error("defect: the daemon failed on a command", **fields)
            reply = Reply(id=sender.id, ok=False, error=DEFECT_REPLY)
        self._count(reply, reason)
        if name != RECALL or self._is_new_outcome((table, sender.client), reply.error):
            _log_outcome(log, reply, reason)
        if not reply.ok and signature is not None:
            _store_refusal(served, signature, reason)
        replies = self._replies(table, served.topics, sender, message, msgspec.json.encode(reply))
        return replies if first is None else [*replies, *_first_reply(served, table, first, reply)]

    def _count(self, reply: Reply, reason: str) -> None:
        if reply.ok:
            self.followed += 1
        else:
            self.refused += 1
            self.refusals[reason] = self.refusals.get(reason, 0) + 1

    def _is_new_outcome(self, client: tuple[str, str | None], error: str | None) -> bool:
        """Return True if the result of a recall differs from the last one of that table and client.
        Recorders send four recalls a minute; equal results are logged once.
        """
        if error == self._recalls.get(client):
            return False
        if len(self._recalls) >= MAX_CLIENTS:
            self._recalls.clear()
        if error is None:
            self._recalls.pop(client, None)
        else:
            self._recalls[client] = error
        return True

    def expired_replies(
        self, now: float, tables: Iterable[str] | None = None
    ) -> list[OutgoingMessage]:
        """Return the replies to the first signers of commands that no second person signed in time
        (``now``: seconds since 1970), or whose round or session has changed since, at these tables,
        by default at all. They are counted and stored as refused.
        """
        messages = []
        for table in self._served if tables is None else tables:
            served = self._served[table]
            gate, preview = served.gate, served.runner.table.preview
            for each in gate.expired(now, preview) if gate is not None else ():
                refusal = RejectedError(each.over).refusal
                name = level(claims_of(each.first.token.encode()).command)
                self.refusals[refusal.key] = self.refusals.get(refusal.key, 0) + 1
                self._log.info("no second person", table=table, command=name, by=each.first.name)
                if (first := signature_by(each.first)) is not None:
                    _store_refusal(served, first, refusal.key)
                reply = Reply(id=None, ok=False, error=refusal.error(), refusal=refusal)
                messages += _first_reply(served, table, each.first, reply)
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


def _first_reply(
    served: ServedTable, table: str, first: CommandSigner, reply: Reply
) -> list[OutgoingMessage]:
    """Return the second reply to the first signer of a command: its outcome."""
    claims = claims_of(first.token.encode())
    if claims.client is None:
        return []
    body = msgspec.json.encode(replace(reply, id=claims.jti))
    return [OutgoingMessage(served.topics.reply(table, claims.client), body)]


def _log_outcome(log: structlog.stdlib.BoundLogger, reply: Reply, reason: str) -> None:
    if reply.ok:
        log.info("command followed")
    else:
        # the text of a refusal can name persons
        detail = {"reason": reply.error} if reason == UNREADABLE else {}
        log.info("command refused", refusal=reason, **detail)


async def _execute(
    served: ServedTable,
    command: AnyCommand | Recall | DeviceOrder,
    signed: tuple[Signature, ...],
    sender: Sender,
    largest: int | None,
) -> Reply:
    """Execute a permitted command. ``largest``: maximum bytes of the reply's packet. Raises
    :class:`RejectedError` and ``JournalUnusableError``.
    """
    if isinstance(command, Recall):
        room = min(
            MAX_RECALL_BYTES,
            MAX_RECALL_BYTES if largest is None else largest - RESERVED_PACKET_BYTES,
        )
        stored = cast("tuple[AnyEvent, ...]", await _recall(served, command, room))
        chain = served.runner.stored.chain(command) if command.positions else None
        return Reply(id=sender.id, ok=True, events=stored, chain=chain)  # as stored
    if isinstance(command, DeviceOrder):
        await command_device(served.runner, served.devices, command, signed)
    else:
        await served.runner.execute(replace(command, signed=signed))
    return Reply(id=sender.id, ok=True)


async def _recall(served: ServedTable, recall: Recall, room: int) -> tuple[msgspec.Raw, ...]:
    """Return the stored events that the recall asks for. The result is empty only once everything
    accepted before is stored. Raises :class:`RejectedError`.
    """
    events = served.runner.stored.recall(recall, room)
    if not events:
        if not await served.runner.wait_stored():
            raise RejectedError("not_stored_yet")
        events = served.runner.stored.recall(recall, room)
    return events


def _store_refusal(served: ServedTable, signature: Signature, reason: str) -> None:
    """Store in the journal that a command of a known person was refused."""
    refused = CommandRefused(
        at=served.runner.clock(),
        by=signature.name,
        role=signature.role,
        command=claims_of(signature.token.encode()).command,
        refusal=reason,
        signed=(signature,),
    )
    served.runner.store_refusal(refused)
