"""``mqtt://host:port/base/topic``: a device that uses MQTT, through its own broker, below one
topic.

Each message is read as a line: the topic below the base, 1 if it was retained (so it is old) or 0,
and the payload with bytes outside printable ASCII as backslash escapes. Each written line is topic
and payload; it is published once, not retained.
"""

from __future__ import annotations

import queue
from collections.abc import Sequence
from contextlib import suppress
from math import inf
from pathlib import Path

import msgspec
import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion

from common.broker.library import SilenceAwareClient
from common.readings import escape, unescape
from devices.links.link import (
    CONNECT_TIMEOUT_SECONDS,
    WRITE_TIMEOUT_SECONDS,
    Address,
    Link,
    LinkFailedError,
    WriteTimedOutError,
    parse_options,
)
from devices.loop_watch import running_seconds

KEEPALIVE_SECONDS = 10
"""Seconds after which a silent broker is pinged."""
MAX_QUEUED_MESSAGES = 1000
"""Maximum number of messages that wait to be read."""
MAX_PAYLOAD_BYTES = 4096
"""Longest payload accepted, in bytes."""
MAX_BASE_CHARS = 1000
"""Longest base topic, in characters."""
MAX_TOPIC_BYTES = 256
"""Longest topic below the base that is accepted, in bytes."""
MAX_READ_BYTES = 65_536
"""Maximum size of the lines returned by one read, plus one line: a backlog must not delay other
devices.
"""
UNREADABLE_TOPIC = "?"
"""Stands for a topic that is too long or not valid text; no driver knows it."""


class MqttSettings(msgspec.Struct, frozen=True):
    """Options of an address. ``username`` and ``password_file``: the login at the broker; an
    address contains no password.
    """

    username: str = ""
    password_file: str = ""


def check(address: Address) -> None:
    """Raise ``ValueError`` if the address is invalid."""
    base = address.path.strip("/")
    if not address.host or not address.port:
        raise ValueError("give a host and a port, as in mqtt://192.0.2.7:1883/base/topic")
    if not base or any(mark in base for mark in "+#"):
        raise ValueError("give the topic below which the device publishes, without + and #")
    if "\0" in base or len(base) > MAX_BASE_CHARS:
        raise ValueError(f"the topic must contain no NUL and at most {MAX_BASE_CHARS} characters")
    settings = parse_options(address, MqttSettings)
    if settings.password_file and not settings.username:
        raise ValueError("password_file needs username")


def connect(address: Address) -> Link:
    """Connect and subscribe. Raises :class:`LinkFailedError`."""
    return MqttLink(address, parse_options(address, MqttSettings))


def line_of(base: str, topic: str, payload: bytes, *, retained: bool) -> bytes:
    """Return the line that a message below the base topic is read as."""
    below = topic.removeprefix(f"{base}/").encode()
    shown = escape(below) if len(below) <= MAX_TOPIC_BYTES else UNREADABLE_TOPIC
    return f"{shown} {int(retained)} {escape(payload[:MAX_PAYLOAD_BYTES])}\n".encode("ascii")


