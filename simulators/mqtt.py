"""An MQTT topic as the simulator's port: publishes the device's lines, and receives the hosts'
messages.

Each line that the device sends or receives is ``topic payload``.
"""

from __future__ import annotations

import os
import queue
from contextlib import suppress

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion

CONNECT_TIMEOUT_SECONDS = 10.0
"""Maximum time for the broker's answer."""


class MqttPort:
    """A connection to the broker at ``host:port``. ``ignored_topics``: the topics that the device
    publishes itself and therefore ignores.
    """

    def __init__(
        self, host: str, port: int, base: str, ignored_topics: tuple[str, ...] = ("says",)
    ) -> None:
        self._host, self._port, self._base, self._ignored_topics = host, port, base, ignored_topics
        self._received: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._woken, self._wake = os.pipe()
        os.set_blocking(self._woken, False)
        self._partial_line = b""
        self._client: paho.Client | None = None
        self.plug()

    @property
    def address(self) -> str:
        """``mqtt://host:port/base``, as a host opens it."""
        return f"mqtt://{self._host}:{self._port}/{self._base}"

    @property
    def readers(self) -> list[int]:
        """File descriptor to wait on."""
        return [self._woken]

    def plug(self) -> None:
        """Connect and subscribe."""
        ready: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._client = client = paho.Client(CallbackAPIVersion.VERSION2)
        client.on_connect = self._connected
        client.on_subscribe = lambda *_: ready.put(None)
        client.on_message = self._message
        client.connect(self._host, self._port)
        client.loop_start()
        try:
            ready.get(timeout=CONNECT_TIMEOUT_SECONDS)
        except queue.Empty:
            raise OSError(
                f"the broker at {self._host}:{self._port} does not answer; is it running?"
            ) from None

    def unplug(self) -> None:
        """Disconnect without notice."""
        client, self._client = self._client, None
        if client is not None:
            client.disconnect()
            client.loop_stop()

    def close(self) -> None:
        """Disconnect for good."""
        self.unplug()
        os.close(self._woken)
        os.close(self._wake)

    def write(self, data: bytes) -> None:
        """Publish each complete line."""
        *lines, self._partial_line = (self._partial_line + data).split(b"\n")
        for line in lines:
            topic, _, payload = line.decode("latin-1").partition(" ")
            if self._client is not None:
                self._client.publish(f"{self._base}/{topic}", payload, qos=1)

    def read(self) -> bytes:
        """Return the messages that hosts published, as lines."""
        with suppress(BlockingIOError):
            os.read(self._woken, 4096)
        received = b""
        with suppress(queue.Empty):
            while True:
                received += self._received.get_nowait()
        return received

    def _connected(self, client: paho.Client, *_: object) -> None:
        """Called in the library's thread."""
        client.subscribe(f"{self._base}/#", qos=1)

    def _message(self, _client: paho.Client, _data: object, message: paho.MQTTMessage) -> None:
        """Called in the library's thread."""
        topic = message.topic.removeprefix(f"{self._base}/")
        if topic not in self._ignored_topics:
            self._received.put(topic.encode() + b" " + bytes(message.payload) + b"\n")
            with suppress(OSError):
                os.write(self._wake, b".")
