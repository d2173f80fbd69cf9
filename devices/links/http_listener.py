"""The listener of ``http://`` and ``https://`` links: one request for each connection, read by a
thread with an event loop of its own, so that requests never wait in that of the tables.

Every size, number and time is bounded. A request is answered with 200 only after the link's reader
has its message.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hmac
import select
import socket
import ssl
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from math import inf

import h11
import msgspec

from common import clock
from common.log import structlog
from devices.links.link import LinkFailedError
from devices.loop_watch import LoopWatch, running_seconds

REQUEST_TIMEOUT_SECONDS = 5.0
"""Maximum time from the connection, or the end of its TLS handshake, to the end of a request."""
TAKEN_TIMEOUT_SECONDS = 2.0
"""Maximum time for the link's reader to take a message."""
LINGER_SECONDS = 0.5
"""Time in which the rest of a refused request is dropped, so that its sender reads the answer."""
MAX_HEAD_BYTES = 8192
MAX_BODY_BYTES = 4096
MAX_CONNECTIONS = 32
"""Maximum number of open connections; others wait in the kernel."""
MAX_CONNECTIONS_PER_ADDRESS = 8
"""Maximum number of open connections of one address; others are closed at once."""
MAX_BACKLOG = 64
ACCEPT_INTERVAL_SECONDS = 0.02
"""Minimum time between two connections: it bounds the processor time of a flood."""
POLL_INTERVAL_SECONDS = 0.005
"""Maximum time between two polls of the sockets, so that it is known since when a request may have
waited.
"""
CLOSING_TURNS = 3
"""Turns of the event loop in which transports close their sockets."""
LOG_INTERVAL_SECONDS = 60.0
"""Minimum time between two log lines about refused requests."""


class ReceivedPost(msgspec.Struct, frozen=True, kw_only=True):
    """A request with a valid token. ``names``: headers by lower-case name. ``silent_at``: its end
    arrived after this time, one of :func:`devices.loop_watch.running_seconds`.
    """

    names: Mapping[str, str]
    body: bytes
    silent_at: float


class PostReply(msgspec.Struct, frozen=True):
    """The answer to a request: status, and a text for the person who reads the sender's log."""

    status: HTTPStatus
    text: str


class PostReceiver(msgspec.Struct, frozen=True):
    """What receives the requests of one path. ``tokens`` returns the valid tokens; ``accept`` is
    called in the listener's event loop; ``fail`` is called if the listener ends by itself.
    """

    tokens: Callable[[], tuple[str, ...]]
    accept: Callable[[ReceivedPost], asyncio.Future[PostReply]]
    fail: Callable[[LinkFailedError], None]


