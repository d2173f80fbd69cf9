"""The MQTT libraries, aiomqtt and paho, where their public interfaces do not suffice. No other file
uses one of their private names; ``tests/common/broker/test_library.py`` says of each what a new
release broke.
"""

from __future__ import annotations

import asyncio
import math
import ssl
import threading
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any, Literal, TypeVar, cast

import aiomqtt
import paho.mqtt.client as paho
from paho.mqtt.enums import MQTTErrorCode
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from common import clock

_Awaited = TypeVar("_Awaited")
_PUBLISH = 0x30
_PUBACK = 0x40

MAX_PACKET_BYTES = 65_536
"""Maximum packet size. An MQTT 5 broker is asked not to send larger packets; any that arrive are
truncated.
"""

RECEIVE_BYTES = 4096
"""Bytes received with one system call. All packets in them are handled before anything else, so the
number is small.
"""

MAX_SHORT_BYTES = 127
"""Length of a packet up to which it is written in one byte."""

KEEPALIVE_CHECKS = 8
"""Checks of a connection within its keepalive: the ping is sent in time, and its missing answer
noticed.
"""
MAX_CHECK_INTERVAL_SECONDS = 1.0


class BufferedClient(paho.Client):
    """A client that handles all packets of one receive, instead of one per iteration of the event
    loop. ``socket_lock`` is held during each use of the socket, if another thread writes to it too.
    """

    socket_lock: AbstractContextManager[object] = nullcontext()
    _received: bytes = b""
    """Received bytes that were not yet read. The library reads a packet in three pieces, each of
    which would be a system call.
    """
    _read = 0

    def loop_read(self, max_packets: int = 1) -> MQTTErrorCode:  # noqa: ARG002 - the library's signature
        """Read all packets that have arrived with one receive."""
        while True:
            if self._handle_received():
                return MQTTErrorCode.MQTT_ERR_SUCCESS
            rc = super().loop_read()
            if rc != MQTTErrorCode.MQTT_ERR_SUCCESS or self._read >= len(self._received):
                return rc

    def _handle_received(self) -> bool:
        """Handle packets that need no work of the library. Return True if no bytes are left."""
        return False

    def _receive(self, size: int) -> None:
        wanted = min(max(size, RECEIVE_BYTES), MAX_PACKET_BYTES)
        with self.socket_lock:  # TLS reads and writes with the same state
            self._received, self._read = super()._sock_recv(wanted), 0

    def _sock_recv(self, bufsize: int) -> bytes:
        if self._read >= len(self._received):
            self._receive(bufsize)
        data = self._received[self._read : self._read + bufsize]
        self._read += len(data)
        return data

    def _packet_write(self) -> MQTTErrorCode:
        with self.socket_lock:  # the library takes a packet from its queue while it is written
            return super()._packet_write()

    def _sock_close(self) -> None:
        with self.socket_lock:  # its descriptor may be another file's after that
            super()._sock_close()


class BoundedClient(BufferedClient):
    """A client that survives any message with bounded memory. ``thrown_away`` is called for each
    message that cannot be parsed.
    """

    thrown_away: Callable[[], None] = staticmethod(lambda: None)

    def _sock_recv(self, bufsize: int) -> bytes:
        # keep only the beginning of an oversized packet: enough to acknowledge it and see its size
        del self._in_packet["packet"][MAX_PACKET_BYTES:]
        return super()._sock_recv(bufsize)

    def _handle_publish(self) -> MQTTErrorCode:
        # the library rejects some packets that the broker accepted, such as text with U+FEFF
        try:
            return super()._handle_publish()
        except Exception:
            self.thrown_away()
            if not self._in_packet["command"] & 0b0110:
                return MQTTErrorCode.MQTT_ERR_SUCCESS
            packet = self._in_packet["packet"]
            # skip the topic and acknowledge the message, or the broker would keep resending it
            after = 2 + int.from_bytes(packet[:2], "big")
            return self._send_puback(int.from_bytes(packet[after : after + 2], "big"))


class SilenceAwareClient(BoundedClient):
    """A client with a thread of its own that knows when no packet waited. A packet that is being
    handled arrived after ``silent_at``, a time of ``now``. ``poll_seconds``: time between two looks
    for packets.
    """

    poll_seconds = 0.02
    now: Callable[[], float] = staticmethod(clock.boottime)
    silent_at = -math.inf
    _has_read = False

    def loop_read(self, max_packets: int = 1) -> MQTTErrorCode:
        """Read all packets that have arrived with one receive."""
        self._has_read = True
        return super().loop_read(max_packets)

    def _loop(self, timeout: float = 1.0) -> MQTTErrorCode:
        before, self._has_read = self.now(), False
        rc = super()._loop(0.0)
        if rc == MQTTErrorCode.MQTT_ERR_SUCCESS and not self._has_read:
            self.silent_at = before
            rc = super()._loop(min(timeout, self.poll_seconds))
        return rc


