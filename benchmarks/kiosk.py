"""What the pages of the displays cost a kiosk, while the wheels turn and the meter rises.

Headless Chromium shows each page in Full HD, fed by a real broker and web server: four roulettes
that turn and are played, four card tables, one jackpot. Printed are the share of one core that the
page's main thread uses, and of it scripts, and layout and styles; the elements made each second;
and the heap after the run. Without a graphics card, drawing is done by other threads: not counted.
"""

from __future__ import annotations

import itertools
import random
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import msgspec
from playwright.sync_api import CDPSession, Page, sync_playwright

from benchmarks.figures import row
from common import clock
from common.contract.times import format_utc
from tests.support.brokers.mosquitto import Mosquitto
from tests.support.jackpot import award, statement
from tests.support.subscribers.played import Play, coups
from tests.support.subscribers.real import RealTable, spins
from tests.support.web.server import SITE, Teller, WebServer
from tests.web.conftest import launch
from tests.web.test_cards import OnBroker

WHEELS = ("ruleta-1", "ruleta-2", "ruleta-3", "ruleta-4")
CARDS = ("punto-1", "punto-2", "punto-3", "punto-4")
PAGES = ("/table/ruleta-1", "/table/punto-1", "/floor", "/wall", "/jackpot/gran")
MOTION_INTERVAL_SECONDS = 1.0
SPIN_TURNS = 30
"""Turns of the loop in which each wheel is spun once."""
COUNT_MADE = """() => {
  window.made = 0;
  const count = (node) => {
    if (node.nodeType === Node.ELEMENT_NODE) made += 1 + node.querySelectorAll("*").length;
  };
  new MutationObserver((records) => records.forEach(({ addedNodes }) => addedNodes.forEach(count)))
    .observe(document.body, { subtree: true, childList: true });
}"""
BUSY = ("TaskDuration", "ScriptDuration", "LayoutDuration", "RecalcStyleDuration")


def main(seconds: float) -> None:
    """Measure each page for this long, and print."""
    print("Main thread of a page, % of a core; elements made a second; heap after it, MB")
    print(row("page", "busy", "scripts", "layout", "made/s", "heap", width=9))
    with ExitStack() as ending:
        folder = Path(ending.enter_context(tempfile.TemporaryDirectory()))
        server = ending.enter_context(floor(folder))
        browser = launch(ending.enter_context(sync_playwright()))
        ending.callback(browser.close)
        for path in PAGES:
            page = browser.new_page(viewport={"width": 1920, "height": 1080})
            print(row(path, *measured(page, server.address + path, seconds), width=9), flush=True)
            page.close()


def measured(page: Page, address: str, seconds: float) -> tuple[float, ...]:
    """Return the figures of one page."""
    page.goto(f"{address}?kiosk=1&lang=es")
    page.wait_for_selector("article")
    page.wait_for_timeout(3000)
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})  # not what others use
    page.evaluate(COUNT_MADE)
    before, start = metrics(session), time.monotonic()
    page.wait_for_timeout(seconds * 1000)
    after, spent = metrics(session), time.monotonic() - start
    busy, scripts, layout, styles = (100 * (after[name] - before[name]) / spent for name in BUSY)
    made = page.evaluate("window.made") / spent
    session.send("HeapProfiler.collectGarbage")
    heap = metrics(session)["JSHeapUsedSize"] / 1e6
    return busy, scripts, layout + styles, made, heap


def metrics(session: CDPSession) -> dict[str, float]:
    """Return the counters of the page's process."""
    found = session.send("Performance.getMetrics")["metrics"]
    return {each["name"]: each["value"] for each in found}


@contextmanager
def floor(folder: Path) -> Iterator[WebServer]:
    """Eight tables and a jackpot, at play until the end of the block."""
    with ExitStack() as ending:
        broker = Mosquitto(folder / "mosquitto")
        ending.callback(broker.kill)
        broker.start()
        teller = Teller(broker)
        ending.callback(teller.close)
        tables = [(name, False) for name in (*WHEELS, *CARDS)]
        server = WebServer(folder / "web", broker.port, tables, jackpots=[{"id": "gran"}])
        ending.callback(server.kill)
        server.hears()
        chance = random.Random(7)
        for name in CARDS:
            play = Play("punto-banca", "ARA02", None, "b1", name, (OnBroker(teller, name),))
            coups(play, 30, chance)
        over = threading.Event()
        thread = threading.Thread(target=play_on, args=(teller, chance, over))
        thread.start()
        ending.callback(thread.join)
        ending.callback(over.set)
        yield server


def play_on(teller: Teller, chance: random.Random, over: threading.Event) -> None:
    """Spin the wheels, one after the other, move their rotors, and raise the meter."""
    numbers = [chance.randrange(37) for _ in range(500)]
    tables = {
        name: RealTable("roulette-french", "ARA02", {"phases": "person"}, name=name)
        for name in WHEELS
    }
    inputs = {name: iter(list(spins(numbers))) for name in WHEELS}
    for name in WHEELS:
        for given in itertools.islice(inputs[name], 90):
            hear(teller, tables[name], given)
    for turn in itertools.count():
        if over.wait(MOTION_INTERVAL_SECONDS):
            return
        teller.online("b1")
        for number, name in enumerate(WHEELS):
            teller.move(name, motion(name))
            if turn % (SPIN_TURNS // 3) == number * 2:
                hear(teller, tables[name], next(inputs[name]))
        won = award(turn // SPIN_TURNS + 1) if turn % SPIN_TURNS < SPIN_TURNS // 3 else None
        state = statement(1_234_567 + 130 * turn, 30.0, won=won)
        teller.say(f"novamas/v1/{SITE}/jackpot/gran/state", msgspec.to_builtins(state))


def hear(teller: Teller, table: RealTable, given: Any) -> None:
    """Publish what a table publishes after an input."""
    for leaf, body in table.hear(given):
        teller.tell_soon(table.table.id, leaf, body or b"")


def motion(table: str) -> dict[str, Any]:
    """Return a message about a wheel whose ball runs."""
    now = clock.wall()
    return {
        "site": SITE,
        "table": table,
        "time": format_utc(now),
        "phase": "ball_in_rim",
        "since": format_utc(now - 2.0),
        "rpm": 28.0,
        "direction": "clockwise",
        "launched_at": format_utc(now - 2.0),
    }
