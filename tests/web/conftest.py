"""Brokers, web servers and a real browser that end with the test."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Playwright, expect, sync_playwright

from tests.support.brokers.mosquitto import Mosquitto
from tests.support.waiting import TIMEOUT_SECONDS
from tests.support.web.going import ENDED
from tests.support.web.server import Teller, WebServer

Serve = Callable[..., WebServer]

expect.set_options(
    timeout=TIMEOUT_SECONDS * 1000
)  # else five seconds, whatever the machine is doing


def launch(playwright: Playwright) -> Browser:
    """Chromium without a window: what draws and runs a page is the same, and what belongs to a
    desktop, half of its work here, is left out.
    """
    path = shutil.which("chromium-headless-shell")
    assert path is not None, "chromium-headless-shell is missing: run tests/debian-packages"
    # root, as in a container, has no sandbox
    return playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])


@pytest.fixture
def broker(programs: None, tmp_path: Path, ending: ExitStack) -> Mosquitto:
    made = Mosquitto(tmp_path / "mosquitto")
    ending.callback(made.kill)
    made.start()
    return made


@pytest.fixture
def teller(broker: Mosquitto, ending: ExitStack) -> Teller:
    made = Teller(broker)
    ending.callback(made.close)
    return made


@pytest.fixture
def serve(tmp_path: Path, broker: Mosquitto, ending: ExitStack) -> Serve:
    """``serve([("ruleta-1", False)])``: a web server of these tables, real or simulated."""

    def make(tables: Sequence[tuple[str, bool]], **settings: Any) -> WebServer:
        made = WebServer(tmp_path / "web", broker.port, tables, **settings)
        ending.callback(made.kill)
        return made

    return make


class House:
    """A broker with a publisher, for all tests of a module: each has its own tables in it, or
    publishes its state again.
    """

    def __init__(self, folder: Path, ending: ExitStack) -> None:
        self._folder, self._ending = folder, ending
        self.broker = Mosquitto(folder / "mosquitto")
        ending.callback(self.broker.kill)
        self.broker.start()
        self.teller = Teller(self.broker)
        ending.callback(self.teller.close)

    def serve(self, tables: Sequence[tuple[str, bool]], **settings: Any) -> WebServer:
        """Its one web server."""
        made = WebServer(self._folder / "web", self.broker.port, tables, **settings)
        self._ending.callback(made.kill)
        return made


@pytest.fixture(scope="module")
def house(programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with ExitStack() as stack:
        yield House(tmp_path_factory.mktemp("house"), stack)


@pytest.fixture(scope="module")
def browser(programs: None) -> Iterator[Browser]:
    """Debian's Chromium. It ends with the module: while Playwright runs, no test of the same
    process can have an event loop.
    """
    with sync_playwright() as playwright:
        made = launch(playwright)
        yield made
        made.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page in HD on which any error of a script or of the policy fails the test, except
    connections that the browser ended.
    """
    errors: list[str] = []
    made = browser.new_page(viewport={"width": 1280, "height": 720})
    made.on("pageerror", lambda error: errors.append(str(error)))
    made.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    yield made
    made.close()
    assert [each for each in errors if ENDED not in each] == []
