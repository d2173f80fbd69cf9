"""A whole floor for the console's tests: real broker, daemon and web server, a wheel and a scanner
that are fed by hand.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from common.contract.topics import level
from controller.cli.web import write_laws
from controller.people import broker_access
from simulators.shoe.barcode import card_code
from tests.support.brokers.mosquitto import MARK, Mosquitto, Subscriber
from tests.support.daemon.play import TABLE, until_said
from tests.support.daemon.process import Daemon, Wheel, configuration, table
from tests.support.daemon.tables import mini_table
from tests.support.devices.parts import Pty
from tests.support.people.signing import RIERA, SIGNED, claims, enrol, give, token
from tests.support.waiting import until
from tests.support.web.pit import Client, console
from tests.support.web.server import WebServer

SITE = "palma"
ROULETTE, CARDS = "novamas/v1/palma/r1", "novamas-sim/v1/palma/b1"


class Floor:
    """Roulette at ``r1``; punto y banca at ``b1``, small, dealt face up, its cards scanned."""

    def __init__(
        self,
        folder: Path,
        ending: ExitStack,
        cards: bool = False,
        settings: str = "",
        keepalive: int = 60,
        period: float = 60.0,
        guarded: bool = False,
        others: Mapping[str, str] | None = None,
        **pit: Any,
    ) -> None:
        """``others``: simulated tables, each an id and its part of the configuration.
        ``keepalive``: seconds; a broker that is starved for longer looks gone to the daemon.
        ``period``: seconds between two lines of the wheel; one that is starved for longer looks
        silent, and one that was unplugged is live again once it has spoken at that pace.
        """
        self.folder, self._ending = folder, ending
        rules = folder / "acl"
        rules.write_text(_rules() if guarded else "")
        guard = [f"acl_file {rules}"] if guarded else []
        self.broker = Mosquitto(folder / "mosquitto", "allow_anonymous true", *guard)
        ending.callback(self.broker.kill)
        self.broker.start()
        self.wheel = Wheel(folder / "wheel")
        ending.callback(self.wheel.close)
        tables = [table("r1", self.wheel, simulated=cards, period=period, settings=settings)]
        if cards:
            (folder / "scanner").mkdir()
            self.scanner = Pty(folder / "scanner")
            ending.callback(self.scanner.unplug)
            tables.append(_cards(self.scanner.url))
        others = others or {}
        tables += others.values()
        login = 'username = "novamas"' if guarded else ""
        given = configuration(
            self.broker.port, *tables, broker=login, people=SIGNED, keepalive=keepalive
        )
        self.daemon = Daemon(folder, given)
        ending.callback(self.daemon.kill)
        self.people = enrol(folder)
        self.daemon.start()
        watcher = "watcher" if guarded else None
        self.subscriber = Subscriber(self.broker.port, username=watcher)
        ending.callback(self.subscriber.close)
        self._tables = [("r1", cards), *([("b1", True)] if cards else [])]
        self._tables += [(name, True) for name in others]
        laws = str(write_laws(folder / "web"))
        self._pit = console(folder / "pit", SITE, self.people, laws=laws, **pit)
        if guarded:
            self.serve(broker=self.login("console-1"))
        else:
            self.serve()
        self.until_up("r1")

    def login(self, user: str) -> dict[str, Any]:
        """How the web server gets into the broker as this user."""
        return {"url": f"mqtt://127.0.0.1:{self.broker.port}", "username": user}

    def serve(self, **more: Any) -> None:
        """Start the web server, or another one on what the one before has left."""
        self.web = WebServer(
            self.folder / "web",
            self.broker.port,
            self._tables,
            **{"site": SITE, "pit": self._pit, **more},
        )
        self._ending.callback(self.web.kill)

    def until_up(self, name: str) -> None:
        until(
            f"{name} is heard",
            lambda: (
                self.subscriber.on(f"/{name}/state")
                and Client(self.web.address).ask("GET", "/health")[0] == 200
            ),
            self.daemon.log,
        )

    def until_answers(self) -> None:
        """Wait until the daemon has dealt with what it was given before: it refuses what a croupier
        may not say. A frozen daemon may be disconnected and miss the first ones.
        """
        known = len(self.subscriber.on(f"/reply/{RIERA}"))

        def refused() -> bool:
            given = claims(RIERA, "session.close", "croupier")
            self.subscriber.publish(f"{TABLE}/command/{level(given.command)}", token(given))
            time.sleep(0.2)
            return len(self.subscriber.on(f"/reply/{RIERA}")) > known

        until("a command is answered", refused, self.daemon.log)

    def open(self) -> None:
        """The head of table opens the roulette, without the console."""
        assert give(self.subscriber, "m-lasa", "session.open", minimum=500, currency="EUR")["ok"]

    def spin(self, number: str, count: int) -> None:
        """A spin; each step is seen before the next one is made."""
        for state, kind in ((2, "round.opened"), (3, None), (4, "bets.closed"), (5, None)):
            known = len(self.subscriber.events(kind)) if kind else 0
            self.wheel.show(state, count, number if state == 5 else "  ")
            if kind:
                until_said(self.subscriber, kind, known + 1)

    def deal(self, *cards: str) -> None:
        """Scan cards."""
        for card in cards:
            self.scanner.say(f"{card_code(card)}\r\n".encode())

    def sent(self) -> list[str]:
        """The commands that came to the broker until now, by their topics."""
        self.subscriber.catch_up()
        return [
            message.topic.rpartition("/")[2]
            for message in self.subscriber.messages
            if "/command/" in message.topic
        ]


def _rules() -> str:
    """What `novamas acl` writes, and a user of the test who sees everything."""
    floor = broker_access.AccessScope(SITE, "pit-1", (("r1", False),))
    users: dict[str, broker_access.Kind] = {
        "novamas": "daemon",
        "console-1": "console",
        "display-4": "display",
    }
    clients = [broker_access.client_access(kind, user, floor) for user, kind in users.items()]
    return broker_access.mosquitto_acl(clients) + f"\nuser watcher\ntopic read #\ntopic {MARK}/#\n"


def _cards(url: str) -> str:
    # nobody draws in a test, and no machine is so slow
    return mini_table("b1", "barcode-serial", url, "min_draw = 0.0, repeat = 60.0")
