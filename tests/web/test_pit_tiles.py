"""The tiles of the console, alive: numbers in their colours, times that run, and the bell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from common import clock
from common.contract.times import format_utc
from tests.support.waiting import until
from tests.support.web.pit import console, sign_in
from tests.support.web.server import SITE, WebServer
from tests.web.conftest import House
from tests.web.test_web import LEAF, state

TABLE = "ruleta-1"
COUNT_TONES = """
window.tones = 0;
const play = OscillatorNode.prototype.start;
OscillatorNode.prototype.start = function (...when) {
  window.tones += 1;
  return play.apply(this, when);
};
"""
TIME = re.compile(r"\d+:\d\d")
ABOUT = {"commands": {"round.void": {"roles": ["table_head"]}}}


@pytest.fixture(scope="module")
def server(house: House, tmp_path_factory: pytest.TempPathFactory) -> WebServer:
    return house.serve([(TABLE, False)], pit=console(tmp_path_factory.mktemp("pit"), SITE))


@pytest.fixture
def pit(browser: Browser, house: House, server: WebServer) -> Iterator[Page]:
    house.teller.tell(TABLE, "info", {**LEAF, "table": TABLE, "about": ABOUT})
    tell(house, 1)
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    page = context.new_page()
    page.add_init_script(COUNT_TONES)
    sign_in(page, server.address, "m-lasa", "es")
    expect(page.locator(".tile")).to_contain_text("jugada 1")
    yield page
    context.close()


def tell(house: House, number: int, **shown: Any) -> None:
    """Publish the table at this round, as of now."""
    told: dict[str, Any] = {**state(17), "table": TABLE, "time": format_utc(clock.wall())}
    house.teller.tell(
        TABLE, "state", {**told, "shown": {**told["shown"], "round": number, **shown}}
    )


def result(house: House, round_: int, number: int, colour: str | None) -> None:
    """Publish the end of a round in the history."""
    outcome = {"family": "roulette", "number": number, "colour": colour, "parity": None}
    more = {"half": None, "dozen": None, "column": None, "zeros": 0, "last_of_session": False}
    publish_outcome(house, round_, {**outcome, **more})


def publish_outcome(house: House, round_: int, outcome: dict[str, Any]) -> None:
    line = {"kind": "result", "round": round_, "outcome": outcome, "corrected": False}
    house.teller.tell(TABLE, "history", {**LEAF, "table": TABLE, "session": 1, "results": [line]})


def test_the_last_number_is_large_in_its_colour_with_those_before_it(
    pit: Page, house: House
) -> None:
    for round_, (number, colour) in enumerate(((17, "black"), (0, None), (12, "red")), 1):
        result(house, round_, number, colour)
    last, previous = pit.locator(".tile .last"), pit.locator(".tile .previous span:visible")
    expect(last).to_have_text("12")
    expect(last).to_have_attribute("data-lane", "red")
    expect(previous).to_have_text(["0", "17"])
    expect(previous.first).to_have_css("background-color", "rgb(10, 125, 67)")


def test_a_result_in_a_word_fits_beside_those_before_it(pit: Page, house: House) -> None:
    outcome = {"family": "baccarat", "winner": "player", "hands": [], "marks": []}
    for round_ in range(11, 17):
        publish_outcome(house, round_, outcome)
    pit.set_viewport_size({"width": 1024, "height": 640})
    expect(pit.locator(".tile .previous span:visible")).to_have_count(5)
    fits = "element => element.scrollWidth <= element.clientWidth"
    assert pit.locator(".tile .last").evaluate(fits)


def test_the_phase_runs_from_the_moment_it_began(pit: Page, house: House) -> None:
    running = pit.locator(".tile .phase .running")
    expect(running).to_be_hidden()  # nobody saw it begin
    tell(house, 2, phase="bets_closed")
    expect(running).to_have_text(TIME)
    first = running.inner_text()
    expect(running).not_to_have_text(first)


def test_new_work_rings_until_the_bell_is_muted(pit: Page, house: House) -> None:
    tones = "() => window.tones"
    pit.locator(".person").click()  # a page that was not touched may not make a sound
    tell(house, 3, phase="decision", asks=["round.void"])
    expect(pit.locator(".item")).to_have_count(1)
    expect(pit.locator(".tile .waiting")).to_contain_text("espera desde hace 0:0")
    until("it rings", lambda: pit.evaluate(tones) > 0)
    pit.locator(".bell").click()
    expect(pit.locator(".bell")).to_have_text("Sin sonido")
    heard = pit.evaluate(tones)
    tell(house, 4, phase="decision", asks=["round.void"])
    expect(pit.locator(".item")).to_contain_text("jugada 4")
    assert pit.evaluate(tones) == heard
    pit.reload()
    expect(pit.locator(".bell")).to_have_text("Sin sonido")  # this browser remembers it
