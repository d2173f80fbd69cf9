"""Behind a reverse proxy: Debian's nginx, configured by the lines of docs/technician/web.md."""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from playwright.sync_api import Browser, Page, expect

from subscribers.display.frames import FILES
from subscribers.web.connections import MAX_INCOMPLETE
from subscribers.web.proxy import Proxies
from subscribers.web.settings import WebSettings
from tests.support.waiting import TIMEOUT_SECONDS, until
from tests.support.web.going import go, until_it_looks
from tests.support.web.pit import BADGES, PINS, Client, console, touch_pin
from tests.support.web.server import SITE
from tests.web.conftest import Serve
from tests.web.nginx import Nginx, documented
from tests.web.raw import ask
from tests.web.surveillance import Room
from tests.web.test_interrupted import SHOWN, lives

BASE = "/novamas"
BEHIND = {"base": BASE, "tls": "proxy", "proxies": ["127.0.0.1"]}


class Behind:
    """A server of all pages, and nginx before it."""

    def __init__(self, folder: Path, ending: ExitStack) -> None:
        self.room = Room(folder, ending)
        self.room.say("m-lasa", "r1", "session.open", minimum=500, currency="EUR")
        self.room.spin(1, "17")
        self.room.keep()
        self.server = self.room.serve(**BEHIND)
        until("the tables are shown", lambda: ask(self.server, f"{BASE}/health")[0] == 200)
        self.nginx = Nginx(folder / "nginx", documented(self.server.port), ending)


@pytest.fixture(scope="module")
def behind(programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Behind]:
    with ExitStack() as ending:
        yield Behind(tmp_path_factory.mktemp("behind"), ending)


@pytest.fixture
def person(browser: Browser, behind: Behind) -> Iterator[Page]:
    """The browser of a person who has signed in below the prefix."""
    context = browser.new_context(viewport={"width": 1280, "height": 720}, ignore_https_errors=True)
    page = context.new_page()
    go(page, f"{behind.nginx.address}{BASE}/pit?lang=en")
    page.locator("#who").fill(BADGES["m-lasa"])
    touch_pin(page, PINS["m-lasa"])
    page.locator("button.main").click()
    lives(page, "/pit")
    yield page
    context.close()


def test_every_page_works_below_a_prefix_behind_nginx(behind: Behind, person: Page) -> None:
    for path in SHOWN:
        go(person, f"{behind.nginx.address}{BASE}{path}?lang=en")
        lives(person, path)
    # the links lead on
    go(person, f"{behind.nginx.address}{BASE}/")
    person.locator("a.tile[href*='r1']").click()
    lives(person, "/table/r1")
    person.locator("footer a").first.click()
    lives(person, "/floor")
    go(person, f"{behind.nginx.address}{BASE}/table/r1/day/2026-01-01?lang=en")
    person.locator("nav a").first.click()
    person.wait_for_url("**/days?lang=en")
    until_it_looks(person)
    # and signing out leads to the sign-in of the same place
    go(person, f"{behind.nginx.address}{BASE}/pit")
    person.locator("button.out").click()
    expect(person.locator("#who")).to_be_visible()
    assert person.url == f"{behind.nginx.address}{BASE}/pit"
    odd = [
        (how, path, status)
        for how, path, status in behind.nginx.asked()
        if not path.startswith(f"{BASE}/") or status == 404
    ]
    assert odd == []
    assert {path.partition("?")[0] for _, path, _ in behind.nginx.asked()} >= {
        f"{BASE}{FILES}/static/worker.js",
        f"{BASE}/stream",
        f"{BASE}/pit/stream",
        f"{BASE}/surveillance/stream",
        f"{BASE}/keypad/r1/stream",
    }


def test_the_cookie_is_sent_over_tls_below_the_prefix_alone(person: Page) -> None:
    cookies = person.context.cookies()
    assert {cookie["name"] for cookie in cookies} == {
        "__Secure-novamas",
        "__Secure-novamas-browser",
    }
    for cookie in cookies:
        assert (cookie["path"], cookie["secure"], cookie["httpOnly"]) == (BASE, True, True)
        assert cookie["sameSite"] == "Strict"


def test_a_stream_comes_as_it_is_sent(behind: Behind, person: Page) -> None:
    cookie = "; ".join(f"{each['name']}={each['value']}" for each in person.context.cookies())
    context = ssl.create_default_context(cafile=str(behind.nginx.authority))
    plain = socket.create_connection(("127.0.0.1", behind.nginx.port), TIMEOUT_SECONDS)
    with closing(context.wrap_socket(plain, server_hostname="127.0.0.1")) as line:
        line.sendall(
            f"GET {BASE}/stream HTTP/1.1\r\nHost: 127.0.0.1:{behind.nginx.port}\r\n"
            f"Cookie: {cookie}\r\n\r\n".encode()
        )
        read = b""
        while read.count(b"event: beat") < 3:  # two seconds apart, and the stream never ends
            got = line.recv(1 << 16)
            assert got, read
            read += got


def test_nothing_answers_beside_the_prefix(behind: Behind) -> None:
    for path in ("/", "/floor", "/novamasx/floor", "/static/table.js"):
        status, answer = ask(behind.server, path)
        assert status == 404
        assert f"answers below {BASE}/".encode() in answer
    assert ask(behind.server, BASE)[0] == 307
    status, answer = ask(behind.server, f"{BASE}/floor")  # no person has signed in
    assert (status, f"location: {BASE}/pit\r\n".encode() in answer) == (303, True)
    assert behind.server.address.endswith(BASE)


