"""A display of the site: recorded from the web server, in one file that needs no server."""

from __future__ import annotations

import runpy
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, expect

from tests.support.subscribers.real import spun
from tests.support.waiting import until
from tests.support.web.server import Teller
from tests.web.conftest import Serve
from tests.web.raw import ask
from tests.web.test_displays import retain

PARTS = Path(__file__).parents[2] / "packaging" / "site"
offline = SimpleNamespace(**runpy.run_path(str(PARTS / "offline.py")))


def lines(address: str, beats: int) -> Iterator[tuple[float, str]]:
    """The lines of a stream, until it has sent so many beats."""
    with urlopen(address, timeout=60) as stream:
        while beats:
            line = stream.readline().decode().rstrip("\r\n")
            beats -= line == "event: beat"
            yield time.monotonic(), line
        for _ in range(2):
            yield time.monotonic(), stream.readline().decode().rstrip("\r\n")


def test_the_events_of_a_stream_have_the_time_at_which_they_came() -> None:
    sent = offline.read_stream(
        [
            (5.0, "retry: 1000"),
            (5.0, ""),
            (5.1, "event: picture"),
            (5.1, 'data: {"a":1}'),
            (5.2, ""),
            (7.0, "event: beat"),
            (7.0, "id: x"),
            (7.0, "data: 1"),
            (7.0, "data: 2"),
            (7.5, ""),
            (8.0, "event: beat"),
        ]
    )
    assert sent == [(200, "picture", '{"a":1}'), (2500, "beat", "1\n2")]


def test_markup_in_what_was_sent_cannot_end_the_script() -> None:
    def fetch(path: str) -> bytes:
        return {"/a/m.js": b'import "./n.js";\nx(import.meta.url)', "/a/n.js": b"export {}"}[path]

    html = '<meta charset="utf-8">\n<script type="module" src="/a/m.js"></script>'
    hostile = offline.Sent(0, "picture", "</script><script>alert(1)</script>\u2028")
    made = offline.bundle(html, fetch, [hostile], {})
    assert made.count("</script>") == 3
    assert "alert(1)</script>" not in made
    assert "\u2028" not in made
    assert 'src="/a/' not in made


@pytest.mark.essential
def test_a_recorded_display_replays_from_a_file(
    serve: Serve, teller: Teller, browser: Browser, tmp_path: Path
) -> None:
    retain(teller, spun([25]), "ruleta-1")
    server = serve([("ruleta-1", False)])
    until("the table is shown", lambda: ask(server, "/health")[0] == 200)

    def fetch(path: str) -> bytes:
        with urlopen(server.address + path, timeout=60) as answer:
            return bytes(answer.read())

    sent = offline.read_stream(lines(f"{server.address}/stream?table=ruleta-1&lang=es", 2))
    html = fetch("/table/ruleta-1?lang=es").decode()
    file = tmp_path / "ruleta-1.html"
    file.write_text(offline.bundle(html, fetch, sent, {"/floor": "floor.html"}), encoding="utf-8")
    server.kill()
    page = browser.new_page()
    requested: list[str] = []
    errors: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    try:
        page.goto(file.as_uri())
        expect(page.locator("article:not(.before) .number").first).to_have_text("25")
        expect(page.locator("#not-running")).to_have_count(0)
        assert {url for url in requested if not url.startswith("data:")} == {file.as_uri()}
        assert errors == []
    finally:
        page.close()
