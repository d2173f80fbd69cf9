"""A touch counts at its own time: a request that was delayed on the way or in the browser does
nothing when it arrives late, and the person is informed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, expect

from subscribers.web.beat import HEADER, age, beat
from subscribers.web.sign_in import TOO_LATE_STATUS
from tests.support.daemon.play import until_said
from tests.support.waiting import TIMEOUT_SECONDS, until
from tests.support.web.floor import Floor
from tests.support.web.going import go, look
from tests.support.web.pit import BADGES, PINS, confirm, touch_pin
from tests.web.in_process import InProcess
from tests.web.stall import Stall
from tests.web.test_any_request import Route

AT_ANY_TIME = {"/sign-out", "/pit/truth"}
"""Routes that are safe at any time: they only take away, or only read."""
ANSWERED = """() => {
  const told = document.querySelector("dialog[open] .told");
  return told === null || (told.textContent !== "" && !told.classList.contains("sent"));
}"""
LATE = 5.0
"""Seconds; the console's defaults."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[InProcess]:
    with closing(InProcess(tmp_path)) as made:
        yield made


def of(seconds: float) -> str:
    """The header of a touch that long ago."""
    text, _ = json.loads(beat())
    return f"{text} {round(-seconds * 1000)}"


def test_every_route_that_changes_something_refuses_a_touch_of_long_ago(server: InProcess) -> None:
    looks, tried = server.looks(), set()
    foreign = f"00000000.{time.monotonic_ns() // 1_000_000} 0"
    for named in server.routes:
        if "POST" not in named.methods:
            continue
        tried.add(named.path)
        for said in (
            of(TIMEOUT_SECONDS + 1),
            of(1e9),
            of(-TIMEOUT_SECONDS),
            foreign,
            "",
            "0",
            "x 0",
            None,
        ):
            asked = Route(server, looks, named).usual(
                None if named.path == "/sign-in" else "s-mora"
            )
            if said is None:
                del asked.headers[HEADER]
            else:
                asked.headers[HEADER] = said
            status = server.ask(*asked.sent()).status
            assert (status == TOO_LATE_STATUS) == (named.path not in AT_ANY_TIME), (
                named.path,
                said,
            )
    assert tried > AT_ANY_TIME


def test_the_age_of_a_touch_is_what_has_passed_here_and_never_less() -> None:
    assert age(of(0)) < TIMEOUT_SECONDS
    assert 100 <= age(of(100)) < 100 + TIMEOUT_SECONDS
    text, _ = json.loads(beat())
    time.sleep(0.2)
    assert age(f"{text} 0") >= 0.2  # the request lay somewhere
    assert age(f"{text} 199") >= 0.0


# In a browser, with the real daemon


class Console:
    """A head of table at a screen, behind a network that can hold everything."""

    def __init__(
        self, folder: Path, ending: ExitStack, browser: Browser, late: float = LATE
    ) -> None:
        self.floor = Floor(folder, ending, late=late)
        self.network = Stall(self.floor.web.port, ending)
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        ending.callback(context.close)
        self.page = context.new_page()

    def sign_in(self, path: str, who: str, there: str) -> None:
        """On a slow machine a touch may be too late: a person who is informed of it tries again."""
        page = self.page
        go(page, f"{self.network.address}{path}?lang=en")
        page.locator("#who").fill(BADGES[who])

        def signed_in() -> bool:
            if page.locator(there).count():
                return True
            # in one look: the page may let the person in between two
            if look(
                page,
                "document.querySelector('#pin')?.value === ''"
                " && document.querySelector('button.main:enabled') !== null",
            ):
                touch_pin(page, PINS[who])
                page.locator("button.main").click()
            return False

        until("signed in", signed_in)

    def open_session(self) -> None:
        """The first touch."""
        if self.page.locator(".tile[aria-pressed=true]").count() == 0:
            self.page.locator(".tile[data-table=r1]").click()
        self.page.locator(".panel [data-command='session.open']").click()

    def until_late(self) -> None:
        """Wait until no server would accept a touch of this moment."""
        time.sleep(LATE + 1)


@pytest.fixture
def console(tmp_path: Path, ending: ExitStack, browser: Browser) -> Console:
    made = Console(tmp_path, ending, browser)
    made.sign_in("/pit", "m-lasa", ".bar")
    return made


def gives_it_again(console: Console) -> None:
    """A refused touch can be repeated, and is done once."""
    page = console.page
    page.locator(".notice button").click()
    expect(page.locator(".notice")).to_have_count(0)
    assert "session-open" not in console.floor.sent()

    def opened() -> bool:
        if not page.locator("dialog[open]").count():
            console.open_session()
        confirm(page)
        until("answered", lambda: look(page, ANSWERED))
        return not page.locator("dialog[open]").count()

    until("opened", opened)
    until_said(console.floor.subscriber, "session.opened", 1)
    assert console.floor.sent().count("session-open") == 1


def test_a_command_that_the_network_delivers_late_is_not_given(console: Console) -> None:
    page = console.page
    console.open_session()
    console.network.hold()
    confirm(page)
    expect(page.locator("dialog .told")).to_have_text("being sent …")
    page.locator("dialog [data-do=back]").click()
    expect(page.locator("dialog[open]")).to_have_count(0)
    notice = page.locator(".notice")
    expect(notice).to_contain_text("it is not known whether it was done")
    console.until_late()
    console.network.go()
    until("it came", lambda: "a touch came too late" in console.floor.web.log())
    expect(notice).to_contain_text("Not done: the touch reached the server too late.")
    gives_it_again(console)


