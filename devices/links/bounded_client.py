"""The MQTT library's client, with a limit on the size of packets."""

from __future__ import annotations

from collections.abc import Callable

import paho.mqtt.client as paho
from paho.mqtt.enums import MQTTErrorCode

LARGEST_PACKET = 65_536
"""Bytes of a packet. An MQTT 5 broker is asked not to send larger ones; any that arrive are
truncated.
"""


class BoundedClient(paho.Client):
    """A client whose connection and memory survive any message. ``thrown_away`` is called for each
    message that cannot be read.
    """

    thrown_away: Callable[[], None] = staticmethod(lambda: None)

    def _sock_recv(self, bufsize: int) -> bytes:
        # Keep only the beginning of an oversized packet: enough to acknowledge it and to see its
        # size.
        del self._in_packet["packet"][LARGEST_PACKET:]
        return super()._sock_recv(min(bufsize, LARGEST_PACKET))

    def _handle_publish(self) -> MQTTErrorCode:
        # The library rejects some packets that the broker accepted, such as a text with U+FEFF.
        try:
            return super()._handle_publish()
        except Exception:
            self.thrown_away()
            if not self._in_packet["command"] & 0b0110:
                return MQTTErrorCode.MQTT_ERR_SUCCESS
            packet = self._in_packet["packet"]
            # Skip the topic and acknowledge the message; otherwise the broker would send it again
            # and again.
            after = 2 + int.from_bytes(packet[:2], "big")
            return self._send_puback(int.from_bytes(packet[after : after + 2], "big"))