class PublishingClient(BoundedClient):
    """``acknowledge`` is called with the packet identifier and the reason code of each PUBACK,
    ``before_write`` directly before each write to the socket.
    """

    acknowledge: Callable[[int, int], None] = staticmethod(lambda _id, _reason: None)
    before_write: Callable[[], None] = staticmethod(lambda: None)

    def send(self, packets: bytes) -> bool:
        """Write whole packets to the socket. Return True if all was written; else the rest is in
        the library's queue. Raises ``OSError`` if the connection is lost.
        """
        sent = 0
        with self.socket_lock:
            if not self.want_write():
                with suppress(BlockingIOError):
                    sent = self._sock_send(packets)
            return self._queue_rest(packets, sent)

    def send_first(self, packets: bytes) -> bool | None:
        """Do the same as :meth:`send`, in any thread. Return None, and send nothing, if other
        packets are waiting. After False, the event loop must call ``loop_write``.
        """
        sent = 0
        with self.socket_lock:
            open_socket = self.socket()
            if open_socket is None or self.want_write():
                return None
            self.before_write()
            # not as the library does, which would have the socket watched from this thread
            with suppress(BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
                sent = open_socket.send(packets)
            return self._queue_rest(packets, sent)

    def _queue_rest(self, packets: bytes, sent: int) -> bool:
        """Queue what was not sent. Return True if that is nothing."""
        if sent == len(packets):
            return True
        self._out_packet.append(
            {
                "command": _PUBLISH,
                "mid": 0,
                "qos": 1,
                "pos": sent,
                "to_process": len(packets) - sent,
                "packet": packets,
                "info": None,
            }
        )
        return False

    def _sock_send(self, buf: bytes | bytearray) -> int:
        self.before_write()
        return super()._sock_send(buf)

    def _handle_received(self) -> bool:
        """Handle whole PUBACK packets: nine in ten that a daemon receives. The library reads each
        in three pieces.
        """
        if self._in_packet["command"]:  # the library has read a part of a packet
            return False
        if self._read >= len(self._received):
            try:
                self._receive(RECEIVE_BYTES)
            except OSError:
                return False  # the library meets the same error, and handles it
        received, first, size = self._received, self._read, len(self._received)
        while size - first >= 4 and received[first] == _PUBACK:
            end = first + 2 + received[first + 1]
            if not first + 4 <= end <= min(size, first + 2 + MAX_SHORT_BYTES):
                break
            self._read = end
            reason = received[first + 4] if end > first + 4 else 0
            self.acknowledge(int.from_bytes(received[first + 2 : first + 4], "big"), reason)
            first = end
        if first < size or not size:
            return False
        with self._msgtime_mutex:
            self._last_bytes_received = paho.time_func()
        return True

    def _handle_pubackcomp(self, cmd: Literal["PUBACK", "PUBCOMP"]) -> MQTTErrorCode:
        # The packet is the identifier and, in MQTT 5, a reason code unless that is 0 (3.4.2).
        packet = self._in_packet["packet"]
        if cmd == "PUBACK" and len(packet) >= 2:
            self.acknowledge(int.from_bytes(packet[:2], "big"), packet[2] if len(packet) > 2 else 0)
        return MQTTErrorCode.MQTT_ERR_SUCCESS


def _retrieve(ended: asyncio.Future[None]) -> None:
    """Note the end of a connection that perhaps nobody awaits any more: asyncio would log it as an
    exception that was never retrieved, as if it were a bug.
    """
    if not ended.cancelled():
        ended.exception()


class LibraryClient(aiomqtt.Client):
    """An aiomqtt client around a paho client of the class ``paho_class``. ``options`` are those of
    aiomqtt.

    Derived classes override :meth:`on_connack`, :meth:`on_message` and :meth:`early_end`, which
    paho's packets call directly.
    """

    def __init__(
        self,
        hostname: str,
        port: int,
        *,
        paho_class: type[BufferedClient] = BufferedClient,
        **options: Any,
    ) -> None:
        self.loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        super().__init__(hostname, port, **options)
        # aiomqtt creates its own paho client and offers no way to pass one
        self._client.__class__ = paho_class
        client = self.paho_client
        self._aiomqtt_connect = cast("Callable[..., None]", client.on_connect)
        self._aiomqtt_disconnect = cast("Callable[..., None]", client.on_disconnect)
        self._aiomqtt_message = cast("Callable[..., None]", client.on_message)
        client.on_connect = self._pass_connack
        client.on_disconnect = self._pass_disconnect
        client.on_message = self._pass_message
        client.on_socket_register_write = self._register_write
        self._disconnected.add_done_callback(_retrieve)

    @property
    def paho_client(self) -> BufferedClient:
        """The paho client."""
        return cast("BufferedClient", self._client)

    @property
    def ended(self) -> asyncio.Future[None]:
        """Done when the connection has ended; with an exception if it was lost."""
        return self._disconnected

    def fail(self, error: Exception) -> None:
        """End the connection: after an error in its socket it is unusable."""
        if not self._disconnected.done():
            self._disconnected.set_exception(error)

    def abandon(self) -> None:
        """Close the socket without DISCONNECT, so that the broker publishes the last will.

        aiomqtt would send DISCONNECT on an established connection, which cancels the will, and
        would leave the socket of an unestablished one open.
        """
        if self._misc_task is not None:
            self._misc_task.cancel()
        open_socket = self.paho_client.socket()
        if open_socket is not None:
            self.loop.remove_reader(open_socket)
            self.loop.remove_writer(open_socket)
            # when it is garbage collected, paho would unregister the closed socket again
            self.paho_client.on_socket_unregister_write = None
            with self.paho_client.socket_lock:
                open_socket.close()
        if not self._disconnected.done():
            self._disconnected.set_result(None)

    def on_connack(self, properties: Properties | None) -> None:
        """Called when the broker replies to CONNECT, with the properties of MQTT 5."""

    def on_message(self, message: paho.MQTTMessage) -> bool:
        """Called for each message. Return True to keep it out of the queue of ``messages``."""
        del message
        return False

    def early_end(self) -> Exception:
        """Return the error of a connection that ended before the broker has replied."""
        return aiomqtt.MqttError("the connection ended before the broker replied")

    def write(self) -> None:
        """Write what paho has queued, as far as the socket takes it."""
        try:
            self.paho_client.loop_write()
        except Exception as error:  # as in aiomqtt: after any error the connection is unusable
            self.fail(error)

    def _pass_connack(
        self,
        client: paho.Client,
        userdata: Any,
        flags: paho.ConnectFlags,
        reason_code: ReasonCode,
        properties: Properties | None,
    ) -> None:
        self.on_connack(properties)
        self._aiomqtt_connect(client, userdata, flags, reason_code, properties)

    def _pass_disconnect(
        self,
        client: paho.Client,
        userdata: Any,
        flags: paho.DisconnectFlags,
        reason_code: ReasonCode,
        properties: Properties | None,
    ) -> None:
        if self._connected.done():
            self._aiomqtt_disconnect(client, userdata, flags, reason_code, properties)
            return
        self._connected.set_exception(self.early_end())  # aiomqtt would wait for its timeout
        # connect() may raise first: then nothing awaits it, and asyncio would log that
        self._connected.exception()

    def _pass_message(self, client: paho.Client, userdata: Any, message: paho.MQTTMessage) -> None:
        if not self.on_message(message):
            self._aiomqtt_message(client, userdata, message)

    def _register_write(self, client: paho.Client, userdata: Any, sock: Any) -> None:
        # aiomqtt always uses call_soon_threadsafe, which runs too late if the socket was written or
        # closed meanwhile: it would watch a closed descriptor, or one that is always ready.
        del client, userdata
        if threading.get_ident() == self._thread:
            self._wait_to_write(sock)
        else:
            self.loop.call_soon_threadsafe(self._wait_to_write, sock)

    def _wait_to_write(self, sock: Any) -> None:
        if sock.fileno() >= 0:
            self.loop.add_writer(sock.fileno(), self.write)

    async def _misc_loop(self) -> None:
        # aiomqtt checks each second, too seldom for a keepalive of two or three: the ping comes so
        # late that the broker has already ended the connection
        interval = min(MAX_CHECK_INTERVAL_SECONDS, self.paho_client.keepalive / KEEPALIVE_CHECKS)
        while self.paho_client.loop_misc() == MQTTErrorCode.MQTT_ERR_SUCCESS:
            await clock.sleep(interval)

    async def _wait_for(self, fut: Awaitable[_Awaited], timeout: float | None) -> _Awaited:  # noqa: ASYNC109 - the library's own signature
        # As in aiomqtt, but without asyncio.wait_for: in Python 3.11 it loses a cancellation that
        # arrives together with the result.
        seconds = self.timeout if timeout is None else timeout
        try:
            async with asyncio.timeout(None if seconds == math.inf else seconds):
                return await fut
        except TimeoutError:
            raise aiomqtt.MqttError("Operation timed out") from None
