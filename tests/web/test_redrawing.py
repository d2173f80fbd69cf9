"""Elements survive from one picture to the next, in a real browser."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, expect

from tests.support.subscribers.real import RealTable, spins, spun
from tests.web.conftest import House
from tests.web.test_displays import open_, retain, say

REDRAWN = """async (pictures) => {
  const { draw, h, s } = await import("/static/tree.js");
  const described = (each) => typeof each === "string" ? each
    : Array.isArray(each) ? (each[0] === "g" ? s : h)(each[0], each[1], ...each.slice(2)) : each;
  const tree = (each) => Array.isArray(each) ? described(each.map((part, index) =>
    index > 1 ? tree(part) : part)) : each;
  const main = document.createElement("main");
  return pictures.map((picture) => {
    const before = new Set(main.querySelectorAll("*"));
    draw(main, picture.map(tree));
    const all = [...main.querySelectorAll("*")];
    return [main.innerHTML, all.filter((element) => !before.has(element)).length];
  });
}"""
"""What these pictures look like one after the other, and how many elements each made."""
MADE = """() => {
  window.made = [];
  const note = (node) => {
    if (node.nodeType !== Node.ELEMENT_NODE) return;
    window.made.push(node.outerHTML.slice(0, 60));
    [...node.children].forEach(note);
  };
  new MutationObserver((records) => records.forEach(({ addedNodes }) => addedNodes.forEach(note)))
    .observe(document.body, { subtree: true, childList: true });
}"""
"""Notes the elements that are made from now on."""


def test_only_what_differs_is_changed(house: House, page: Page) -> None:
    retain(house.teller, spun([25]), "ruleta-1")
    open_(page, house.serve([("ruleta-1", False)]), "/table/ruleta-1")

    def item(key: int, text: str, **attributes: Any) -> list[Any]:
        return ["li", {"data-key": key, **attributes}, text]

    pictures: list[list[Any]] = [
        [["ol", {"class": "a b"}, item(1, "x"), item(2, "y")]],
        [["ol", {"class": "a c"}, item(3, "z"), item(1, ""), item(2, "Y")]],
        [["ol", {"class": "a c"}, item(2, "Y"), item(3, "z", style={"--part": "4%"})]],
        [["ol", {"class": "a c"}, item(2, "Y"), item(3, "z", title="t")]],
        ["before ", ["ol", {"class": "d"}, None, False, "<b>", ["g", {}, ["g", {}]]]],
        [],
    ]
    html, made = zip(*page.evaluate(REDRAWN, pictures), strict=True)
    assert html == (
        '<ol class="a b"><li data-key="1">x</li><li data-key="2">y</li></ol>',
        '<ol class="a c"><li data-key="3">z</li><li data-key="1"></li><li data-key="2">Y</li></ol>',
        '<ol class="a c"><li data-key="2">Y</li><li data-key="3" style="--part: 4%;">z</li></ol>',
        '<ol class="a c"><li data-key="2">Y</li><li data-key="3" style="" title="t">z</li></ol>',
        'before <ol class="d">&lt;b&gt;<g><g></g></g></ol>',
        "",
    )
    assert made == (3, 1, 0, 0, 3, 0)


def test_a_picture_keeps_its_elements(house: House, page: Page) -> None:
    """A phase makes no element but its call; a result makes its own tile alone."""
    server = house.serve([("ruleta-2", False)])
    server.hears()
    table = RealTable("roulette-french", "ARA02", {"phases": "person"}, name="ruleta-2")
    *before, opened, closed, fell = spins([25, 0, 12, 7, 31])
    say(house.teller, table, before)
    open_(page, server, "/table/ruleta-2?lang=es")
    expect(page.locator(".lanes .chip").first).to_contain_text("7")
    page.evaluate(MADE)
    say(house.teller, table, [opened, closed])
    expect(page.locator(".strip.closed")).to_be_visible()
    made = page.evaluate("window.made")
    assert len(made) < 5, made
    say(house.teller, table, [fell])
    expect(page.locator(".lanes .chip").first).to_contain_text("31")
    made = page.evaluate("window.made")
    assert len(made) < 20, "\n".join(made)
