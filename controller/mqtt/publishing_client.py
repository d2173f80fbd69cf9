"""The paho client of the publisher: writes packets encoded here, and passes acknowledgements on."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Literal

from paho.mqtt.client import MQTT_ERR_SUCCESS
from paho.mqtt.enums import MQTTErrorCode

from common.broker.bounded_client import BoundedClient

_PUBLISH = 0x30


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
        if not self._out_packet:
            with suppress(BlockingIOError):
                sent = self._sock_send(packets)
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

    def _handle_pubackcomp(self, cmd: Literal["PUBACK", "PUBCOMP"]) -> MQTTErrorCode:
        # The packet is the identifier and, in MQTT 5, a reason code unless that is 0 (3.4.2).
        packet = self._in_packet["packet"]
        if cmd == "PUBACK" and len(packet) >= 2:
            self.acknowledge(int.from_bytes(packet[:2], "big"), packet[2] if len(packet) > 2 else 0)
        return MQTT_ERR_SUCCESS
