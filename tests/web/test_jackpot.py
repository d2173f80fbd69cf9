"""The meter of a jackpot in a real browser, fed through a real broker."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from playwright.sync_api import Browser, Page, expect

from common.contract.jackpot import JackpotState
from common.contract.messages.messages import LANGUAGES, catalogue
from common.contract.times import parse_utc
from subscribers.feed.floor import Floor
from subscribers.feed.tables import ConnectionChange, FeedMessage
from subscribers.money import money
from tests.support.brokers.mosquitto import Mosquitto
from tests.support.jackpot import AUTHORISED, award, statement, table
from tests.support.subscribers.real import spun
from tests.support.waiting import until
from tests.support.web.going import go, until_it_looks
from tests.support.web.server import SITE, Teller, WebServer
from tests.web.conftest import House, Serve
from tests.web.raw import ask
from tests.web.test_accessible import HD, PHONE, faults
from tests.web.test_displays import SIZES, retain, scripted
from tests.web.test_layout import SMALL, empty_share

LONG = 3600.0
JACKPOTS = [{"id": "gran"}, {"id": "menor"}]
TWENTY_TABLES = tuple(f"poker-{number}" for number in range(1, 21))
OVER = """() => [
  ...[...document.querySelectorAll(".jackpot, .amount, .won, .award, .authorised")]
    .filter(each => each.scrollWidth > each.clientWidth + 1).map(each => each.className),
  ...(document.documentElement.scrollWidth > innerWidth ? ["the page"] : []),
  ...[...document.querySelectorAll(".jackpot")]
    .filter(each => each.scrollHeight > each.clientHeight + 1).map(() => "cut below"),
]"""
"""Elements wider than their place, or cut below."""
DRAWN = """() => new Promise(
  done => requestAnimationFrame(() => requestAnimationFrame(done))
)"""
"""After that the page is drawn in its new size."""
WATCH = """what => {
  window.texts = [];
  const look = () => {
    const said = document.querySelector(what)?.textContent;
    if (said && said !== texts.at(-1)) texts.push(said);
  };
  new MutationObserver(look).observe(document.getElementById("main"), {
    childList: true, subtree: true, characterData: true,
  });
  look();
}"""
"""Keeps each text that it has from now on, in order."""
STREAM_IS_CURRENT = """address => new Promise(done => {
  const stream = new EventSource(address);
  stream.addEventListener("beat", () => done(stream.close()));
})"""
"""A second stream like the page's has sent everything: the beat comes after the pictures."""
SITUATIONS: dict[str, dict[str, Any]] = {
    "in play": {"last": tuple(award(each, status="paid", paid=1_250_000) for each in range(1, 26))},
    "out": {
        "in_play": False,
        "why": "suspended",
        "tables": {name: table(False, "suspended") for name in AUTHORISED.tables},
    },
    "won": {
        "won": award(3),
        "awards": (
            award(3),
            award(4, status="pending", why="order", value=None, table="poker-1", box="box:6"),
        ),
    },
    "all at once": {
        "value": 123_456_789_012,
        "authorisation": msgspec.structs.replace(AUTHORISED, tables=TWENTY_TABLES),
        "tables": {
            **{name: table() for name in TWENTY_TABLES[1:18]},
            "poker-1": table(False, "unheard"),
        },
        "won": award(7, value=987_654_321_00),
        "awards": tuple(
            award(number, status=status, why=why, paid=paid)
            for number, (status, why, paid) in enumerate(
                (
                    ("pending", "tables", 0),
                    ("payable", None, 100_000),
                    ("disputed", None, 0),
                    ("claimed", None, 1_250_000),
                    ("pending", "amount", 0),
                    ("pending", "order", 0),
                ),
                1,
            )
        ),
        "last": tuple(award(each, status="paid", paid=1_250_000) for each in range(1, 26)),
        "terms_wait": True,
    },
}


