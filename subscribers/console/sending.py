"""Commands that people give: each is signed, sent once, and its answer awaited.

A touch has a number that the page made, and is sent at most once under it, however often the page
asks. What was sent and not answered is never sent again: whether it was followed is asked of the
daemon's own events (``recall``), which name who signed, and is told as not known until then.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import cycle
from typing import Any, Literal

import aiomqtt
import msgspec
from msgspec.structs import replace

from controller.broker.address import addresses
from controller.broker.client import BrokerClient
from controller.broker.failures import describe_error
from controller.broker.login import BrokerUnusableError
from controller.contract.orders import RECALL
from controller.contract.refusals import Refusal
from controller.contract.topics import Topics
from controller.people.register import Person
from controller.people.signed_command import Claims, prepare, sign
from devices.log import structlog
from subscribers.console.sessions import Session
from subscribers.feed import RECONNECT_DELAY_SECONDS, BrokerLogin

LIFE = 30
"""Seconds for which a signed command is valid."""
PATIENCE = 6.0
"""Seconds within which an answer is expected; one that comes later is told too."""
KEPT = 2000
"""Touches that are remembered, of all sessions together."""
NUMBER = re.compile(r"[A-Za-z0-9_-]{16,64}")
ON_THE_WAY = ("sending", "sent")
_CLIENT = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SECOND = "second_person_wanted"
_OVER = ("second_person_late", "second_person_over")
"""Refusals after which a command waits for nobody any more."""

How = Literal["sending", "sent", "followed", "refused", "waiting", "unknown", "unsent"]
"""What became of a touch. ``sending``: the broker has not confirmed that it has it. ``waiting``:
for the second person. ``unknown``: it was sent, and no answer came. ``unsent``: there was no
connection, and nothing left this server.
"""


class Touch(msgspec.Struct, frozen=True, kw_only=True):
    """A command that a person gave by touching."""

    number: str
    person: Person
    table: str
    command: str
    fields: dict[str, Any]
    role: Any
    how: How
    at: float
    """When: seconds since 1970."""
    boot: str = ""
    """The last event of the table that was known then."""
    seq: int = 0
    refusal: Refusal | None = None
    error: str | None = None
    receipt: int | None = None
    """The number of the receipt, where money was paid."""
    events: tuple[str, ...] = ()
    """Events after it that this person signed, by type: what is known of one without an answer."""
    asked: bool = False
    """Whether the daemon was asked for those."""


class _Reply(msgspec.Struct):
    """An answer, as far as it is looked at: of events only who signed them."""

    id: Any
    ok: bool
    error: str | None = None
    refusal: Refusal | None = None
    judged: bool = False
    receipt: int | None = None
    events: list[_Told] | None = None


class _Told(msgspec.Struct):
    type: str
    boot: str
    seq: int
    signed_by: list[_Signer] = []


class _Signer(msgspec.Struct):
    id: str


class Waits(msgspec.Struct, frozen=True, kw_only=True):
    """A command that waits for a second person."""

    touch: Touch
    roles: tuple[str, ...]
    until: float
    """Seconds on the clock of ``Sending``."""
    left: float = 0.0
    """Seconds until then, as it is drawn."""


class Sending:
    """The connection over which commands go. ``tables``: each table's topics, a jackpot's under
    ``jackpot/<id>``; those of ``mute`` have no events to ask for. ``changed(table)`` is called when
    something about a touch changed; ``now``: seconds since 1970; ``clock``: seconds that only go
    forward.
    """

    def __init__(
        self,
        login: BrokerLogin,
        tables: Mapping[str, Topics],
        changed: Callable[[str], None],
        now: Callable[[], float],
        mute: Collection[str] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self._login, self._tables, self._changed, self._now = login, tables, changed, now
        self._mute = frozenset(mute)
        user = login.username or ""
        self._client = user if _CLIENT.fullmatch(user) else f"console-{secrets.token_urlsafe(12)}"
        self._broker: BrokerClient | None = None
        self._answers: dict[str, asyncio.Future[_Reply]] = {}
        self._asking: set[asyncio.Task[None]] = set()
        self._log = structlog.get_logger()
        self.touches: OrderedDict[str, Touch] = OrderedDict()
        self.waits: dict[str, Waits] = {}
        """What waits for a second person, by the number of the first one's touch."""
        prepare()

    async def run(self) -> None:
        """Stay connected."""
        said = ""
        for url in cycle(addresses(self._login.url)):
            try:
                node = replace(self._login, url=url)
                client = BrokerClient(
                    node, protocol=aiomqtt.ProtocolVersion.V311, keepalive=10, timeout=5.0
                )
                async with client:
                    wanted = [
                        (topics.reply(table, self._client), 0)  # as in subscribers/feed.py
                        for table, topics in self._tables.items()
                    ]
                    await client.subscribe(wanted)
                    self._broker, said = client, ""
                    self._changed_all()
                    async for message in client.messages:
                        body = message.payload if isinstance(message.payload, bytes) else b""
                        self._take(str(message.topic), body)
            except (aiomqtt.MqttError, BrokerUnusableError) as error:
                reason = describe_error(error, self._login)
                if reason != said:
                    said = reason
                    self._log.warning("no connection for commands", reason=reason)
            finally:
                self._broker = None
            self._changed_all()
            await asyncio.sleep(RECONNECT_DELAY_SECONDS)

    @property
    def up(self) -> bool:
        """Whether a command can be sent now."""
        return self._broker is not None

    async def give(
        self,
        session: Session,
        number: str,
        table: str,
        command: str,
        fields: dict[str, Any],
        role: Any,
        known: tuple[str, int],
    ) -> Touch:
        """Send a command and await its answer."""
        await self.send(session, number, table, command, fields, role, known)
        return await self.answer(number)

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
        """Send a command unless one with this number was.

        ``known``: boot and number of the last event of the table that is known.
        """
        found = self.touches.get(number)
        if found is None:
            found = self._keep(
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
            body = self._sign(session, found)
            self._answers[number] = asyncio.get_running_loop().create_future()
            await self._publish(found, body)
        return self.touches[number]

    async def answer(self, number: str) -> Touch:
        """What became of a command that was sent, as soon as that is known, and at the latest when
        no answer is expected any more.
        """
        answer = self._answers.get(number)
        if answer is not None and self.touches[number].how in ON_THE_WAY:
            await asyncio.wait([answer], timeout=PATIENCE)
        if self.touches[number].how in ON_THE_WAY:
            self._put(replace(self.touches[number], how="unknown"))
            self._log.warning("a command has no answer", **self._named(self.touches[number]))
        return self.touches[number]

    def waiting(self, table: str) -> tuple[Waits, ...]:
        """What waits for a second person at a table."""
        now = self._clock()
        for number in [each for each, waits in self.waits.items() if waits.until <= now]:
            del self.waits[number]
        return tuple(
            replace(waits, left=waits.until - now)
            for waits in self.waits.values()
            if waits.touch.table == table
        )

    def of(self, session: Session, table: str) -> tuple[Touch, ...]:
        """The touches of a session at a table that are remembered, newest first."""
        return tuple(
            touch
            for number, touch in reversed(self.touches.items())
            if number.startswith(session.tag) and touch.table == table
        )

    def find_out(self, sessions: Sequence[Session]) -> None:
        """Ask the daemon what became of commands without an answer, once there is a connection."""
        if not self.up:
            return
        for touch in [t for t in self.touches.values() if t.how == "unknown" and not t.asked]:
            if touch.table in self._mute:
                continue
            session = next((each for each in sessions if touch.number.startswith(each.tag)), None)
            if session is not None:
                self._put(replace(touch, asked=True))
                task = asyncio.create_task(self._ask(session, touch))
                self._asking.add(task)
                task.add_done_callback(self._asking.discard)

    async def truth(
        self, session: Session, table: str, boot: str, seq: int
    ) -> tuple[str, ...] | None:
        """The types of the events of a table after this one that this person signed; None: nobody
        says. It reads, and changes nothing.
        """
        if table in self._mute:
            return None
        number = f"{session.tag}-r{secrets.token_hex(6)}"
        fields = {"boot": boot, "from": seq + 1, "onward": True}
        given = Touch(
            number=number,
            person=session.person,
            table=table,
            command=RECALL,
            fields=fields,
            role=session.person.roles[0],
            how="sent",
            at=self._now(),
        )
        self._answers[number] = asyncio.get_running_loop().create_future()
        broker = self._broker
        if broker is None or not session.alive:
            return None
        try:
            await broker.publish(
                self._tables[table].command(table, RECALL), self._sign(session, given), qos=1
            )
            async with asyncio.timeout(PATIENCE):
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

    async def _ask(self, session: Session, touch: Touch) -> None:
        found = await self.truth(session, touch.table, touch.boot, touch.seq)
        if found is None:
            await asyncio.sleep(1.0)  # the daemon may have just come back
        now = self.touches.get(touch.number)
        if now is not None:
            self._put(replace(now, asked=found is not None, events=found or ()))

    async def _publish(self, touch: Touch, body: bytes) -> None:
        """Hand it to the broker, once. What was not handed over for certain is not known to be
        unsent.
        """
        broker, topics = self._broker, self._tables[touch.table]
        if broker is None:
            self._put(replace(touch, how="unsent"))
            return
        self._log.info("command sent", **self._named(touch))
        try:
            await broker.publish(topics.command(touch.table, touch.command), body, qos=1)
            how: How = "sent"
        except aiomqtt.MqttError:
            how = "unknown"
        now = self.touches[touch.number]
        if now.how == "sending":  # its answer may be here already
            self._put(replace(now, how=how))

    def _sign(self, session: Session, touch: Touch) -> bytes:
        now = int(self._now())
        claims = Claims(
            iss=touch.person.id,
            aud=f"{self._tables[touch.table].root}/{touch.table}",
            iat=now,
            exp=now + LIFE,
            jti=touch.number,
            command=touch.command,
            role=touch.role,
            fields=touch.fields,
            client=self._client,
        )
        return sign(session.key, claims).encode()

    def _take(self, topic: str, body: bytes) -> None:
        """An answer came."""
        try:
            reply = msgspec.json.decode(body, type=_Reply)
        except (ValueError, RecursionError):
            return
        if not isinstance(reply.id, str):
            return
        touch = self.touches.get(reply.id)
        if touch is not None and topic == self._tables[touch.table].reply(
            touch.table, self._client
        ):
            self._answered(touch, reply)
        answer = self._answers.get(reply.id)
        if answer is not None and not answer.done():
            answer.set_result(reply)

    def _answered(self, touch: Touch, reply: _Reply) -> None:
        key = reply.refusal.key if reply.refusal is not None else None
        if reply.ok:
            self._put(_followed(touch, reply))
            said = _content(touch)
            for number in [n for n, waits in self.waits.items() if _content(waits.touch) == said]:
                if number != touch.number and number in self.touches:
                    self._put(_followed(self.touches[number], reply))
                del self.waits[number]
            return
        waiting = key == _SECOND
        how: How = "waiting" if waiting else "refused"
        self._put(replace(touch, how=how, refusal=reply.refusal, error=reply.error))
        if waiting:
            assert reply.refusal is not None
            roles, seconds = (reply.refusal.fields.get(name) for name in ("roles", "seconds"))
            left = seconds if isinstance(seconds, int) else 0
            self.waits[touch.number] = Waits(
                touch=touch,
                roles=tuple(roles) if isinstance(roles, tuple) else (),
                until=self._clock() + left,
            )
            # whoever looks is told when it is over: the pages do not judge that
            asyncio.get_running_loop().call_later(left, self._changed, touch.table)
        elif key in _OVER:
            self.waits.pop(touch.number, None)
        elif reply.judged:
            self._refused_to_both(touch, reply)
        self._changed(touch.table)

    def _refused_to_both(self, second: Touch, reply: _Reply) -> None:
        """A jackpot's controller judges an order when both have said it: the first one's is refused
        with it.
        """
        said = _content(second)
        for number in [n for n, waits in self.waits.items() if _content(waits.touch) == said]:
            if number in self.touches:
                first = self.touches[number]
                self._put(replace(first, how="refused", error=reply.error, refusal=reply.refusal))
            del self.waits[number]

    def _keep(self, touch: Touch) -> Touch:
        self.touches[touch.number] = touch
        while len(self.touches) > KEPT:
            number, _ = self.touches.popitem(last=False)
            self._answers.pop(number, None)
        return touch

    def _put(self, touch: Touch) -> None:
        """Something became of it."""
        self.touches[touch.number] = touch
        self._changed(touch.table)

    def _changed_all(self) -> None:
        for table in self._tables:
            self._changed(table)

    @staticmethod
    def _named(touch: Touch) -> dict[str, str]:
        return {
            "person": touch.person.id,
            "table": touch.table,
            "command": touch.command,
            "number": touch.number,
        }


def _followed(touch: Touch, reply: _Reply) -> Touch:
    """A touch that was followed, also if it waited or had no answer before."""
    return replace(touch, how="followed", receipt=reply.receipt, refusal=None, error=None)


def _content(touch: Touch) -> tuple[str, str, bytes]:
    """What two persons must say alike."""
    said = {name: value for name, value in touch.fields.items() if name != "note"}
    return touch.table, touch.command, msgspec.json.encode(said, order="deterministic")
