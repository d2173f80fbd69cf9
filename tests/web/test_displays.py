"""The pages in a real browser: what is of before turns grey by itself, nothing needs to be loaded
again, and everything fits its screen.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Iterable

import pytest
from playwright.sync_api import Page, expect

from common.contract.commands import LimitAnnounce, SessionClose
from common.contract.messages.messages import LANGUAGES, catalogue
from common.contract.notation import Input
from tests.support.games import scripts
from tests.support.subscribers.real import RealTable, spins, spun
from tests.support.waiting import until
from tests.support.web.going import go, until_it_looks
from tests.support.web.server import Teller, WebServer
from tests.web.conftest import Serve
from tests.web.raw import ask

SIZES = ((390, 844), (1280, 720), (1920, 1080), (3840, 2160), (1080, 1920))
"""A phone, HD, Full HD, 4K, and an upright marquee."""
FITS = """() => {
  const page = document.documentElement;
  return [page.scrollHeight - innerHeight, page.scrollWidth - innerWidth];
}"""
"""How much of a page is below its screen, and how much beside it."""
NUMBERS = """() => [...document.querySelectorAll(".number")]
  .filter(each => each.checkVisibility())
  .map(each => each.getBoundingClientRect())
  .map(box => [box.top, box.bottom])"""
"""The top and the bottom of each number that is seen."""


def say(teller: Teller, table: RealTable, inputs: Iterable[Input]) -> None:
    """Publish the table's messages after these inputs."""
    for given in inputs:
        for leaf, body in table.hear(given):
            teller.tell(table.table.id, leaf, body or b"")


def retain(teller: Teller, table: RealTable, name: str) -> None:
    """Publish the retained topics of a table, under this name."""
    for leaf, body in table.table.retained().items():
        told = json.loads(body or b"null")
        if told is not None:
            teller.tell(name, leaf, {**told, "table": name})


def open_(page: Page, server: WebServer, path: str) -> None:
    """Open a page whose tables are received."""
    until("the tables are shown", lambda: ask(server, "/health")[0] == 200)
    go(page, server.address + path)
    expect(page.locator("article").first).to_be_visible()


def scripted(name: str) -> tuple[RealTable, list[Input]]:
    script = scripts.read(name)
    return RealTable(script.game, script.decree, script.settings), list(script.inputs)


@pytest.mark.essential
def test_an_unreachable_server_greys_its_pictures(serve: Serve, teller: Teller, page: Page) -> None:
    """Stopped in the middle of everything, it says nothing and closes nothing."""
    retain(teller, spun([25]), "ruleta-1")
    server = serve([("ruleta-1", False)])
    open_(page, server, "/table/ruleta-1")
    expect(page.locator("article:not(.before) .number")).to_have_text("25")
    server.signal(signal.SIGSTOP)
    try:
        expect(page.locator("article.before .number")).to_have_text("25")
        expect(page.locator(".trouble")).to_contain_text("sin servidor de pantallas")
        expect(page.locator(".trouble")).to_contain_text("desde las")
    finally:
        server.signal(signal.SIGCONT)
    expect(page.locator("article:not(.before) .number")).to_have_text("25")