def say(teller: Teller, state: JackpotState, jackpot: str = "gran") -> None:
    """The controller's statement."""
    teller.say(f"novamas/v1/{SITE}/jackpot/{jackpot}/state", msgspec.to_builtins(state))


@pytest.fixture
def still(browser: Browser) -> Iterator[Page]:
    """A page of a person who prefers reduced motion."""
    context = browser.new_context(reduced_motion="reduce", bypass_csp=True)
    yield context.new_page()
    context.close()


@pytest.fixture(scope="module")
def meters(house: House) -> WebServer:
    """Two jackpots without a table. A test begins with what it says of them."""
    return house.serve([], jackpots=JACKPOTS)


def heard(server: WebServer) -> None:
    until("all are heard", lambda: ask(server, "/health")[0] == 200)


@pytest.mark.essential
def test_the_value_is_shown_exactly_and_greyed_when_it_expires(
    meters: WebServer, house: House, page: Page
) -> None:
    say(house.teller, statement(700, LONG), "menor")
    say(house.teller, statement(1_234_567, LONG))
    go(page, f"{meters.address}/jackpot/gran?lang=es")
    amount = page.locator(".jackpot .amount")
    expect(page.locator(".jackpot:not(.before) .amount")).to_have_text("12.345,67\u00a0€")
    expect(page.locator(".strip")).to_have_text("en juego")
    expect(page).to_have_title("Gran Carrusel de Póquer")
    expect(page.locator("#foot")).to_have_text("todas las mesas")
    page.evaluate("window.same = true")
    page.evaluate(WATCH, ".amount")
    say(house.teller, statement(1_999_900, LONG))
    expect(amount).to_have_text("19.999,00\u00a0€")
    say(house.teller, statement(2_000_000, 2.0))
    expect(amount).to_have_text("20.000,00\u00a0€")
    expect(page.locator(".jackpot.before .amount")).to_have_text("20.000,00\u00a0€")
    expect(page.locator(".trouble")).to_contain_text("sin noticias del controlador del carrusel")
    expect(page.locator("#said")).to_contain_text("sin noticias del controlador")
    until("the server too", lambda: ask(meters, "/health")[1].endswith(b"jackpot/gran\n"))
    say(house.teller, statement(2_000_100, LONG))
    expect(page.locator(".jackpot:not(.before) .amount")).to_have_text("20.001,00\u00a0€")
    page.wait_for_function("texts.at(-1) === document.querySelector('.amount').textContent")
    drawn = page.evaluate("window.texts")
    said = (1_234_567, 1_999_900, 2_000_000, 2_000_100)
    assert drawn == [money(each, "EUR", "es") for each in said]
    assert page.evaluate("window.same")


def test_the_page_alone_greys_a_value_whose_server_has_stopped(
    meters: WebServer, house: House, page: Page
) -> None:
    """Before six seconds without the server are over, the statement itself has ended. The page's
    clock is driven by the test.
    """
    page.clock.install(time=0)
    page.clock.pause_at(1)
    say(house.teller, statement(5, LONG))
    go(page, f"{meters.address}/jackpot/gran?lang=en")
    expect(page.locator(".jackpot:not(.before) .amount")).to_have_text("€0.05")
    troubles = ["the jackpot's controller is not heard", "no display server"]
    page.evaluate(WATCH, ".trouble")
    amount = page.locator(".jackpot:not(.before) .amount", has_text="€5.00")

    def shown() -> int:
        say(house.teller, statement(500, 5.0))
        page.wait_for_timeout(200)
        return amount.count()

    until("it is shown in time", shown)
    meters.signal(signal.SIGSTOP)
    try:
        page.clock.run_for(5000)
        expect(page.locator(".trouble")).to_contain_text(troubles[0])
        page.clock.run_for(1500)
        expect(page.locator(".trouble")).to_contain_text(troubles[1])
        expect(page.locator(".jackpot.before .amount")).to_have_text("€5.00")
        said = page.evaluate("window.texts")
    finally:
        meters.signal(signal.SIGCONT)
    assert [each for text in said for each in troubles if each in text] == troubles


