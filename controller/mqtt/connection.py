"""One connection to a broker: credentials, TLS, and an acknowledgement for each message.

Only this module uses aiomqtt. Each connection object is used once: on reuse the library would queue
and repeat messages itself, and the journal must be the only queue.
"""

from __future__ import annotations

import asyncio
import math
import os
import socket
import ssl
import threading
from collections.abc import Awaitable, Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import aiomqtt
import msgspec
from paho.mqtt.client import (
    MQTT_CLEAN_START_FIRST_ONLY,
    MQTT_ERR_SUCCESS,
    ConnectFlags,
    MQTTMessage,
)
from paho.mqtt.client import Client as PahoClient
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode
from paho.mqtt.subscribeoptions import SubscribeOptions

from controller.configuration.settings import Broker
from devices.errors import NovamasError
from devices.links.bounded_client import LARGEST_PACKET, BoundedClient

SUBSCRIBED = 8
"""The most topics in one SUBSCRIBE packet; some brokers accept no more."""

_Answer = TypeVar("_Answer")
Disconnected = aiomqtt.MqttError
"""The broker is gone, refuses us, or does not answer."""

_REFUSALS = frozenset(
    {0x86, 0x87, 0x8A, 0x8C}
)  # bad user name or password, not authorized, banned, bad method (MQTT 5, 3.2.2.2)
LONGEST_PASSWORD = 65_535  # bytes (MQTT 5, 3.1.3.6)
_WRONG_PROTOCOL = 0x84
_TAKEN_OVER = 0x8E


class BrokerUnusableError(NovamasError):
    """A file that the connection needs cannot be read; the message names it."""


class Message(msgspec.Struct, frozen=True):
    """A message to publish, always with QoS 1."""

    topic: str
    payload: bytes
    retain: bool = False
    answers: bytes | None = None
    """The correlation data of the request that this message answers (MQTT 5)."""


class Incoming(msgspec.Struct, frozen=True):
    """A message that we received. Only MQTT 5 has ``response_topic`` and ``correlation``."""

    topic: str
    payload: bytes
    retain: bool
    response_topic: str | None = None
    correlation: bytes | None = None


def password(broker: Broker) -> str | None:
    """The password, read anew for each connection so that it can change while the daemon runs.

    Raises :class:`BrokerUnusableError` if it cannot be read.
    """
    if broker.password_file is not None:
        path = Path(broker.password_file)
    elif broker.password_credential is not None:
        directory = os.environ.get("CREDENTIALS_DIRECTORY")
        if directory is None:
            raise BrokerUnusableError(
                f"broker.password_credential {broker.password_credential!r}: no LoadCredential= "
                "in the unit"
            )
        path = Path(directory, broker.password_credential)
    else:
        return None
    try:
        text = path.read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BrokerUnusableError(
            f"the broker's password cannot be read from {path}: {_reason(error)}"
        ) from None
    if len(text.encode()) > LONGEST_PASSWORD:
        raise BrokerUnusableError(
            f"the broker's password in {path} is longer than MQTT allows: is it the right file?"
        )
    return text


def tls(broker: Broker) -> ssl.SSLContext | None:
    """The TLS context for ``mqtts://``; None for ``mqtt://``.

    Raises :class:`BrokerUnusableError` if a certificate or key cannot be read.
    """
    if urlsplit(broker.url).scheme != "mqtts":
        return None
    try:
        context = ssl.create_default_context(cafile=broker.ca_file)
    except (OSError, ValueError) as error:
        raise BrokerUnusableError(f"broker.ca_file {broker.ca_file}: {_reason(error)}") from None
    if broker.cert_file is not None:
        try:
            context.load_cert_chain(broker.cert_file, broker.key_file)
        except (OSError, ValueError) as error:
            raise BrokerUnusableError(
                f"broker.cert_file {broker.cert_file}, key_file {broker.key_file}: {_reason(error)}"
            ) from None
    return context


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def refuses_us(error: Exception) -> bool:
    """Whether a person must change something before another attempt can succeed."""
    return isinstance(error, BrokerUnusableError) or _code(error) in _REFUSALS or taken_over(error)


def taken_over(error: Exception) -> bool:
    """Whether the broker disconnected us because another client connected with our client id
    (MQTT 5, 3.14.2.1).
    """
    return _code(error) == _TAKEN_OVER


