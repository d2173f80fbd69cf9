"""The displays in a real Chromium 106: older than those of the signage players that they need
(docs/integrator/signage-brightsign.md, signage-xibo.md), and a month younger than Chrome 105.
"""

from __future__ import annotations

import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.support.jackpot import statement
from tests.support.subscribers.real import RealTable, spins
from tests.support.waiting import until
from tests.support.web.going import go
from tests.support.web.server import WebServer
from tests.web.conftest import House
from tests.web.test_displays import say
from tests.web.test_jackpot import LONG
from tests.web.test_jackpot import say as say_jackpot
from tests.web.test_moving import RECORDING, has, moving

PACKED = Path(__file__).parents[1] / "npm/node_modules/@sparticuz/chromium/bin"
VERSION = "106.0.5249.0"
UNPACK = """
const fs = require("fs"), [from, to] = process.argv.slice(1);
fs.writeFileSync(to, require("zlib").brotliDecompressSync(fs.readFileSync(from)));
"""
DISPLAYS = ("/table/ruleta-1", "/jackpot/gran", "/floor", "/wall", "/table/ruleta-1?overlay=1")


def unpacked(folder: Path) -> Path:
    """The browser, with the library that draws for it."""
    for name in ("chromium", "swiftshader.tar"):
        words = ["node", "-e", UNPACK, str(PACKED / f"{name}.br"), str(folder / name)]
        subprocess.run(words, check=True)
    with tarfile.open(folder / "swiftshader.tar") as libraries:
        libraries.extractall(folder, filter="data")
    (folder / "chromium").chmod(0o755)
    return folder / "chromium"


@pytest.fixture(scope="module")
def browser(programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    path = unpacked(tmp_path_factory.mktemp("chromium"))
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--no-zygote"]
        )
        assert made.version == VERSION
        yield made
        made.close()


@pytest.fixture(scope="module")
def server(house: House) -> WebServer:
    made = house.serve([("ruleta-1", False)], jackpots=[{"id": "gran"}])
    made.hears()
    say_jackpot(house.teller, statement(1_234_567, LONG))
    return made


def test_every_display_works_and_moves(house: House, server: WebServer, page: Page) -> None:
    """Any error of a script fails it (``page``)."""
    table = RealTable("roulette-french", "ARA02", {"phases": "person"}, name="ruleta-1")
    *before, opened, closed, fell = spins([25, 17, 31])
    say(house.teller, table, before)
    page.add_init_script(RECORDING)
    for path in DISPLAYS:
        go(page, server.address + path)
        expect(page.locator("#not-running")).to_have_count(0)
        shown = "12.345,67" if "jackpot" in path else "17"
        expect(page.locator("main")).to_contain_text(shown)
    go(page, f"{server.address}/table/ruleta-1?lang=es")
    expect(page.locator(".number")).to_have_text("17")
    expect(page.locator(".lane .chip").first).to_contain_text("17")
    with moving(house.teller, "ruleta-1"):
        has(page, "rotor", "ball")
        say(house.teller, table, [opened, closed])
        has(page, "strip")
        say(house.teller, table, [fell])
        expect(page.locator(".number")).to_have_text("31")
        has(page, "number", "chip")
    height = "document.querySelector('.lane .chip').getBoundingClientRect().height"
    until("the numbers have their size", lambda: page.evaluate(height) > 20)
