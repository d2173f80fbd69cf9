"""Simulates the people at the demo's tables: opens the sessions, and sends each table's next
command after a realistic delay.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from common import clock, randomness
from common.contract.topics import Topics
from controller.demo.floor import PROGRAM_TIMEOUT_SECONDS, DemoError
from controller.demo.people import CommandFields, Player, TableSeen, dice, shoe, wheel
from controller.demo.places import DemoTable
from controller.demo.poker import croupier
from controller.demo.staff import Staff

if TYPE_CHECKING:
    import aiomqtt

PLAYER_BY_GAME: Mapping[str, Player] = {
    "roulette-french": wheel,
    "boule": wheel,
    "fortune-wheel": wheel,
    "craps": dice,
    "punto-banca": shoe,
    "poker-no-draw": croupier,
    "three-card-poker": croupier,
}
"""The behaviour of the person at a table, by game."""
COMMAND_SECONDS: Mapping[str, float] = {
    "shoe.start": 0.0,
    "cards.deal": 0.5,
    "bets.close": 0.5,
    "boxes.set": 1.0,
    "bet.place": 1.0,
    "cards.show": 2.0,
}
"""Seconds before a command is sent. Other commands take ``DECISION_SECONDS``."""
DECISION_SECONDS = 4.0
"""Seconds that a person takes for a decision."""
VISITOR_SECONDS = 60.0
"""Real seconds for which a decision is left to a visitor who is signed in at the console."""
RETRY_SECONDS = 8.0, 2.0
"""A command without effect is repeated after this many seconds of the model, but no sooner than
this many real seconds.
"""
MISSED_EVENT_SECONDS = 5.0
"""Seconds to wait for an event that the state already includes. An event that does not come by then
was published before the demo subscribed.
"""
MAX_REFUSALS = 3
"""Refusals of the same command in a row after which opening a table fails."""


class TableState:
    """One table as its person sees it. ``plays``: the table is open and has once needed no command;
    from then on, commands are delayed.

    The state may arrive before or after the events that it includes. The person acts only when they
    agree, because a mismatch would lead to wrong commands.
    """

    def __init__(self, place: DemoTable, seed: str) -> None:
        self.place = place
        self.plays = False
        self._changed = asyncio.Event()
        self._boot = ""
        self._seq = 0
        """Number of the last event in the state; ``_received_seq``: that of the last event
        received.
        """
        self._received_seq = 0
        self._shown: dict[str, Any] = {}
        self._latest_events: dict[str, dict[str, Any]] = {}
        self._seed = seed
        self._number = ""
        self._answer: asyncio.Future[dict[str, Any]] | None = None

    def state(self, body: dict[str, Any]) -> None:
        """Process the retained state."""
        if body["boot"] != self._boot:  # a new boot: earlier events are not repeated
            self._boot, self._received_seq, self._latest_events = body["boot"], body["seq"], {}
        self._seq, self._shown = body["seq"], body["shown"]
        self._changed.set()

    def event(self, body: dict[str, Any]) -> None:
        """Process an event. Events from before the first state, or of another boot, are ignored."""
        if body["boot"] == self._boot and body["seq"] > self._received_seq:
            self._received_seq = body["seq"]
            self._latest_events[body["type"]] = body
            self._changed.set()

    def new_request(self) -> tuple[str, asyncio.Future[dict[str, Any]]]:
        """Return the next command's number and its future reply."""
        self._number = randomness.token_urlsafe(12)
        self._answer = asyncio.get_running_loop().create_future()
        return self._number, self._answer

    def answer(self, body: dict[str, Any]) -> None:
        """Process a reply. Replies to earlier commands are ignored."""
        if self._answer is not None and not self._answer.done() and body["id"] == self._number:
            self._answer.set_result(body)

    async def next_command(self) -> CommandFields | None:
        """Wait until the state and the events agree; return the person's next command, if any."""
        while not self._shown or self._seq != self._received_seq:
            if not await self.change(MISSED_EVENT_SECONDS if self._shown else None):
                self._received_seq = self._seq
        return PLAYER_BY_GAME[self.place.game](
            TableSeen(
                shown=self._shown,
                latest_events=self._latest_events,
                seed=self._seed,
                slips=self.place.slips,
                stacked=self.place.stacked if self.place.slots else None,
            )
        )

    @property
    def round(self) -> int:
        """Number of finished rounds of its session."""
        return int(self._shown.get("round", 0)) - 1

    @property
    def irregular(self) -> int:
        """Number of the latest irregularity; 0 without one. A command that is repeated after
        another irregularity counts as new.
        """
        return int(self._latest_events.get("irregularity", {}).get("seq", 0))

    async def change(self, within: float | None = None) -> bool:
        """Wait for a new state or event. Return False after a timeout."""
        self._changed.clear()
        try:
            async with asyncio.timeout(within):
                await self._changed.wait()
        except TimeoutError:
            return False
        return True


