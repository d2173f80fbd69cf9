"""What a table's screen shows can be read from where guests stand, fits, and fills the screen."""

from __future__ import annotations

import io
import math
import random
from collections.abc import Iterator
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from common.contract.messages.messages import LANGUAGES
from tests.support.games import scripts
from tests.support.subscribers.played import Play, coups, steps
from tests.support.subscribers.real import RealTable, spins, spun
from tests.support.waiting import until
from tests.support.web.going import go, until_it_looks
from tests.web.conftest import House
from tests.web.raw import ask
from tests.web.test_cards import SCRIPTS, OnBroker
from tests.web.test_displays import retain

PLAYED = {
    **SCRIPTS,
    "bola": "boule/evening",
    "fortuna": "fortune-wheel/jokers",
    "dados": "craps/series",
    "nula": "roulette/null-spin",
    "corregida": "roulette/correction",
    "silencio": "roulette/silence",
}
"""Table -> what is played there, or a part of it."""
TABLES = ("ruleta", "abierta", "nueva", "cerrada", "punto", *PLAYED)
SIZES = ((1920, 1080), (1280, 720), (3840, 2160), (1080, 1920), (390, 844))
ARC_MINUTES = 16
CAP_HEIGHT = 0.727
"""Of Inter, as a part of its font size."""
SMALL = """(cards) => {
  const least = parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--least"));
  const found = [];
  const walker = document.createTreeWalker(document.querySelector("article"), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode, parent = text.parentElement;
    if (!text.data.trim() || parent.closest(".staff, .why, .mark")) continue;
    if (cards && parent.closest(".card")) continue;
    if (!parent.checkVisibility({ visibilityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    const box = range.getBoundingClientRect();
    let [top, bottom, left, right] = [box.top, box.bottom, box.left, box.right];
    for (let each = parent; each; each = each.parentElement) {
      const style = getComputedStyle(each);
      if (style.clipPath !== "none") bottom = top;
      if (style.overflow === "visible") continue;
      const clip = each.getBoundingClientRect();
      top = Math.max(top, clip.top); bottom = Math.min(bottom, clip.bottom);
      left = Math.max(left, clip.left); right = Math.min(right, clip.right);
    }
    if (bottom - top < 0.3 * box.height || right - left < 1) continue;
    const scale = parent instanceof SVGElement ? parent.getScreenCTM().a : 1;
    const size = parseFloat(getComputedStyle(parent).fontSize) * Math.abs(scale || 1);
    const turned = parent instanceof SVGElement && parent.getScreenCTM().b
      ? parseFloat(getComputedStyle(parent).fontSize)
        * Math.hypot(parent.getScreenCTM().a, parent.getScreenCTM().b) : size;
    if (turned < least * 0.985) {
      found.push(`${text.data.trim()} ${turned.toFixed(1)} < ${least.toFixed(1)}`);
    }
  }
  return found;
}"""
"""The texts that guests see and that are smaller than the least size. ``cards``: except those of
cards, which are as large as their hand has room for.
"""
OVERFLOW = """() => {
  const page = document.documentElement;
  return [page.scrollWidth - innerWidth, innerWidth < 600 ? 0 : page.scrollHeight - innerHeight];
}"""
CUT = """() => [...document.querySelectorAll("article h2")]
  .filter((each) => each.checkVisibility() && each.scrollWidth > each.clientWidth + 1)
  .map((each) => each.textContent)"""
"""Titles of tiles that are cut."""
REDRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
"""Waits until the page has followed its new size."""
BLOCKS = 60
"""Blocks across a screen: of 32 pixels in Full HD, of 64 in 4K."""
GROUND = ((11, 26, 19), (18, 39, 29))
"""The two colours of the ground; it is nothing but them and what lies between them."""


