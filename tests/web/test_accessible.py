"""axe-core finds nothing on any page: WCAG 2.2, levels A and AA, as far as a program can judge."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from common.contract.messages.messages import LANGUAGES
from tests.support.games import scripts
from tests.support.subscribers.played import Play, steps
from tests.support.subscribers.real import spun
from tests.support.waiting import until
from tests.support.web.floor import Floor
from tests.support.web.going import go, until_it_looks
from tests.support.web.pit import sign_in
from tests.support.web.server import Teller
from tests.web.conftest import Serve
from tests.web.raw import ask
from tests.web.test_cards import SCRIPTS, OnBroker
from tests.web.test_displays import retain
from tests.web.test_keypad import BY_HAND, bets_open, unlock
from tests.web.test_pit import said, work

AXE = Path(__file__).parents[1] / "npm/node_modules/axe-core/axe.min.js"
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
PHONE, HD = (390, 844), (1280, 720)
PLAYED = {
    **SCRIPTS,
    "punto": "punto-banca/coups",
    "bola": "boule/evening",
    "fortuna": "fortune-wheel/jokers",
    "dados": "craps/series",
}
"""Table -> what is played there."""


@pytest.fixture
def examined(browser: Browser) -> Iterator[Page]:
    """A page for axe."""
    context = browser.new_context()
    yield context.new_page()
    context.close()


def faults(page: Page, *sizes: tuple[int, int]) -> list[tuple[Any, ...]]:
    """What axe finds at these sizes: rule, element, and why."""
    until_it_looks(page)
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8") + "\n;0")
    # axe judges no text on a gradient: the lighter of its two colours is the worse one for it
    page.evaluate("document.body.style.background = 'var(--surface)'")
    found: list[tuple[Any, ...]] = []
    for width, height in sizes:
        page.set_viewport_size({"width": width, "height": height})
        violations = page.evaluate(
            """async tags => {
              const told = await axe.run(document, {runOnly: tags, resultTypes: ["violations"]});
              return told.violations.flatMap(rule => rule.nodes.map(
                node => [rule.id, node.target.join(" "), node.failureSummary]));
            }""",
            TAGS,
        )
        found += [(page.url, width, *violation) for violation in violations]
    return found


def test_axe_sees_what_is_wrong(serve: Serve, teller: Teller, examined: Page) -> None:
    retain(teller, spun([25]), "ruleta-1")
    server = serve([("ruleta-1", False)])
    go(examined, f"{server.address}/table/ruleta-1")
    expect(examined.locator(".number")).to_be_visible()
    assert faults(examined, HD) == []
    examined.evaluate("document.styleSheets[0].insertRule('h1 { color: #12301d !important }')")
    assert [fault[2] for fault in faults(examined, HD)] == ["color-contrast"]


def test_the_displays(serve: Serve, teller: Teller, examined: Page) -> None:
    retain(teller, spun([number % 37 for number in range(60)]), "ruleta")
    server = serve([(name, False) for name in ("ruleta", *PLAYED)])
    server.hears()
    for table, name in PLAYED.items():
        script = scripts.read(name)
        told = (OnBroker(teller, table),)
        play = Play(script.game, script.decree, script.settings, "b1", table, told)
        list(steps(play, script.inputs[: len(script.inputs) * 4 // 5]))
    until("the tables are shown", lambda: ask(server, "/health")[0] == 200)
    found = []
    for number, table in enumerate(("ruleta", *PLAYED)):
        language = LANGUAGES[number % len(LANGUAGES)]
        go(examined, f"{server.address}/table/{table}?lang={language}")
        expect(examined.locator(".phase")).to_be_visible()
        examined.locator("summary").click()
        found += faults(examined, (HD, PHONE)[number % 2])
    for language in LANGUAGES:
        go(examined, f"{server.address}/table/punto?lang={language}")
        expect(examined.locator(".road").first).to_be_visible()
        found += faults(examined, PHONE)
    for path in ("/floor", "/wall?rotate=600", "/table/bola/days?lang=ca"):
        go(examined, server.address + path)
        examined.locator("article .phase, li a").first.wait_for()
        found += faults(examined, HD, PHONE)
    examined.locator("li a").first.click()
    examined.wait_for_url("**/day/**")
    found += faults(examined, HD)
    teller.node("status", {"status": "offline", "boot": "b1"})
    for table in ("ruleta", "black", "circulo", "dados"):
        go(examined, f"{server.address}/table/{table}?lang=gl")
        expect(examined.locator(".before .trouble")).to_be_visible()
        found += faults(examined, HD)
    assert found == [], "\n".join(map(str, found))


def test_the_console(tmp_path: Path, ending: ExitStack, examined: Page) -> None:
    floor = Floor(tmp_path, ending)
    floor.open()
    go(examined, f"{floor.web.address}/pit?lang=eu")
    expect(examined.locator("#who")).to_be_visible()
    found = faults(examined, HD, PHONE)
    sign_in(examined, floor.web.address, "m-lasa", "es")
    floor.wheel.show(2, 1, "  ")
    said(floor, "round.opened")
    floor.wheel.show(3, 1, "  ", warning="2")
    spin = work(examined, "bola en el sentido del cilindro")
    spin.locator("summary").first.click()
    found += faults(examined, HD, (1024, 768), PHONE)
    spin.locator("button.main[data-command='round.void']").click()
    expect(examined.locator("dialog[open]")).to_be_visible()
    found += faults(examined, HD, PHONE)
    assert found == [], "\n".join(map(str, found))


def test_the_keypad(tmp_path: Path, ending: ExitStack, examined: Page) -> None:
    floor = Floor(tmp_path, ending, settings=BY_HAND)
    go(examined, f"{floor.web.address}/keypad/r1?lang=ca")
    expect(examined.locator("#who")).to_be_visible()
    found = faults(examined, HD, PHONE)
    unlock(examined, floor, "eu")
    found += faults(examined, HD)
    bets_open(floor)
    enter = examined.locator("[data-key=enter]")
    expect(enter).to_contain_text("apustuak itxi")
    found += faults(examined, HD, PHONE)
    examined.wait_for_timeout(800)  # a meaning takes effect after a while
    enter.click()
    expect(examined.locator(".told.done")).to_be_visible()
    found += faults(examined, HD)
    examined.locator("[data-key='7']").click()
    floor.web.signal(signal.SIGSTOP)
    expect(examined.locator(".told.unknown")).to_be_visible()
    found += faults(examined, HD, PHONE)
    floor.web.signal(signal.SIGCONT)
    assert found == [], "\n".join(map(str, found))
