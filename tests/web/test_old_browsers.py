"""The pages in browsers of five years ago: what came since is taken away from them, and what the
scripts and style sheets are written in is judged by what such browsers know.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from common.contract.messages.messages import LANGUAGES, text
from controller.inspection.words import words
from tests.support.daemon.play import until_said
from tests.support.waiting import until
from tests.support.web.going import go
from tests.support.web.pit import BADGES, PINS, confirm, sign_in, touch_pin
from tests.web.old_browsers import (
    DISPLAYS,
    NPM,
    SCRIPTS,
    SHEETS,
    compat_of,
    is_newer,
    newer,
    oldest,
    sheet_features,
    without_newer,
)
from tests.web.raw import ask
from tests.web.surveillance import Room

GUARDED = {
    "SharedWorker": "connection.js: each page then has a separate stream",
    "wakeLock": "page.js: the screen goes dark as its machine wants",
    "showModal": "dialog.js: the page behind is made unreachable instead",
}
"""Newer features that a script may name, since it does without them where they are missing."""
LOOKS = {
    ":focus-visible": "the focused element is framed as the browser does it",
    ":backdrop": "the page behind a dialog is not dimmed",
    "align-content: start": "of blocks, which are aligned so anyway",
    "cursor": "of a pointer that a tablet has not",
    "cursor: default": "the same",
    "cursor: pointer": "the same",
    "cursor: none": "the same",
    "color-scheme": "the browser's own bars are light",
    "color-scheme: dark": "the same",
    "hyphens": "long words are not divided",
    "user-select": "a touch selects a part of a command only",
    "user-select: all": "the same",
    "overflow-wrap: anywhere": "a long word makes its column wider",
    "forced-color-adjust": "colours are those of the system",
    "forced-color-adjust: none": "the same",
}
"""Newer features of style sheets without which a page looks a little different, and works."""
EDITIONS = {"start.js": "2017", "no-modules.js": "5"}
"""The edition of the language of scripts that must be older than the others."""
SCRIPT_FUNCTIONS = {
    name
    for path in SCRIPTS
    for name in re.findall(r"(?:function |^ +)(\w+)\([^)]*\) \{$", path.read_text(), re.MULTILINE)
}
"""Functions of the scripts themselves, which may be named as one of a browser is."""
STRINGS = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|//[^\n]*|/\*.*?\*/", re.DOTALL)


@pytest.mark.usefixtures("programs")
def test_the_scripts_are_in_the_language_of_2021() -> None:
    for path in SCRIPTS:
        year = EDITIONS.get(path.name, "2021")
        found = subprocess.run(
            ["node", str(NPM / "syntax.js"), year, str(path)],
            capture_output=True,
            text=True,
            check=True,
        )
        assert found.stdout == ""


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_no_script_needs_what_came_since(path: Path) -> None:
    paths, names = newer()
    script = STRINGS.sub("", path.read_text(encoding="utf-8"))
    used = {
        name
        for name in re.findall(r"\.([A-Za-z]\w*)\??\.?\(", script)
        if name in names - SCRIPT_FUNCTIONS
    }
    dotted = re.findall(r"\b([A-Z]\w*\.\w+)", script)
    used |= {each for each in dotted if {each, f"{each}_static"} & paths}
    used |= {each for each in re.findall(r"(?<![.\w])([A-Za-z]\w*)", script) if each in paths}
    assert used <= GUARDED.keys(), path.name


@pytest.mark.parametrize("path", SHEETS, ids=lambda path: path.name)
def test_no_style_sheet_needs_what_came_since(path: Path) -> None:
    used = {
        name
        for name, compat in sheet_features(path.read_text(encoding="utf-8"))
        if compat is not None and is_newer(compat, never=False, displays=path in DISPLAYS)
    }
    assert used <= LOOKS.keys()


def test_the_judgement_finds_what_was_found_in_the_field() -> None:
    paths, names = newer()
    assert {"Map.groupBy", "AbortSignal.timeout_static", "Array.at", "Crypto.randomUUID"} <= paths
    assert {"structuredClone", "Array.toSorted", "HTMLDialogElement.showModal"} <= paths
    assert {"groupBy", "toSorted", "randomUUID"} <= names
    assert {"Array.includes", "AbortController", "String.replaceAll"}.isdisjoint(paths)
    for sheet, name in (
        ("main:has(p) { color: red }", ":has"),
        ("main { p { color: red } }", "nesting"),
        ("p { color: color-mix(in srgb, red, blue) }", "color: color-mix()"),
        ("@container (width > 1px) { p { color: red } }", "@container"),
    ):
        assert name in {each for each, of in sheet_features(sheet) if of and is_newer(of)}, name


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_notice_agrees_with_the_documentation(language: str) -> None:
    for key, displays in (("page.browser", False), ("page.browser_display", True)):
        versions = [oldest(displays)[each] for each in ("chrome", "firefox", "safari")]
        said = re.findall(r"\d+(?:\.\d+)?", text(key, language))
        assert [float(each) for each in said] == versions


# In a browser


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    with ExitStack() as ending:
        made = Room(tmp_path_factory.mktemp("room"), ending)
        made.say("m-lasa", "r1", "session.open", minimum=500, currency="EUR")
        made.spin(1, "17")
        made.keep()
        yield made


@pytest.fixture
def old(browser: Browser) -> Iterator[Page]:
    """A page of an old browser, on which any error fails the test."""
    errors: list[str] = []
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.add_init_script(without_newer())
    page = context.new_page()
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    context.close()
    assert errors == []


def test_every_page_works_in_a_browser_of_five_years_ago(room: Room, old: Page) -> None:
    server = room.serve()
    until("the tables are shown", lambda: ask(server, "/health")[0] == 200)
    go(old, f"{server.address}/table/r1?lang=en")
    gone = "['groupBy' in Map, 'at' in [], typeof structuredClone, typeof SharedWorker]"
    assert old.evaluate(gone) == [False, False, "undefined", "undefined"]
    expect(old.locator("article:not(.before) .number")).to_have_text("17")
    for path in ("/floor", "/wall"):
        go(old, f"{server.address}{path}?lang=en")
        expect(old.locator("article:not(.before) .number")).to_have_text("17")
    sign_in(old, server.address, "m-lasa")
    old.locator(".tile[data-table=r1]").click()
    old.locator(".panel [data-command='last_rounds.announce']").click()
    assert old.evaluate("document.querySelector('dialog').matches('[open]')")
    confirm(old)
    until_said(room.subscriber, "last_rounds", 1)
    expect(old.locator("dialog[open]")).to_have_count(0)
    expect(old.locator(".done li")).to_contain_text("done and stored")
    go(old, f"{server.address}/surveillance")
    expect(old.locator("tbody tr").first).to_be_visible()
    old.locator("tbody button").first.click()
    expect(old.locator(".detail .events, .detail h2").first).to_be_visible()
    go(old, f"{server.address}/pit")
    old.locator(".out").click()
    expect(old.locator("#who")).to_be_visible()
    go(old, f"{server.address}/keypad/r1?lang=en")
    old.locator("#who").fill(BADGES["a-riera"])
    touch_pin(old, PINS["a-riera"])
    old.locator("button.main").click()
    old.locator("[data-key=lock]").click()
    expect(old.locator(".keys:not(.locked)")).to_be_visible()
    old.locator("[data-key='7']").click()
    expect(old.locator(".typed")).to_have_text("7")
    expect(old.locator("#not-running")).to_have_count(0)


@pytest.mark.parametrize(
    ("lacks", "language"),
    [
        ("delete Element.prototype.replaceChildren", "es"),
        ("delete window.EventSource", "eu"),
        ("delete Array.prototype.flatMap; delete Array.prototype.flat", "gl"),
    ],
)
def test_an_unsuitable_browser_gets_a_notice(
    room: Room, browser: Browser, lacks: str, language: str
) -> None:
    """Also where what is missing is found only while the page works."""
    server = room.serve()
    context = browser.new_context()
    context.add_init_script(lacks)
    page = context.new_page()
    for path, needed in (("/pit", "Safari 15.1"), ("/table/r1", "Safari 16")):
        go(page, f"{server.address}{path}?lang={language}")
        expect(page.locator("#not-running")).to_contain_text(needed)
    context.close()


def test_a_browser_without_modules_gets_a_notice(room: Room, browser: Browser) -> None:
    server = room.serve()
    page = browser.new_page()
    go(page, f"{server.address}/pit?lang=en")
    for each in page.locator("script[nomodule]").all():  # no browser of today runs it by itself
        page.add_script_tag(url=f"{server.address}{each.get_attribute('src')}")
    expect(page.locator("#not-running")).to_contain_text("This browser cannot show this page")
    page.close()


@pytest.mark.parametrize(
    ("feature", "place"),
    [
        ("SubtleCrypto.verify.ed25519", "Chrome or Edge {}, Firefox {} or Safari {} (Android"),
        ("DecompressionStream", "Chrome or\nEdge {}, Firefox {} or Safari {}, or a page"),
    ],
)
def test_the_inspectors_page_names_the_first_browsers_that_can(feature: str, place: str) -> None:
    support = compat_of(feature)["support"]
    versions = [support[name]["version_added"] for name in ("chrome", "firefox", "safari")]
    same = (("edge", 0), ("chrome_android", 0), ("firefox_android", 1), ("safari_ios", 2))
    for name, at in same:
        assert support[name]["version_added"] == versions[at], name
    assert place.format(*versions) in Path("docs/inspector/page.md").read_text()
    if "ed25519" in feature:
        for text_of in words()["lacking.ed25519"].values():
            assert re.findall(r"\d{2,}", text_of) == versions