def test_no_pin_is_typed_at_a_page_without_tls(behind: Behind) -> None:
    for claim in ("", "X-Forwarded-Proto: http\r\n"):
        status, answer = ask(behind.server, f"{BASE}/pit", more=claim)
        assert (status, b"Nobody signs in here without TLS" in answer) == (403, True)
    log = behind.server.log()
    assert "no sign-in without TLS" in log
    assert "proxy_set_header X-Forwarded-Proto $scheme" in log


def test_a_stranger_is_not_believed(tmp_path: Path, serve: Serve) -> None:
    given = {**BEHIND, "proxies": ["10.9.9.9"], "pit": console(tmp_path / "pit", SITE)}
    server = serve([("ruleta-1", False)], **given)
    claims = "X-Forwarded-Proto: https\r\nX-Forwarded-For: 10.9.9.9\r\n"
    assert ask(server, f"{BASE}/pit", more=claims)[0] == 403


def test_host_and_origin_that_differ_are_logged_with_what_to_set(
    tmp_path: Path, serve: Serve
) -> None:
    server = serve([("ruleta-1", False)], names=["pit.example"], pit=console(tmp_path, SITE))
    client = Client(server.address)
    for origin, host, advice in (
        ("https://pit.example", f"127.0.0.1:{server.port}", "proxy_set_header Host $http_host"),
        ("https://pit.example:8443", "pit.example", "proxy_set_header Host $http_host"),
        ("https://other.example", "other.example", "`names` of [web]"),
    ):
        headers = {"Origin": origin, "Host": host, "X-Novamas-Token": "sign-in"}
        given = {**headers, "X-Novamas-Touch": client.touch()}
        body = {"who": "m-lasa", "pin": PINS["m-lasa"]}
        assert client.ask("POST", "/sign-in", body, given)[0] in (400, 403)
        lines = [json.loads(line) for line in server.log().splitlines() if line.startswith("{")]
        [line] = [each for each in lines if each.get("origin") == origin]
        assert line["host"] == host
        assert advice in line["advice"]


@pytest.mark.parametrize(
    ("peer", "forwarded", "browser"),
    [
        pytest.param("10.0.0.1", ["203.0.113.9"], "203.0.113.9", id="one proxy"),
        pytest.param("10.0.0.1", ["9.9.9.9, 203.0.113.9"], "203.0.113.9", id="a claim before it"),
        pytest.param("10.0.0.1", ["9.9.9.9", "203.0.113.9"], "203.0.113.9", id="in two headers"),
        pytest.param("10.0.0.1", ["203.0.113.9, 10.0.0.7"], "203.0.113.9", id="two proxies"),
        pytest.param("10.0.0.1", ["2001:db8::1"], "2001:db8::1", id="IPv6"),
        pytest.param("10.0.0.1", [], "10.0.0.1", id="the proxy itself"),
        pytest.param("10.0.0.1", ["unknown"], "10.0.0.1", id="no address"),
        pytest.param("10.0.0.1", [""], "10.0.0.1", id="nothing"),
        pytest.param("203.0.113.9", ["10.0.0.1"], "203.0.113.9", id="a stranger"),
        pytest.param("::ffff:10.0.0.1", ["203.0.113.9"], "203.0.113.9", id="IPv4 in IPv6"),
    ],
)
def test_the_address_of_a_browser(peer: str, forwarded: list[str], browser: str) -> None:
    assert Proxies(["10.0.0.0/24"]).browser(peer, forwarded) == browser


def test_a_proxy_on_this_machine_lets_others_in() -> None:
    """So the displays are not open because the server listens on loopback."""
    given: Any = {"site": SITE, "broker": {"url": "mqtt://127.0.0.1"}, "tables": []}
    open_to_this_machine = msgspec.convert(given, WebSettings)
    behind_a_proxy = msgspec.convert({**given, "proxies": ["127.0.0.1"]}, WebSettings)
    assert (open_to_this_machine.signed_in, behind_a_proxy.signed_in) == (False, True)


def test_half_requests_through_a_proxy_count_for_the_browser(serve: Serve) -> None:
    """One stranger's do not end those of others, nor does the proxy count as one machine."""
    server = serve([("ruleta-1", False)], proxies=["127.0.0.1"], displays="open")

    def half(address: str) -> socket.socket:
        made = socket.create_connection(("127.0.0.1", server.port), TIMEOUT_SECONDS)
        made.sendall(
            b"POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
            b"Content-Length: 2\r\n"
            b"X-Forwarded-For: " + address.encode() + b"\r\n\r\n{"
        )
        return made

    with ExitStack() as ending:
        honest = ending.enter_context(closing(half("203.0.113.10")))
        flood = []
        first = ending.enter_context(closing(half("203.0.113.9")))
        first.setblocking(False)

        def is_ended() -> bool:
            """Continue until the oldest of the flood is dropped."""
            flood.append(ending.enter_context(closing(half("203.0.113.9"))))
            if len(flood) <= MAX_INCOMPLETE:
                return False
            try:
                first.recv(1)
            except BlockingIOError:
                return False
            except ConnectionResetError:
                return True
            return True

        until("the oldest of the flood has ended", is_ended)
        honest.sendall(b"}")
        assert honest.recv(1 << 12).startswith(b"HTTP/1.1 404")