def test_a_broker_that_is_gone_greys_it(
    serve: Serve, teller: Teller, broker: Mosquitto, page: Page
) -> None:
    server = serve([], jackpots=JACKPOTS[:1])
    say(teller, statement(500, LONG))
    go(page, f"{server.address}/jackpot/gran?lang=gl")
    expect(page.locator(".jackpot:not(.before) .amount")).to_be_visible()
    broker.kill()
    expect(page.locator(".jackpot.before .trouble")).to_contain_text("sen conexión co broker")


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_situation_in_each_language(
    meters: WebServer, house: House, page: Page, language: str
) -> None:
    own = catalogue(language)
    say(house.teller, statement(seconds=LONG, **SITUATIONS["out"]))
    go(page, f"{meters.address}/jackpot/gran?lang={language}")
    strip = page.locator(".jackpot.out .strip")
    expect(strip).to_contain_text(own["jackpot.not_in_play"])
    expect(strip).to_contain_text(own["jackpot.out_of_play.suspended"])
    expect(page.locator(".authorised .out")).to_have_count(3)
    expect(page.locator(".facts")).to_contain_text("DGJ-2026/117")
    say(house.teller, statement(seconds=LONG, **SITUATIONS["won"]))
    expect(page.locator(".won .prize")).to_have_text(money(1_250_000, "EUR", language))
    expect(page.locator(".won .whose")).to_contain_text(own["hand.royal_flush"])
    expect(page.locator(".won .whose")).to_contain_text("poker-2")
    expect(page.locator(".won .card")).to_have_count(5)
    expect(page.locator(".award")).to_have_count(1)
    expect(page.locator(".award")).to_contain_text(own["jackpot.pending.order"])
    expect(page.locator("#said")).to_contain_text(own["hand.royal_flush"])
    say(house.teller, statement(seconds=LONG))
    expect(page.locator(".won")).to_have_count(0)


def test_the_meter_is_on_the_floor_on_the_wall_and_at_its_tables(
    serve: Serve, teller: Teller, page: Page
) -> None:
    for name in ("poker-1", "ruleta-1"):
        retain(teller, spun([25]), name)
    server = serve([("poker-1", False), ("ruleta-1", False)], jackpots=JACKPOTS)
    say(teller, statement(1_234_567, LONG))
    say(teller, statement(700, LONG, title={"es": "Menor"}, tables={}, authorisation=None), "menor")
    heard(server)
    go(page, f"{server.address}/floor?lang=es")
    bar = page.locator(".meter-bar[data-jackpot=gran]")
    expect(bar).to_contain_text("12.345,67")
    go(page, f"{server.address}/wall?lang=es")
    tile = page.locator(".tile .jackpot.compact[data-jackpot=gran]")
    expect(tile.locator(".amount")).to_contain_text("12.345")
    expect(page.locator(".tile")).to_have_count(4)
    go(page, f"{server.address}/table/poker-1?lang=es")
    line = page.locator(".meter-line")
    expect(line).to_have_count(1)
    expect(line).to_contain_text("12.345,67")
    expect(line.locator(".state")).to_have_text("en juego")
    out = {**{name: table() for name in AUTHORISED.tables}, "poker-1": table(False, "gap")}
    say(teller, statement(1_234_667, LONG, tables=out))
    expect(line).to_contain_text("no está en juego en esta mesa: faltan eventos de la mesa")
    say(teller, statement(1_234_667, 0.2))
    expect(page.locator(".meter-line.before")).to_contain_text("sin noticias del controlador")
    go(page, f"{server.address}/table/ruleta-1?lang=es")
    expect(page.locator(".number")).to_be_visible()
    page.evaluate(STREAM_IS_CURRENT, "/stream?table=ruleta-1&jackpot=gran&jackpot=menor")
    expect(line).to_have_count(0)
    go(page, f"{server.address}/floor?lang=es")
    expect(page.locator(".meter-bar.before[data-jackpot=gran]")).to_be_visible()
    page.locator(".meters a").first.click()
    page.wait_for_url("**/jackpot/gran?lang=es")