@pytest.fixture(scope="module")
def floor(house: House) -> str:
    """A server of all tables, in the middle of an evening. Returns its address."""
    server = house.serve([(name, False) for name in TABLES])
    server.hears()
    chance = random.Random(7)
    numbers = [chance.randrange(37) for _ in range(120)]
    for name, count, decree in (("ruleta", 120, "ARA02"), ("abierta", 45, "EUS96")):
        wheel = RealTable("roulette-french", decree, {"phases": "person"}, name=name)
        for given in spins(numbers[:count]):
            for leaf, body in wheel.hear(given):
                house.teller.tell_soon(name, leaf, body or b"")
    retain(house.teller, spun([]), "nueva")
    coups(
        Play("punto-banca", "ARA02", None, "b1", "punto", (OnBroker(house.teller, "punto"),)),
        42,
        chance,
    )
    for table, name in PLAYED.items():
        script = scripts.read(name)
        play = Play(
            script.game,
            script.decree,
            script.settings,
            "b1",
            table,
            (OnBroker(house.teller, table),),
        )
        list(steps(play, script.inputs[: len(script.inputs) * 4 // 5]))
    closed = scripts.read("boule/evening")
    play = Play(
        closed.game,
        closed.decree,
        closed.settings,
        "b1",
        "cerrada",
        (OnBroker(house.teller, "cerrada"),),
    )
    list(steps(play, closed.inputs))
    until("the tables are shown", lambda: ask(server, "/health")[0] == 200)
    return server.address


def show(page: Page, address: str, table: str, query: str) -> None:
    go(page, f"{address}/table/{table}?kiosk=1&still=1&{query}")
    expect(page.locator("article")).to_be_visible()
    until_it_looks(page)
    page.evaluate("document.fonts.ready.then(() => null)")


def empty_share(page: Page) -> float:
    """The share of blocks in which nothing but ground is drawn."""
    image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    size = image.width // BLOCKS
    bands = [[band.getextrema() for band in _blocks(part, size)] for part in image.split()]
    empty = [
        all(
            low - 4 <= least and most <= high + 4
            for (least, most), low, high in zip(found, *GROUND, strict=True)
        )
        for found in zip(*bands, strict=True)
    ]
    return sum(empty) / len(empty)


def _blocks(image: Image.Image, size: int) -> Iterator[Image.Image]:
    for top in range(0, image.height - size + 1, size):
        for left in range(0, image.width - size + 1, size):
            yield image.crop((left, top, left + size, top + size))


def test_the_least_size_is_sixteen_minutes_of_arc(floor: str, page: Page) -> None:
    for metres, inch, (width, height) in ((8, 55, SIZES[0]), (3, 32, SIZES[1]), (8, 55, SIZES[3])):
        page.set_viewport_size({"width": width, "height": height})
        show(page, floor, "ruleta", f"metres={metres}&inch={inch}")
        least = page.evaluate("document.documentElement.style.getPropertyValue('--least')")
        millimetres = inch * 25.4 / math.hypot(width, height)
        cap = float(least.removesuffix("px")) * CAP_HEIGHT * millimetres
        assert math.degrees(math.atan(cap / (metres * 1000))) * 60 == pytest.approx(
            ARC_MINUTES, 0.01
        )


def test_every_game_and_state_fits_and_can_be_read(floor: str, page: Page) -> None:
    found: list[Any] = []
    for number, table in enumerate(TABLES):
        language = LANGUAGES[number % len(LANGUAGES)]
        for query in (f"lang={language}", f"lang={language}&also=eu&metres=8"):
            show(page, floor, table, query)
            for width, height in SIZES[::2][:2] if "metres" in query else SIZES:
                page.set_viewport_size({"width": width, "height": height})
                page.evaluate(REDRAWN)
                across, down = page.evaluate(OVERFLOW)
                if across > 0 or down > 0:
                    found.append((table, query, width, "overflows", across, down))
                found += [
                    (table, query, width, each)
                    for each in page.evaluate(SMALL, "metres" in query and table != "punto")
                ]
    assert found == [], "\n".join(map(str, found))


def test_at_most_a_quarter_of_a_screen_is_empty(floor: str, page: Page) -> None:
    """Of every game and state."""
    page.set_viewport_size({"width": 1920, "height": 1080})
    shares = {}
    for table in TABLES:
        show(page, floor, table, "lang=es")
        shares[table] = empty_share(page)
    assert {table: share for table, share in shares.items() if share > 0.25} == {}


def test_tiles_fill_the_screen_and_their_titles_are_whole(floor: str, page: Page) -> None:
    found: list[Any] = []
    for size, counts in ((SIZES[0], (2, 5, 8, 12, 21)), (SIZES[2], (8,)), (SIZES[4], (8,))):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        for kind in ("wall", "floor"):
            for count in counts:
                go(page, f"{floor}/{kind}?kiosk=1&still=1&rotate=600&tables={count}&lang=eu")
                expect(page.locator("article:visible")).to_have_count(count)
                until_it_looks(page)
                page.evaluate("document.fonts.ready.then(() => null)")
                share = empty_share(page)
                if share > 0.25 and size[0] >= 600:
                    found.append((kind, size, count, share))
                found += [(kind, size, count, cut) for cut in page.evaluate(CUT)]
    assert found == [], "\n".join(map(str, found))


def test_the_cards_of_two_hands_are_large_on_a_floor_of_two_tables(
    house: House, floor: str, page: Page
) -> None:
    """The lowest card that is upright, as a share of its tile."""
    server = house.serve([("ruleta", False), ("punto", False)])
    server.hears()
    until("both tables are shown", lambda: ask(server, "/health")[0] == 200)
    for width, height in (SIZES[0], SIZES[2]):
        page.set_viewport_size({"width": width, "height": height})
        go(page, f"{server.address}/floor?kiosk=1&still=1&lang=es")
        expect(page.locator(".baccarat .card:not(.slot)").first).to_be_visible()
        until_it_looks(page)
        share = page.evaluate(
            """() => Math.min(...[...document.querySelectorAll(".baccarat .card:not(.sideways)")]
              .map((each) => each.getBoundingClientRect().height
                / each.closest(".tile").getBoundingClientRect().height))"""
        )
        assert share > 0.1, (width, height, share)


def test_sixteen_numbers_are_read_from_eight_metres(floor: str, page: Page) -> None:
    page.set_viewport_size({"width": 1920, "height": 1080})
    show(page, floor, "ruleta", "lang=es&metres=8&inch=55")
    seen = page.evaluate(
        """() => [...document.querySelectorAll(".lane")]
          .filter((each) => each.getBoundingClientRect().height > 20).length"""
    )
    assert seen >= 16


def test_the_number_has_one_place_in_every_phase(house: House, floor: str, page: Page) -> None:
    """The wheel did shrink and jump whenever a line below it came or went."""
    places = set()
    page.set_viewport_size({"width": 1920, "height": 1080})
    for table in ("ruleta", "abierta", "nueva", "cerrada", "nula", "corregida", "silencio"):
        show(page, floor, table, "lang=es&also=eu")
        if table == "cerrada":  # boule, whose wheel has no bars outside
            continue
        box = page.locator("[data-part=disc]").bounding_box()
        assert box is not None
        places.add(tuple(round(box[side]) for side in ("x", "y", "width", "height")))
    assert len(places) == 1, places
