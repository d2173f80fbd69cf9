"""A floor with a jackpot for the console's tests: real broker, controller and web server; tables as
published by their daemon.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from common.people.register import checked_people, to_base64url, write_people
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.carrousel.floor import SITE, STAKE, Controller, Dealer, Floor, terms
from tests.support.people.staff import HEAD, LASA, RIERA, SIGNER, SITE_KEY, VIDAL
from tests.support.waiting import until
from tests.support.web.pit import Client, console
from tests.support.web.server import WebServer

TABLES = ("poker-1", "poker-2")
JACKPOT = "jackpot/linked"


def staff(director: tuple[str, ...] = ("*",)) -> bytes:
    """The people file: a table head, an inspector and the director, at these tables."""
    persons = [
        replace(LASA, roles=("table_head",), tables=("*",)),
        replace(RIERA, roles=("inspector",), tables=("*",), pits=()),
        replace(VIDAL, tables=director),
    ]
    return write_people(checked_people(replace(HEAD, site=SITE, pits={}), persons), SITE_KEY)


class PayingFloor(Floor):
    """Everything in play, and a subscribed console."""

    def __init__(
        self,
        folder: Path,
        ending: ExitStack,
        *,
        nodes: int = 1,
        director: tuple[str, ...] = ("*",),
        pit: Mapping[str, Any] | None = None,
        letterhead: Sequence[str] = (),
        **fields: Any,
    ) -> None:
        """``pit``: more settings of the console."""
        people = folder / "people.jsonl"
        people.write_bytes(staff(director))
        broker = Mosquitto(folder / "mosquitto")
        ending.callback(broker.kill)
        broker.start()
        subscriber = Subscriber(broker.port, "#")
        ending.callback(subscriber.close)
        self.dealers = [Dealer(broker.port, f"node-{each}", f"b{each}") for each in range(nodes)]
        for number, dealer in enumerate(self.dealers):
            ending.callback(dealer.close)
            dealer.serve(*TABLES[number :: len(self.dealers)])
        controller = Controller(
            folder / "carrousel",
            broker.port,
            terms(*TABLES, **fields),
            people_file=str(people),
            people_key=to_base64url(SIGNER),
            keepalive=20.0,  # else what a starved controller says has ended before it is shown
        )
        ending.callback(controller.kill)
        controller.start()
        super().__init__(broker, subscriber, self.dealers[0], controller)
        self.in_play(*TABLES)
        self.web = WebServer(
            folder / "web",
            broker.port,
            [],
            jackpots=[{"id": "linked"}],
            letterhead=letterhead,
            pit=console(folder / "pit", SITE, people, **(pit or {})),
        )
        ending.callback(self.web.kill)
        until("all is heard", lambda: Client(self.web.address).ask("GET", "/health")[0] == 200)

    def hit(self, table: str = TABLES[0], box: int = 1, round: int = 1) -> int:  # noqa: A002
        """A straight flush that is payable. Returns what it is worth."""
        number = self.state()["last"][0]["award"] + 1 if self.state().get("last") else 1
        self.dealer.coin(table, box, round)
        self.dealer.award(table, box, round)
        self.dealer.staked(table, STAKE, round)
        state = self.until(
            f"award {number} is payable",
            lambda state: any(
                (award["award"], award["status"]) == (number, "payable")
                for award in state["awards"]
            ),
        )
        return next(int(award["value"]) for award in state["awards"] if award["award"] == number)

    def sent(self, command: str) -> int:
        """How often an order came to the broker."""
        self.subscriber.catch_up()
        return len(self.subscriber.on(f"{JACKPOT}/command/{command.replace('.', '-')}"))