class TableHead:
    """The people at the tables of ``places``. ``opened`` is set once all tables can play.
    ``occupied``: a file that exists while a visitor is signed in; ``insert``: makes the players of
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
        self.tables = [TableState(place, f"{seed} {place.table}") for place in places]
        self._speed = speed
        self.opened = asyncio.Event()

    async def preside(self) -> None:
        """Play until cancelled. Raises :class:`DemoError` if a table refuses to open or the broker
        is lost.
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
                await clock.sleep(PROGRAM_TIMEOUT_SECONDS)  # Floor.check reports the cause first
            raise DemoError(f"the broker is lost: {errors.exceptions[0]}") from None

    async def _preside(self, client: aiomqtt.Client) -> None:
        handlers = {}
        for table_state in self.tables:
            table = table_state.place.table
            handlers[self._topics.table(table, "state")] = table_state.state
            handlers[self._topics.table(table, "event")] = table_state.event
            handlers[self._topics.reply(table, "demo")] = table_state.answer
        async with asyncio.TaskGroup() as people:
            for table_state in self.tables:
                people.create_task(self._attend(client, table_state))
            await client.subscribe([(topic, 1) for topic in handlers])
            async for message in client.messages:
                if message.payload and (handler := handlers.get(message.topic.value)):
                    handler(json.loads(bytes(message.payload)))

    async def _attend(self, client: aiomqtt.Client, table: TableState) -> None:
        """Send one command after another. After its delay, a command is sent only if it is still
        the right one.

        A table whose state has changed meanwhile may refuse a command; the person then looks again.
        Raises :class:`DemoError` if a table that is not yet open keeps refusing the same command.
        """
        now = asyncio.get_running_loop().time
        last_sent: tuple[CommandFields, int] | None = None
        retry_at, refusals = 0.0, 0
        while True:
            command = await table.next_command()
            if command is None:
                last_sent = None
                self._plays(table)
                await table.change()
            elif (command, table.irregular) == last_sent and now() < retry_at:
                await table.change(retry_at - now())
            else:
                if table.plays:
                    delay = COMMAND_SECONDS.get(command[0], DECISION_SECONDS)
                    await clock.sleep(delay / self._speed)
                    await self._leave_to_visitor(table, command)
                if await table.next_command() != command:
                    continue
                current = command, table.irregular
                refused = await self._send(client, table, command)
                if command[0] == "boxes.set" and table.place.slots and refused is None:
                    self._insert(table.place.slots)
                refusals = 0 if refused is None else refusals + 1 if current == last_sent else 1
                if refusals >= MAX_REFUSALS and not table.plays:
                    raise DemoError(f"the table {table.place.table} does not open: {refused}")
                last_sent, retry_at = (
                    current,
                    now() + max(RETRY_SECONDS[0] / self._speed, RETRY_SECONDS[1]),
                )

    async def _leave_to_visitor(self, table: TableState, command: CommandFields) -> None:
        """Wait while a visitor may decide, or until one has decided."""
        if command[0] in COMMAND_SECONDS or self._occupied is None:
            return
        now = asyncio.get_running_loop().time
        end = now() + VISITOR_SECONDS
        while now() < end and self._occupied.exists() and await table.next_command() == command:
            await clock.sleep(0.2)

    async def _send(
        self, client: aiomqtt.Client, table: TableState, command: CommandFields
    ) -> str | None:
        """Send a command and wait for its reply: why it was refused, or None. :meth:`_attend`
        repeats a command without a reply; :meth:`preside` detects a lost broker.
        """
        import aiomqtt

        name, fields = command
        number, answer = table.new_request()
        place = table.place
        audience = f"{self._topics.root}/{place.table}"
        body = self._staff.sign(place.role, audience, name, number, fields)
        with contextlib.suppress(aiomqtt.MqttError):
            await client.publish(self._topics.command(place.table, name), body, qos=1)
        task = asyncio.current_task()
        # In Python 3.11, asyncio.wait_for inside publish may have swallowed a cancellation.
        if task is not None and task.cancelling():
            raise asyncio.CancelledError
        await asyncio.wait([answer], timeout=RETRY_SECONDS[1])
        if not answer.done() or (reply := answer.result())["ok"]:
            return None
        refusal = reply.get("refusal", {})
        if refusal.get("key") == "signed_before_start":  # the daemon continues an existing journal
            await clock.sleep(refusal["fields"]["seconds"])
            return None
        return str(reply["error"])

    def _plays(self, table: TableState) -> None:
        table.plays = True
        if all(other.plays for other in self.tables):
            self.opened.set()
