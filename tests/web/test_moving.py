"""Pictures move in a real browser, and are right at every moment without it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from common import clock
from common.contract.commands import ResultCorrect
from common.contract.times import format_utc
from tests.support.games import scripts
from tests.support.subscribers.real import RealTable, spins
from tests.support.waiting import until
from tests.support.web.going import go
from tests.support.web.server import Teller, WebServer
from tests.web.conftest import House
from tests.web.test_displays import say

NUMBERS = [25, 0, 12, 7, 31]
NAME = """(element) => element.dataset.part
  ?? (element.parentElement?.className === "stage"
    ? `ghost ${element.querySelector("b")?.textContent ?? ""}`.trim()
    : (element.getAttribute("class") ?? "").split(" ")[0])"""
MOVING = f"() => document.getAnimations().map(({{ effect: {{ target }} }}) => ({NAME})(target))"
"""What moves now: the parts, or the first classes of the elements, or ghosts."""
RECORDING = f"""
  window.moved = [];
  const animate = Element.prototype.animate;
  Element.prototype.animate = function (...given) {{
    window.moved.push(({NAME})(this));
    return animate.apply(this, given);
  }};
"""
"""Notes all that begins to move: it may be over before a test can look."""
SILENCE = 0.25
"""Seconds between two messages about what moves."""


@pytest.fixture(scope="module")
def server(house: House) -> WebServer:
    names = ("spun", "silent", "still", "interrupted", "hostile", "corrected", "dealt", "sounds")
    made = house.serve([(name, False) for name in names])
    made.hears()
    return made


def motion(table: str, **changed: Any) -> dict[str, Any]:
    now = clock.wall()
    return {
        "site": "casino-mayor",
        "table": table,
        "time": format_utc(now),
        "phase": "ball_in_rim",
        "since": format_utc(now - 2.0),
        "rpm": 28.0,
        "direction": "clockwise",
        "launched_at": format_utc(now - 2.0),
    } | changed


@contextmanager
def moving(teller: Teller, table: str, **changed: Any) -> Iterator[None]:
    """The wheel of a table moves meanwhile."""
    over = threading.Event()

    def publish() -> None:
        while not over.wait(SILENCE):
            teller.move(table, motion(table, **changed))

    thread = threading.Thread(target=publish)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def roulette(house: House, server: WebServer, page: Page, name: str, query: str = "") -> Any:
    """The page of a roulette of which four numbers came; its table, and the inputs of a fifth."""
    table = RealTable("roulette-french", "ARA02", {"phases": "person"}, name=name)
    *before, opened, closed, fell = spins(NUMBERS)
    say(house.teller, table, before)
    page.add_init_script(RECORDING)
    go(page, f"{server.address}/table/{name}?lang=es{query}")
    expect(page.locator(".number")).to_have_text("7")
    expect(page.locator(".lane .chip").first).to_contain_text("7")
    assert page.evaluate("window.moved") == []  # the first picture is no event
    return table, [opened, closed], fell


def has(page: Page, *names: str) -> None:
    """Wait until these have begun to move."""
    until(f"{names} move", lambda: set(names) <= set(page.evaluate("window.moved")))
    page.evaluate("window.moved.length = 0")


def rests(page: Page) -> None:
    until("all rests", lambda: page.evaluate(MOVING) == [])


def test_a_spin_from_the_call_to_the_number(house: House, server: WebServer, page: Page) -> None:
    table, calls, fell = roulette(house, server, page, "spun")
    with moving(house.teller, "spun"):
        has(page, "rotor", "ball")
        say(house.teller, table, calls)
        has(page, "strip")
    with moving(house.teller, "spun", phase="no_more_bets", launched_at=None):
        until("the ball has gone", lambda: "ball" not in page.evaluate(MOVING))
        assert "rotor" in page.evaluate(MOVING)
        say(house.teller, table, [fell])
        # the text is right before anything has moved
        expect(page.locator(".number")).to_have_text("31")
        expect(page.locator("#said")).to_contain_text("31")
        has(page, "number", "chip")
        until("the wheel rests", lambda: "rotor" not in page.evaluate(MOVING))
    rests(page)
    expect(page.locator(".lane .chip").first).to_contain_text("31")


def test_silence_brings_the_wheel_to_rest_and_greys_it(
    house: House, server: WebServer, page: Page
) -> None:
    roulette(house, server, page, "silent")
    with moving(house.teller, "silent"):
        has(page, "rotor")
        assert page.locator(".ring[data-silent]").count() == 0
    expect(page.locator(".ring[data-silent]")).to_be_attached()
    rests(page)
    with moving(house.teller, "silent"):
        has(page, "rotor")
        expect(page.locator(".ring[data-silent]")).not_to_be_attached()
    house.teller.move("silent", motion("silent", phase="idle", rpm=0.0, launched_at=None))
    rests(page)


def test_no_more_moves_than_a_page_may(
    house: House, server: WebServer, browser: Browser, page: Page
) -> None:
    """With ``?still=1``, and where the system wants less of it."""
    calm = browser.new_page(reduced_motion="reduce")
    try:
        table, calls, fell = roulette(house, server, page, "still", "&still=1")
        calm.add_init_script(RECORDING)
        go(calm, f"{server.address}/table/still?lang=es")
        with moving(house.teller, "still"):
            say(house.teller, table, [*calls, fell])
            say(house.teller, table, [*spins([*NUMBERS, 3])][-3:])
            for each in (page, calm):
                expect(each.locator(".number")).to_have_text("3")
                received = "() => new Promise((done) => setTimeout(done, 1000))"
                each.evaluate(received)  # messages about what moves come, and are ignored
                assert each.evaluate("window.moved") == []
    finally:
        calm.close()


def test_the_next_picture_interrupts(house: House, server: WebServer, page: Page) -> None:
    """Trouble ends all at once: what is not current does not move."""
    table, calls, fell = roulette(house, server, page, "interrupted")
    with moving(house.teller, "interrupted"):
        say(house.teller, table, [*calls, fell])
        has(page, "number", "rotor")
        house.teller.node("status", {"status": "offline", "boot": "b1"})
        expect(page.locator("article.before")).to_be_visible()
        assert page.evaluate(MOVING) == []
        house.teller.online("b1")
        expect(page.locator("article:not(.before)")).to_be_visible()
        has(page, "rotor")
    expect(page.locator(".number")).to_have_text("31")


HOSTILE = [
    {"phase": 7, "rpm": 20, "direction": None, "launched": None},
    {"phase": "launched", "rpm": "20", "direction": None, "launched": None},
    {"phase": "launched", "rpm": 1e300, "direction": None, "launched": None},
    {"phase": "launched", "rpm": 20, "direction": "toString", "launched": None},
    {"phase": "launched", "rpm": 20, "direction": None, "launched": -1},
    {},
    None,
]


def test_a_hostile_message_moves_nothing(house: House, server: WebServer, page: Page) -> None:
    roulette(house, server, page, "hostile")
    for body in (b"{}", b"\xff", motion("hostile", rpm=1e9), motion("still")):
        house.teller.move("hostile", body)
    moved = page.evaluate(
        """async (messages) => {
          const { Rotor } = await import("/static/rotor.js");
          const rotor = new Rotor(document.querySelector("main"));
          rotor.setCurrent(true);
          messages.forEach((message) => rotor.onMotion(message));
          return document.getAnimations().length;
        }""",
        HOSTILE,
    )
    assert moved == 0
    with moving(house.teller, "hostile"):
        has(page, "rotor")


def test_a_corrected_tile_turns_over(house: House, server: WebServer, page: Page) -> None:
    table, _, _ = roulette(house, server, page, "corrected")
    word = ResultCorrect(at=300.0, by="M. Lasa", role="table_head", round=3, number=26)
    say(house.teller, table, [word])
    tile = page.locator(".lane[data-key='3'] .chip")
    expect(tile).to_contain_text("26")
    has(page, "ghost 12", "chip")
    rests(page)
    expect(page.locator(".stage .struck")).not_to_be_attached()
    expect(tile.locator(".star")).to_be_visible()


def test_cards_are_dealt_and_gathered(house: House, server: WebServer, page: Page) -> None:
    script = scripts.read("trente-et-quarante/coups")
    table = RealTable(script.game, script.decree, script.settings, name="dealt")
    start, cards = script.inputs[:4], script.inputs[4:]
    say(house.teller, table, start)
    page.add_init_script(RECORDING)
    go(page, f"{server.address}/table/dealt?lang=es")
    expect(page.locator(".strip")).to_be_visible()
    assert page.evaluate("window.moved") == []
    say(house.teller, table, cards[:2])
    has(page, "card")
    rests(page)
    shown = page.locator(".card:not(.slot)")
    expect(shown).to_have_count(2)
    later = iter(cards[2:])

    def gathered() -> bool:
        say(house.teller, table, [next(later)])
        return "ghost" in page.evaluate("window.moved")

    until("the cards are gathered", gathered)
    rests(page)
    expect(page.locator(".stage .card")).to_have_count(0)


def test_a_meter_rolls_and_a_hit_takes_the_screen(
    house: House, server: WebServer, page: Page
) -> None:
    go(page, f"{server.address}/table/spun?lang=es")
    moved = page.evaluate(
        """async () => {
          const { rolling } = await import("/static/rolling.js");
          const { draw, h } = await import("/static/tree.js");
          document.body.className = "page-jackpot";
          const main = document.createElement("main");
          document.body.append(main);
          const digits = (text) => [...text].map((each, index) =>
            h("span", { class: "digit", "data-key": `${text.length - index} ${each}` }, each));
          const after = (...children) => {
            const before = document.getAnimations();
            rolling(main, () => draw(main, ...children));
            return document.getAnimations().filter((each) => !before.includes(each))
              .map(({ effect: { target } }) => target.textContent);
          };
          return [
            after(digits("1.199")),
            after(digits("1.200")),
            after(digits("1.200"), h("p", { class: "won", "data-key": "a" }, "hit")),
            after(digits("1.200"), h("p", { class: "won", "data-key": "a" }, "hit")),
          ];
        }"""
    )
    assert moved == [[], ["2", "0", "0"], ["hit"], []]


SOUNDS = """
  window.sounds = [];
  const start = OscillatorNode.prototype.start;
  OscillatorNode.prototype.start = function (...given) {
    window.sounds.push(this.frequency.value);
    return start.apply(this, given);
  };
"""
"""Notes the tones that are played."""


def test_no_va_mas_sounds_where_it_is_wanted(house: House, server: WebServer, page: Page) -> None:
    page.add_init_script(SOUNDS)
    table, [opened, closed], _ = roulette(house, server, page, "sounds", "&still=1&sound=1")
    page.mouse.click(5, 5)  # browsers want a touch first
    say(house.teller, table, [opened, closed])
    until("it sounds", lambda: page.evaluate("window.sounds.length") == 2)
    go(page, f"{server.address}/table/sounds?lang=es")
    page.mouse.click(5, 5)
    say(house.teller, table, [*spins([*NUMBERS, 3])][-3:])
    expect(page.locator(".number")).to_have_text("3")
    assert page.evaluate("window.sounds") == []
