"""Receivers of bookmarks that behave as documented by their makers, and record what arrives."""

from __future__ import annotations

import json
import socket
import socketserver
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from tests.support.brokers.mosquitto import free_port


class Request(NamedTuple):
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def told(self) -> Any:
        return json.loads(self.body)


class HTTPReceiver:
    """An HTTP server. ``answers`` returns status and body for a request."""

    def __init__(self, answers: Callable[[Request], tuple[int, Any]] | None = None) -> None:
        self.port = free_port()
        self.requests: list[Request] = []
        self.answers = answers or (lambda _: (200, {"success": True}))
        self._server: ThreadingHTTPServer | None = None
        self.start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                request = Request(self.path, headers, body)
                status, said = receiver.answers(request)
                if 200 <= status < 300:
                    receiver.requests.append(request)
                told = json.dumps(said).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(told)))
                self.end_headers()
                self.wfile.write(told)

            def log_message(self, *_: Any) -> None:
                pass

        ThreadingHTTPServer.allow_reuse_address = True
        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None


class LineReceiver:
    """A TCP listener for lines. ``echo`` returns its reply to a line, or None."""

    def __init__(self, echo: Callable[[bytes], bytes | None] = lambda _: None) -> None:
        self.port = free_port()
        self.lines: list[bytes] = []
        self._echo = echo
        self._server: socketserver.ThreadingTCPServer | None = None
        self._open: set[socket.socket] = set()
        self.start()

    @property
    def address(self) -> str:
        return f"tcp://127.0.0.1:{self.port}"

    def start(self) -> None:
        receiver = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                receiver._open.add(self.request)
                try:
                    for raw in self.rfile:
                        told = raw.rstrip(b"\r\n")
                        receiver.lines.append(told)
                        if (answer := receiver._echo(told)) is not None:
                            self.wfile.write(answer)
                except OSError:
                    pass
                finally:
                    receiver._open.discard(self.request)

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address = True
            daemon_threads = True

        self._server = Server(("127.0.0.1", self.port), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            for each in list(self._open):
                each.shutdown(socket.SHUT_RDWR)
            self._server = None


class Datagrams:
    """A UDP listener."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self.texts: list[bytes] = []
        self.address = f"udp://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            try:
                self.texts.append(self._socket.recv(65_536))
            except OSError:
                return

    def stop(self) -> None:
        self._socket.close()


class Statistics:
    """The reply of Milestone's ``International`` data source: request, characters, matches and the
    names of the generic events that matched, here those whose expression is in the text.
    """

    def __init__(self, *expressions: str) -> None:
        self.expressions, self.count = expressions, 0

    def __call__(self, body: bytes) -> bytes:
        self.count += 1
        names = [each for each in self.expressions if each.encode() in body]
        said = [str(self.count), str(len(body)), str(len(names)), *names]
        return ",".join(said).encode() + b"\r\n"
