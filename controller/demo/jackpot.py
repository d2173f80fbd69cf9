"""The demo's jackpot over its poker tables: its configuration, and the two persons who pay what is
won.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from controller.contract.command_fields import Role
from controller.contract.topics import Topics, level
from controller.demo.floor import PATIENCE
from controller.demo.places import COIN, DemoTable
from controller.demo.staff import Staff
from controller.rulebooks.chapters import head
from devices.money import EURO, format_amount

if TYPE_CHECKING:
    import aiomqtt

JACKPOT = "demo"
"""Its id."""
PROGRAM = "carrousel"
"""The id of its controller among the people."""
SEED = 1000 * COIN
"""What a period begins with, in minor units."""
PERCENTAGE = {"ARA02": (1, 1)}
"""What the meter rises by, where it is not nine parts in ten: by decree."""
TITLES = {
    "en": "Demo jackpot, stacked deck",
    "es": "Carrusel de demostración, baraja preparada",
    "ca": "Carrusel de demostració, baralla preparada",
    "eu": "Erakustaldiko karrusela, karta-sorta prestatua",
    "gl": "Carrusel de demostración, baralla preparada",
}
PAYERS: tuple[Role, Role] = ("inspector", "director")
TAKES = 6.0
"""Seconds that each of them takes."""
ANSWERS = 10.0
"""Real seconds after which an order without an answer is given again."""

_CONFIGURATION = """
[carrousel]
path = {ledger}
recall_key = {reader}
recall_passphrase_file = {passphrase}

[[jackpot]]
id = "{jackpot}"
decree = "{decree}"
games = ["poker-no-draw"]
currency = "EUR"
simulated = true
stake = {stake}
seed = {seed}
shown = 60
title = {{ {title} }}

[jackpot.authorisation]
number = "demo"
date = "2026-01-01"
authority = "demo"
percentage = {percentage}
tables = {tables}
"""


def linked(tables: Sequence[DemoTable]) -> list[str]:
    """The tables that have coin slots."""
    return [place.table for place in tables if place.slots is not None]


def configuration(decree: str, tables: Sequence[DemoTable], ledger: str, staff: Staff) -> str:
    """``[carrousel]`` and ``[[jackpot]]``."""
    reader = staff.readers[PROGRAM]
    own = head(decree).languages[0]
    titles = {own: TITLES[own], **TITLES}
    return _CONFIGURATION.format(
        ledger=json.dumps(ledger),
        reader=json.dumps(str(reader.key)),
        passphrase=json.dumps(str(reader.passphrase)),
        jackpot=JACKPOT,
        decree=decree,
        stake=format_amount(COIN, EURO),
        seed=format_amount(SEED, EURO),
        title=", ".join(f"{name} = {json.dumps(text)}" for name, text in titles.items()),
        percentage=list(PERCENTAGE.get(decree, (9, 10))),
        tables=json.dumps(linked(tables)),
    )


class Payment:
    """Two persons pay each award. ``tell`` is called with a line for whatever happens to an award;
    ``ready`` is set once the jackpot is in play at all ``tables``.
    """

    def __init__(
        self,
        port: int,
        site: str,
        tables: Sequence[str],
        staff: Staff,
        speed: float,
        tell: Callable[[str], None],
    ) -> None:
        self._port, self._tables, self._staff, self._tell = port, tables, staff, tell
        self._topics = Topics(site, simulated=True)
        self._takes = TAKES / speed
        self.ready = asyncio.Event()
        self._awards: list[dict[str, Any]] = []
        self._known: dict[int, str] = {}
        """The status of each award that was told; of one that was paid here: ``paid``."""
        self._changed = asyncio.Event()
        self._answer: asyncio.Future[dict[str, Any]] | None = None
        self._number = ""

    async def attend(self) -> None:
        """Until cancelled."""
        import aiomqtt

        try:
            async with aiomqtt.Client(
                "127.0.0.1", self._port, protocol=aiomqtt.ProtocolVersion.V311
            ) as client:
                for leaf in ("state", "reply/demo"):
                    await client.subscribe(self._topics.jackpot(JACKPOT, leaf), qos=1)
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._hear(client))
                    group.create_task(self._pay_all(client))
        except* aiomqtt.MqttError:
            task = asyncio.current_task()
            if task is None or not task.cancelling():
                await asyncio.sleep(PATIENCE)  # Floor.check reports the cause first

    async def _hear(self, client: aiomqtt.Client) -> None:
        state = self._topics.jackpot(JACKPOT, "state")
        async for message in client.messages:
            body = json.loads(bytes(message.payload))
            if str(message.topic) == state:
                self._look(body)
            elif (
                self._answer is not None and not self._answer.done() and body["id"] == self._number
            ):
                self._answer.set_result(body)

    def _look(self, state: dict[str, Any]) -> None:
        """Take the retained state."""
        if state["in_play"] and all(
            state["tables"].get(each, {}).get("in_play") for each in self._tables
        ):
            self.ready.set()
        self._awards = state["awards"]
        for award in self._awards:
            if self._known.get(award["award"]) not in (award["status"], "paid"):
                self._known[award["award"]] = award["status"]
                self._tell(f"{_what(award)}: {_worth(award)}, {award['status']}")
        self._changed.set()

    async def _pay_all(self, client: aiomqtt.Client) -> None:
        while True:
            due = next(
                (
                    each
                    for each in self._awards
                    if each["status"] == "payable" and self._known[each["award"]] != "paid"
                ),
                None,
            )
            if due is None:
                self._changed.clear()
                await self._changed.wait()
            else:
                await self._pay(client, due)

    async def _pay(self, client: aiomqtt.Client, award: dict[str, Any]) -> None:
        """One person after the other orders it; if nothing comes of it, they look again."""
        amount = award["value"] - award["paid"]
        reply: dict[str, Any] = {}
        for role in PAYERS:
            await asyncio.sleep(self._takes)
            reply = await self._order(client, role, award, amount)
        if (receipt := reply.get("receipt")) is not None:
            self._known[award["award"]] = "paid"
            who = " and ".join(PAYERS)
            self._tell(f"{_what(award)}: receipt {receipt}, {_euro(amount)} paid by {who}")

    async def _order(
        self, client: aiomqtt.Client, role: Role, award: dict[str, Any], amount: int
    ) -> dict[str, Any]:
        """Give the signed order; the answer, empty if there was none."""
        self._number = secrets.token_urlsafe(12)
        self._answer = asyncio.get_running_loop().create_future()
        body = self._staff.sign(
            role,
            f"{self._topics.root}/jackpot/{JACKPOT}",
            "award.pay",
            self._number,
            {"award": award["award"], "amount": amount, "paid": award["paid"]},
        )
        topic = self._topics.jackpot(JACKPOT, f"command/{level('award.pay')}")
        await client.publish(topic, body, qos=1)
        await asyncio.wait([self._answer], timeout=ANSWERS)
        return self._answer.result() if self._answer.done() else {}


def _what(award: dict[str, Any]) -> str:
    return f"{award['table']}, {award['box'].replace(':', ' ')}, {award['hand'].replace('_', ' ')}"


def _worth(award: dict[str, Any]) -> str:
    return "no value yet" if award["value"] is None else _euro(award["value"])


def _euro(amount: int) -> str:
    return f"{amount // 100:,}.{amount % 100:02} EUR"