class PostListener:
    """Listens at one address for all links that share it. ``certificate``: certificate and key
    file, None for no TLS. Raises :class:`LinkFailedError`.
    """

    def __init__(self, host: str, port: int, certificate: tuple[str, str] | None) -> None:
        self.name = f"{host}:{port}"
        self.certificate = certificate
        self.receivers: dict[str, PostReceiver] = {}
        self._tls = _tls_context(certificate)
        self._socket = _listening_socket(host, port)
        self._watch = LoopWatch()
        self._pending = select.poll()
        self._pending.register(self._socket, select.POLLIN)
        self._silent_at = -inf
        self._is_waiting = False
        self._open = Counter[str]()
        self._refused = 0
        self._logged = -LOG_INTERVAL_SECONDS
        self._loop = asyncio.new_event_loop()
        self._accepting = self._loop.create_task(self._accept())
        self._thread = threading.Thread(target=self._run, name=f"listener {self.name}", daemon=True)
        self._thread.start()

    @property
    def silent_at(self) -> float:
        """Last time at which no connection waited to be accepted."""
        return max(self._silent_at, self.polled()) if self._is_waiting else self._silent_at

    def polled(self) -> float:
        """See :meth:`devices.loop_watch.LoopWatch.polled`."""
        return self._watch.polled()

    def close(self) -> None:
        """End all connections and the thread, and release the port."""
        with suppress(RuntimeError):  # the loop is closed: the thread has ended by itself
            self._loop.call_soon_threadsafe(self._accepting.cancel)
        self._thread.join()

    def _run(self) -> None:
        reason = "the listener was closed"
        try:
            self._loop.run_until_complete(self._accepting)
        except asyncio.CancelledError:
            pass
        except Exception as error:  # a bug: the links are opened again
            reason = f"{type(error).__name__}: {error}"
        finally:
            self._socket.close()
            self._loop.close()
        for receiver in list(self.receivers.values()):
            receiver.fail(LinkFailedError(f"{self.name}: {reason}"))

    async def _accept(self) -> None:
        room = asyncio.Semaphore(MAX_CONNECTIONS)
        connections = set[_Connection]()
        attaching = set[asyncio.Task[object]]()
        self._watch.begin(POLL_INTERVAL_SECONDS, _ignore)
        try:
            while True:
                await room.acquire()
                accepted, peer = await self._next()
                address = peer[0]
                if self._open[address] >= MAX_CONNECTIONS_PER_ADDRESS:
                    accepted.close()
                    room.release()
                else:
                    self._open[address] += 1

                    def on_closed(closed: _Connection, address: str = address) -> None:
                        self._open[address] -= 1
                        if not self._open[address]:
                            del self._open[address]
                        connections.discard(closed)
                        room.release()

                    connection = _Connection(self, address, self._silent_at, on_closed)
                    connections.add(connection)
                    attaching.add(self._attach(connection, accepted, attaching.discard))
                self._look_for_connections()
                await clock.sleep(ACCEPT_INTERVAL_SECONDS)
        finally:
            self._watch.end(POLL_INTERVAL_SECONDS, _ignore)
            for task in attaching:
                task.cancel()
            await asyncio.gather(*attaching, return_exceptions=True)
            for connection in list(connections):
                connection.abort()
            for _ in range(CLOSING_TURNS):
                await clock.sleep(0)

    async def _next(self) -> tuple[socket.socket, tuple[str, int]]:
        while True:
            if self._look_for_connections():
                await self._connection_waits()
            try:
                return await self._loop.sock_accept(self._socket)
            except OSError:  # the peer has gone, or no descriptor is free
                await clock.sleep(ACCEPT_INTERVAL_SECONDS)

    async def _connection_waits(self) -> None:
        waits = asyncio.Event()

        def on_readable() -> None:
            # now, since the event loop may poll once more before the task runs
            self._silent_at, self._is_waiting = self.silent_at, False
            self._loop.remove_reader(self._socket)
            waits.set()

        self._is_waiting = True
        self._loop.add_reader(self._socket, on_readable)
        try:
            await waits.wait()
        finally:
            self._is_waiting = False
            self._loop.remove_reader(self._socket)

    def _look_for_connections(self) -> bool:
        """Note the time if no connection waits, and return whether that is so."""
        before = running_seconds()
        if self._pending.poll(0):
            return False
        self._silent_at = before
        return True

    def _attach(
        self,
        connection: _Connection,
        accepted: socket.socket,
        discard: Callable[[asyncio.Task[object]], None],
    ) -> asyncio.Task[object]:
        """Attach a connection; its TLS handshake does not delay the next connections."""

        async def attach() -> object:
            return await self._loop.connect_accepted_socket(
                lambda: connection,
                accepted,
                ssl=self._tls,
                ssl_handshake_timeout=None if self._tls is None else REQUEST_TIMEOUT_SECONDS,
            )

        def on_attached(done: asyncio.Task[object]) -> None:
            discard(done)
            if done.cancelled() or done.exception() is not None:
                connection.abort()
                accepted.close()

        task = self._loop.create_task(attach())
        task.add_done_callback(on_attached)
        return task

    def on_refused(self, address: str, reply: PostReply) -> None:
        """Log refused requests, at most one line a minute."""
        self._refused += 1
        now = clock.monotonic()
        if now - self._logged < LOG_INTERVAL_SECONDS:
            return
        structlog.get_logger().warning(
            "requests of devices refused",
            listens=self.name,
            count=self._refused,
            latest=address,
            status=reply.status.value,
            reason=reply.text,
        )
        self._logged, self._refused = now, 0


