"""MQTT clients on top of paho: one that handles all received packets at once, and one that also
limits the size of packets.
"""

from __future__ import annotations

from collections.abc import Callable

import paho.mqtt.client as paho
from paho.mqtt.enums import MQTTErrorCode

MAX_PACKET_BYTES = 65_536
"""Maximum packet size. An MQTT 5 broker is asked not to send larger packets; any that arrive are
truncated.
"""

RECEIVE_BYTES = 4096
"""Bytes received with one system call. All packets in them are handled before anything else, so the
number is small.
"""


class BufferedClient(paho.Client):
    """A client that handles all packets of one receive, instead of one per iteration of the event
    loop.
    """

    _received: bytes = b""
    """Received bytes that were not yet read. The library reads a packet in three pieces, each of
    which would be a system call.
    """
    _read = 0

    def loop_read(self, max_packets: int = 1) -> MQTTErrorCode:  # noqa: ARG002 - the library's signature
        """Read all packets that have arrived with one receive."""
        while True:
            rc = super().loop_read()
            if rc != MQTTErrorCode.MQTT_ERR_SUCCESS or self._read >= len(self._received):
                return rc

    def _sock_recv(self, bufsize: int) -> bytes:
        if self._read >= len(self._received):
            wanted = min(max(bufsize, RECEIVE_BYTES), MAX_PACKET_BYTES)
            self._received, self._read = super()._sock_recv(wanted), 0
        data = self._received[self._read : self._read + bufsize]
        self._read += len(data)
        return data


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
