"""The people at the demo's tables: opens the sessions, and sends each table's next command after a
realistic delay.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from controller.contract.topics import Topics
from controller.demo.floor import PATIENCE, DemoError
from controller.demo.people import Person, Said, TableSeen, dice, shoe, wheel
from controller.demo.places import DemoTable
from controller.demo.poker import croupier

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
"""Who sits at a table of each game."""
TAKES: Mapping[str, float] = {
    "shoe.start": 0.0,
    "cards.deal": 0.5,
    "bets.close": 0.5,
    "boxes.set": 1.0,
    "bet.place": 1.0,
    "cards.show": 2.0,
}
"""Seconds that a word takes, where they are not those of a decision."""
THINKS = 4.0
"""Seconds that a person thinks about a decision."""
AGAIN = 8.0, 2.0
"""A word that has led to nothing is said again after so many seconds of the model, and of this
machine.
"""
UNTOLD = 5.0
"""Seconds after which an event that the state takes into account no longer comes: it was told
before anybody listened.
"""
REFUSALS = 3
"""A table that refuses the same word so many times in a row does not open."""


class Table:
    """One table as its person sees it. ``plays``: it is open, and was once without anything to be
    said; from then on words take their time.

    The state may be told before the events that it takes into account, or after them. What follows
    from a state and events that do not belong together is wrong: so he looks at both only when they
    agree.
    """

    def __init__(self, place: DemoTable, seed: str) -> None:
        self.place = place
        self.plays = False
        self._changed = asyncio.Event()
        self._boot = ""
        self._seq = 0
        """The last event that the state takes into account; ``_told``: the last that was told."""
        self._told = 0
        self._shown: dict[str, Any] = {}
        self._heard: dict[str, dict[str, Any]] = {}
        self._seed = seed
        self._words = 0
        self._answer: asyncio.Future[str | None] | None = None

    def state(self, body: dict[str, Any]) -> None:
        """The retained state."""
        if body["boot"] != self._boot:  # he has just come, and nobody tells him what was before
            self._boot, self._told, self._heard = body["boot"], body["seq"], {}
        self._seq, self._shown = body["seq"], body["shown"]
        self._changed.set()

    def event(self, body: dict[str, Any]) -> None:
        """An event. One of before he came, or of another boot, tells nothing of what he sees."""
        if body["boot"] == self._boot and body["seq"] > self._told:
            self._told = body["seq"]
            self._heard[body["type"]] = body
            self._changed.set()

    def ask(self) -> tuple[int, asyncio.Future[str | None]]:
        """The number of the next word, and its answer to come: why it is refused, or None."""
        self._words += 1
        self._answer = asyncio.get_running_loop().create_future()
        return self._words, self._answer

    def answer(self, body: dict[str, Any]) -> None:
        """A reply. One to an earlier word comes too late to matter."""
        if self._answer is not None and not self._answer.done() and body["id"] == self._words:
            self._answer.set_result(None if body["ok"] else body["error"])

    async def look(self) -> Said | None:
        """What its person has to say, as soon as the state and the events agree."""
        while not self._shown or self._seq != self._told:
            if not await self.change(UNTOLD if self._shown else None):
                self._told = self._seq
        return PEOPLE[self.place.game](
            TableSeen(shown=self._shown, heard=self._heard, seed=self._seed, slips=self.place.slips)
        )

    @property
    def irregular(self) -> int:
        """The number of the last irregularity; 0: there was none. The same word about another one
        is another word.
        """
        return int(self._heard.get("irregularity", {}).get("seq", 0))

    async def change(self, within: float | None = None) -> bool:
        """Wait until something new is told. False: nothing was ``within`` so many seconds."""
        self._changed.clear()
        try:
            async with asyncio.timeout(within):
                await self._changed.wait()
        except TimeoutError:
            return False
        return True


class TableHead:
    """Presides over the tables at ``places``. ``opened`` is set as soon as all of them may play."""

    def __init__(
        self, port: int, site: str, places: Sequence[DemoTable], seed: int, speed: float
    ) -> None:
        self._port = port
        self._topics = Topics(site, simulated=True)
        self._tables = [Table(place, f"{seed} {place.table}") for place in places]
        self._speed = speed
        self.opened = asyncio.Event()

    async def preside(self) -> None:
        """Until cancelled. Raises :class:`DemoError` where a table refuses to open, or the broker
        is gone.
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
                await asyncio.sleep(PATIENCE)  # whoever looks after the programs finds out more
            raise DemoError(f"the broker is gone: {errors.exceptions[0]}") from None

    async def _preside(self, client: aiomqtt.Client) -> None:
        taking = {}
        for each in self._tables:
            table = each.place.table
            taking[self._topics.table(table, "state")] = each.state
            taking[self._topics.table(table, "event")] = each.event
            taking[self._topics.reply(table, "demo")] = each.answer
        async with asyncio.TaskGroup() as people:
            for each in self._tables:
                people.create_task(self._attend(client, each))
            await client.subscribe([(topic, 1) for topic in taking])
            async for message in client.messages:
                if message.payload and (take := taking.get(message.topic.value)):
                    take(json.loads(bytes(message.payload)))

    async def _attend(self, client: aiomqtt.Client, table: Table) -> None:
        """One word after the other; each is thought about, and said only if it is still the right
        one then.

        A word may be refused because the table has moved on meanwhile: then he looks again. Raises
        :class:`DemoError` where a table that is to be opened goes on to refuse what follows from
        what it shows.
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
                    await asyncio.sleep(TAKES.get(word[0], THINKS) / self._speed)
                if await table.look() != word:
                    continue
                saying = word, table.irregular
                refused = await self._say(client, table, word)
                refusals = 0 if refused is None else refusals + 1 if saying == said else 1
                if refusals >= REFUSALS and not table.plays:
                    raise DemoError(f"the table {table.place.table} does not open: {refused}")
                said, again = saying, now() + max(AGAIN[0] / self._speed, AGAIN[1])

    async def _say(self, client: aiomqtt.Client, table: Table, word: Said) -> str | None:
        """Say it and wait for the answer: why it is refused, or None. What nobody answers is said
        again in time; whether the broker is gone, who listens to it finds out.
        """
        import aiomqtt

        name, more = word
        number, answer = table.ask()
        body = {"by": "demo", "role": table.place.role, "client": "demo", "id": number, **more}
        with contextlib.suppress(aiomqtt.MqttError):
            await client.publish(
                self._topics.command(table.place.table, name), json.dumps(body), qos=1
            )
        task = asyncio.current_task()
        if (
            task is not None and task.cancelling()
        ):  # which asyncio.wait_for of Python 3.11 may have swallowed in there
            raise asyncio.CancelledError
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(AGAIN[1]):
                return await answer
        return None

    def _plays(self, table: Table) -> None:
        table.plays = True
        if all(each.plays for each in self._tables):
            self.opened.set()
