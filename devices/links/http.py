"""``http://host:port/path?secret_file=PATH``: a device that posts messages in JSON to the daemon,
which listens at that address; ``https://`` with a certificate.

Each message is read as a line, as those of ``mqtt://`` are: the word ``post``, 1 if it may be old
or 0, and the text with bytes outside printable ASCII as backslash escapes.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import threading
from collections import OrderedDict, deque
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from http import HTTPStatus
from typing import Any

import msgspec

from common import clock
from common.readings import escape
from devices.codec import MAX_LIVE_DELAY_SECONDS
from devices.links.descriptor import DescriptorLink
from devices.links.http_listener import (
    TAKEN_TIMEOUT_SECONDS,
    PostListener,
    PostReceiver,
    PostReply,
    ReceivedPost,
)
from devices.links.link import (
    Address,
    LinkFailedError,
    WriteTimedOutError,
    parse_options,
)
from devices.links.tokens import read_tokens
from devices.profiles.json_messages import JsonMessage, read_message

POST_TOPIC = "post"
"""First word of each line."""
MAX_WAITING_POSTS = 16
"""Maximum number of messages that wait for the reader."""
MAX_POSTS_PER_SECOND = 10.0
MAX_POSTS_AT_ONCE = 20
MAX_REMEMBERED_POSTS = 64
REPEAT_SECONDS = 600.0
"""Time in which a message without an answer counts as sent again, if it comes once more."""
TIME_HEADERS = ("webhook-timestamp", "date")
ID_HEADERS = ("webhook-id", "idempotency-key")
_PATH = re.compile(r"/[A-Za-z0-9._~/-]{1,200}")
_TIME_PATH = re.compile(r"\$(\.[^.\s]+){1,15}")


class HttpSettings(msgspec.Struct, frozen=True):
    """Options of an address. ``secret_file``: the token of the device; ``cert_file``, ``key_file``:
    for ``https``; ``time``: path of the message's own time.
    """

    secret_file: str = ""
    cert_file: str = ""
    key_file: str = ""
    time: str = ""


def check(address: Address) -> None:
    """Raise ``ValueError`` if the address is invalid."""
    scheme = address.scheme
    if not address.host or not address.port:
        raise ValueError(
            f"give the address at which the daemon listens, as in {scheme}://192.0.2.5:8900/camera"
        )
    if not _PATH.fullmatch(address.path):
        raise ValueError(
            "give a path of letters, digits and . _ ~ - to which the device posts, as in "
            f"{scheme}://192.0.2.5:8900/camera"
        )
    settings = parse_options(address, HttpSettings)
    if not settings.secret_file.startswith("/"):
        raise ValueError("secret_file=/PATH is required: the file with the token that it sends")
    if scheme == "https" and not (settings.cert_file and settings.key_file):
        raise ValueError("https needs cert_file and key_file")
    if scheme == "http" and (settings.cert_file or settings.key_file):
        raise ValueError("cert_file and key_file are for https://")
    if settings.time and not _TIME_PATH.fullmatch(settings.time):
        raise ValueError(f"time={settings.time}: write the path of a value, as $.arg.time")


def connect(address: Address) -> HttpLink:
    """Listen for the device. Raises :class:`LinkFailedError`."""
    return HttpLink(address, parse_options(address, HttpSettings))


class _WaitingPost(msgspec.Struct, frozen=True):
    """A message, and the answer to its request once the reader has it. ``silent_at``: see
    :class:`ReceivedPost`.
    """

    line: bytes
    silent_at: float
    reply: asyncio.Future[PostReply]


class HttpLink(DescriptorLink):
    """The messages of one device. The listener's thread queues them; :meth:`read_ready` takes them
    out, which answers their requests.
    """

    def __init__(self, address: Address, settings: HttpSettings) -> None:
        assert address.port is not None
        read_tokens(settings.secret_file)  # a mistake is known before the first request
        super().__init__(os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC | os.EFD_SEMAPHORE))
        self._path = address.path
        self._settings = settings
        self._name = f"{address.host}:{address.port}"
        self._lock = threading.Lock()
        self._waiting = deque[_WaitingPost]()
        self._is_closed = False
        self._failure: LinkFailedError | None = None
        # of the listener's event loop
        self._allowance, self._allowed_at = float(MAX_POSTS_AT_ONCE), clock.monotonic()
        self._known_ids = OrderedDict[str, None]()
        self._unanswered = OrderedDict[bytes, float]()
        receiver = PostReceiver(
            partial(read_tokens, settings.secret_file), self._accept, self._on_listener_ended
        )
        certificate = (settings.cert_file, settings.key_file) if settings.cert_file else None
        try:
            self._listener = _join(address.host, address.port, certificate, self._path, receiver)
        except LinkFailedError:
            os.close(self._fd)
            raise

    def read(self, timeout: float) -> bytes:
        """See :class:`devices.links.descriptor.DescriptorLink`."""
        self.silent_at = self._listener.silent_at  # before there is found to be no message
        return super().read(timeout)

    def read_ready(self) -> bytes:
        """Return the next message, which is answered now. Raises :class:`LinkFailedError`."""
        self.silent_at = self._listener.silent_at  # before there is found to be no message
        try:
            os.eventfd_read(self._fd)
        except BlockingIOError:
            return b""
        with self._lock:
            post = self._waiting.popleft() if self._waiting else None
            self.drained = not self._waiting
            failure = self._failure
        if post is not None:
            post.reply.get_loop().call_soon_threadsafe(_answer, post.reply, _TAKEN)
            self.silent_at = post.silent_at
            return post.line
        if failure is not None:
            raise failure
        return b""  # a message that was withdrawn

    def send(self, data: bytes) -> int:  # noqa: ARG002 - nothing can be sent
        """Refuse: a device that posts cannot receive anything."""
        raise self.timed_out()

    def close(self) -> None:
        """Stop listening for this device."""
        with self._lock:
            self._is_closed = True  # the listener's thread uses the descriptor no more
        _leave(self._listener, self._path)
        os.close(self._fd)

    def describe(self) -> dict[str, str]:
        """See :class:`devices.links.link.Link`."""
        return {"listens": f"{self._name}{self._path}"}

    def timed_out(self) -> LinkFailedError:
        """See :class:`devices.links.descriptor.DescriptorLink`."""
        return WriteTimedOutError(f"{self._name}: a device that posts cannot receive anything")

    def unreadable(self, error: OSError | None) -> LinkFailedError:
        """See :class:`devices.links.descriptor.DescriptorLink`."""
        return LinkFailedError(f"{self._name}: cannot be read: {error}")

    def unwritable(self, error: OSError) -> LinkFailedError:  # noqa: ARG002 - nothing is written
        """See :class:`devices.links.descriptor.DescriptorLink`."""
        return self.timed_out()

    # called in the listener's thread

    def _on_listener_ended(self, failure: LinkFailedError) -> None:
        with self._lock:
            self._failure = failure
            if not self._is_closed:
                os.eventfd_write(self._fd, 1)

    def _accept(self, post: ReceivedPost) -> asyncio.Future[PostReply]:
        """Queue a message; the future gets the answer. If it is cancelled, the sender has gone."""
        loop = asyncio.get_running_loop()
        reply: asyncio.Future[PostReply] = loop.create_future()
        id_ = next((post.names[name] for name in ID_HEADERS if name in post.names), None)
        digest = hashlib.sha256(post.body).digest()
        message = read_message(f"{POST_TOPIC} 0 {escape(post.body)}".encode("ascii"))
        if message is None:
            reply.set_result(PostReply(HTTPStatus.BAD_REQUEST, "the message is not JSON"))
        elif id_ is not None and id_ in self._known_ids:
            reply.set_result(_TAKEN)  # sent again after a lost answer
        elif not self._is_within_rate():
            reply.set_result(_TOO_MANY)
        else:
            old = self._was_unanswered(digest) or self._is_old(post, message)
            line = f"{POST_TOPIC} {int(old)} {escape(post.body)}\n".encode("ascii")
            self._queue(_WaitingPost(line, post.silent_at, reply))
            reply.add_done_callback(partial(self._on_answered, id_, digest))
        return reply

    def _queue(self, post: _WaitingPost) -> None:
        with self._lock:
            if self._is_closed or len(self._waiting) >= MAX_WAITING_POSTS:
                post.reply.set_result(_NOT_TAKEN)
                return
            self._waiting.append(post)
            os.eventfd_write(self._fd, 1)
        timer = post.reply.get_loop().call_later(TAKEN_TIMEOUT_SECONDS, self._withdraw, post)
        post.reply.add_done_callback(lambda _: timer.cancel())

    def _withdraw(self, post: _WaitingPost) -> None:
        """Take a message back that the reader did not take in time."""
        with self._lock:
            is_waiting = post in self._waiting
            if is_waiting:
                self._waiting.remove(post)
        if is_waiting:
            _answer(post.reply, _NOT_TAKEN)

    def _on_answered(
        self, id_: str | None, digest: bytes, reply: asyncio.Future[PostReply]
    ) -> None:
        """Remember what was taken by its id, and what had no good answer by its text."""
        if reply.cancelled():  # the sender has gone: what it asked may or may not be taken
            with self._lock:
                self._waiting = deque(post for post in self._waiting if post.reply is not reply)
        if reply.cancelled() or reply.result() is not _TAKEN:
            self._unanswered[digest] = clock.monotonic()
            if len(self._unanswered) > MAX_REMEMBERED_POSTS:
                self._unanswered.popitem(last=False)
        elif id_ is not None:
            self._known_ids[id_] = None
            if len(self._known_ids) > MAX_REMEMBERED_POSTS:
                self._known_ids.popitem(last=False)

    def _was_unanswered(self, digest: bytes) -> bool:
        """Whether the same text came before without an answer: its sender sends it again, and it is
        as old as the first one.
        """
        before = self._unanswered.get(digest)
        return before is not None and clock.monotonic() - before < REPEAT_SECONDS

    def _is_within_rate(self) -> bool:
        now = clock.monotonic()
        self._allowance += (now - self._allowed_at) * MAX_POSTS_PER_SECOND
        self._allowance, self._allowed_at = min(self._allowance, MAX_POSTS_AT_ONCE), now
        if self._allowance < 1:
            return False
        self._allowance -= 1
        return True

    def _is_old(self, post: ReceivedPost, message: JsonMessage) -> bool:
        """Whether the time that a request or its message states is not the present."""
        stated: list[Any] = [post.names[name] for name in TIME_HEADERS if name in post.names]
        if self._settings.time:
            stated.append(message.values.get(self._settings.time))
        now = clock.wall()
        times = [seconds_since_1970(value) for value in stated]
        return any(at is None or abs(now - at) > MAX_LIVE_DELAY_SECONDS for at in times)


def seconds_since_1970(value: Any) -> float | None:
    """Read a time: seconds, milliseconds or microseconds since 1970, ISO 8601 with its zone, or a
    date of HTTP. Return None for anything else.
    """
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    text = str(value).strip()
    if re.fullmatch(r"[0-9]{1,18}(\.[0-9]{1,9})?", text):
        number = float(text)
        for unit in (1.0, 1e3, 1e6):
            if number / unit < 1e11:
                return number / unit
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        try:
            at = parsedate_to_datetime(text)
        except (ValueError, TypeError, IndexError, OverflowError):
            return None
    try:
        return None if at.tzinfo is None else at.astimezone(UTC).timestamp()
    except (ValueError, OverflowError):
        return None


_TAKEN = PostReply(HTTPStatus.OK, "taken")
_NOT_TAKEN = PostReply(HTTPStatus.SERVICE_UNAVAILABLE, "the table does not read its devices now")
_TOO_MANY = PostReply(
    HTTPStatus.TOO_MANY_REQUESTS, f"more than {MAX_POSTS_PER_SECOND:.0f} messages a second"
)
_listeners: dict[tuple[str, int], PostListener] = {}
_listeners_lock = threading.Lock()


def _answer(future: asyncio.Future[PostReply], reply: PostReply) -> None:
    if not future.done():
        future.set_result(reply)


def _join(
    host: str,
    port: int,
    certificate: tuple[str, str] | None,
    path: str,
    receiver: PostReceiver,
) -> PostListener:
    """Let a path be received at an address, which links share."""
    with _listeners_lock:
        listener = _listeners.get((host, port))
        if listener is not None and listener.certificate != certificate:
            raise LinkFailedError(f"{listener.name}: another device has other settings of TLS here")
        if listener is not None and path in listener.receivers:
            raise LinkFailedError(f"{listener.name}: another device posts to {path}")
        if listener is None:
            listener = _listeners[host, port] = PostListener(host, port, certificate)
        listener.receivers[path] = receiver
        return listener


def _leave(listener: PostListener, path: str) -> None:
    with _listeners_lock:
        listener.receivers.pop(path, None)
        if listener.receivers:
            return
        for key in [key for key, known in _listeners.items() if known is listener]:
            del _listeners[key]
        listener.close()
