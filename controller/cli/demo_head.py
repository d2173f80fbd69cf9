"""The demo's head of the table: opens the sessions, gives out shoes, and decides where a table waits for a person."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from controller.cli import Failed
from controller.cli.demo_floor import PATIENCE
from controller.topics import Topics

if TYPE_CHECKING:
    import aiomqtt

Said = tuple[str, dict[str, Any]]
"""A command's name, and what it says."""

NULL = ("ball_with_rotor", "rotor_not_reversed")
"""What is irregular at a wheel and makes the round null, where the table asks; at cards it is a misdeal, whatever it is."""
CARDS = {"card_unsure": "next_round", "silence": "accept"}
"""What becomes of a card that stops the table between rounds: one too many is kept for the next, a burn that was not seen whole
is over. Any other is removed.
"""
DECISIONS = ("round.void", "card.decide")
"""What a person thinks about before it is said."""
THINKS = 4.0
"""For so many seconds."""


class Head:
    """Presides over ``tables``; at those in ``shoes`` cards are dealt. ``opened`` is set as soon as all of them may play."""

    def __init__(self, port: int, site: str, tables: Collection[str], shoes: Collection[str], speed: float) -> None:
        self._port = port
        self._topics = Topics(site, simulated=True)
        self._tables, self._shoes = tables, shoes
        self._seen: set[str] = set()
        self._playing: set[str] = set()
        self._shoe = 0
        self._thinks = THINKS / speed
        self.opened = asyncio.Event()

    async def preside(self) -> None:
        """Until cancelled. Raises :class:`Failed` where a table refuses to open, or the broker is gone."""
        import aiomqtt

        try:
            async with aiomqtt.Client("127.0.0.1", self._port, protocol=aiomqtt.ProtocolVersion.V311) as client:
                await self._preside(client)
        except aiomqtt.MqttError as error:
            await asyncio.sleep(PATIENCE)  # whoever looks after the programs finds out more
            raise Failed(f"the broker is gone: {error}") from None

    async def _preside(self, client: aiomqtt.Client) -> None:
        taking: dict[str, tuple[str, Callable[[str, dict[str, Any]], list[Said]]]] = {}
        for table in self._tables:
            taking[self._topics.table(table, "state")] = (table, self._state)
            taking[self._topics.table(table, "event")] = (table, self._event)
            taking[self._topics.reply(table, "demo")] = (table, self._answered)
        await client.subscribe([(topic, 1) for topic in taking])
        thoughts: set[asyncio.Task[None]] = set()
        async for message in client.messages:
            body = json.loads(message.payload if isinstance(message.payload, bytes) else b"{}")
            table, take = taking.get(message.topic.value, ("", lambda *_: []))
            if commands := take(table, body):
                thoughts.add(thought := asyncio.create_task(self._say(client, table, commands)))
                thought.add_done_callback(thoughts.discard)

    async def _say(self, client: aiomqtt.Client, table: str, commands: list[Said]) -> None:
        """One after the other. A table that plays already waits for a decision as long as a person takes."""
        for name, more in commands:
            if name in DECISIONS and table in self._playing:
                await asyncio.sleep(self._thinks)
            body = {"by": "demo", "role": "table_head", "client": "demo", "id": name, **more}
            await client.publish(self._topics.command(table, name), json.dumps(body), qos=1)

    def _state(self, table: str, state: dict[str, Any]) -> list[Said]:
        """A closed table is opened. The session of an earlier demo goes on; its round in hand is null, and its shoe is gone."""
        if table in self._seen:
            return []
        self._seen.add(table)
        shown = state["shown"]
        if shown["phase"] == "closed":
            return [("session.open", {})]
        if table not in self._shoes:
            self._plays(table)
            return []
        left: list[Said] = [("round.void", {"reason": "misdeal", "round": shown["round"]})] if shown["hands"] else []
        return [*left, self._next_shoe()]

    def _event(self, table: str, event: dict[str, Any]) -> list[Said]:
        what, asks = event.get("what"), event.get("asks", ())
        if (event["type"] == "shoe.ended" and event["why"] == "cut") or "shoe.start" in asks:
            return [self._next_shoe()]
        if "round.void" in asks and (what in NULL or table in self._shoes):
            return [("round.void", {"reason": what if what in NULL else "misdeal", "round": event["round"]})]
        if "card.decide" in asks:
            return [("card.decide", {"action": CARDS.get(what or "", "remove")})]
        return []

    def _answered(self, table: str, reply: dict[str, Any]) -> list[Said]:
        opens = ("session.open", "shoe.start") if table in self._shoes else ("session.open",)
        if table in self._playing or reply["id"] not in opens:
            return []
        if not reply["ok"]:
            raise Failed(f"the table {table} does not open: {reply['error']}")
        if reply["id"] != opens[-1]:
            return [self._next_shoe()]
        self._plays(table)
        return []

    def _next_shoe(self) -> Said:
        self._shoe += 1
        return "shoe.start", {"shoe": str(self._shoe)}

    def _plays(self, table: str) -> None:
        self._playing.add(table)
        if self._playing.issuperset(self._tables):
            self.opened.set()