class MqttLink:
    """One connection. The library's thread queues messages; :meth:`read` takes them out."""

    def __init__(self, address: Address, settings: MqttSettings) -> None:
        self._name = f"{address.host}:{address.port}"
        self._base = address.path.strip("/")
        self._lines: queue.Queue[tuple[bytes | LinkFailedError, float]] = queue.Queue(
            MAX_QUEUED_MESSAGES
        )
        self.silent_at = -inf
        """See :class:`devices.links.link.SilenceAware`."""
        self._ready: queue.Queue[str] = queue.Queue()
        self._lost: LinkFailedError | None = None
        self._client = SilenceAwareClient(CallbackAPIVersion.VERSION2, reconnect_on_failure=False)
        self._client.now = running_seconds
        self._client.connect_timeout = CONNECT_TIMEOUT_SECONDS
        if settings.username:
            self._client.username_pw_set(settings.username, _read_password(settings.password_file))
        self._client.on_connect = self._connected
        self._client.on_subscribe = self._subscribed
        self._client.on_disconnect = self._disconnected
        self._client.on_message = self._message
        assert address.port is not None
        try:
            self._client.connect(address.host, address.port, KEEPALIVE_SECONDS)
        except OSError as error:
            raise LinkFailedError(
                f"{self._name}: cannot connect: {error.strerror or error}"
            ) from error
        self._client.loop_start()
        try:
            reason = self._ready.get(timeout=CONNECT_TIMEOUT_SECONDS)
        except queue.Empty:
            reason = "the broker does not answer"
        if reason:
            self.close()
            raise LinkFailedError(f"{self._name}: {reason}")

    @property
    def poll_seconds(self) -> float:
        """See :class:`devices.links.link.SilenceAware`."""
        return self._client.poll_seconds

    @poll_seconds.setter
    def poll_seconds(self, seconds: float) -> None:
        self._client.poll_seconds = seconds

    def read(self, timeout: float) -> bytes:
        """See :class:`devices.links.link.Link`."""
        if self._lost is not None:
            raise self._lost
        silent_at = self._client.silent_at  # before the queue is found empty
        try:
            item, self.silent_at = self._lines.get(timeout=timeout)
        except queue.Empty:
            self.silent_at = silent_at
            return b""
        received = [item]
        size = len(item) if isinstance(item, bytes) else 0
        with suppress(queue.Empty):
            while size < MAX_READ_BYTES:
                item, _ = self._lines.get_nowait()
                received.append(item)
                size += len(item) if isinstance(item, bytes) else 0
        self._lost = next((item for item in received if isinstance(item, LinkFailedError)), None)
        lines = b"".join(item for item in received if isinstance(item, bytes))
        if self._lost is not None and not lines:
            raise self._lost
        return lines

    def write(self, data: bytes) -> None:
        """Publish each line. See :class:`devices.links.link.Link`."""
        for line in data.decode("ascii").splitlines():
            topic, _, payload = line.partition(" ")
            sent = self._client.publish(f"{self._base}/{topic}", unescape(payload), qos=1)
            try:
                sent.wait_for_publish(WRITE_TIMEOUT_SECONDS)
            except (RuntimeError, ValueError) as error:
                raise LinkFailedError(f"{self._name}: cannot publish: {error}") from error
            if not sent.is_published():
                raise WriteTimedOutError(f"{self._name}: the broker accepts no messages")

    def close(self) -> None:
        """See :class:`devices.links.link.Link`."""
        with suppress(Exception):
            self._client.disconnect()
        self._client.loop_stop()
        # without a reference to this object the client is freed with it, and its sockets are closed
        # at once
        self._client.on_connect = self._client.on_subscribe = self._client.on_disconnect = (
            self._client.on_message
        ) = None

    def describe(self) -> dict[str, str]:
        """See :class:`devices.links.link.Link`."""
        return {"peer": self._name, "topic": self._base}

    # called in the library's thread

    def _connected(
        self, client: paho.Client, _data: object, _flags: object, reason: object, _more: object
    ) -> None:
        if getattr(reason, "is_failure", False):
            self._ready.put(f"the broker refused: {reason}")
            return
        client.subscribe(f"{self._base}/#", qos=1)

    def _subscribed(
        self, _client: object, _data: object, _mid: int, granted: Sequence[object], _more: object
    ) -> None:
        refused = next((reason for reason in granted if getattr(reason, "is_failure", False)), None)
        self._ready.put(
            f"the broker refused a subscription to {self._base}: {refused}" if refused else ""
        )

    def _disconnected(self, *_: object) -> None:
        self._put(LinkFailedError(f"{self._name}: the connection to the broker was lost"))

    def _message(self, _client: paho.Client, _data: object, message: paho.MQTTMessage) -> None:
        # an exception here would end the library's thread unnoticed
        try:
            topic = message.topic
        except UnicodeDecodeError:
            topic = f"{self._base}/{UNREADABLE_TOPIC}"
        self._put(line_of(self._base, topic, bytes(message.payload), retained=message.retain))

    def _put(self, item: bytes | LinkFailedError) -> None:
        # if the queue is full, end the link, so that it is reopened
        try:
            self._lines.put_nowait((item, self._client.silent_at))
        except queue.Full:
            self._lost = self._lost or LinkFailedError(
                f"{self._name}: more than {MAX_QUEUED_MESSAGES} messages were waiting"
            )


def _read_password(path: str) -> str | None:
    if not path:
        return None
    try:
        return Path(path).read_text(encoding="utf-8").rstrip("\n")
    except OSError as error:
        raise LinkFailedError(f"{path}: cannot be read: {error.strerror}") from error
