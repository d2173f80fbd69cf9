"""What tests of containers share: the built image, an engine, and a wheel to pass through."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from engine import CHECKOUT, Engine, Image, Network
from playwright.sync_api import expect, sync_playwright

from tests.support.programs import running
from tests.support.waiting import TIMEOUT_SECONDS, until

BUILD = CHECKOUT / "build"
NUMBER = "17"
"""What the wheel shows, at every spin."""


@pytest.fixture(scope="session")
def archives() -> dict[str, Path]:
    """The newest archive of each format."""
    found = {}
    for kind in ("docker", "oci"):
        built = BUILD.glob(f"novamas_*.{kind}.tar")
        found[kind] = max(built, key=lambda path: path.stat().st_mtime)
    return found


@pytest.fixture(scope="session")
def image(archives: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Image]:
    if os.geteuid() != 0:
        pytest.exit("make image-test starts containers with crun: run it as root", 1)
    folder = tmp_path_factory.mktemp("image")
    yield Image(archives["docker"], folder)
    shutil.rmtree(folder)


@pytest.fixture
def network() -> Iterator[Network]:
    made = Network()
    yield made
    made.close()


@pytest.fixture
def engine(image: Image, network: Network, tmp_path: Path) -> Iterator[Engine]:
    made = Engine(image, tmp_path / "engine", network)
    made.hosts.write_text("127.0.0.1 localhost broker\n")
    yield made
    made.close()


@contextmanager
def simulated_wheel(link: Path, *options: str) -> Iterator[Path]:
    """Simulate a wheel at the other end of a pseudo-terminal, as udev hands over an adapter."""
    numbers = ",".join([NUMBER] * 200)
    words = ("simulate", "wheel", "--link", str(link), "--numbers", numbers, *options)
    with running([sys.executable, "-m", "controller.cli", *words], cwd=CHECKOUT):
        until("the wheel's port", link.exists)
        port = link.resolve()
        shutil.chown(port, group="dialout")
        port.chmod(0o660)
        yield port


@pytest.fixture
def wheel(tmp_path: Path) -> Iterator[Path]:
    """A wheel of a simulated table, which spins by itself twenty times as fast."""
    with simulated_wheel(tmp_path / "ttyUSB0", "--speed", "20") as port:
        yield port


@pytest.fixture
def shown(tmp_path: Path) -> Callable[[Sequence[str], str], str]:
    """``shown(words, address)``: the number of a table's page in a real browser, which is started
    behind these words. It waits for one.
    """

    def look(words: Sequence[str], address: str) -> str:
        browser = tmp_path / "browser"
        browser.write_text(f'#!/bin/sh\nexec {shlex.join(words)} chromium-headless-shell "$@"\n')
        browser.chmod(0o755)
        with sync_playwright() as playwright:
            engine = playwright.chromium
            page = engine.launch(executable_path=browser, args=["--no-sandbox"]).new_page()
            page.goto(address)
            number = page.locator(".number").first
            expect(number).not_to_be_empty(timeout=TIMEOUT_SECONDS * 1000)
            return (number.text_content() or "").strip()

    return look