class _Connection(asyncio.Protocol):
    """One connection, which has one request. Whatever follows it is dropped."""

    def __init__(
        self,
        listener: PostListener,
        address: str,
        silent_at: float,
        on_closed: Callable[[_Connection], None],
    ) -> None:
        self._listener = listener
        self._address = address
        self._silent_at = silent_at
        self._read_since = inf
        self._on_closed: Callable[[_Connection], None] | None = on_closed
        self._parser = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD_BYTES)
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._receiver: PostReceiver | None = None
        self._names: dict[str, str] = {}
        self._body = b""
        self._is_complete = False
        self._is_answered = False
        self._is_head = False
        self._accepted: asyncio.Future[PostReply] | None = None

    def abort(self) -> None:
        """End the connection at once, also one whose handshake is not over."""
        if self._transport is not None:
            self._transport.abort()
        else:
            self._closed()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the deadline of the request."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._read_since = running_seconds()
        self._timer = asyncio.get_running_loop().call_later(
            REQUEST_TIMEOUT_SECONDS, self._on_expired
        )

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - any end is one
        """Release what the connection holds; a message that waits is withdrawn."""
        if self._timer is not None:
            self._timer.cancel()
        if self._accepted is not None:
            self._accepted.cancel()
        self._closed()

    def data_received(self, data: bytes) -> None:
        """Handle a part of a request."""
        if self._is_complete or self._is_answered:
            return
        polled = self._listener.polled()
        if polled > self._read_since:
            self._silent_at = polled
        try:
            self._parser.receive_data(data)
            while not (self._is_complete or self._is_answered):
                event = self._parser.next_event()
                if isinstance(event, h11.Request):
                    self._on_head(event)
                elif isinstance(event, h11.Data):
                    self._on_data(bytes(event.data))
                elif isinstance(event, h11.EndOfMessage):
                    self._on_end()
                else:
                    return
        except h11.RemoteProtocolError as error:
            status = error.error_status_hint
            known = status if status in (413, 414, 431, 501, 505) else HTTPStatus.BAD_REQUEST
            self._refuse(HTTPStatus(known), "the request is not valid HTTP")

    def eof_received(self) -> bool:
        """Close a connection whose sender ends it before the request is complete."""
        over_tls = self._transport and self._transport.get_extra_info("sslcontext") is not None
        return self._is_complete and not over_tls  # the answer may still be read

    def _on_head(self, head: h11.Request) -> None:
        listener = self._listener
        self._is_head = head.method == b"HEAD"
        receiver = listener.receivers.get(head.target.partition(b"?")[0].decode("latin-1"))
        names = [name.decode("latin-1") for name, _ in head.headers]
        self._names = {
            name: value.decode("latin-1")
            for name, (_, value) in zip(names, head.headers, strict=True)
        }
        if receiver is None:
            self._refuse(HTTPStatus.NOT_FOUND, "no device posts to this path")
        elif head.method != b"POST":
            self._refuse(HTTPStatus.METHOD_NOT_ALLOWED, "write POST")
        elif names.count("authorization") != 1:
            self._refuse(HTTPStatus.UNAUTHORIZED, "write the header Authorization: Bearer TOKEN")
        elif (why := _token_flaw(self._names["authorization"], receiver)) is not None:
            self._refuse(*why)
        elif _stated_length(self._names) > MAX_BODY_BYTES:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _TOO_LONG)
        else:
            self._receiver = receiver
            if self._parser.they_are_waiting_for_100_continue:
                self._send(h11.InformationalResponse(status_code=100, headers=[]))

    def _on_data(self, data: bytes) -> None:
        self._body += data
        if len(self._body) > MAX_BODY_BYTES:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _TOO_LONG)

    def _on_end(self) -> None:
        assert self._receiver is not None
        self._is_complete = True
        self._restart_timer(TAKEN_TIMEOUT_SECONDS + LINGER_SECONDS, self.abort)
        post = ReceivedPost(names=self._names, body=self._body, silent_at=self._silent_at)
        self._accepted = self._receiver.accept(post)
        self._accepted.add_done_callback(self._on_reply)

    def _on_reply(self, done: asyncio.Future[PostReply]) -> None:
        if not done.cancelled():
            reply = done.result()
            if reply.status != HTTPStatus.OK:
                self._listener.on_refused(self._address, reply)
            self._answer(reply)

    def _on_expired(self) -> None:
        self._refuse(HTTPStatus.REQUEST_TIMEOUT, "the request was not complete in time")

    def _refuse(self, status: HTTPStatus, text: str) -> None:
        reply = PostReply(status, text)
        self._listener.on_refused(self._address, reply)
        self._answer(reply)

    def _answer(self, reply: PostReply) -> None:
        if self._transport is None or self._transport.is_closing() or self._is_answered:
            return
        self._is_answered = True
        body = f"{reply.text}\n".encode()
        headers = [
            ("Content-Type", "text/plain; charset=utf-8"),
            ("Content-Length", str(len(body))),
            ("Connection", "close"),
            *_STATUS_HEADERS.get(reply.status, ()),
        ]
        with suppress(h11.LocalProtocolError):
            phrase = reply.status.phrase
            self._send(h11.Response(status_code=reply.status.value, headers=headers, reason=phrase))
            if not self._is_head:
                self._send(h11.Data(data=body))
        if self._is_complete:
            self._transport.close()
        self._restart_timer(LINGER_SECONDS, self.abort if self._is_complete else self._close)

    def _close(self) -> None:
        if self._transport is not None:
            self._transport.close()
        self._restart_timer(LINGER_SECONDS, self.abort)  # a sender that reads nothing

    def _send(self, event: h11.Event) -> None:
        assert self._transport is not None
        self._transport.write(self._parser.send(event) or b"")

    def _restart_timer(self, seconds: float, end: Callable[[], None]) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(seconds, end)

    def _closed(self) -> None:
        on_closed, self._on_closed = self._on_closed, None
        if on_closed is not None:
            on_closed(self)


