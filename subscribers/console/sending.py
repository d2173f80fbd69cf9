"""Sends the commands that people give: each is signed, sent once, and its reply awaited.

The page gives each touch a number, and a command is sent at most once under it, however often the
page asks. A command that was sent without a reply is never sent again: the daemon's own events,
which name the signer, are recalled to find out whether it was executed. Until then its outcome is
reported as unknown.
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal

import aiomqtt
import msgspec
from msgspec.structs import replace

from common import clock, randomness
from common.broker.client import BrokerClient
from common.broker.reconnecting import keep_connected
from common.contract.orders import RECALL
from common.contract.refusals import Refusal
from common.contract.topics import Topics
from common.log import structlog
from common.people.register import Person
from common.people.signed_command import Claims, prepare, sign
from subscribers.console.sessions import Session
from subscribers.feed.recall_key import sign_recall
from subscribers.feed.tables import BrokerLogin

COMMAND_LIFETIME_SECONDS = 30
"""Validity of a signed command."""
REPLY_TIMEOUT_SECONDS = 6.0
"""Time within which a reply is expected; a later one still counts."""
CONFIRMATION_TIMEOUT_SECONDS = 5.0
"""Time within which the broker confirms a connection, subscription or command."""
MAX_TOUCHES = 2000
"""Touches that are remembered, of all sessions together."""
TOUCH_NUMBER = re.compile(r"[A-Za-z0-9_-]{16,64}")
PENDING_STATES = ("sending", "sent")
_CLIENT = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SIGNED_ALREADY = "signed_already"
"""The refusal of another copy of a command. Each is sent once from here, but a broker may deliver
it twice, and anyone who may send commands can send it again. It does not say what became of the
first copy.
"""
_SECOND_PERSON_WANTED = "second_person_wanted"

TouchState = Literal["sending", "sent", "followed", "refused", "waiting", "unknown", "unsent"]
"""State of a touch. ``sending``: not yet confirmed by the broker. ``waiting``: for the second
person. ``unknown``: sent, but no reply. ``unsent``: there was no connection, and nothing left this
server.
"""


class Touch(msgspec.Struct, frozen=True, kw_only=True):
    """A command that a person gave by touching."""

    number: str
    person: Person
    table: str
    command: str
    fields: dict[str, Any]
    role: Any
    how: TouchState
    at: float
    """Seconds since 1970."""
    boot: str = ""
    """Boot of the last event of the table that was known then."""
    seq: int = 0
    refusal: Refusal | None = None
    error: str | None = None
    receipt: int | None = None
    """The number of the receipt, if money was paid."""
    events: tuple[str, ...] = ()
    """Types of later events that this person signed: all that is known of a command without a
    reply.
    """
    asked: bool = False
    """True if the daemon has answered which events those are."""


class _CommandReply(msgspec.Struct):
    """The fields of a reply that are used here; of events only who signed them."""

    id: Any
    ok: bool
    error: str | None = None
    refusal: Refusal | None = None
    judged: bool = False
    receipt: int | None = None
    events: list[_SignedEvent] | None = None


class _SignedEvent(msgspec.Struct):
    type: str
    boot: str
    seq: int
    signed_by: list[_EventSigner] = []


class _EventSigner(msgspec.Struct):
    id: str


class SecondPersonWait(msgspec.Struct, frozen=True, kw_only=True):
    """A command that waits for a second person."""

    touch: Touch
    roles: tuple[str, ...]
    until: float
    """End of the wait in seconds, on the clock of ``CommandSender``."""
    left: float = 0.0
    """Remaining seconds when drawn."""


class CommandSender:
    """The connection for commands. ``tables``: topics by table, those of a jackpot under
    ``jackpot/<id>``; ``mute``: those of them without events to recall. ``changed(table)`` is called
    when a touch changed; ``now``: seconds since 1970; ``clock``: monotonic seconds.
    """

    def __init__(
        self,
        login: BrokerLogin,
        tables: Mapping[str, Topics],
        changed: Callable[[str], None],
        now: Callable[[], float],
        mute: Collection[str] = (),
        clock: Callable[[], float] = clock.monotonic,
    ) -> None:
        self._clock = clock
        self._login, self._tables, self._changed, self._now = login, tables, changed, now
        self._mute = frozenset(mute)
        user = login.username or ""
        self._client = (
            user if _CLIENT.fullmatch(user) else f"console-{randomness.token_urlsafe(12)}"
        )
        self._broker: BrokerClient | None = None
        self._answers: dict[str, asyncio.Future[_CommandReply]] = {}
        self._queries: set[asyncio.Task[None]] = set()
        self._queried: set[str] = set()
        """Numbers of the touches whose outcome is being queried."""
        self._logged_reason = ""
        self._log = structlog.get_logger()
        self.touches: OrderedDict[str, Touch] = OrderedDict()
        self.waits: dict[str, SecondPersonWait] = {}
        """Commands that wait for a second person, by the number of the first person's touch."""
        prepare()

    async def run(self) -> None:
        """Connect, and reconnect until cancelled."""
        await keep_connected(self._login, self._make_client, self._serve, self._on_loss)

    def _make_client(self, url: str) -> BrokerClient:
        return BrokerClient(
            replace(self._login, url=url),
            protocol=aiomqtt.ProtocolVersion.V311,
            keepalive=10,
            timeout=CONFIRMATION_TIMEOUT_SECONDS,
        )

    async def _serve(self, client: BrokerClient) -> None:
        try:
            subscriptions = [
                (topics.reply(table, self._client), 0)  # as in subscribers/feed/tables.py
                for table, topics in self._tables.items()
            ]
            await client.subscribe(subscriptions)
            self._broker, self._logged_reason = client, ""
            self._changed_all()
            async for message in client.messages:
                body = message.payload if isinstance(message.payload, bytes) else b""
                self._on_reply(str(message.topic), body)
        finally:
            self._broker = None

    def _on_loss(self, reason: str) -> None:
        if reason != self._logged_reason:
            self._logged_reason = reason
            self._log.warning("no connection for commands", reason=reason)
        self._changed_all()

    @property
    def up(self) -> bool:
        """True if a command can be sent now."""
        return self._broker is not None

    async def send_and_wait(
        self,
        session: Session,
        number: str,
        table: str,
        command: str,
        fields: dict[str, Any],
        role: Any,
        known: tuple[str, int],
    ) -> Touch:
        """Send a command and wait for its reply."""
        await self.send(session, number, table, command, fields, role, known)
        return await self.wait_for_reply(number)

    async def send(
        self,
        session: Session,
        number: str,
        table: str,
        command: str,
        fields: dict[str, Any],
        role: Any,
        known: tuple[str, int],
    ) -> Touch:
        """Send a command unless one with this number was sent before.

        ``known``: boot and number of the last known event of the table.
        """
        touch = self.touches.get(number)
        if touch is None:
            touch = self._remember(
                Touch(
                    number=number,
                    person=session.person,
                    table=table,
                    command=command,
                    fields=fields,
                    role=role,
                    how="sending",
                    at=self._now(),
                    boot=known[0],
                    seq=known[1],
                )
            )
            body = self._sign(session, touch)
            self._answers[number] = asyncio.get_running_loop().create_future()
            await self._publish(touch, body)
        return self.touches[number]

    async def wait_for_reply(self, number: str) -> Touch:
        """Return the outcome of a sent command as soon as it is known, at the latest when the reply
        timed out.
        """
        reply = self._answers.get(number)
        if reply is not None and self.touches[number].how in PENDING_STATES:
            await asyncio.wait([reply], timeout=REPLY_TIMEOUT_SECONDS)
        if self.touches[number].how in PENDING_STATES:
            self._update(replace(self.touches[number], how="unknown"))
            self._log.warning("a command has no answer", **self._log_fields(self.touches[number]))
        return self.touches[number]

    def waiting_at(self, table: str) -> tuple[SecondPersonWait, ...]:
        """Return what waits for a second person at a table."""
        now = self._clock()
        for number in [
            touch_number for touch_number, wait in self.waits.items() if wait.until <= now
        ]:
            del self.waits[number]
        return tuple(
            replace(wait, left=wait.until - now)
            for wait in self.waits.values()
            if wait.touch.table == table
        )

    def touches_of(self, session: Session, table: str) -> tuple[Touch, ...]:
        """Return the remembered touches of a session at a table, newest first."""
        return tuple(
            touch
            for number, touch in reversed(self.touches.items())
            if number.startswith(session.tag) and touch.table == table
        )

    def query_outcomes(self, sessions: Sequence[Session]) -> None:
        """Query the daemon for the outcomes of commands without a reply, if connected."""
        if not self.up:
            return
        for touch in [
            touch_
            for touch_ in self.touches.values()
            if touch_.how == "unknown" and not touch_.asked
        ]:
            if touch.table in self._mute or touch.number in self._queried:
                continue
            session = next(
                (candidate for candidate in sessions if touch.number.startswith(candidate.tag)),
                None,
            )
            if session is not None:
                self._queried.add(touch.number)
                task = asyncio.create_task(self._query_outcome(session, touch))
                self._queries.add(task)
                task.add_done_callback(self._queries.discard)

    async def signed_events(
        self, session: Session, table: str, boot: str, seq: int
    ) -> tuple[str, ...] | None:
        """Return the types of a table's events after this one that this person signed; None if the
        daemon did not reply. The query changes nothing.
        """
        if table in self._mute:
            return None
        broker = self._broker
        if broker is None or not session.alive:
            return None
        number = f"{session.tag}-r{randomness.token_hex(6)}"
        topics = self._tables[table]
        body = sign_recall(
            session.key,
            session.person.id,
            session.person.roles[0],
            topic=f"{topics.root}/{table}",
            fields={"boot": boot, "from": seq + 1, "onward": True},
            client=self._client,
            number=number,
            now=int(self._now()),
        )
        self._answers[number] = asyncio.get_running_loop().create_future()
        try:
            await broker.publish(topics.command(table, RECALL), body, qos=1)
            async with asyncio.timeout(REPLY_TIMEOUT_SECONDS):
                reply = await self._answers[number]
        except (aiomqtt.MqttError, TimeoutError):
            return None
        finally:
            del self._answers[number]
        if not reply.ok or reply.events is None:
            return None
        return tuple(
            event.type
            for event in reply.events
            if session.person.id in {signer.id for signer in event.signed_by}
        )

    async def _query_outcome(self, session: Session, touch: Touch) -> None:
        try:
            events = await self.signed_events(session, touch.table, touch.boot, touch.seq)
            if events is None:
                await clock.sleep(1.0)  # the daemon may have just come back
        finally:
            self._queried.discard(touch.number)
        current = self.touches.get(touch.number)
        if current is not None and events is not None:  # else it is queried at the next beat
            self._update(replace(current, asked=True, events=events))

    async def _publish(self, touch: Touch, body: bytes) -> None:
        """Publish a command once. If the handover to the broker fails, it may have been sent."""
        broker, topics = self._broker, self._tables[touch.table]
        if broker is None:
            self._update(replace(touch, how="unsent"))
            return
        self._log.info("command sent", **self._log_fields(touch))
        try:
            await broker.publish(topics.command(touch.table, touch.command), body, qos=1)
            state: TouchState = "sent"
        except aiomqtt.MqttError:
            state = "unknown"
        current = self.touches[touch.number]
        if current.how == "sending":  # the reply may have arrived already
            self._update(replace(current, how=state))

    def _sign(self, session: Session, touch: Touch) -> bytes:
        now = int(self._now())
        claims = Claims(
            iss=touch.person.id,
            aud=f"{self._tables[touch.table].root}/{touch.table}",
            iat=now,
            exp=now + COMMAND_LIFETIME_SECONDS,
            jti=touch.number,
            command=touch.command,
            role=touch.role,
            fields=touch.fields,
            client=self._client,
        )
        return sign(session.key, claims).encode()

    def _on_reply(self, topic: str, body: bytes) -> None:
        try:
            reply = msgspec.json.decode(body, type=_CommandReply)
        except (ValueError, RecursionError):
            return
        if not isinstance(reply.id, str) or _key(reply) == _SIGNED_ALREADY:
            return
        touch = self.touches.get(reply.id)
        if touch is not None and topic == self._tables[touch.table].reply(
            touch.table, self._client
        ):
            self._apply_reply(touch, reply)
        waiter = self._answers.get(reply.id)
        if waiter is not None and not waiter.done():
            waiter.set_result(reply)

    def _apply_reply(self, touch: Touch, reply: _CommandReply) -> None:
        key = _key(reply)
        if touch.how == "followed" and not reply.ok:
            return  # it is about another copy, which came later
        if reply.ok:
            self._update(_followed(touch, reply))
            self.waits.pop(touch.number, None)
            if touch.table in self._mute:
                self._follow_first(touch, reply)
            return
        waiting = key == _SECOND_PERSON_WANTED
        state: TouchState = "waiting" if waiting else "refused"
        self._update(replace(touch, how=state, refusal=reply.refusal, error=reply.error))
        if waiting:
            assert reply.refusal is not None
            roles, seconds = (reply.refusal.fields.get(name) for name in ("roles", "seconds"))
            seconds_left = seconds if isinstance(seconds, int) else 0
            self.waits[touch.number] = SecondPersonWait(
                touch=touch,
                roles=tuple(roles) if isinstance(roles, tuple) else (),
                until=self._clock() + seconds_left,
            )
            # the pages do not track the time: notify them when the wait ends
            asyncio.get_running_loop().call_later(seconds_left, self._changed, touch.table)
        else:
            self.waits.pop(touch.number, None)
            if reply.judged:
                self._refuse_first(touch, reply)
        self._changed(touch.table)

    def _follow_first(self, second: Touch, reply: _CommandReply) -> None:
        """A jackpot's controller answers the second person only; a daemon also the first one."""
        content = _content(second)
        for number in [
            touch_number
            for touch_number, wait in self.waits.items()
            if _content(wait.touch) == content
        ]:
            if number in self.touches:
                self._update(_followed(self.touches[number], reply))
            del self.waits[number]

    def _refuse_first(self, second: Touch, reply: _CommandReply) -> None:
        """A jackpot's controller judges an order when both persons have signed it: the first one's
        touch is refused too.
        """
        content = _content(second)
        for number in [
            touch_number
            for touch_number, wait in self.waits.items()
            if _content(wait.touch) == content
        ]:
            if number in self.touches:
                first = self.touches[number]
                self._update(
                    replace(first, how="refused", error=reply.error, refusal=reply.refusal)
                )
            del self.waits[number]

    def _remember(self, touch: Touch) -> Touch:
        self.touches[touch.number] = touch
        while len(self.touches) > MAX_TOUCHES:
            number, _ = self.touches.popitem(last=False)
            self._answers.pop(number, None)
        return touch

    def _update(self, touch: Touch) -> None:
        """Store a changed touch and notify its table."""
        self.touches[touch.number] = touch
        self._changed(touch.table)

    def _changed_all(self) -> None:
        for table in self._tables:
            self._changed(table)

    @staticmethod
    def _log_fields(touch: Touch) -> dict[str, str]:
        return {
            "person": touch.person.id,
            "table": touch.table,
            "command": touch.command,
            "number": touch.number,
        }


def _followed(touch: Touch, reply: _CommandReply) -> Touch:
    return replace(touch, how="followed", receipt=reply.receipt, refusal=None, error=None)


def _key(reply: _CommandReply) -> str | None:
    """Return the key of a refusal, or None."""
    return None if reply.refusal is None else reply.refusal.key


def _content(touch: Touch) -> tuple[str, str, bytes]:
    """Return the part on which both persons must agree."""
    fields = {name: value for name, value in touch.fields.items() if name != "note"}
    return touch.table, touch.command, msgspec.json.encode(fields, order="deterministic")
