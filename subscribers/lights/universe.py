"""Sending one universe of DMX values over UDP."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress

from common import clock
from common.log import structlog
from subscribers.lights.packets import (
    ARTNET_PORT,
    DISCOVERY_ADDRESS,
    SACN_PORT,
    Levels,
    artnet_packet,
    component_id,
    discovery_packet,
    multicast_address,
    sacn_packet,
    values_of,
)
from subscribers.lights.settings import LightSettings
from subscribers.line_port import wait

CHECK_INTERVAL_SECONDS = 0.05
"""Interval for checking what to show; a change is sent at once."""
KEEPALIVE_SECONDS = 0.9
"""Interval of packets that repeat what has not changed: E1.31 demands 0.8 to 1 s, Art-Net at most
four.
"""
REPEATS = 3
"""Packets of each change, and of the end of a stream, as E1.31 demands. Art-Net lacks only the
latter.
"""
DISCOVERY_INTERVAL_SECONDS = 10.0
MULTICAST_HOPS = 8

LevelsNow = Callable[[], Levels]


class UniverseSender:
    """One universe. ``levels``: what to show now."""

    def __init__(self, settings: LightSettings, site: str, levels: LevelsNow) -> None:
        self._settings, self._levels = settings, levels
        self._name = f"Novamás {site} {settings.id}"
        self._component = component_id(site, settings.id)
        self._is_sacn = settings.protocol == "sacn"
        self._sequence = 0
        self._logged_reason = ""

    async def show(self, stop: asyncio.Event) -> None:
        """Send until ``stop`` is set; then all channels at 0, and the end of the stream."""
        settings, sent, remaining = self._settings, b"", 0
        keepalive_at = discovery_at = clock.monotonic()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as self._socket:
            self._socket.setblocking(False)
            while not stop.is_set():
                values, now = values_of(self._levels()), clock.monotonic()
                if values != sent:
                    sent, remaining = values, REPEATS
                if remaining or now >= keepalive_at:
                    self._send(values)
                    remaining, keepalive_at = max(remaining - 1, 0), now + KEEPALIVE_SECONDS
                if self._is_sacn and settings.address is None and now >= discovery_at:
                    discovery_at = now + DISCOVERY_INTERVAL_SECONDS
                    self._send_to(DISCOVERY_ADDRESS, SACN_PORT, self._discovery())
                await wait(stop, CHECK_INTERVAL_SECONDS)
            for terminated in (False, True) if self._is_sacn else (False,):
                for _ in range(REPEATS):
                    self._send(values_of({}), terminated=terminated)
                    await clock.sleep(CHECK_INTERVAL_SECONDS)

    def _send(self, values: bytes, *, terminated: bool = False) -> None:
        settings = self._settings
        if self._is_sacn:
            packet = sacn_packet(
                self._component,
                self._name,
                settings.universe,
                settings.priority,
                self._sequence,
                values,
                terminated=terminated,
            )
            self._sequence = (self._sequence + 1) % 256
            address = settings.address or multicast_address(settings.universe)
            self._send_to(address, SACN_PORT, packet)
        elif settings.address is not None:
            self._sequence = self._sequence % 255 + 1
            packet = artnet_packet(settings.universe, self._sequence, values)
            self._send_to(settings.address, ARTNET_PORT, packet)

    def _discovery(self) -> bytes:
        return discovery_packet(self._component, self._name, (self._settings.universe,))

    def _send_to(self, address: str, port: int, packet: bytes) -> None:
        """Send a packet. Without a network it is lost; the next one follows within a second."""
        try:
            self._bind()
            self._socket.sendto(packet, (address, port))
        except BlockingIOError:
            return
        except OSError as error:
            reason = f"{address}: {error.strerror or error}"
            if reason != self._logged_reason:
                structlog.get_logger().warning(
                    "the lights cannot be reached; it is tried again",
                    light=self._settings.id,
                    reason=reason,
                )
            self._logged_reason = reason
        else:
            self._logged_reason = ""

    def _bind(self) -> None:
        """Choose the interface, as soon as this machine has its address."""
        interface = self._settings.interface
        if interface is None or self._socket.getsockname()[1]:
            return
        packed = socket.inet_aton(interface)
        with suppress(OSError):  # not multicast
            self._socket.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, MULTICAST_HOPS)
            self._socket.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, packed)
        self._socket.bind((interface, 0))
