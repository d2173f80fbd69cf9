"""The server among browsers without manners: none harms it or another, and none learns what is not
a page.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import signal
import socket
import sqlite3
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from common.contract.messages.messages import LANGUAGES, text
from subscribers.feed.floor import Floor
from tests.support.brokers.mosquitto import Mosquitto
from tests.support.subscribers.real import spun
from tests.support.waiting import TIMEOUT_SECONDS, until
from tests.support.web.server import Teller, WebServer
from tests.web.conftest import House, Serve
from tests.web.raw import Reader, ask, read_all, stream

MEGABYTE = 1 << 20
PATHS = (
    "/static/../web/app.py",
    "/static/%2e%2e/picture.py",
    "/static/..%2f..%2f..%2fetc%2fpasswd",
    "/static//etc/passwd",
    "/static/games/../../../web/settings.py",
    "/static/",
    "/static/games",
    "/table/..%2f..%2f..%2fetc%2fpasswd",
    "/table/<script>alert(1)</script>",
    "/table/%00",
    "/table/",
    "/table/none",
    "/table/ruleta-1/x",
    "/%ff%fe",
    "/web.ready",
    "/" + "x" * 8000,
)


def has(what: bytes) -> Callable[[bytes], bool]:
    """Whether this was read."""
    return lambda told: what in told


def tell(teller: Teller, name: str, *numbers: int) -> None:
    """Everything that is retained of a roulette on which these numbers came."""
    for leaf, body in spun(numbers).table.retained().items():
        if body is not None:
            told = json.loads(body)
            teller.tell(name, leaf, {**told, "table": name} if isinstance(told, dict) else told)


def served(serve: Serve, teller: Teller, **settings: object) -> WebServer:
    tell(teller, "ruleta-1", 17)
    server = serve([("ruleta-1", False)], **settings)
    until("the table is shown", lambda: ask(server, "/health")[0] == 200)
    return server


@pytest.fixture(scope="module")
def server(house: House) -> WebServer:
    """For all that leave it as it is."""
    return served(house.serve, house.teller)


@pytest.fixture
def own(serve: Serve, teller: Teller) -> WebServer:
    """For one test."""
    return served(serve, teller)


def test_only_pages_are_served(server: WebServer) -> None:
    for path in PATHS:
        status, answer = ask(server, path)
        assert status in (400, 404), path
        assert b"root:" not in answer
        assert b"import " not in answer
        assert b"<script>alert" not in answer
    for method in ("POST", "PUT", "DELETE", "TRACE"):
        for path in ("/table/ruleta-1", "/floor", "/stream", "/health", "/static/table.js"):
            assert ask(server, path, method=method)[0] == 405, (method, path)
    assert ask(server, "/health")[0] == 200


def test_another_host_is_refused(serve: Serve, teller: Teller) -> None:
    """A foreign page whose name resolves to this server reads nothing."""
    server = served(serve, teller, names=["pantallas.casino.example"])
    for host in ("evil.example", "127.0.0.1.evil.example", "", "localhost@evil.example", "[::2]"):
        for path in ("/floor", "/stream", "/health", "/metrics", "/static/table.js"):
            assert ask(server, path, host=host)[0] == 400, (host, path)
    for host in ("pantallas.casino.example", "localhost:99", "127.0.0.1", "[::1]:80"):
        assert ask(server, "/floor", host=host)[0] == 200, host


def test_every_answer_has_its_policy_and_its_lifetime(server: WebServer) -> None:
    for path, kept in (
        ("/floor", "no-store"),
        ("/wall", "no-store"),
        ("/table/ruleta-1", "no-store"),
        ("/table/none", "no-store"),
        ("/health", "no-store"),
        ("/metrics", "no-store"),
        ("/static/table.js", "no-cache"),
        ("/static/games/wheels.css", "no-cache"),
        ("/theme.css", "no-cache"),
    ):
        for method in ("GET", "HEAD"):
            head, _, body = ask(server, path, method=method)[1].decode().partition("\r\n\r\n")
            assert f"cache-control: {kept}\r\n" in head + "\r\n", path
            assert "content-security-policy: default-src 'none'" in head
            assert (body == "") == (method == "HEAD" or path == "/theme.css"), path


def test_a_page_requests_files_that_may_be_stored_for_good(server: WebServer) -> None:
    page = server.get("/table/ruleta-1")
    paths = re.findall(r'(?:src|href)="(/files-\w+/\S+)"', page)
    assert any(path.endswith("/static/table.js") for path in paths)
    for path in paths:
        status, answer = ask(server, path, more="Accept-Encoding: gzip\r\n")
        assert status == 200, path
        of_the_site = "/static/" not in path  # may change while the server runs
        kept = "no-cache" if of_the_site else "public, max-age=31536000, immutable"
        assert f"cache-control: {kept}\r\n".encode() in answer, path
    prefix = paths[0].split("/")[1]
    for path in (f"/{prefix}/floor", f"/{prefix}/static/../app.py", "/files-0/static/table.js"):
        assert ask(server, path)[0] == 404, path


def test_pages_and_scripts_are_compressed_and_streams_are_not(server: WebServer) -> None:
    for path in ("/floor", "/table/ruleta-1", "/static/table.js", "/static/display.css"):
        answer = ask(server, path, more="Accept-Encoding: gzip\r\n")[1]
        head, _, body = answer.partition(b"\r\n\r\n")
        assert b"content-encoding: gzip" in head, path
        assert b"vary: Accept-Encoding" in head, path
        assert len(body) < len(server.get(path)) / 2, path
        assert b"content-encoding" not in ask(server, path)[1].partition(b"\r\n\r\n")[0], path
    head = ask(server, "/stream", method="HEAD", more="Accept-Encoding: gzip\r\n")[1]
    assert b"content-encoding" not in head


def test_an_unchanged_file_is_not_sent_again(server: WebServer) -> None:
    _, answer = ask(server, "/static/table.js")
    found = re.search(rb"etag: (\S+)", answer)
    assert found is not None
    again = ask(server, "/static/table.js", more=f"If-None-Match: {found[1].decode()}\r\n")
    assert again[0] == 304
    assert again[1].endswith(b"\r\n\r\n")


def test_the_head_of_a_stream_ends(server: WebServer) -> None:
    status, answer = ask(server, "/stream", method="HEAD")
    assert status == 200
    assert b"text/event-stream" in answer
    until("it has ended", lambda: server.metric("streams") == 0)


def test_junk_is_answered_as_nothing(server: WebServer) -> None:
    own = ask(server, "/floor")[1].partition(b"\r\n\r\n")[2]
    for junk in ("zz", "%3Cscript%3E", "es%00", "ES", "", "x" * 4000):
        status, answer = ask(server, f"/floor?lang={junk}")
        assert (status, answer.partition(b"\r\n\r\n")[2]) == (200, own)
    for junk in ("?table=none", "?table=", "?table=%ff", "?table=../x"):
        assert ask(server, f"/stream{junk}")[0] == 404
    for last in ("x", "-", "a-b", "-1", "9" * 5000, "0-99999999999999999999", "\x80"):
        with stream(server, "?table=none&table=ruleta-1") as made:
            assert read_all([made], has(b'"number":"17"')) == 0, last
        with stream(server) as made:
            made.sendall(
                f"GET /stream HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: {last}\r\n\r\n".encode(
                    "latin-1"
                )
            )
            assert read_all([made], has(b'"number":"17"')) == 0, last


def test_a_page_is_in_the_language_of_the_decree_unless_requested_otherwise(
    server: WebServer,
) -> None:
    assert b'<html lang="es">' in ask(server, "/table/ruleta-1")[1]
    for language in LANGUAGES:
        page = ask(server, f"/table/ruleta-1?lang={language}")[1]
        assert f'<html lang="{language}">'.encode() in page
        missing = ask(server, f"/table/none?lang={language}")[1].decode()
        assert text("trouble.no_table", language) in missing


def test_too_many_browsers_are_refused_with_words(serve: Serve, teller: Teller) -> None:
    server = served(serve, teller, streams=3)
    with ExitStack() as ending:
        for _ in range(3):
            made = ending.enter_context(stream(server))
            assert read_all([made], has(b"event: picture")) == 0
        status, answer = ask(server, "/stream")
        assert status == 503
        assert text("display.full", "es").encode() in answer
        assert b"retry-after: 5" in answer
        assert ask(server, "/floor")[0] == 200
        assert (server.metric("streams"), server.metric("streams_refused_total")) == (3, 1)
    until("they have left", lambda: server.metric("streams") == 0)
    with stream(server) as made:
        assert read_all([made], has(b"event: picture")) == 0


def test_a_stuck_reader_is_left_behind_and_blocks_no_other(
    serve: Serve, teller: Teller, ending: ExitStack
) -> None:
    names = [f"ruleta-{number}" for number in range(1, 31)]
    for name in names:
        tell(teller, name, *range(20))
    server = serve([(name, False) for name in names], send_timeout=3.0)
    until("all tables are shown", lambda: ask(server, "/health")[0] == 200)
    deaf = [ending.enter_context(stream(server, buffer=4096)) for _ in range(10)]
    until("they are served", lambda: server.metric("streams") == len(deaf))
    reader = Reader(stream(server))
    ending.callback(reader.close)
    state = json.loads(spun([17]).table.retained()["state"] or b"")

    def all_show(number: int) -> bool:
        shown = {picture["body"]["last"]["number"] for picture in [*reader.pictures.values()]}
        return shown == {str(number)}

    until("all tables are shown", lambda: len(reader.pictures) == len(names))
    for number in range(20, 30):
        told = {**state["shown"], "last_number": number}
        for name in names:
            teller.tell(name, "state", {**state, "table": name, "shown": told})
        until(f"all tables show {number}", partial(all_show, number))
    until(
        "they are left behind",
        lambda: server.metric("streams_behind_total") == len(deaf),
        server.log,
    )
    until("one is left", lambda: server.metric("streams") == 1)
    assert not reader.over.is_set()


def test_half_a_request_blocks_no_other(server: WebServer, ending: ExitStack) -> None:
    for part in (b"", b"GET", b"GET /floor HTTP/1.1\r\nHost: ", b"\x16\x03\x01\x02\x00"):
        made = ending.enter_context(stream(server))
        made.sendall(part)
    assert ask(server, "/health")[0] == 200
    with contextlib.suppress(OSError):  # it may end the connection while we still send
        assert ask(server, "/floor", more=f"X: {'x' * 2_000_000}\r\n")[0] in (400, 431)
    assert ask(server, "/health")[0] == 200


def test_the_server_reports_its_metrics(broker: Mosquitto, own: WebServer) -> None:
    reply = ask(own, "/metrics")[1].decode().partition("\r\n\r\n")[2]
    assert reply.endswith("\n")
    for line in reply.splitlines():
        assert re.fullmatch(
            r"# (HELP|TYPE) novamas_web_\w+ .+"
            r'|novamas_web_\w+(\{simulated="(true|false)"\})? \d+\.0',
            line,
        ), line
    assert 'novamas_web_broker_connected{simulated="false"} 1.0' in reply
    assert (own.metric("tables"), own.metric("tables_deaf")) == (1, 0)
    broker.kill()
    until("it is deaf", lambda: own.metric("tables_deaf") == 1)
    status, answer = ask(own, "/health")
    assert (status, answer.endswith(b"deaf ruleta-1\n")) == (503, True)
    assert 'broker_connected{simulated="false"} 0.0' in own.get("/metrics")


def test_two_hundred_browsers_all_get_the_last_picture(
    own: WebServer, teller: Teller, ending: ExitStack
) -> None:
    streams = [ending.enter_context(stream(own)) for _ in range(200)]
    assert read_all(streams, has(b'"number":"17"')) == 0
    assert own.metric("streams") == 200
    retained = {leaf: body for leaf, body in spun([17]).table.retained().items() if body}
    state = json.loads(retained["state"])

    def play(first: int, last: int) -> None:
        for number in range(first, last):
            told = {**state["shown"], "round": number}
            teller.tell("ruleta-1", "state", {**state, "shown": told})
            if number % 20 == 0:
                assert read_all(streams, has(b'"round":%d,' % number)) == 0

    play(1, 101)
    before = own.memory()
    play(101, 301)
    assert own.memory() < before + 8 * MEGABYTE
    assert own.metric("streams_behind_total") == 0
    own.signal(signal.SIGTERM)
    assert read_all(streams, lambda told: told.endswith(b"0\r\n\r\n")) == 0
    assert own.stop() == 0


async def test_a_stream_that_waits_for_a_change_is_woken_without_one() -> None:
    """As when the server ends: who waits must not have to wait for the next beat."""
    floor = Floor({"ruleta-1": False}, lambda: "2026-01-01T00:00:00Z")
    waiting = asyncio.create_task(floor.wait(floor.change, TIMEOUT_SECONDS))
    await asyncio.sleep(0)
    assert not waiting.done()
    floor.wake()
    for _ in range(5):
        await asyncio.sleep(0)
    assert waiting.done()


def test_a_reconnected_browser_gets_every_table_that_it_lacks(serve: Serve, teller: Teller) -> None:
    """The stream ended after its first picture, and the browser comes back."""
    names = {"a", "b", "c"}
    server = serve([(name, False) for name in sorted(names)])
    for name in sorted(names, reverse=True):  # the first table changes last
        tell(teller, name, 17)
    until("they are heard", lambda: server.metric("tables_deaf") == 0)
    with stream(server) as made:
        told = b""
        while b'data: {"' not in told or not told.endswith(b"\n\n"):
            told += made.recv(1)
    first, number = re.search(rb'"table":"(\w)"', told), re.search(rb"id: (\S+)\n", told)
    assert first is not None
    rest = {f'"table":"{name}"'.encode() for name in names - {first[1].decode()}}
    more = f"Last-Event-ID: {number[1].decode()}\r\n" if number else ""
    with stream(server, more=more) as made:
        assert read_all([made], lambda told: all(name in told for name in rest)) == 0


def test_a_table_is_shown_though_the_broker_was_never_there(
    serve: Serve, broker: Mosquitto
) -> None:
    broker.kill()
    server = serve([("ruleta-1", False)])
    with stream(server, "?lang=es") as made:
        assert read_all([made], has(text("trouble.no_broker", "es").encode())) == 0


@pytest.mark.parametrize("case", ["a forged number", "a damaged file"])
def test_a_round_that_the_store_rejects_is_shown(
    case: str, serve: Serve, teller: Teller, tmp_path: Path
) -> None:
    """It had stopped the server's reader, which kept showing its picture as current."""
    server = served(serve, teller)
    table = spun([5]).table.retained()
    history = json.loads(table["history"] or b"")
    if case == "a forged number":
        forged = {**history, "table": "ruleta-1"}
        forged["results"] = [{**line, "round": 10**30} for line in history["results"]]
        teller.tell("ruleta-1", "history", forged)
    else:
        with contextlib.closing(sqlite3.connect(tmp_path / "web" / "rounds.sqlite3")) as file:
            file.execute("DROP TABLE rounds")
    tell(teller, "ruleta-1", 17, 3, 22)
    if case == "a damaged file":  # no larger number than 2^53 - 1 is read at all
        until("it is logged", lambda: "in memory only" in server.log())
    with stream(server, "?table=ruleta-1") as made:
        assert read_all([made], has(b'"22"')) == 0
    assert ask(server, "/health")[0] == 200
    assert server.stop() == 0


