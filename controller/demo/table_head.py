"""Who sits at the demo's tables: opens the sessions, and says what each table's person has to say,
after as long as that takes.
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


class Table:
    """One table as its person sees it. ``changed``: there is something new to see; ``plays``: it is
    open, and was once without anything to be said; from then on words take their time.
    """

    def __init__(self, place: DemoTable, seed: str) -> None:
        self.place = place
        self.changed = asyncio.Event()
        self.plays = False
        self._shown: dict[str, Any] = {}
        self._heard: dict[str, dict[str, Any]] = {}
        self._seed = seed

    def state(self, body: dict[str, Any]) -> None:
        """The retained state."""
        self._shown = body["shown"]
        self.changed.set()

    def event(self, body: dict[str, Any]) -> None:
        """An event. What follows from it stands in the state that comes next."""
        self._heard[body["type"]] = body

    def answer(self, body: dict[str, Any]) -> None:
        """A reply. Raises :class:`DemoError` where the table refuses to open."""
        if not body["ok"] and not self.plays:
            raise DemoError(f"the table {self.place.table} does not open: {body['error']}")

    def word(self) -> Said | None:
        """What its person has to say now."""
        if not self.seen:
            return None
        seen = TableSeen(
            shown=self._shown, heard=self._heard, seed=self._seed, slips=self.place.slips
        )
        return PEOPLE[self.place.game](seen)

    @property
    def seen(self) -> bool:
        """Whether anything is known of it yet."""
        return bool(self._shown)


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
        """
        now = asyncio.get_running_loop().time
        said, again = None, 0.0
        while True:
            table.changed.clear()
            word = table.word()
            if word is None:
                said = None
                if table.seen and not table.plays:
                    self._plays(table)
                await table.changed.wait()
            elif word == said and (not table.plays or now() < again):
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(again - now() if table.plays else None):
                        await table.changed.wait()
            else:
                if table.plays:
                    await asyncio.sleep(TAKES.get(word[0], THINKS) / self._speed)
                if table.word() == word:
                    await self._say(client, table.place, word)
                    said, again = word, now() + max(AGAIN[0] / self._speed, AGAIN[1])

    async def _say(self, client: aiomqtt.Client, place: DemoTable, word: Said) -> None:
        """What the broker does not acknowledge is said again in time; whether it is gone, who
        listens to it finds out.
        """
        import aiomqtt

        name, more = word
        body = {"by": "demo", "role": place.role, "client": "demo", "id": name, **more}
        with contextlib.suppress(aiomqtt.MqttError):
            await client.publish(self._topics.command(place.table, name), json.dumps(body), qos=1)
        task = asyncio.current_task()
        if (
            task is not None and task.cancelling()
        ):  # which asyncio.wait_for of Python 3.11 may have swallowed in there
            raise asyncio.CancelledError

    def _plays(self, table: Table) -> None:
        table.plays = True
        if all(each.plays for each in self._tables):
            self.opened.set()
