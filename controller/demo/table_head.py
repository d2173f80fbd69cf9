"""Plays the people at the demo's tables: opens the sessions, and sends each table's next command
after a realistic delay.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from controller.contract.topics import Topics
from controller.demo.floor import PATIENCE, DemoError
from controller.demo.people import Person, Said, TableSeen, dice, shoe, wheel
from controller.demo.places import DemoTable
from controller.demo.poker import croupier
from controller.demo.staff import Staff

if TYPE_CHECKING:
    import aiomqtt

PEOPLE: Mapping[str, Person] = {
    "roulette-french": wheel,
    "boule": wheel,
    "fortune-wheel": wheel,
    "craps": dice,
    "punto-banca": shoe,
    "poker-no-draw": croupier,
    "three-card-poker": croupier,
}
"""The person at a table of each game."""
TAKES: Mapping[str, float] = {
    "shoe.start": 0.0,
    "cards.deal": 0.5,
    "bets.close": 0.5,
    "boxes.set": 1.0,
    "bet.place": 1.0,
    "cards.show": 2.0,
}
"""Seconds before a command is sent. Any command not listed takes ``THINKS``."""
THINKS = 4.0
"""Seconds that a person takes for a decision."""
VISITOR = 60.0
"""Real seconds for which a decision is left to a visitor who is signed in at the console."""
AGAIN = 8.0, 2.0
"""A command without effect is sent again after this many seconds of the model, but no sooner than
this many real seconds.
"""
UNTOLD = 5.0
"""Seconds to wait for an event that the state already includes. An event that has not come by then
was published before the demo subscribed.
"""
REFUSALS = 3
"""A table fails to open if it refuses the same command this many times in a row."""


class Table:
    """One table as its person sees it. ``plays``: the table is open and has once needed no command;
    from then on, commands are sent with a delay.

    The state may arrive before or after the events that it includes. A state and events that do not
    match lead to wrong commands, so the person looks at them only when they agree.
    """

    def __init__(self, place: DemoTable, seed: str) -> None:
        self.place = place
        self.plays = False
        self._changed = asyncio.Event()
        self._boot = ""
        self._seq = 0
        """The last event that the state includes; ``_told``: the last event received."""
        self._told = 0
        self._shown: dict[str, Any] = {}
        self._heard: dict[str, dict[str, Any]] = {}
        self._seed = seed
        self.quick = 1.0
        """How many times faster than otherwise the table plays now."""
        self._number = ""
        self._answer: asyncio.Future[dict[str, Any]] | None = None

    def state(self, body: dict[str, Any]) -> None:
        """Take the retained state."""
        if body["boot"] != self._boot:  # a new boot: earlier events do not come again
            self._boot, self._told, self._heard = body["boot"], body["seq"], {}
        self._seq, self._shown = body["seq"], body["shown"]
        self._changed.set()

    def event(self, body: dict[str, Any]) -> None:
        """Take an event. Ignores one from before the first state seen, or of another boot."""
        if body["boot"] == self._boot and body["seq"] > self._told:
            self._told = body["seq"]
            self._heard[body["type"]] = body
            self._changed.set()

    def ask(self) -> tuple[str, asyncio.Future[dict[str, Any]]]:
        """The next command's number and its future answer."""
        self._number = secrets.token_urlsafe(12)
        self._answer = asyncio.get_running_loop().create_future()
        return self._number, self._answer

    def answer(self, body: dict[str, Any]) -> None:
        """Take a reply. Ignores a reply to an earlier command."""
        if self._answer is not None and not self._answer.done() and body["id"] == self._number:
            self._answer.set_result(body)

    async def look(self) -> Said | None:
        """Wait until the state and the events agree; return the person's next command, if any."""
        while not self._shown or self._seq != self._told:
            if not await self.change(UNTOLD if self._shown else None):
                self._told = self._seq
        return PEOPLE[self.place.game](
            TableSeen(
                shown=self._shown,
                heard=self._heard,
                seed=self._seed,
                slips=self.place.slips,
                stacked=self.place.stacked if self.place.slots else None,
            )
        )

    @property
    def round(self) -> int:
        """The rounds of its session that have ended."""
        return int(self._shown.get("round", 0)) - 1

    @property
    def falling(self) -> bool:
        """Whether its bets are closed, and the result is about to come."""
        return self._shown.get("phase") == "bets_closed"

    @property
    def irregular(self) -> int:
        """The number of the latest irregularity; 0 if there was none. The same command after
        another irregularity counts as a new command.
        """
        return int(self._heard.get("irregularity", {}).get("seq", 0))

    async def change(self, within: float | None = None) -> bool:
        """Wait for a new state or event. False if none came ``within`` this many seconds."""
        self._changed.clear()
        try:
            async with asyncio.timeout(within):
                await self._changed.wait()
        except TimeoutError:
            return False
        return True