def told(error: Exception, broker: Broker) -> str:
    """A description of the error for a person. It names the user but never the password."""
    if _code(error) in _REFUSALS:
        return (
            f"{error}: the broker does not accept "
            f"{f'user {broker.username!r}' if broker.username else 'us without a user name'}"
        )
    if taken_over(error):
        return f"{error}: another client has our client id"
    if _code(error) == _WRONG_PROTOCOL:
        return f"{error}: set broker.protocol to 3.1.1"
    return str(error) or type(error).__name__


def _code(error: Exception) -> int | None:
    rc = getattr(error, "rc", None)
    return rc.value if isinstance(rc, ReasonCode) else None


@lru_cache(maxsize=8)
def _json(**more: bytes) -> Properties:
    """The PUBLISH properties of a JSON body."""
    properties = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call] # paho's constructor has no annotations
    properties.PayloadFormatIndicator = 1
    properties.ContentType = "application/json"
    for name, value in more.items():
        setattr(properties, name, value)
    return properties


def _limits() -> Properties:
    """The CONNECT properties that tell the broker our limits."""
    properties = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call] # paho's constructor has no annotations
    properties.MaximumPacketSize = LARGEST_PACKET
    return properties


class Connection(aiomqtt.Client):
    """A connection to use with ``async with``. Raises :data:`Disconnected` or
    :class:`BrokerUnusableError` if it cannot be made.

    ``thrown_away`` is called for each incoming message that is malformed or for which there is no
    room.
    """

    def __init__(
        self,
        broker: Broker,
        *,
        client_id: str,
        will: Message,
        thrown_away: Callable[[], None] = lambda: None,
    ) -> None:
        address = urlsplit(broker.url)
        context = tls(broker)
        self.v5 = broker.protocol == "5" and address.scheme != "embedded"
        self.largest: int | None = None
        """The largest packet that the broker accepts, in bytes (MQTT 5); None if it does not say.
        """
        self._thread = threading.get_ident()
        self._verdicts: dict[int, asyncio.Future[str | None]] = {}
        super().__init__(
            hostname=address.hostname or "127.0.0.1",
            port=address.port or (1883 if context is None else 8883),
            username=broker.username,
            password=password(broker),
            identifier=client_id,
            protocol=aiomqtt.ProtocolVersion.V5 if self.v5 else aiomqtt.ProtocolVersion.V311,
            clean_session=None if self.v5 else True,
            clean_start=True if self.v5 else MQTT_CLEAN_START_FIRST_ONLY,
            will=aiomqtt.Will(will.topic, will.payload, qos=1, retain=will.retain),
            properties=_limits() if self.v5 else None,
            keepalive=broker.keepalive,
            timeout=float(broker.keepalive),
            max_queued_incoming_messages=1000,
            tls_context=context,
            socket_options=[(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)],
        )
        self._disconnected.add_done_callback(self._give_up)
        self._thrown_away = thrown_away
        self._client.__class__ = (
            BoundedClient  # the library creates its own client and offers no way to pass one
        )
        vars(self._client)["thrown_away"] = thrown_away

    async def listen(self, topics: Sequence[str], *, retained: bool = True) -> list[str]:
        """Subscribe, and return the topics that the broker refuses.

        With MQTT 5, messages keep their retain flag, our own messages do not come back, and without
        ``retained`` the broker does not send the messages that it already holds.
        """
        options = SubscribeOptions(
            qos=1, noLocal=True, retainAsPublished=True, retainHandling=0 if retained else 2
        )
        refused: list[str] = []
        for first in range(0, len(topics), SUBSCRIBED):
            some = topics[first : first + SUBSCRIBED]
            codes = await self.subscribe(
                [(topic, options) for topic in some] if self.v5 else [(topic, 1) for topic in some]
            )
            told = [code.value if isinstance(code, ReasonCode) else code for code in codes]
            refused += [topic for topic, code in zip(some, told, strict=False) if code >= 0x80]
        return refused

    async def deliver(self, messages: list[Message]) -> list[str | None]:
        """Publish in order and wait for every acknowledgement. Returns None for each accepted
        message, or why it was refused. Raises :data:`Disconnected`.
        """
        answers = [self._post(message) for message in messages]
        self._write()  # now: the library would wait for three turns of the event loop
        try:
            async with asyncio.timeout(self.timeout):
                return await asyncio.gather(*answers)
        except TimeoutError:
            raise Disconnected(f"no acknowledgement within {self.timeout:g} s") from None

    def _post(self, message: Message) -> asyncio.Future[str | None]:
        answer: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        size = len(message.payload) + len(message.topic.encode()) + len(message.answers or b"") + 64
        if self.largest is not None and size > self.largest:
            answer.set_result(f"larger than the {self.largest} bytes that the broker takes")
            return answer
        try:
            info = self._client.publish(
                message.topic, message.payload, 1, message.retain, self._properties_of(message)
            )
        except ValueError as error:  # no topic, or too long: nothing was sent
            answer.set_result(f"no MQTT message: {error}")
            return answer
        if info.rc != MQTT_ERR_SUCCESS:
            raise aiomqtt.MqttCodeError(info.rc, "could not publish")
        self._verdicts[info.mid] = answer
        return answer

    def _properties_of(self, message: Message) -> Properties | None:
        if not self.v5 or not message.payload:
            return None
        return _json() if message.answers is None else _json(CorrelationData=message.answers)

    def _on_connect(
        self,
        client: PahoClient,
        userdata: Any,
        flags: ConnectFlags,
        reason_code: ReasonCode,
        properties: Properties | None = None,
    ) -> None:
        self.largest = getattr(properties, "MaximumPacketSize", None)
        super()._on_connect(client, userdata, flags, reason_code, properties)

    def _on_message(self, client: PahoClient, userdata: Any, message: MQTTMessage) -> None:
        if self._queue.full():
            self._thrown_away()
        else:
            super()._on_message(client, userdata, message)

    def _on_publish(
        self,
        client: PahoClient,
        userdata: Any,
        mid: int,
        reason_code: ReasonCode,
        properties: Properties,
    ) -> None:
        # "No matching subscribers" is below 0x80 and so a success: no subscriber is not our error.
        answer = self._verdicts.pop(mid, None)
        if answer is not None and not answer.done():
            answer.set_result(str(reason_code) if reason_code.is_failure else None)
        super()._on_publish(client, userdata, mid, reason_code, properties)

    def _give_up(self, disconnected: asyncio.Future[None]) -> None:
        """Fail all messages awaiting acknowledgement, because the connection is lost."""
        reason = None if disconnected.cancelled() else disconnected.exception()
        for answer in self._verdicts.values():
            if not answer.done():
                answer.set_exception(Disconnected(str(reason or "disconnected")))
        self._verdicts.clear()

    def _on_socket_register_write(self, client: PahoClient, userdata: Any, sock: Any) -> None:
        # The library always uses call_soon_threadsafe, which runs too late if the socket was
        # written or closed meanwhile: it would watch a closed descriptor, or one that is always
        # ready.
        if threading.get_ident() == self._thread:
            self._loop.add_writer(sock.fileno(), self._write)
        else:
            super()._on_socket_register_write(client, userdata, sock)

    def _write(self) -> None:
        try:
            self._client.loop_write()
        except Exception as error:  # as in the library: after any error the connection is unusable
            if not self._disconnected.done():
                self._disconnected.set_exception(error)

    def why(self, error: Exception) -> Exception:
        """The broker's reason for ending the connection; ``error`` if it gave none."""
        ended = self._disconnected
        reason = (ended.exception() if ended.done() and not ended.cancelled() else None) or error
        return (
            reason
            if isinstance(reason, Disconnected)
            else Disconnected(f"{type(reason).__name__}: {reason}")
        )

    def abandon(self) -> None:
        """Close the socket without DISCONNECT, so that the broker publishes our last will.

        The library would send DISCONNECT on an established connection, which cancels the will, and
        would leave the socket of an unestablished one open.
        """
        if self._misc_task is not None:
            self._misc_task.cancel()
        open_socket = self._client.socket()
        if open_socket is not None:
            self._loop.remove_reader(open_socket)
            self._loop.remove_writer(open_socket)
            open_socket.close()
        if not self._disconnected.done():
            self._disconnected.set_result(None)

    async def _wait_for(self, fut: Awaitable[_Answer], timeout: float | None) -> _Answer:  # noqa: ASYNC109 - the library's own signature
        # As in the library, but without asyncio.wait_for: in Python 3.11 it loses a cancellation
        # that arrives together with the result.
        seconds = self.timeout if timeout is None else timeout
        try:
            async with asyncio.timeout(None if seconds == math.inf else seconds):
                return await fut
        except TimeoutError:
            raise Disconnected("Operation timed out") from None