def test_a_table_without_jackpot_bets_shows_it_itself(
    serve: Serve, teller: Teller, page: Page
) -> None:
    """The table knows it before, or other than, the controller does."""
    poker, inputs = scripted("poker-no-draw/bought")
    for given in inputs[: len(inputs) // 2]:
        poker.hear(given)
    state = json.loads(poker.table.retained()["state"] or b"null")

    def standing(**told: object) -> None:
        state["shown"]["jackpot_standing"] = {"jackpot": "gran", **told}
        teller.tell("poker-1", "state", {**state, "table": "poker-1"})

    standing(in_play=True)
    server = serve([("poker-1", False)], jackpots=JACKPOTS)
    say(teller, statement(1_234_567, LONG))
    say(teller, statement(700, LONG), "menor")
    go(page, f"{server.address}/table/poker-1?lang=es")
    line = page.locator(".meter-line[data-jackpot=gran]")
    expect(line.locator(".state")).to_have_text("en juego")
    standing(in_play=False, why="clock")
    expect(line).to_contain_text("no está en juego en esta mesa: los relojes difieren")
    other = page.locator(".meter-line[data-jackpot=menor] .state")
    expect(other).to_have_text("en juego")
    standing(in_play=True)
    expect(line.locator(".state")).to_have_text("en juego")


def test_jackpots_alternate(meters: WebServer, house: House, page: Page) -> None:
    say(house.teller, statement(500, LONG))
    say(house.teller, statement(700, LONG, title={"es": "Menor"}), "menor")
    go(page, f"{meters.address}/jackpot/menor?rotate=1&lang=es")
    expect(page.locator("h1")).to_have_text("Menor")
    expect(page.locator("h1")).to_have_text("Gran Carrusel de Póquer")
    expect(page.locator("h1")).to_have_text("Menor")
    page.locator("button").click()
    expect(page.locator("button")).to_have_text("Continuar")


def test_every_situation_fits_every_screen(
    meters: WebServer, house: House, still: Page, long: bool
) -> None:
    """In the short form each language has two of the five screens for each page of each situation,
    others for the next one: over all languages each has all of them.
    """
    wrong = []
    for number, language in enumerate(LANGUAGES):
        for turn, (name, fields) in enumerate(SITUATIONS.items(), number):
            value = fields.get("value", 1_234_500) + 10 * turn + number  # so that it is known
            for jackpot in ("menor", "gran"):
                told = statement(seconds=LONG, **{**fields, "value": value})
                say(house.teller, told, jackpot)
            heard(meters)
            two = (SIZES[turn % len(SIZES)], SIZES[(turn + 2) % len(SIZES)])
            for path in ("/jackpot/gran", "/wall"):
                go(still, f"{meters.address}{path}?lang={language}")
                for width, height in SIZES if long else two:
                    still.set_viewport_size({"width": width, "height": height})
                    for amount in still.locator(".jackpot .amount").all():
                        expect(amount).to_have_text(money(value, "EUR", language))
                    until_it_looks(still)
                    still.evaluate(DRAWN)
                    over = still.evaluate(OVER)
                    wrong += [(language, name, path, width, each) for each in over]
    assert wrong == [], wrong


def test_its_screen_is_filled_and_read_from_where_guests_stand(
    meters: WebServer, house: House, page: Page
) -> None:
    page.set_viewport_size({"width": 1920, "height": 1080})
    found: list[Any] = []
    for number, (name, fields) in enumerate({**SITUATIONS, "bare": {}}.items()):
        value = fields.get("value", 2_345_600) + number
        say(house.teller, statement(seconds=LONG, **{**fields, "value": value}))
        for query in (f"lang={LANGUAGES[number]}", "lang=es&also=en&metres=8&inch=55"):
            go(page, f"{meters.address}/jackpot/gran?kiosk=1&still=1&{query}")
            language = query[5:7]
            expect(page.locator(".amount")).to_have_text(money(value, "EUR", language))
            until_it_looks(page)
            page.evaluate("document.fonts.ready.then(() => null)")
            found += [(name, query, each) for each in page.evaluate(SMALL, False)]
            if (share := empty_share(page)) > 0.25:
                found.append((name, query, "empty", share))
    assert found == [], "\n".join(map(str, found))


def test_a_hit_takes_the_screen_until_it_is_withdrawn(
    meters: WebServer, house: House, page: Page
) -> None:
    say(house.teller, statement(3_000_000, LONG))
    go(page, f"{meters.address}/jackpot/gran?lang=es")
    expect(page.locator(".jackpot:not(.before) .amount")).to_contain_text("30.000,00")
    say(house.teller, statement(100, LONG, won=award(3)))
    expect(page.locator(".hit .prize")).to_have_text("12.500,00\u00a0€")
    say(house.teller, statement(3_000_000, LONG))
    expect(page.locator(".won")).to_have_count(0)
    assert page.locator(".hit .prize").count() == 0


def test_axe_finds_nothing(serve: Serve, teller: Teller, still: Page) -> None:
    retain(teller, spun([25]), "poker-1")
    server = serve([("poker-1", False)], jackpots=JACKPOTS[:1])
    found = []
    for number, (name, fields) in enumerate(SITUATIONS.items()):
        value = fields.get("value", 1_234_500) + number
        say(teller, statement(seconds=LONG, **{**fields, "value": value}))
        heard(server)
        language = LANGUAGES[number % len(LANGUAGES)]
        for path in ("/jackpot/gran", "/floor", "/wall", "/table/poker-1"):
            go(still, f"{server.address}{path}?lang={language}")
            expect(still.locator(".amount").first).to_have_text(money(value, "EUR", language))
            found += [(name, *fault) for fault in faults(still, HD, PHONE)]
    say(teller, statement(seconds=0.1, won=award(), awards=(award(2),)))
    for path in ("/jackpot/gran", "/floor", "/wall", "/table/poker-1"):
        go(still, f"{server.address}{path}?lang=eu")
        still.locator(".before .amount").first.wait_for()
        found += faults(still, HD)
    assert found == [], "\n".join(map(str, found))


def test_an_unknown_jackpot_and_a_stream_of_one(serve: Serve, teller: Teller) -> None:
    server = serve([("ruleta-1", False)], jackpots=JACKPOTS[:1])
    status, answer = ask(server, "/jackpot/else?lang=es")
    assert status == 404
    assert "ese carrusel no existe en este sitio" in answer.decode()
    assert ask(server, "/stream?jackpot=else")[0] == 404
    page = ask(server, "/jackpot/gran")[1].decode()
    told = page.split('id="page">')[1].split("</script>")[0]
    assert json.loads(told)["jackpots"] == ["gran"]
    assert json.loads(told)["tables"] == []


def test_a_meter_that_rises_with_each_coin_is_one_change_a_look() -> None:
    now = ["2026-03-20T02:00:00.000000Z"]
    floor = Floor({}, lambda: now[0], {"gran": False})
    floor.on_message(False, ConnectionChange(up=True))
    floor.check_jackpots()
    before = floor.change
    for coin in range(200):
        state = statement(coin * 100, 15.0, parse_utc(now[0]))
        floor.on_message(False, FeedMessage("jackpot/gran/state", msgspec.json.encode(state)))
    assert floor.change == before
    floor.check_jackpots()
    floor.check_jackpots()
    assert floor.change == before + 1
    now[0] = "2026-03-20T02:00:15.000000Z"
    floor.check_jackpots()
    assert (floor.change, floor.silent("jackpot/gran")) == (before + 2, True)
    floor.on_message(True, FeedMessage("jackpot/gran/state", msgspec.json.encode(statement())))
    floor.check_jackpots()
    assert floor.change == before + 2
