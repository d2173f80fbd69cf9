"""The pictures of the README: `make pictures`. Tables that are played here, in a real browser."""

from __future__ import annotations

import io
import random
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image
from playwright.sync_api import Page, ViewportSize, expect, sync_playwright

from common import clock
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
from tests.web.test_moving import motion
from tests.web.test_pit import said, work

SIZE: ViewportSize = {"width": 1200, "height": 675}
SPIN = (800, 450)
LAST_FRAME_MS = 2000


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


def spin(page: Page, room: Path, folder: Path, ending: ExitStack) -> None:
    """One spin of a roulette, from its announcement to the number among the latest, moving."""
    broker = Mosquitto(room / "mosquitto")
    ending.callback(broker.kill)
    broker.start()
    teller = Teller(broker)
    ending.callback(teller.close)
    server = WebServer(room / "web", broker.port, [("ruleta-1", False)], house="Gran Casino")
    ending.callback(server.kill)
    server.hears()
    chance = random.Random(7)
    wheel = RealTable("roulette-french", "ARA02", {"phases": "person"}, name="ruleta-1")
    *before, opened, closed, fell = spins([chance.randrange(37) for _ in range(120)])
    say(teller, wheel, before)
    go(page, f"{server.address}/table/ruleta-1?lang=es&also=en&kiosk=1&metres=3")
    expect(page.locator(".staff")).to_contain_text("jugada 119")
    page.evaluate("document.body.style.background = 'var(--ground)'")
    turns: list[tuple[int, list[Any], dict[str, Any] | None]] = [
        (6, [opened], {"phase": "bets_open", "launched_at": None}),
        (22, [], {"phase": "ball_in_rim"}),
        (14, [closed], {"phase": "no_more_bets"}),
        (46, [fell], None),
    ]
    frames = []
    for count, inputs, moved in turns:
        say(teller, wheel, inputs)
        for _ in range(count):
            if moved is not None:
                teller.move("ruleta-1", motion("ruleta-1", **moved))
            frames.append((clock.monotonic(), page.screenshot(type="png")))
    moving_picture(frames, folder / "spin.webp")


def moving_picture(frames: Sequence[tuple[float, bytes]], path: Path) -> None:
    """Write screenshots, each with the second at which it was made, as an animated WebP."""
    pictures = [Image.open(io.BytesIO(shot)).convert("RGB").resize(SPIN) for _, shot in frames]
    times = [when for when, _ in frames]
    lengths = [round((after - when) * 1000) for when, after in pairwise(times)]
    pictures[0].save(
        path,
        save_all=True,
        append_images=pictures[1:],
        duration=[*lengths, LAST_FRAME_MS],
        loop=0,
        quality=60,
        method=4,
    )


def main(folder: Path) -> None:
    """Make all of them in this folder."""
    with ExitStack() as ending:
        playwright = ending.enter_context(sync_playwright())
        browser = launch(playwright)
        for name, make in (("displays", displays), ("spin", spin), ("console", console)):
            room = Path(ending.enter_context(TemporaryDirectory())) / name
            room.mkdir()
            make(browser.new_page(viewport=SIZE), room, folder, ending)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