def test_a_person_who_went_back_learns_the_outcome_of_a_sent_touch(
    tmp_path: Path, ending: ExitStack, browser: Browser
) -> None:
    console = Console(tmp_path, ending, browser, late=TIMEOUT_SECONDS)
    console.sign_in("/pit", "m-lasa", ".bar")
    page, floor = console.page, console.floor
    console.open_session()
    console.network.hold_answers()
    confirm(page)
    until_said(floor.subscriber, "session.opened", 1)
    page.evaluate("document.querySelector('dialog[open] [data-do=back]')?.click()")
    notice = page.locator(".notice")
    expect(notice).to_contain_text("it is not known whether it was done")
    console.network.go()
    expect(notice).to_contain_text("done and stored")
    page.reload()
    expect(notice).to_contain_text("done and stored")  # until it is read
    notice.locator("button").click()
    expect(notice).to_have_count(0)
    assert floor.sent().count("session-open") == 1


def test_a_command_that_waits_in_the_browser_is_withdrawn(console: Console) -> None:
    """As behind the streams of other tabs: the browser has no connection left for it."""
    page = console.page
    console.open_session()
    page.evaluate(
        """() => {
          window.others = Array.from({ length: 6 }, () => new EventSource("/stream"));
          const open = (each) => new Promise((done) => (each.onopen = done));
          return Promise.all(others.slice(0, 4).map(open));
        }"""
    )
    confirm(page)
    expect(page.locator("dialog .told")).to_have_text("being sent …")
    notice = page.locator(".notice")  # no touch
    expect(notice).to_contain_text("it is not known whether it was done")
    console.until_late()
    page.evaluate("others.forEach((each) => each.close())")
    expect(notice).to_contain_text("Not done: the touch reached the server too late.")
    gives_it_again(console)


@pytest.mark.parametrize("path", ["/pit", "/surveillance"])
def test_signing_out_works_or_reports_its_failure(
    tmp_path: Path, ending: ExitStack, browser: Browser, path: str
) -> None:
    console = Console(tmp_path, ending, browser)
    (tmp_path / "archive.sqlite3").touch()
    console.floor.web.kill()
    console.floor.serve(port=console.floor.web.port, archive=str(tmp_path / "archive.sqlite3"))
    console.sign_in(path, "m-lasa", ".bar")
    page = console.page
    console.network.hold()
    page.locator(".out").click()
    expect(page.locator(".bar")).to_have_count(0)  # a person who walks away leaves nothing open
    expect(page.locator(".told")).to_contain_text("You are not signed out yet")
    assert "signed out" not in console.floor.web.log()
    console.network.go()
    expect(page.locator("#who")).to_be_visible()
    assert "signed out" in console.floor.web.log()


def test_a_sign_in_during_an_outage_is_reported_and_not_completed_later(
    tmp_path: Path, ending: ExitStack, browser: Browser
) -> None:
    console = Console(tmp_path, ending, browser)
    page = console.page
    go(page, f"{console.network.address}/pit?lang=en")
    page.locator("#who").fill(BADGES["m-lasa"])
    for told in ("Not done: the touch reached the server too late.", "The server does not answer."):
        touch_pin(page, PINS["m-lasa"])
        console.network.hold()
        page.locator("button.main").click()
        console.until_late()
        if told.startswith("Not done"):
            console.network.go()
        expect(page.locator(".told")).to_contain_text(told)
    console.network.go()
    assert urlopen(f"{console.network.address}/health", timeout=TIMEOUT_SECONDS).status == 200
    assert "a touch came too late" in console.floor.web.log()
    assert "signed in" not in console.floor.web.log()
    expect(page.locator("#who")).to_be_visible()


def test_a_key_that_comes_late_is_not_pressed(
    tmp_path: Path, ending: ExitStack, browser: Browser
) -> None:
    console = Console(tmp_path, ending, browser)
    page, floor = console.page, console.floor
    floor.open()
    console.sign_in("/keypad/r1", "a-riera", ".keys")

    def unlocked() -> bool:
        if page.locator(".keys.locked").count():
            page.locator("[data-key=lock]").click()
        return page.locator(".keys:not(.locked)").count() > 0

    until("unlocked", unlocked)
    divide = page.locator("[data-key=divide]")
    expect(divide).to_be_enabled()
    page.wait_for_timeout(800)  # a meaning takes effect after a while
    console.network.hold()
    divide.click()
    console.until_late()
    console.network.go()
    until("it came", lambda: "a touch came too late" in floor.web.log())
    expect(divide).to_be_enabled()
    assert floor.sent() == ["session-open"]


def test_a_touch_that_lay_in_the_browser_counts_from_when_it_was_made(
    console: Console,
) -> None:
    """A tablet that slept: the beats that came since say nothing of it."""
    told = console.page.evaluate(
        """async () => {
          const { headerOf, onBeat, touch } = await import("/static/beats.js?alone");
          const pause = (time) => new Promise((done) => setTimeout(done, time));
          onBeat(["run.1000", 0]);
          await pause(50);
          const slept = touch(performance.now());
          await pause(50);
          onBeat(["run.200000", 0]);
          return [headerOf(slept), headerOf(slept), headerOf(touch(performance.now()))];
        }"""
    )
    assert told[0] == told[1]
    assert told[0].startswith("run.1000 ")
    assert told[2].startswith("run.200000 ")
