"""The demo's jackpot over its poker tables: its configuration, and the two people who pay
awards.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from common import clock, randomness
from common.contract.command_fields import Role
from common.contract.messages.messages import text, word
from common.contract.topics import Topics, level
from common.money import EURO, format_amount
from controller.demo.floor import PROGRAM_TIMEOUT_SECONDS
from controller.demo.places import COIN, DemoTable
from controller.demo.staff import Staff
from controller.rulebooks.chapters import head

if TYPE_CHECKING:
    import aiomqtt

JACKPOT = "demo"
"""Id of the jackpot."""
PROGRAM = "carrousel"
"""Id of its controller among the people."""
SEED_AMOUNT = 1000 * COIN
"""The meter at the start of a period, in minor units."""
PERCENTAGE = {"ARA02": (1, 1)}
"""By decree: the share of coins that the meter rises by, if not nine tenths."""
TITLES = {
    "en": "Demo jackpot, stacked deck",
    "es": "Carrusel de demostración, baraja preparada",
    "ca": "Carrusel de demostració, baralla preparada",
    "eu": "Erakustaldiko karrusela, karta-sorta prestatua",
    "gl": "Carrusel de demostración, baralla preparada",
}
PAYERS: tuple[Role, Role] = ("inspector", "director")
PAYMENT_SECONDS = 6.0
"""Seconds that each of them takes."""
REPLY_TIMEOUT_SECONDS = 10.0
"""Real seconds after which an order without a reply is repeated."""

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
    """Return the tables with coin slots."""
    return [place.table for place in tables if place.slots is not None]


def configuration(decree: str, tables: Sequence[DemoTable], ledger: str, staff: Staff) -> str:
    """Return the sections ``[carrousel]`` and ``[[jackpot]]``."""
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
        seed=format_amount(SEED_AMOUNT, EURO),
        title=", ".join(f"{name} = {json.dumps(text)}" for name, text in titles.items()),
        percentage=list(PERCENTAGE.get(decree, (9, 10))),
        tables=json.dumps(linked(tables)),
    )


class AwardPayers:
    """Two people who pay each award. ``report`` is called with a line for each change of an award;
    ``ready`` is set once the jackpot is in play at all ``tables``. ``language``: of these lines.
    """

    def __init__(
        self,
        port: int,
        site: str,
        tables: Sequence[str],
        staff: Staff,
        speed: float,
        report: Callable[[str], None],
        language: str,
    ) -> None:
        self._port, self._tables, self._staff, self._report = port, tables, staff, report
        self._language = language
        self._topics = Topics(site, simulated=True)
        self._payment_seconds = PAYMENT_SECONDS / speed
        self.ready = asyncio.Event()
        self._awards: list[dict[str, Any]] = []
        self._known: dict[int, str] = {}
        """The reported status of each award; ``paid`` once it was paid here."""
        self._changed = asyncio.Event()
        self._answer: asyncio.Future[dict[str, Any]] | None = None
        self._number = ""

    async def attend(self) -> None:
        """Pay awards until cancelled."""
        import aiomqtt

        try:
            async with aiomqtt.Client(
                "127.0.0.1", self._port, protocol=aiomqtt.ProtocolVersion.V311
            ) as client:
                for leaf in ("state", "reply/demo"):
                    await client.subscribe(self._topics.jackpot(JACKPOT, leaf), qos=1)
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._receive(client))
                    group.create_task(self._pay_all(client))
        except* aiomqtt.MqttError:
            task = asyncio.current_task()
            if task is None or not task.cancelling():
                await clock.sleep(PROGRAM_TIMEOUT_SECONDS)  # Floor.check reports the cause first

    async def _receive(self, client: aiomqtt.Client) -> None:
        state = self._topics.jackpot(JACKPOT, "state")
        async for message in client.messages:
            body = json.loads(bytes(message.payload))
            if str(message.topic) == state:
                self._on_state(body)
            elif (
                self._answer is not None and not self._answer.done() and body["id"] == self._number
            ):
                self._answer.set_result(body)

    def _on_state(self, state: dict[str, Any]) -> None:
        """Process the retained state."""
        if state["in_play"] and all(
            state["tables"].get(table, {}).get("in_play") for table in self._tables
        ):
            self.ready.set()
        self._awards = state["awards"]
        for award in self._awards:
            if self._known.get(award["award"]) not in (award["status"], "paid"):
                self._known[award["award"]] = award["status"]
                self._report(self._line(award, award["value"], award["status"]))
        self._changed.set()

    async def _pay_all(self, client: aiomqtt.Client) -> None:
        while True:
            due = next(
                (
                    award
                    for award in self._awards
                    if award["status"] == "payable" and self._known[award["award"]] != "paid"
                ),
                None,
            )
            if due is None:
                self._changed.clear()
                await self._changed.wait()
            else:
                await self._pay(client, due)

    async def _pay(self, client: aiomqtt.Client, award: dict[str, Any]) -> None:
        """Give the order as one person after the other; without a receipt, retry later."""
        amount = award["value"] - award["paid"]
        reply: dict[str, Any] = {}
        for role in PAYERS:
            await clock.sleep(self._payment_seconds)
            reply = await self._order(client, role, award, amount)
        if (receipt := reply.get("receipt")) is not None:
            self._known[award["award"]] = "paid"
            number = text("book.receipt_title", self._language, number=receipt)
            payers = " · ".join(word("role", role, self._language) for role in PAYERS)
            self._report(f"{self._line(award, amount, 'paid')}, {number} ({payers})")

    def _line(self, award: dict[str, Any], amount: int | None, status: str) -> str:
        """Return which hand of which table wins what, as text."""
        language = self._language
        table = text("jackpot.table", language, table=award["table"])
        box = text("who.box_numbered", language, number=award["box"].partition(":")[2])
        hand = word("hand", award["hand"], language)
        value = text("jackpot.no_amount", language) if amount is None else _euro(amount)
        return f"{table}, {box}, {hand}: {value}, {word('jackpot', f'award.{status}', language)}"

    async def _order(
        self, client: aiomqtt.Client, role: Role, award: dict[str, Any], amount: int
    ) -> dict[str, Any]:
        """Give the signed order; return the reply, empty after a timeout."""
        self._number = randomness.token_urlsafe(12)
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
        await asyncio.wait([self._answer], timeout=REPLY_TIMEOUT_SECONDS)
        return self._answer.result() if self._answer.done() else {}


def _euro(amount: int) -> str:
    return f"{amount // 100:,}.{amount % 100:02} EUR"
