"""Screens whose own clocks are wrong, by minutes or by days: nothing that a page does or offers
depends on them.
"""

from __future__ import annotations

import re
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

import subscribers
from tests.support.daemon.play import until_said
from tests.support.web.floor import Floor
from tests.support.web.going import go
from tests.support.web.pit import confirm, correct, sign_in
from tests.web.surveillance import Room

WRONG = """(ahead) => {
  const Right = Date;
  window.Date = class extends Right {
    constructor(...given) { given.length ? super(...given) : super(Right.now() + ahead * 1000); }
    static now() { return Right.now() + ahead * 1000; }
  };
}"""
"""A clock that number of seconds ahead."""
SCRIPTS = sorted(Path(subscribers.__file__).parent.glob("*/static/**/*.js"))
CLOCKS = re.compile(r"\bDate\.now\b|\bnew Date\(\s*\)|\bDate\(\s*\)|\btimeOrigin\b|\bTemporal\b")
"""What asks a machine's own clock."""


def screen(browser: Browser, ending: ExitStack, ahead: float) -> Page:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    ending.callback(context.close)
    context.add_init_script(f"({WRONG})({ahead})")
    return context.new_page()


def test_no_script_reads_the_clock_of_its_machine() -> None:
    assert len(SCRIPTS) > 20
    assert [path.name for path in SCRIPTS if CLOCKS.search(path.read_text())] == []


@pytest.mark.parametrize("ahead", [180, -180, 86_400 * 365])
def test_a_second_person_is_called_at_a_screen_whose_clock_is_wrong(
    tmp_path: Path, ending: ExitStack, browser: Browser, ahead: int
) -> None:
    floor = Floor(tmp_path, ending)
    floor.open()
    page, other = screen(browser, ending, -ahead), screen(browser, ending, ahead)
    sign_in(page, floor.web.address, "m-lasa")
    sign_in(other, floor.web.address, "t-vidal")
    floor.spin("17", 1)
    until_said(floor.subscriber, "round.result", 1)
    correct(page, "r1", 12)
    expect(page.locator("dialog .second")).to_have_text("A second person must say the same.")
    confirm(page, "m-lasa")
    called = other.locator(".item.second")
    expect(called.locator(".until")).to_have_text(re.compile(r"^(120|1[01]\d|\d\d) s left$"))
    called.locator("button.main").click()
    confirm(other, "t-vidal")
    until_said(floor.subscriber, "result.corrected", 1)
    expect(other.locator(".item")).to_have_count(0)
    # the pending order is done, and no longer shown as pending
    first = page.locator(".done li").first
    expect(first).to_contain_text("done and stored")
    assert first.inner_text().rstrip().endswith("done and stored")


def test_a_void_round_by_one_person_does_not_ask_for_two(
    tmp_path: Path, ending: ExitStack, page: Page
) -> None:
    floor = Floor(tmp_path, ending)
    floor.open()
    sign_in(page, floor.web.address, "m-lasa")
    floor.wheel.show(2, 1, "  ")
    until_said(floor.subscriber, "round.opened", 1)
    floor.wheel.show(3, 1, "  ", warning="2")
    page.locator(".item button.main[data-command='round.void']").click()
    expect(page.locator("dialog .again")).to_be_visible()
    expect(page.locator("dialog .second")).to_have_count(0)
    page.locator("dialog [data-do=back]").click()
    page.locator(".item button.soft[data-command='round.void']").click()
    expect(page.locator("dialog .second")).to_contain_text("It may take a second person")


def test_surveillance_shows_the_last_hour_of_the_server(
    tmp_path: Path, ending: ExitStack, browser: Browser
) -> None:
    room = Room(tmp_path, ending)
    room.say("m-lasa", "r1", "session.open", minimum=500, currency="EUR")
    room.spin(1, "17")
    room.keep()
    server = room.serve()
    for ahead in (-86_400.0, 86_400.0):
        page = screen(browser, ending, ahead)
        sign_in(page, server.address, "m-lasa")
        go(page, f"{server.address}/surveillance")
        expect(page.locator("tbody tr").first).to_be_visible()
        expect(page.locator(".line [role=option]")).to_have_count(1)


def test_a_display_shows_since_when_by_the_clock_of_the_server(
    tmp_path: Path, ending: ExitStack, browser: Browser
) -> None:
    floor = Floor(tmp_path, ending)
    page = screen(browser, ending, 5 * 3600)
    go(page, f"{floor.web.address}/table/r1?lang=en")
    expect(page.locator(".phase")).to_be_visible()
    right = page.evaluate("new Date(Date.now() - 5 * 3600 * 1000).toISOString()")
    floor.web.kill()
    since = page.locator(".trouble .since")
    expect(since).to_be_visible()
    shown = re.findall(r"\d\d", since.inner_text())
    hour = int(page.evaluate(f"new Date('{right}').getHours()"))
    assert int(shown[0]) in (hour, (hour + 1) % 24)
