"""A proxy between a browser and a web server, at which single answers fail."""

from __future__ import annotations

import threading
from contextlib import ExitStack, closing, suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal
from urllib.parse import urlsplit

from tests.support.waiting import TIMEOUT_SECONDS
from tests.support.web.server import WebServer

How = Literal["cut", "part", "refused", "silent", "away"]
"""``cut``: the connection ends without an answer. ``part``: it ends within the answer; a stream,
after its first picture. ``refused``: status 502, as of a proxy whose server is away. ``silent``:
nothing comes, and the connection stays. ``away``: from now on every connection ends without an
answer.
"""

LEFT_OUT = ("connection", "transfer-encoding", "cache-control", "etag", "last-modified")
"""Headers that are not passed on: a browser keeps nothing, and each time is the first one."""


class Proxy:
    """``address``: where browsers come. ``asked``: the paths that they asked for."""

    def __init__(self, server: WebServer, ending: ExitStack) -> None:
        self._server = urlsplit(server.address).netloc
        self._fails: dict[str, How] = {}
        self._over = threading.Event()
        self._away = self._leaves = False
        self._cut = threading.Event()
        self._cut.set()
        self.asked: list[str] = []
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            """One connection, one request: so a browser cannot ask again on its own account, as it
            does where a connection that it had used before is closed.
            """

            def do_GET(self) -> None:
                with suppress(OSError, HTTPException):  # one of the two has left
                    proxy._answer(self)

            do_POST = do_GET  # noqa: N815 - as the base class wants it

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        made.daemon_threads = True
        threading.Thread(target=made.serve_forever, daemon=True).start()
        ending.callback(made.server_close)
        ending.callback(made.shutdown)
        ending.callback(self._over.set)
        self.address = f"http://127.0.0.1:{made.server_port}"

    def fail(self, how: How, *paths: str, leave: bool = False, hold: bool = False) -> None:
        """The next request for each of these fails, that one alone; ``away``, or where it is to
        ``leave``: and all after it, until it is :meth:`back`. ``hold``: the connection of a partial
        answer stays open until :meth:`cut`.
        """
        self._fails, self._leaves = dict.fromkeys(paths, how), leave
        if hold:
            self._cut.clear()

    def cut(self) -> None:
        """End the connection of a partial answer."""
        self._cut.set()

    def back(self) -> None:
        """The server is there again."""
        self._away = False
        self._cut.set()

    @property
    def failed(self) -> bool:
        """Whether all of them have."""
        return not self._fails

    def _answer(self, asked: BaseHTTPRequestHandler) -> None:
        path = urlsplit(asked.path).path
        self.asked.append(path)
        how, away = self._fails.pop(path, None), self._away
        if how == "away" or (how is not None and self._leaves):
            self._away = True  # a concurrent request does not bring it back
        if how == "refused":
            asked.send_error(502)
        elif how == "silent":
            self._over.wait()
        if away or how in ("cut", "refused", "silent", "away"):
            return
        body = asked.rfile.read(int(asked.headers.get("content-length", 0)))
        with closing(HTTPConnection(self._server, timeout=TIMEOUT_SECONDS)) as line:
            line.request(asked.command, asked.path, body or None, dict(asked.headers))
            with line.getresponse() as answer:
                asked.send_response_only(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in LEFT_OUT:
                        asked.send_header(name, value)
                asked.send_header("cache-control", "no-store")
                asked.end_headers()
                if how == "part":
                    _part(asked, answer)
                    self._cut.wait(TIMEOUT_SECONDS)
                    return
                while data := answer.read1(1 << 16):
                    asked.wfile.write(data)


def _part(asked: BaseHTTPRequestHandler, answer: HTTPResponse) -> None:
    if answer.length is not None:
        asked.wfile.write(answer.read(answer.length * 3 // 4))
        return
    for line in answer:
        asked.wfile.write(line)
        if line.startswith(b"data: {"):
            asked.wfile.write(b"\n")
            return