@pytest.mark.essential
def test_each_turn_of_events_has_its_picture_without_a_reload(
    serve: Serve, teller: Teller, page: Page
) -> None:
    server = serve([("table-1", False)])
    table, inputs = scripted("roulette/silence")
    say(teller, table, inputs[:6])
    open_(page, server, "/table/table-1?lang=es")
    page.evaluate("window.same = true")
    current, before = page.locator("article:not(.before)"), page.locator("article.before")
    expect(current.locator(".number")).to_have_text("17")
    said = [*inputs[6:]]
    while not table.shown().trouble or table.shown().trouble.why != "stale":  # type: ignore[union-attr]
        say(teller, table, [said.pop(0)])
    expect(before.locator(".strip")).to_contain_text("sin señal")
    expect(before.locator(".number")).to_have_text("17")
    while not table.shown().trouble or table.shown().trouble.why != "unresolved":  # type: ignore[union-attr]
        say(teller, table, [said.pop(0)])
    expect(before.locator(".strip")).to_contain_text("jugada 2 sin resolver")
    say(teller, table, said)
    expect(current.locator(".number")).to_have_text("0")

    table, inputs = scripted("roulette/null-spin")
    say(teller, table, inputs)
    expect(current.locator(".below .void")).to_contain_text("jugada 2: nula")
    expect(page.locator(".lanes .chip.void")).to_have_text("nula")

    table, inputs = scripted("roulette/correction")
    say(teller, table, inputs)
    expect(current.locator(".below .corrected").first).to_contain_text("resultado corregido")
    expect(page.locator(".lanes .star").first).to_be_visible()

    teller.node("status", {"status": "offline", "boot": "b1"})
    expect(before.locator(".strip")).to_contain_text("el servicio está desconectado")
    again = RealTable("roulette-french", "ARA02", {"phases": "person"}, boot="b2")
    say(teller, again, spins([36]))
    expect(before.locator(".number")).to_have_text("36")
    teller.online("b2")
    expect(current.locator(".number")).to_have_text("36")
    assert page.evaluate("window.same")


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("es", "nuevo mínimo 10 € · bolas antes: 3"),
        ("ca", "nou mínim 10 € · boles abans: 3"),
        ("eu", "gutxieneko berria 10 € · aurretik 3 bola"),
        ("gl", "novo mínimo 10 € · bólas antes: 3"),
        ("en", "new minimum €10 · balls before: 3"),
    ],
)
def test_guests_read_the_announced_minimum_and_when_it_holds(
    serve: Serve, teller: Teller, page: Page, language: str, text: str
) -> None:
    table = spun([7])
    table.hear(LimitAnnounce(at=100.0, by="J. Pons", role="director", minimum=1000))
    retain(teller, table, "ruleta-1")
    server = serve([("ruleta-1", False)])
    open_(page, server, f"/table/ruleta-1?lang={language}")
    expect(page.locator(".announced")).to_have_text(text)


def test_each_table_speaks_its_own_language(serve: Serve, teller: Teller, page: Page) -> None:
    """No word of a picture is in another language than the picture, but what the decree says."""
    decrees = {"es": "ARA02", "ca": "BAL05", "eu": "EUS96", "gl": "GAL07"}
    for language, decree in decrees.items():
        retain(teller, spun([7, 0, 32], decree), language)
    server = serve([(language, False) for language in decrees])
    open_(page, server, "/floor")
    for language in decrees:
        tile = page.locator(f"article[data-table={language}]")
        expect(tile).to_have_attribute("lang", language)
        expect(tile.locator(".said")).to_contain_text(catalogue(language)["colour.red"])
        expect(tile.locator(".phase")).to_have_text(catalogue(language)["phase.waiting"])
        expect(tile.locator(".limits")).to_contain_text(catalogue(language)["display.minimum"])
    for language in LANGUAGES:
        go(page, f"{server.address}/table/gl?lang={language}")
        expect(page.locator("article")).to_have_attribute("lang", language)
        expect(page.locator("html")).to_have_attribute("lang", language)
        expect(page.locator(".frequencies h2")).to_contain_text(
            catalogue(language)["display.chances"]
        )
        expect(page.locator("summary")).to_have_text(catalogue(language)["display.legend"])


def test_a_wall_fills_its_screen_and_a_table_fits_it(
    serve: Serve, teller: Teller, page: Page
) -> None:
    names = [f"ruleta-{number}" for number in range(1, 25)]
    long = spun([number % 37 for number in range(120)])
    for name in names:
        retain(teller, long, name)
    server = serve([(name, False) for name in names])
    until("the tables are shown", lambda: ask(server, "/health")[0] == 200)
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        go(page, f"{server.address}/table/ruleta-1")
        expect(page.locator(".number")).to_be_visible()
        until_it_looks(page)
        down, across = page.evaluate(FITS)
        assert across <= 0
        assert down <= 0 or width < 600, (width, height)
    for width, height in ((1920, 1080), (1080, 1920)):
        page.set_viewport_size({"width": width, "height": height})
        for count in (1, 2, 5, 12, 24):
            go(page, f"{server.address}/wall?kiosk=1&rotate=600&tables={count}")
            expect(page.locator(".number:visible")).to_have_count(count)
            until_it_looks(page)
            assert page.evaluate(FITS) == [0, 0]
            numbers = page.evaluate(NUMBERS)
            assert len(numbers) == count
            assert min(bottom - top for top, bottom in numbers) >= 20
            assert min(top for top, _ in numbers) >= 0
            assert max(bottom for _, bottom in numbers) <= height


