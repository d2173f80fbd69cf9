"""The console under fingers: a touch screen holds a finger's target pressed for longer than a mouse
does, while tables keep publishing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.web.pit import console, sign_in
from tests.support.web.server import SITE, WebServer
from tests.web.conftest import House
from tests.web.test_web import LEAF, state

TABLES = ("ruleta-1", "ruleta-2")
ROUND_IS_DRAWN = """(round) => {
  const own = new EventSource("/pit/stream");
  return new Promise((done) => own.addEventListener("picture", ({ data }) => {
    if (JSON.parse(data).round === round) setTimeout(() => done(own.close()), 300);
  }));
}"""
"""Waits until this round was sent to this browser, and drawn."""


@pytest.fixture(scope="module")
def server(house: House, tmp_path_factory: pytest.TempPathFactory) -> WebServer:
    pit = console(tmp_path_factory.mktemp("pit"), SITE)
    return house.serve([(table, False) for table in TABLES], pit=pit)


@pytest.fixture
def tablet(browser: Browser, house: House, server: WebServer) -> Iterator[Page]:
    for table in TABLES:
        house.teller.tell(table, "info", {**LEAF, "table": table, "about": {"commands": {}}})
        tell(house, table, 3)
    size: Any = {"width": 1024, "height": 768}
    context = browser.new_context(viewport=size, has_touch=True)
    page = context.new_page()
    sign_in(page, server.address, "m-lasa")
    yield page
    context.close()


def tell(house: House, table: str, number: int, **fields: Any) -> None:
    """Publish the table at this round."""
    told: dict[str, Any] = {**state(17), "table": table, **fields}
    house.teller.tell(table, "state", {**told, "shown": {**told["shown"], "round": number}})


def test_the_tile_that_is_highlighted_is_the_table_that_is_commanded(tablet: Page) -> None:
    for table in (*TABLES, *TABLES):
        tablet.locator(f".tile[data-table={table}]").tap()
        expect(tablet.locator(".panel h2")).to_contain_text(table)
        pressed = tablet.locator(".tile[aria-pressed=true]").evaluate_all(
            "all => all.map((each) => each.dataset.table)"
        )
        assert pressed == [table]


@pytest.mark.parametrize("by", ["finger", "mouse"])
def test_a_message_during_a_touch_is_shown_and_the_touch_counts(
    tablet: Page, house: House, by: str
) -> None:
    first, other = TABLES
    tile = tablet.locator(f".tile[data-table={first}]")
    expect(tile).to_contain_text("round 3")
    box = tile.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    finger = tablet.context.new_cdp_session(tablet)
    if by == "finger":
        point = {"x": x, "y": y}
        finger.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [point]})
    else:
        tablet.mouse.move(x, y)
        tablet.mouse.down()
    for table in TABLES:
        tell(house, table, 4)
    tablet.evaluate(ROUND_IS_DRAWN, 4)
    for table in TABLES:  # also while the finger is there
        expect(tablet.locator(f".tile[data-table={table}]")).to_contain_text("round 4")
    if by == "finger":
        finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    else:
        tablet.mouse.up()
    expect(tablet.locator(".panel h2")).to_contain_text(first)
    expect(tile).to_have_attribute("aria-pressed", "true")
    expect(tablet.locator(f".tile[data-table={other}]")).to_have_attribute("aria-pressed", "false")


def test_a_message_that_comes_right_after_a_touch_is_shown(tablet: Page, house: House) -> None:
    """A tapped element stays active for a moment: what came then was never drawn."""
    tile = tablet.locator(f".tile[data-table={TABLES[0]}]")
    expect(tile).to_contain_text("round 3")
    tablet.evaluate(
        """() => {
          window.late = new Promise((done) => addEventListener("click", () => done(), true));
        }"""
    )
    tile.tap()
    tell(house, TABLES[0], 5)
    tablet.evaluate("window.late")
    expect(tile).to_contain_text("round 5")
