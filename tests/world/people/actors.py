"""People who act in a world: at the console, at keypads, and with a program of their own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from contextvars import Context
from random import Random
from typing import TYPE_CHECKING, Any

from common import clock
from common.contract.topics import level
from common.people.signed_command import Claims, sign
from subscribers.console.admission import Denied
from subscribers.console.forms import PIN_COMMANDS, is_readable
from subscribers.console.rights import role_for
from subscribers.console.sessions import Session
from subscribers.console.view import ConsoleView
from subscribers.console.work import console_view
from subscribers.keypad.pad import Press
from tests.world.broker.packets import Publish
from tests.world.client import Client
from tests.world.people.console import Desk
from tests.world.people.staff import PIN, ROOT, Post
from tests.world.process import context_of

if TYPE_CHECKING:
    from tests.world.people.site import Site

LANGUAGE = "en"
PAUSE_SECONDS = 25.0
"""How long somebody does nothing, on average."""
ANSWER_SECONDS = 6.0
"""How long the program of a director waits for an answer before it sends the same again."""

Fill = Callable[[ConsoleView, Random], dict[str, Any]]


def _nothing(_view: ConsoleView, _random: Random) -> dict[str, Any]:
    return {}


def _void(view: ConsoleView, random: Random) -> dict[str, Any]:
    fields: dict[str, Any] = {"reason": random.choice(("inspector", "ball_out", "bad_launch"))}
    return fields if random.random() < 0.5 else {**fields, "round": _round(view, random)}


def _confirm(view: ConsoleView, random: Random) -> dict[str, Any]:
    fields = {"round": random.choice(view.unresolved or (_round(view, random),))}
    return fields if random.random() < 0.3 else {**fields, "number": random.randrange(37)}


def _correct(view: ConsoleView, random: Random) -> dict[str, Any]:
    return {"round": _round(view, random), "number": random.randrange(37)}


def _round(view: ConsoleView, random: Random) -> int:
    return max(1, (view.round or 1) - random.choice((0, 1, 1, 2)))


FILLS: Mapping[str, Fill] = {
    "session.open": _nothing,
    "session.close": lambda _view, random: {"locked": random.random() < 0.5},
    "bets.open": _nothing,
    "bets.close": _nothing,
    "round.void": _void,
    "round.confirm": _confirm,
    "result.correct": _correct,
}
"""The commands that people at a console give, and how they fill in the fields."""
RARE = "session.close"
DISTURBING = ("session.close", "round.void")
"""Nobody gives these commands in calm, when every table must play."""


class Person:
    """Somebody at a screen of the server. ``id``: who has the post now."""

    def __init__(self, site: Site, post: Post, random: Random) -> None:
        self.site, self.post, self.random = site, post, random
        self.id = ""
        self._session: Session | None = None
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Act from time to time."""
        wait = self.random.expovariate(1.0 / PAUSE_SECONDS)
        self.site.world.loop.call_later(wait, self._act, context=Context())

    def _act(self) -> None:
        process, desk = self.site.program.process, self.site.console.desk
        is_busy = self._task is not None and not self._task.done() and desk is self._desk
        if process is not None and process.alive and desk is not None and not is_busy:
            self._desk = desk
            self._task = self.site.world.loop.create_task(
                self.act(desk), context=context_of(process)
            )
            self._task.add_done_callback(_raise)
        self.begin()

    _desk: Desk | None = None

    async def signed_in(self, desk: Desk) -> Session | None:
        """Return the session of the person at this post, or of the one before while it lasts."""
        sessions = desk.pit.door.sessions
        if self._session is None or self._session not in sessions.all:
            admitted = await desk.pit.door.admission.admit(self.id, PIN)
            if isinstance(admitted, Denied):
                return None
            _, self._session = sessions.begin(*admitted, LANGUAGE)
        sessions.touch(self._session)
        return self._session

    def leave(self) -> None:
        """The person leaves the screen to the next one."""
        self._session = None

    async def act(self, desk: Desk) -> None:
        """Do one thing at one table, as far as the screen lets one."""
        session = await self.signed_in(desk)
        table = self.random.choice(self.site.tables)
        if session is None or desk.floor.outdated[table] is not None:
            return
        context = desk.pit.table_context(session, table)
        view = console_view(context)
        command, fields = self._choose(view)
        role = role_for(context, command, fields.get("reason"))
        if role is None or not is_readable(command, fields):
            return
        if command in PIN_COMMANDS and await desk.pit.door.admission.verify_pin(
            session.person, PIN
        ):
            return
        if session.alive:
            await self._touch(desk, session, (table, command, fields, role, (view.boot, view.seq)))

    async def _touch(self, desk: Desk, session: Session, what: tuple[Any, ...]) -> None:
        """Touch once, or twice, or let the page ask again."""
        sending = desk.pit.sending

        def touch(number: str) -> Any:
            return sending.send_and_wait(session, number, *what)

        numbers = [f"{session.tag}-{self.random.getrandbits(48):012x}" for _ in range(2)]
        habit = self.random.random()
        if habit < 0.1:
            await asyncio.gather(*map(touch, numbers))
        elif habit < 0.2:
            await asyncio.gather(touch(numbers[0]), touch(numbers[0]))
        elif habit < 0.3:
            await touch(numbers[0])
            await clock.sleep(self.random.choice((0.1, 1.0, 20.0)))
            await touch(numbers[0])
        else:
            await touch(numbers[0])

    def _choose(self, view: ConsoleView) -> tuple[str, dict[str, Any]]:
        random = self.random
        avoided = self.site.avoided()
        offered = [offer.command for offer in view.offers if offer.command in FILLS]
        answers = [
            answer
            for item in view.items
            for answer in item.answers
            if answer.command not in avoided
        ]
        if "session.open" in offered and random.random() < 0.9:
            return "session.open", {}
        if answers and random.random() < 0.6:
            answer = random.choice(answers)
            fill = FILLS.get(answer.command, _nothing) if answer.open else _nothing
            return answer.command, {**fill(view, random), **answer.fields}
        if not offered or random.random() < 0.1:
            offered = list(FILLS)
        offered = [command for command in offered if command not in avoided]
        command = random.choice(offered or ["bets.close"])
        if command == RARE and random.random() < 0.8:
            command = random.choice(offered)
        return command, FILLS[command](view, random)