class TableHead:
    """Presides over the tables at ``places``. ``opened`` is set once all of them can play.
    ``occupied``: a file that is there while a visitor is signed in; ``insert``: has the players of
    a round insert coins in these slots.
    """

    def __init__(
        self,
        port: int,
        site: str,
        places: Sequence[DemoTable],
        seed: int,
        speed: float,
        staff: Staff,
        occupied: Path | None = None,
        insert: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._staff = staff
        self._insert = insert
        self._occupied = occupied
        self._port = port
        self._topics = Topics(site, simulated=True)
        self.tables = [Table(place, f"{seed} {place.table}") for place in places]
        self._speed = speed
        self.opened = asyncio.Event()

    async def preside(self) -> None:
        """Preside until cancelled. Raises :class:`DemoError` if a table refuses to open or the
        broker is gone.
        """
        import aiomqtt

        try:
            async with aiomqtt.Client(
                "127.0.0.1", self._port, protocol=aiomqtt.ProtocolVersion.V311
            ) as client:
                await self._preside(client)
        except* aiomqtt.MqttError as errors:
            task = asyncio.current_task()
            if task is None or not task.cancelling():
                await asyncio.sleep(
                    PATIENCE
                )  # Floor.check reports the cause first, if it finds one
            raise DemoError(f"the broker is gone: {errors.exceptions[0]}") from None

    async def _preside(self, client: aiomqtt.Client) -> None:
        taking = {}
        for each in self.tables:
            table = each.place.table
            taking[self._topics.table(table, "state")] = each.state
            taking[self._topics.table(table, "event")] = each.event
            taking[self._topics.reply(table, "demo")] = each.answer
        async with asyncio.TaskGroup() as people:
            for each in self.tables:
                people.create_task(self._attend(client, each))
            await client.subscribe([(topic, 1) for topic in taking])
            async for message in client.messages:
                if message.payload and (take := taking.get(message.topic.value)):
                    take(json.loads(bytes(message.payload)))

    async def _attend(self, client: aiomqtt.Client, table: Table) -> None:
        """Send one command after another. After its delay, a command is sent only if it is still
        the right one.

        A table that has moved on meanwhile may refuse a command; the person then looks again.
        Raises :class:`DemoError` if a table that is not yet open keeps refusing the same command.
        """
        now = asyncio.get_running_loop().time
        said: tuple[Said, int] | None = None
        again, refusals = 0.0, 0
        while True:
            word = await table.look()
            if word is None:
                said = None
                self._plays(table)
                await table.change()
            elif (word, table.irregular) == said and now() < again:
                await table.change(again - now())
            else:
                if table.plays:
                    takes = TAKES.get(word[0], THINKS)
                    await asyncio.sleep(takes / self._speed / table.quick)
                    await self._leave_to_visitor(table, word)
                if await table.look() != word:
                    continue
                saying = word, table.irregular
                refused = await self._say(client, table, word)
                if word[0] == "boxes.set" and table.place.slots and refused is None:
                    self._insert(table.place.slots)
                refusals = 0 if refused is None else refusals + 1 if saying == said else 1
                if refusals >= REFUSALS and not table.plays:
                    raise DemoError(f"the table {table.place.table} does not open: {refused}")
                said, again = saying, now() + max(AGAIN[0] / self._speed, AGAIN[1])

    async def _leave_to_visitor(self, table: Table, word: Said) -> None:
        """Wait while somebody else may decide, or has decided."""
        if word[0] in TAKES or self._occupied is None:
            return
        now = asyncio.get_running_loop().time
        end = now() + VISITOR
        while (  # noqa: ASYNC110 - the file is another program's
            now() < end and self._occupied.exists() and await table.look() == word
        ):
            await asyncio.sleep(0.2)

    async def _say(self, client: aiomqtt.Client, table: Table, word: Said) -> str | None:
        """Send a command and wait for its answer: why it was refused, or None. :meth:`_attend`
        repeats a command that gets no answer; :meth:`preside` notices a lost broker.
        """
        import aiomqtt

        name, more = word
        number, answer = table.ask()
        place = table.place
        audience = f"{self._topics.root}/{place.table}"
        body = self._staff.sign(place.role, audience, name, number, more)
        with contextlib.suppress(aiomqtt.MqttError):
            await client.publish(self._topics.command(place.table, name), body, qos=1)
        task = asyncio.current_task()
        # In Python 3.11, asyncio.wait_for inside publish may have swallowed a cancellation.
        if task is not None and task.cancelling():
            raise asyncio.CancelledError
        await asyncio.wait([answer], timeout=AGAIN[1])
        if not answer.done() or (reply := answer.result())["ok"]:
            return None
        refusal = reply.get("refusal", {})
        if refusal.get("key") == "signed_before_start":  # it went on with a journal that it had
            await asyncio.sleep(refusal["fields"]["seconds"])
            return None
        return str(reply["error"])

    def _plays(self, table: Table) -> None:
        table.plays = True
        if all(each.plays for each in self.tables):
            self.opened.set()
