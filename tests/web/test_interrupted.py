"""Every page recovers by itself from the failure of any of its requests, and shows it meanwhile."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import cycle, product

import pytest
from playwright.sync_api import Browser, Page, expect

from subscribers.display.frames import FILES
from tests.conftest import cases
from tests.support.waiting import until
from tests.support.web.going import go, look, until_it_looks
from tests.support.web.pit import BADGES, PINS, touch_pin
from tests.web.proxy import How, Proxy
from tests.web.raw import ask
from tests.web.surveillance import Room

SHOWN = {
    "/floor": ("article .phase", 2),
    "/table/r1": ("article .number", 1),
    "/pit": (".tile .soft", 2),
    "/keypad/r1": (".keys", 1),
    "/surveillance": (".timeline:not(:empty) ~ .columns tbody tr:first-child button", 1),
    "/wheels": ("main h1", 1),
}
"""Page -> what is there once it lives, and how many of it."""
SCRIPTS = {
    "/floor": f"{FILES}/static/floor.js",
    "/table/r1": f"{FILES}/static/table.js",
    "/pit": f"{FILES}/pit/static/pit.js",
    "/keypad/r1": f"{FILES}/keypad/static/keypad.js",
    "/surveillance": f"{FILES}/surveillance/static/surveillance.js",
}
"""Page -> its script; /wheels has no script."""
STREAMS = {
    "/floor": "/stream",
    "/table/r1": "/stream",
    "/pit": "/pit/stream",
    "/keypad/r1": "/keypad/r1/stream",
    "/surveillance": "/surveillance/stream",
}
SOME = [path for path in SCRIPTS if path in ("/floor", "/pit") or cases(0, 1)]
"""Pages with a script: a display and a console, in the long form all of them."""
HOWS: Sequence[How] = ("cut", "part", "refused")
OUTAGE_NOTICE = re.compile("no display server|The server does not answer")


@pytest.fixture(scope="module")
def proxy(programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    """A server of all pages, with two tables."""
    with ExitStack() as ending:
        room = Room(tmp_path_factory.mktemp("room"), ending)
        room.say("m-lasa", "r1", "session.open", minimum=500, currency="EUR")
        room.spin(1, "17")
        room.keep()
        server = room.serve()
        until("the tables are shown", lambda: ask(server, "/health")[0] == 200)
        yield Proxy(server, ending)


@pytest.fixture
def person(browser: Browser, proxy: Proxy) -> Iterator[Page]:
    """The browser of a signed-in person."""
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    page = context.new_page()
    go(page, f"{proxy.address}/pit?lang=en")
    page.locator("#who").fill(BADGES["m-lasa"])
    touch_pin(page, PINS["m-lasa"])
    page.locator("button.main").click()
    lives(page, "/pit")
    yield page
    context.close()
    proxy.back()


def lives(page: Page, path: str) -> None:
    """Wait until a page shows what it is there for, in its own look."""
    what, count = SHOWN[path]
    expect(page.locator(what)).to_have_count(count)
    expect(page.locator(what).first).to_be_visible()
    until_it_looks(page)
    expect(page.get_by_text(OUTAGE_NOTICE).filter(visible=True)).to_have_count(0)


def requests(proxy: Proxy, page: Page, path: str) -> list[str]:
    """The requests of a page, in order, after its own."""
    proxy.asked.clear()
    go(page, f"{proxy.address}{path}?lang=en")
    lives(page, path)
    return [each for each in dict.fromkeys(proxy.asked) if each != path]


def kind(asked: str) -> str:
    """Style sheets, scripts and modules are each of a kind; what else is asked for is its own."""
    if asked in SCRIPTS.values():
        return "script"
    return asked.rpartition(".")[2] if asked.endswith((".css", ".js")) else asked


@pytest.mark.parametrize("path", [*SOME, "/wheels"])
def test_any_request_may_fail_once(proxy: Proxy, person: Page, path: str) -> None:
    asked = requests(proxy, person, path)
    few = zip({kind(each): each for each in asked}.values(), cycle(HOWS), strict=False)
    for each, how in [*few] if cases(1, 0) else product(asked, HOWS):
        proxy.fail(how, each)
        go(person, f"{proxy.address}{path}?lang=en")
        until(f"{each} has failed", lambda: proxy.failed)
        lives(person, path)


@pytest.mark.parametrize("path", SHOWN)
def test_each_request_may_fail_once(proxy: Proxy, person: Page, path: str) -> None:
    """As where an address of the machine comes or goes: the browser ends all its connections."""
    asked = requests(proxy, person, path)
    proxy.fail("cut", *asked)
    go(person, f"{proxy.address}{path}?lang=en")
    until("they have failed", lambda: proxy.failed)
    lives(person, path)


@pytest.mark.parametrize("path", SOME)
@pytest.mark.parametrize("of", ["script", "stream"])
def test_a_server_that_goes_away_meanwhile(proxy: Proxy, person: Page, path: str, of: str) -> None:
    """The page stays: the browser would replace it by an error page, for ever."""
    proxy.asked.clear()
    proxy.fail("away", (SCRIPTS if of == "script" else STREAMS)[path])
    go(person, f"{proxy.address}{path}?lang=en")
    expect(person.get_by_text(OUTAGE_NOTICE).filter(visible=True).first).to_be_visible()
    again = path if of == "script" else STREAMS[path]
    until("it asks again", lambda: proxy.asked.count(again) > 2)
    expect(person.get_by_text(OUTAGE_NOTICE).filter(visible=True).first).to_be_visible()
    proxy.back()
    lives(person, path)


@pytest.mark.parametrize("path", SOME)
def test_a_stream_without_an_answer(proxy: Proxy, person: Page, path: str) -> None:
    proxy.fail("silent", STREAMS[path])
    go(person, f"{proxy.address}{path}?lang=en")
    until("it is silent", lambda: proxy.failed)
    lives(person, path)


@pytest.mark.parametrize("path", SOME)
@pytest.mark.parametrize("how", ["silent", "part"])
def test_a_script_that_never_comes_and_a_page_of_which_a_part_comes(
    proxy: Proxy, person: Page, path: str, how: How
) -> None:
    """The server is away until the page shows it: it would be reloaded before the test looks."""
    person.clock.install()
    proxy.fail(how, SCRIPTS[path] if how == "silent" else path, leave=True, hold=True)
    person.goto(f"{proxy.address}{path}?lang=en", wait_until="commit")
    until("it has failed", lambda: proxy.failed)
    # A connection that ends before the browser has parsed anything leaves an empty document, which
    # no script of the project can reload.
    until("our script has run", lambda: look(person, "'loadAgain' in window"))
    proxy.cut()
    person.clock.fast_forward(6_000)
    expect(person.locator("#not-running")).to_have_text("no display server")
    proxy.back()
    person.clock.fast_forward(30_000)
    lives(person, path)