class Croupier(Person):
    """Somebody with the keypad of a table."""

    def __init__(self, site: Site, post: Post, random: Random, table: str) -> None:
        super().__init__(site, post, random)
        self._table = table

    async def act(self, desk: Desk) -> None:
        """Press a key or two, and look at what the keypad shows."""
        session, table, random = await self.signed_in(desk), self._table, self.random
        if session is None:
            return
        if desk.keypads.view(session, table).locked:
            desk.keypads.unlock(table, session)
            desk.keypads.view(session, table)
            await clock.sleep(random.choice((0.1, 1.0, 1.0)))
        for _ in range(random.choice((1, 1, 2))):
            desk.keypads.press(table, random.choice(KEYS), random.choice((0.0, 0.0, 0.0, 3.0)))
        for wait in (0.2, 1.0, 7.0):
            await clock.sleep(wait)
            self.site.world.check(self.site.commands.look_at_keypad, desk, session, table)
        if desk.keypads.view(session, table).unknown:
            desk.keypads.press(table, "clear", 0.0)


KEYS: tuple[Press, ...] = ("enter", "enter", "enter", "enter", "divide", "7", "clear", "lock")


class Director:
    """Somebody with a program that signs commands itself, and sends one without an answer again: as
    it was, with the same request id.
    """

    def __init__(self, site: Site, post: Post, random: Random) -> None:
        self.site, self.post, self.random = site, post, random
        self.id = ""
        self._answered: set[str] = set()
        self._client = Client(
            site.world.sockets, "program", (f"{ROOT}/+/reply/program",), self._on_reply
        )

    def begin(self) -> None:
        """Act from time to time."""
        wait = self.random.expovariate(1.0 / PAUSE_SECONDS)
        self.site.world.loop.call_later(wait, self._act, context=Context())

    def leave(self) -> None:
        """The program gets the key of the next one."""

    def _act(self) -> None:
        table = self.random.choice(self.site.tables)
        retained = self.site.world.broker.retained.get(f"{ROOT}/{table}/state")
        if retained is not None and retained.payload:
            takes = json.loads(retained.payload)["takes"]
            self._give(
                table,
                self.random.choice(
                    [name for name in FILLS if name in takes and name not in self.site.avoided()]
                    or [""]
                ),
            )
        self.begin()

    def _give(self, table: str, command: str) -> None:
        if not command or (command == RARE and self.random.random() < 0.8):
            return
        fields: dict[str, dict[str, Any]] = {
            "round.void": {"reason": "inspector"},
            "round.confirm": {"number": self.random.randrange(37)},
            "result.correct": {"round": 1, "number": self.random.randrange(37)},
        }
        now = int(clock.wall())
        claims = Claims(
            iss=self.id,
            aud=f"{ROOT}/{table}",
            iat=now,
            exp=now + 60,
            jti=f"{self.random.getrandbits(64):016x}",
            command=command,
            role=self.post.roles[0],
            fields=fields.get(command, {}),
            client="program",
        )
        token = sign(self.site.staff.secret(self.id), claims).encode()
        self._send(claims, token, self.random.choice((1, 2, 3)))

    def _send(self, claims: Claims, token: bytes, times: int) -> None:
        if times == 0 or claims.jti in self._answered:
            return
        self._client.publish(f"{claims.aud}/command/{level(claims.command)}", token)
        self.site.world.loop.call_later(
            ANSWER_SECONDS, self._send, claims, token, times - 1, context=Context()
        )

    def _on_reply(self, message: Publish) -> None:
        self._answered.add(json.loads(message.payload)["id"])


def _raise(task: asyncio.Task[None]) -> None:
    """Let an error of a person end the world."""
    if not task.cancelled():
        task.result()
