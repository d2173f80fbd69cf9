"""The pictures of the README: `make pictures`. Tables that are played here, in a real browser."""

from __future__ import annotations

import random
import sys
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Page, ViewportSize, expect, sync_playwright

from tests.support.brokers.mosquitto import Mosquitto
from tests.support.subscribers.played import Play, coups
from tests.support.subscribers.real import RealTable, spins
from tests.support.web.floor import Floor
from tests.support.web.going import go
from tests.support.web.pit import sign_in
from tests.support.web.server import Teller, WebServer
from tests.web.conftest import launch
from tests.web.test_cards import OnBroker
from tests.web.test_displays import say
from tests.web.test_pit import said, work

SIZE: ViewportSize = {"width": 1200, "height": 675}


def displays(page: Page, room: Path, folder: Path, ending: ExitStack) -> None:
    """A roulette in the middle of an evening, and a shoe of punto y banca."""
    broker = Mosquitto(room / "mosquitto")
    ending.callback(broker.kill)
    broker.start()
    teller = Teller(broker)
    ending.callback(teller.close)
    server = WebServer(room / "web", broker.port, [("ruleta-1", False), ("punto-1", False)])
    ending.callback(server.kill)
    server.hears()
    chance = random.Random(7)
    wheel = RealTable("roulette-french", "ARA02", {"phases": "person"}, name="ruleta-1")
    say(teller, wheel, spins([chance.randrange(37) for _ in range(120)]))
    cards = Play("punto-banca", "ARA02", None, "b1", "punto-1", (OnBroker(teller, "punto-1"),))
    coups(cards, 42, chance)
    for table, shown in (("ruleta-1", "120"), ("punto-1", "42")):
        go(page, f"{server.address}/table/{table}?lang=es&kiosk=1&metres=3")
        expect(page.locator(".staff")).to_contain_text(f"jugada {shown}")
        # a gradient makes a large file
        page.evaluate("document.body.style.background = 'var(--ground)'")
        page.screenshot(path=folder / f"{table.removesuffix('-1')}.png")


def console(page: Page, room: Path, folder: Path, ending: ExitStack) -> None:
    """A null spin waits for a head of table."""
    floor = Floor(room, ending)
    floor.open()
    sign_in(page, floor.web.address, "m-lasa", "es")
    floor.wheel.show(2, 1, "  ")
    said(floor, "round.opened")
    floor.wheel.show(3, 1, "  ", warning="2")
    spin = work(page, "bola en el sentido del cilindro")
    spin.locator("summary").first.click()
    page.locator(".tile[data-table=r1]").click()
    expect(page.locator(".panel")).not_to_be_empty()
    page.evaluate("scrollTo(0, 0)")
    page.screenshot(path=folder / "consola.png")


def main(folder: Path) -> None:
    """Make all of them in this folder."""
    with ExitStack() as ending:
        playwright = ending.enter_context(sync_playwright())
        browser = launch(playwright)
        for name, make in (("displays", displays), ("console", console)):
            room = Path(ending.enter_context(TemporaryDirectory())) / name
            room.mkdir()
            make(browser.new_page(viewport=SIZE), room, folder, ending)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