@pytest.mark.parametrize(
    "half",
    [
        b"",
        b"GET /floor HTTP/1.1\r\nHost: 127.0.0.1\r\n",
        b"POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{",
    ],
    ids=["nothing", "half a head", "half a body"],
)
def test_half_requests_keep_no_one_out_and_end(own: WebServer, half: bytes) -> None:
    """However many one machine sends. As long as they were there, all others got 503."""
    with ExitStack() as ending:
        halves = [
            ending.enter_context(socket.create_connection(("127.0.0.1", own.port), TIMEOUT_SECONDS))
            for _ in range(1000)
        ]
        for each in halves:
            each.sendall(half)
        until("others are served", lambda: ask(own, "/floor")[0] == 200)
        for each in halves:
            with contextlib.suppress(ConnectionResetError):
                while each.recv(1 << 12):
                    pass


def test_a_stream_is_no_half_request(own: WebServer, teller: Teller) -> None:
    with (
        stream(own) as made,
        contextlib.closing(socket.create_connection(made.getpeername())) as idle,
    ):
        idle.settimeout(TIMEOUT_SECONDS)
        assert idle.recv(1) == b""  # the time for a request is over
        tell(teller, "ruleta-1", 17, 3, 22)
        assert read_all([made], has(b'"22"')) == 0
