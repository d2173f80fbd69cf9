"""Many tabs and windows of one browser, which makes six connections to a server and no more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.support.waiting import until
from tests.support.web.going import go
from tests.support.web.pit import console, sign_in
from tests.support.web.server import SITE, WebServer
from tests.web.conftest import House
from tests.web.test_web import LEAF, state

TABLES = tuple(f"ruleta-{number}" for number in range(1, 8))
HIDDEN = """(hidden) => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
ALONE = "delete window.SharedWorker"


@pytest.fixture(scope="module")
def server(house: House, tmp_path_factory: pytest.TempPathFactory) -> WebServer:
    for number, table in enumerate(TABLES, 1):
        tell(house, table, number)
    pit = console(tmp_path_factory.mktemp("pit"), SITE)
    made = house.serve([(table, False) for table in TABLES], pit=pit)
    until("all are heard", lambda: made.metric("tables_deaf") == 0)
    return made


@pytest.fixture
def one(browser: Browser) -> Iterator[BrowserContext]:
    """One browser: what is opened in it shares its connections."""
    context = browser.new_context(viewport={"width": 1024, "height": 768})
    yield context
    context.close()


def tell(house: House, table: str, number: int) -> None:
    told: dict[str, Any] = {**state(number), "table": table, "takes": []}
    house.teller.tell(table, "info", {**LEAF, "table": table, "about": {"commands": {}}})
    house.teller.tell(table, "state", told)


def shows(page: Page, number: int) -> None:
    """The number is shown, as current."""
    expect(page.locator("article:not(.before) .number")).to_have_text(str(number))


def test_fourteen_tabs_live_together_and_what_is_touched_is_sent(
    server: WebServer, house: House, one: BrowserContext
) -> None:
    pit = one.new_page()
    sign_in(pit, server.address, "m-lasa", "es")
    pages = {table: one.new_page() for table in TABLES}
    for table, page in pages.items():
        go(page, f"{server.address}/table/{table}?lang=es")
    for path in ("/floor", "/wall"):
        page = one.new_page()
        go(page, f"{server.address}{path}?lang=es")
        expect(page.locator("article:not(.before)")).to_have_count(len(TABLES))
    for table in TABLES[:3]:
        page = one.new_page()
        go(page, f"{server.address}/keypad/{table}")
        expect(page.locator(".keys")).to_be_visible()
    for number, page in enumerate(pages.values(), 1):
        shows(page, number)
    # of the displays; the console counts its own
    until("one stream is left", lambda: server.metric("streams") == 1)
    for number, (table, page) in enumerate(pages.items(), 20):
        tell(house, table, number)
        shows(page, number)
    second = one.new_page()
    go(second, f"{server.address}/pit")
    for each in (pit, second):
        each.locator(f".tile[data-table={TABLES[2]}]").click()
        expect(each.locator(".panel h2")).to_contain_text(TABLES[2])
    pit.locator("header select").select_option("en")  # something that is sent
    expect(pit.locator(".out")).to_have_text("Sign out")


def test_leaving_affects_no_other_tab(server: WebServer, house: House, one: BrowserContext) -> None:
    first, other = one.new_page(), one.new_page()
    for page, table in ((first, TABLES[0]), (other, TABLES[1])):
        go(page, f"{server.address}/table/{table}?lang=en")
        expect(page.locator("article:not(.before) .number")).to_be_visible()
    first.close()
    tell(house, TABLES[1], 33)
    shows(other, 33)
    third = one.new_page()
    go(third, f"{server.address}/table/{TABLES[2]}?lang=en")
    tell(house, TABLES[1], 34)
    tell(house, TABLES[2], 35)
    shows(other, 34)
    shows(third, 35)
    one.close()
    until("they have left", lambda: server.metric("streams") == 0)


def test_five_pages_that_cannot_share_live_together(
    server: WebServer, house: House, one: BrowserContext
) -> None:
    one.add_init_script(ALONE)
    pit = one.new_page()
    sign_in(pit, server.address, "m-lasa", "es")
    pages = {table: one.new_page() for table in TABLES[:4]}
    for table, page in pages.items():
        go(page, f"{server.address}/table/{table}?lang=es")
        expect(page.locator("article:not(.before) .number")).to_be_visible()
    for number, (table, page) in enumerate(pages.items(), 10):
        tell(house, table, number)
        shows(page, number)
    pit.locator("header select").select_option("en")
    expect(pit.locator(".out")).to_have_text("Sign out")


@pytest.mark.parametrize("path", [f"/table/{TABLES[0]}", f"/keypad/{TABLES[0]}"])
def test_a_hidden_page_lets_go_of_a_stream_that_it_cannot_share(
    server: WebServer, one: BrowserContext, ending: ExitStack, path: str
) -> None:
    """It says nothing of before as current, and comes back when it is seen."""
    one.add_init_script(ALONE)
    page = one.new_page()
    sign_in(page, server.address, "m-lasa")
    streams: list[str] = []
    page.on("request", lambda asked: streams.append(asked.url) if "stream" in asked.url else None)
    go(page, f"{server.address}{path}?lang=en")
    lost = page.get_by_text("no display server")
    there = page.locator("article .number, .keys").first
    expect(there).to_be_visible()
    expect(lost).to_have_count(0)
    page.evaluate(HIDDEN, True)
    expect(lost.first).to_be_visible()
    if path.startswith("/table"):
        until("it has let go", lambda: server.metric("streams") == 0)
    asked = len(streams)
    page.evaluate(HIDDEN, False)
    expect(lost).to_have_count(0)
    assert len(streams) > asked