def _ignore(_: float) -> None:
    """Do nothing after a suspension of the machine: the table ends its links."""


_TOO_LONG = f"the message has more than {MAX_BODY_BYTES} bytes"
_STATUS_HEADERS = {
    HTTPStatus.METHOD_NOT_ALLOWED: (("Allow", "POST"),),
    HTTPStatus.UNAUTHORIZED: (("WWW-Authenticate", 'Bearer, Basic realm="novamas"'),),
    HTTPStatus.TOO_MANY_REQUESTS: (("Retry-After", "1"),),
    HTTPStatus.SERVICE_UNAVAILABLE: (("Retry-After", "1"),),
}


def _token_flaw(authorization: str, receiver: PostReceiver) -> tuple[HTTPStatus, str] | None:
    """Return why a request may not post, or None. A program that can send only a user name and a
    password sends the token as the password.
    """
    kind, _, rest = authorization.partition(" ")
    token = rest.strip()
    if kind.lower() == "basic":
        try:
            token = base64.b64decode(token, validate=True).decode("utf-8").partition(":")[2]
        except (binascii.Error, UnicodeError):
            token = ""
    elif kind.lower() != "bearer":
        token = ""
    try:
        known = receiver.tokens()
    except LinkFailedError:
        return HTTPStatus.SERVICE_UNAVAILABLE, "the file with the token cannot be used"
    matches = [hmac.compare_digest(token.encode(), each.encode()) for each in known]
    return None if any(matches) else (HTTPStatus.UNAUTHORIZED, "the token is wrong")


def _stated_length(names: Mapping[str, str]) -> int:
    stated = names.get("content-length", "0")
    return int(stated) if stated.isascii() and stated.isdecimal() else 0


def _listening_socket(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        made = socket.create_server((host, port), family=family, backlog=MAX_BACKLOG)
    except OSError as error:
        raise LinkFailedError(f"{host}:{port}: cannot listen: {error.strerror or error}") from error
    made.setblocking(False)
    return made


def _tls_context(certificate: tuple[str, str] | None) -> ssl.SSLContext | None:
    if certificate is None:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(*certificate)
    except (OSError, ssl.SSLError) as error:
        raise LinkFailedError(
            f"{certificate[0]}, {certificate[1]}: cannot be used: {error.strerror or error}"
        ) from error
    return context
