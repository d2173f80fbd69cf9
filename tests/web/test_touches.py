"""How many touches the decisions of a head of table take, counted by the page itself, on a touch
screen; and what a badge is worth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.support.chaos.report import tell
from tests.support.daemon.play import until_said
from tests.support.web.floor import Floor
from tests.support.web.pit import PINS, Client, read_badge, sign_in

COUNT_TOUCHES = """
addEventListener("pointerdown", () => {
  sessionStorage.setItem("touches", Number(sessionStorage.getItem("touches") ?? 0) + 1);
}, true);
"""
Tablet = Callable[[], Page]


@pytest.fixture
def tablet(browser: Browser) -> Iterator[Tablet]:
    """Touch screens that count their touches."""
    with ExitStack() as ending:

        def make() -> Page:
            context = browser.new_context(viewport={"width": 1280, "height": 800}, has_touch=True)
            ending.callback(context.close)
            page = context.new_page()
            page.add_init_script(COUNT_TOUCHES)
            return page

        yield make


def touches(page: Page) -> int:
    """The touches since the last call."""
    taken = page.evaluate("Number(sessionStorage.getItem('touches') ?? 0)")
    page.evaluate("sessionStorage.setItem('touches', 0)")
    return int(taken)


def arrive(page: Page, floor: Floor, who: str) -> None:
    sign_in(page, floor.web.address, who)
    touches(page)


def pin_pad(page: Page, who: str) -> None:
    for digit in PINS[who]:
        page.locator(f"dialog .again [data-key='{digit}']").tap()
    page.locator("dialog [data-do=send]").tap()


def null_spin(floor: Floor, page: Page) -> Locator:
    """A ball that runs with the rotor; the answer that the console recommends."""
    floor.wheel.show(2, 1, "  ")
    until_said(floor.subscriber, "round.opened", 1)
    floor.wheel.show(3, 1, "  ", warning="2")
    return page.locator(".item button.main:not(.outlined)")


def start_correction(page: Page) -> None:
    page.locator(".tile").tap()
    page.locator(".panel [data-command='result.correct']").tap()
    page.locator("[data-field=number] [data-value='12']").tap()


def test_a_null_spin_is_one_touch_and_a_badge(
    tmp_path: Path, ending: ExitStack, tablet: Tablet
) -> None:
    floor = Floor(tmp_path, ending, badge_signs=True)
    floor.open()
    page = tablet()
    arrive(page, floor, "m-lasa")
    recommended = null_spin(floor, page)
    expect(recommended).to_have_attribute("data-command", "round.void")
    recommended.tap()
    expect(page.locator("dialog legend")).to_contain_text("Badge or PIN")
    read_badge(page, "a-riera")
    expect(page.locator("dialog .told")).to_have_text("This is not your badge.")
    assert floor.sent() == ["session-open"]
    read_badge(page, "m-lasa")
    void = until_said(floor.subscriber, "round.void", 1)[-1]
    assert [each["id"] for each in void["signed_by"]] == ["m-lasa"]
    taken = touches(page)
    tell(f"a null spin: {taken} touch and a badge")
    assert taken <= 3


def test_a_correction_by_two_persons_is_four_touches_and_two_badges(
    tmp_path: Path, ending: ExitStack, tablet: Tablet
) -> None:
    floor = Floor(tmp_path, ending, badge_signs=True)
    floor.open()
    page, other = tablet(), tablet()
    arrive(page, floor, "m-lasa")
    arrive(other, floor, "t-vidal")
    floor.spin("17", 1)
    until_said(floor.subscriber, "round.result", 1)
    start_correction(page)
    expect(page.locator("dialog .change .result")).to_have_text(["17", "12"])
    read_badge(page, "m-lasa")
    other.locator(".item.second button.main").tap()
    expect(other.locator("dialog .change .result")).to_have_text(["17", "12"])
    read_badge(other, "t-vidal")
    corrected = until_said(floor.subscriber, "result.corrected", 1)[-1]
    assert [each["id"] for each in corrected["signed_by"]] == ["m-lasa", "t-vidal"]
    taken = touches(page) + touches(other)
    tell(f"a correction by two persons: {taken} touches and two badges")
    assert taken <= 10


def test_by_default_a_badge_signs_nothing_and_the_pin_is_needed(
    tmp_path: Path, ending: ExitStack, tablet: Tablet
) -> None:
    floor = Floor(tmp_path, ending)
    floor.open()
    page = tablet()
    arrive(page, floor, "m-lasa")
    recommended = null_spin(floor, page)
    recommended.tap()
    read_badge(page, "m-lasa")
    expect(page.locator("dialog .told")).to_contain_text("give the PIN")
    client = Client(floor.web.address)
    assert client.sign_in("m-lasa", PINS["m-lasa"])[1]["ok"]
    void = {"round": 1, "reason": "ball_with_rotor"}
    refused = client.command(
        client.number("badge-1"), "r1", "round.void", fields=void, badge="4711"
    )
    assert (refused[0], refused[1]["denied"]) == (200, "wrong")
    assert floor.sent() == ["session-open"]
    pin_pad(page, "m-lasa")
    until_said(floor.subscriber, "round.void", 1)
    tell(f"a null spin: {touches(page)} touches with the PIN")


def test_a_badge_read_at_the_sign_in_leaves_only_the_pin(
    tmp_path: Path, ending: ExitStack, tablet: Tablet
) -> None:
    floor = Floor(tmp_path, ending)
    page = tablet()
    page.goto(f"{floor.web.address}/pit?lang=es")
    page.locator("#who").wait_for()
    read_badge(page, "m-lasa")
    expect(page.locator("#who")).to_have_value("4711")
    for digit in PINS["m-lasa"]:
        page.locator(f".pad [data-key='{digit}']").tap()
    page.locator("button.main").tap()
    expect(page.locator(".bar")).to_be_visible()
    taken = touches(page)
    tell(f"signing in: {taken} touches and a badge")
    assert taken == len(PINS["m-lasa"]) + 1


def test_a_badge_number_and_a_pin_are_touched_on_the_page_s_own_pad(
    tmp_path: Path, ending: ExitStack, tablet: Tablet
) -> None:
    floor = Floor(tmp_path, ending)
    page = tablet()
    page.goto(f"{floor.web.address}/pit?lang=es")
    for field, digits in (("#who", "4711"), ("#pin", PINS["m-lasa"])):
        page.locator(field).tap()
        for digit in digits:
            page.locator(f".pad [data-key='{digit}']").tap()
    for field in ("#who", "#pin"):  # no system keyboard covers the page
        expect(page.locator(field)).to_have_attribute("inputmode", "none")
    page.locator("button.main").tap()
    expect(page.locator(".bar")).to_be_visible()


def test_people_are_picked_and_a_croupier_comes_on_in_five_touches(
    tmp_path: Path, ending: ExitStack, tablet: Tablet
) -> None:
    floor = Floor(tmp_path, ending)
    floor.open()
    page = tablet()
    arrive(page, floor, "m-lasa")
    page.locator(".tile").tap()
    page.locator(".panel [data-command='staff.on']").tap()
    page.locator("[data-field=person] [data-value='A. Riera']").tap()
    page.locator("[data-field=duty] [data-value=croupier]").tap()
    page.locator("dialog [data-do=send]").tap()
    arrived = until_said(floor.subscriber, "staff.arrived", 1)[-1]
    assert (arrived["person"], arrived["duty"]) == ("A. Riera", "croupier")
    expect(page.locator(".tile")).to_contain_text("A. Riera")
    taken = touches(page)
    tell(f"a croupier comes on: {taken} touches")
    assert taken == 5