def test_tables_alternate_until_a_person_pauses(serve: Serve, teller: Teller, page: Page) -> None:
    for name in ("a", "b", "c"):
        retain(teller, spun([7]), name)
    server = serve([("a", False), ("b", False), ("c", False)])
    page.clock.install()
    open_(page, server, "/wall?rotate=1&tables=2")
    one, other = page.locator("article[data-table=a]"), page.locator("article[data-table=c]")
    expect(other).to_be_visible()
    expect(one).to_be_hidden()
    expect(one).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("button")).to_have_text(catalogue("es")["display.go_on"])
    page.evaluate(
        """() => {
          window.turns = 0;
          new MutationObserver(() => turns++).observe(document.querySelector(".tables"), {
            subtree: true, attributeFilter: ["hidden"],
          });
        }"""
    )
    page.clock.run_for(2500)
    assert page.evaluate("window.turns") == 0


def test_a_floor_is_walked_with_the_keyboard(serve: Serve, teller: Teller, page: Page) -> None:
    for name in ("ruleta-1", "ruleta-2"):
        retain(teller, spun([7]), name)
    server = serve([("ruleta-1", False), ("ruleta-2", False)])
    open_(page, server, "/floor?lang=eu")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    retain(teller, spun([8]), "ruleta-2")
    expect(page.locator("a:focus .number")).to_have_text("8")
    page.keyboard.press("Enter")
    page.wait_for_url("**/table/ruleta-2?lang=eu")
    go(page, f"{server.address}/floor?kiosk=1")
    expect(page.locator("article").first).to_be_visible()
    expect(page.locator("a")).to_have_count(0)
    until_it_looks(page)
    assert page.evaluate("getComputedStyle(document.querySelector('article')).cursor") == "none"


def test_a_screen_reader_announces_results_and_troubles_once(
    serve: Serve, teller: Teller, page: Page
) -> None:
    server = serve([("ruleta-1", False)])
    table = RealTable("roulette-french", "ARA02", {"phases": "person"}, name="ruleta-1")
    inputs = list(spins([32, 15]))
    say(teller, table, inputs[:4])
    open_(page, server, "/table/ruleta-1")
    expect(page.locator("#said")).to_have_text("32 rojo, par, pasa, docena 3, columna 2")
    page.evaluate(
        """() => { window.heard = [];
        new MutationObserver(() => window.heard.push(document.getElementById("said").textContent))
          .observe(document.getElementById("said"), {childList: true}); }"""
    )
    say(teller, table, inputs[4:])
    expect(page.locator("#said")).to_have_text("15 negro, impar, falta, docena 2, columna 3")
    assert page.evaluate("window.heard") == ["15 negro, impar, falta, docena 2, columna 3"]


def test_the_other_wheels_and_the_dice_are_drawn(serve: Serve, teller: Teller, page: Page) -> None:
    names = {"bola": "boule/evening", "fortuna": "fortune-wheel/jokers", "dados": "craps/series"}
    server = serve([(name, False) for name in names])
    bodies = {}
    for name, script in names.items():
        table, inputs = scripted(script)
        for given in inputs:
            if isinstance(given, SessionClose):  # a closed table shows no number as the current one
                break
            table.hear(given)
        retain(teller, table, name)
        bodies[name] = table.shown().body
    open_(page, server, "/table/bola")
    expect(page.locator(".number")).to_have_text(bodies["bola"].last.number)
    expect(page.locator(".bars li")).to_have_count(9)
    go(page, f"{server.address}/table/fortuna")
    last = bodies["fortuna"].last.number
    expect(page.locator(".ring")).to_have_attribute("aria-label", bodies["fortuna"].symbols[last])
    expect(page.locator(".place")).to_have_count(54)
    go(page, f"{server.address}/table/dados")
    expect(page.locator(".dice .die")).to_have_count(2)
    expect(page.locator(".total b")).to_have_text(str(bodies["dados"].last.total))
    expect(page.locator(".bars li")).to_have_count(11)
