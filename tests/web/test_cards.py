"""Card games in a real browser: the drawn cards are those the table published, at every size."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from playwright.sync_api import Page, expect

from common.contract.messages.messages import LANGUAGES
from subscribers.display.baccarat import roads_of
from subscribers.display.roads import Coup, Winner
from tests.support.games import scripts
from tests.support.subscribers.played import Play, coups, steps
from tests.support.waiting import until
from tests.support.web.going import go, until_it_looks
from tests.support.web.server import Teller, WebServer
from tests.web.conftest import House

SIZES = ((390, 844), (1280, 720), (1920, 1080), (3840, 2160), (1080, 1920))
SCRIPTS = {
    "chemin": "chemin-de-fer/rounds",
    "panos": "baccarat-two-cloths/rounds",
    "treinta": "trente-et-quarante/coups",
    "black": "blackjack/evening",
    "circulo": "circle/high-and-low",
    "descarte": "draw/discards",
    "casa": "poker-no-draw/bought",
    "trijoker": "trijoker/rounds",
    "texas": "texas-house/rounds",
    "paigow": "pai-gow/rounds",
}
"""Table -> what is played there."""


class OnBroker:
    """Publishes to a broker as the daemon of a table."""

    def __init__(self, teller: Teller, table: str) -> None:
        self._teller, self._table = teller, table
        self._said: dict[str, bytes | None] = {}

    def daemon(self, boot: str) -> None:
        self._teller.online(boot)

    def event(self, body: bytes) -> None:
        self._teller.tell_soon(self._table, "event", body)

    def retained(self, bodies: dict[str, bytes | None]) -> None:
        for leaf, body in bodies.items():
            if body and self._said.get(leaf) != body:
                self._said[leaf] = body
                self._teller.tell_soon(self._table, leaf, body)


def drawn(page: Page) -> list[str]:
    """The cards on the page, in words."""
    labels = page.evaluate(
        """() => [...document.querySelectorAll(".card:not(.slot)")]
          .map(card => card.getAttribute("aria-label"))"""
    )
    return sorted(map(str, labels))


def cards_of(play: Play, language: str) -> list[str]:
    """The cards of the picture, in words."""

    def found(body: Any) -> list[str]:
        if isinstance(body, dict) and "rank" in body:
            return [body["label"]]
        parts = (
            [each for name, each in body.items() if name != "low"]
            if isinstance(body, dict)
            else body
            if isinstance(body, list)
            else []
        )
        return [label for part in parts for label in found(part)]

    return sorted(found(play.screen.picture(language)["body"]))


def until_drawn(page: Page, cards: list[str]) -> None:
    """Wait until the page shows these cards and no others: earlier ones may still be on it."""
    until(f"the cards {cards}", lambda: drawn(page) == cards, lambda: str(drawn(page)))


def overflowing(page: Page) -> list[str]:
    """The elements beyond the right edge of the screen."""
    until_it_looks(page)
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll("main *")]
          .filter(each => !each.closest("svg svg"))
          .filter(each => each.getBoundingClientRect().right > innerWidth + 1)
          .map(each => each.tagName + " " + each.getAttribute("class"))"""
    )
    return found


@pytest.fixture(scope="module")
def server(house: House) -> WebServer:
    """Of the tables of all tests."""
    own = ("punto-1", "punto-2", "black-2")
    made = house.serve([(table, False) for table in (*SCRIPTS, *own)])
    made.hears()
    return made


@pytest.fixture
def teller(house: House) -> Teller:
    return house.teller


