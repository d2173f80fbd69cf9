"""The MQTT library's client, with a bound on what it takes in."""

from __future__ import annotations

from collections.abc import Callable

import paho.mqtt.client as paho
from paho.mqtt.enums import MQTTErrorCode

LARGEST_PACKET = 65_536
"""Bytes of a packet. An MQTT 5 broker can be told, and keeps larger ones back; what comes all the
same is cut off.
"""


class BoundedClient(paho.Client):
    """A client that no message takes the connection or the memory from. ``thrown_away`` is called
    for each that cannot be read.
    """

    thrown_away: Callable[[], None] = staticmethod(lambda: None)

    def _sock_recv(self, bufsize: int) -> bytes:
        # Of a packet that is too large the beginning is kept: enough to acknowledge it, and to see
        # that it is too large.
        del self._in_packet["packet"][LARGEST_PACKET:]
        return super()._sock_recv(min(bufsize, LARGEST_PACKET))

    def _handle_publish(self) -> MQTTErrorCode:
        try:
            return super()._handle_publish()
        except (
            Exception
        ):  # what the library takes for malformed, as U+FEFF in a text, and the broker did not
            self.thrown_away()
            if not self._in_packet["command"] & 0b0110:
                return MQTTErrorCode.MQTT_ERR_SUCCESS
            packet = self._in_packet["packet"]
            after = 2 + int.from_bytes(
                packet[:2], "big"
            )  # the topic; or it would come again, and soon nothing else
            return self._send_puback(int.from_bytes(packet[after : after + 2], "big"))