def test_every_game_at_every_size_in_every_language(
    server: WebServer, teller: Teller, page: Page
) -> None:
    chance = random.Random(7)
    plays = {}
    for table, name in SCRIPTS.items():
        script = scripts.read(name)
        play = Play(
            script.game,
            script.decree,
            script.settings,
            boot="b1",
            table=table,
            others=(OnBroker(teller, table),),
        )
        end = chance.randrange(len(script.inputs) * 2 // 3, len(script.inputs) + 1)
        list(steps(play, script.inputs[:end]))
        plays[table] = play
    for number, (table, play) in enumerate(plays.items()):
        width, height = SIZES[number % len(SIZES)]
        language = LANGUAGES[number % len(LANGUAGES)]
        page.set_viewport_size({"width": width, "height": height})
        go(page, f"{server.address}/table/{table}?lang={language}")
        until_drawn(page, cards_of(play, language))
        assert overflowing(page) == [], (table, width)


@pytest.fixture
def shoe(server: WebServer, teller: Teller, page: Page) -> Play:
    """Thirty coups of punto y banca before the eyes of a browser."""
    go(page, f"{server.address}/table/punto-1?lang=es")
    play = Play("punto-banca", "ARA02", boot="b1", others=(OnBroker(teller, "punto-1"),))
    coups(play, 30, random.Random(5))
    expect(page.locator(".ended .of")).to_have_text("jugada 30")
    return play


def test_the_roads_of_a_shoe(shoe: Play, page: Page) -> None:
    roads = shoe.screen.picture("es")["body"]["roads"]
    assert [road["title"] for road in roads] == page.locator(".road figcaption").all_text_contents()
    letters = {"player": "P", "banker": "B", "tie": "E"}
    winners = [letters[cell["coup"]["winner"]] for cell in roads[0]["cells"]]
    expect(page.locator(".road-bead_plate .letter")).to_have_text(winners)
    label = page.locator(".road-bead_plate svg").get_attribute("aria-label")
    assert label == "jugadas " + " ".join(winners)
    for road in roads[2:]:
        assert page.locator(f".road-{road['id']} g").count() == len(road["cells"])
    expect(page.locator(".counts figcaption")).to_have_text("jugadas de esta talla: 30")


def test_a_hidden_card_is_a_back_with_a_label(
    server: WebServer, teller: Teller, page: Page, take_two: Callable[[Play], None]
) -> None:
    told = (OnBroker(teller, "punto-2"),)
    play = Play("punto-banca", "ARA02", boot="b1", table="punto-2", others=told)
    take_two(play)
    go(page, f"{server.address}/table/punto-2?lang=es")
    until_drawn(page, ["boca abajo", "boca abajo"])
    backs = page.evaluate(
        "() => [...document.querySelectorAll('.card.down')].map(card => card.outerHTML)"
    )
    assert len(backs) == 2
    assert backs[0] == backs[1]


@pytest.fixture
def take_two() -> Callable[[Play], None]:
    """The first two cards of a coup."""

    def take(play: Play) -> None:
        script = scripts.read("punto-banca/coups")
        list(steps(play, script.inputs[:9]))

    return take


def test_suits_differ_in_shape_and_a_theme_may_give_each_its_colour(
    server: WebServer, teller: Teller, page: Page
) -> None:
    told = (OnBroker(teller, "black-2"),)
    play = Play("blackjack", "EUS96", boot="b1", table="black-2", others=told)
    list(steps(play, scripts.read("blackjack/evening").inputs[:44]))
    go(page, f"{server.address}/table/black-2?lang=es")
    until_drawn(page, cards_of(play, "es"))
    page.evaluate("document.documentElement.style.setProperty('--suit-c', 'rgb(1, 120, 50)')")
    found = page.evaluate(
        """() => [...document.querySelectorAll(".card .pip")].map(pip =>
          [pip.closest("svg").getAttribute("class").match(/suit-(.)/)[1],
            pip.getAttribute("d"), getComputedStyle(pip).fill])"""
    )
    shapes = {suit: shape for suit, shape, _ in found}
    assert len(set(shapes.values())) == len(shapes) > 2
    assert {fill for suit, _, fill in found if suit == "c"} == {"rgb(1, 120, 50)"}


DRAGONS = {
    "dragon": "P" * 60 + "B",
    "dragon and ties": "B" * 50 + "P" + "TT",
    "dragon and short runs": "P" * 70 + "BPBPPBPBB",
    "two dragons": "P" * 45 + "B" * 45 + "P",
    "dragons of the derived roads": "PB" * 45 + "PPB",
    "a usual shoe": "PBBPPPBPBTBBPPBPBBBPPTPBPBPB",
}
WINNERS: dict[str, Winner] = {"P": "player", "B": "banker", "T": "tie"}


def test_the_newest_coup_is_visible_on_every_road(server: WebServer, page: Page) -> None:
    go(page, f"{server.address}/table/punto-1?lang=es")
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        for name, letters in DRAGONS.items():
            drawn = roads_of([Coup(WINNERS[letter]) for letter in letters], "es")
            body = {
                **{name: [] for name in ("hands", "counts", "notes", "shoe")},
                "roads": msgspec.to_builtins(drawn),
                "letters": {"player": "P", "banker": "B", "tie": "E"},
                "finish": {"ended": None, "before": None, "open": []},
            }
            seen = page.evaluate(NEWEST, body)
            assert seen == {road.id: True for road in drawn if road.cells}, (width, name)


NEWEST = """async (body) => {
  const game = await import("/static/games/baccarat.js");
  const { draw } = await import("/static/tree.js");
  draw(document.querySelector("main"), game.draw(body));
  const inside = (svg) => {
    const frame = svg.closest(".track").getBoundingClientRect();
    const cell = [...svg.querySelectorAll("g")].pop()?.getBoundingClientRect();
    return cell && cell.width > 0 && cell.left >= frame.left && cell.right <= frame.right
      && cell.top >= frame.top && cell.bottom <= frame.bottom;
  };
  const newest = (road) => document.querySelector(`.road-${road.id} svg`);
  // the newest coup is drawn last
  const drawn = (road) => {
    const found = [...newest(road).querySelectorAll("g")].pop();
    const { column, row } = road.cells[road.cells.length - 1];
    const [x, y] = found.getAttribute("transform").match(/[0-9]+/g).map(Number);
    return (y - 5) / 10 === row && (x - 5) / 10 <= column;
  };
  return Object.fromEntries(body.roads.filter((road) => road.cells.length)
    .map((road) => [road.id, Boolean(inside(newest(road))) && drawn(road)]));
}"""
