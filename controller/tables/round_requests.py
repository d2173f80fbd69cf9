"""Asks devices about a round once its bets are closed. Nothing waits for an answer, and a request
that cannot be sent is left out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress

import msgspec

from common.contract.events import (
    AnyEvent,
    BetsClosed,
    RoundVoid,
    SessionClosed,
    WitnessReported,
)
from devices.codec import RoundRequest
from devices.device import CommandRefusedError, DeviceSupervisor


class RoundRequests:
    """The requests to the devices of one table. ``requests``: by device id; ``speed``: how many
    times as fast as real time the table's clock runs.
    """

    def __init__(
        self,
        devices: Mapping[str, DeviceSupervisor],
        requests: Mapping[str, tuple[RoundRequest, ...]],
        speed: float = 1.0,
    ) -> None:
        self._devices, self._requests, self._speed = devices, requests, speed
        self._round = 0
        self._due: dict[str, list[asyncio.TimerHandle]] = {}

    def on_events(self, events: Sequence[AnyEvent]) -> None:
        """Follow the table's stored events: begin when bets are closed, and end with an answer."""
        for event in events:
            match event:
                case BetsClosed():
                    self.end()
                    if not event.unobserved:  # then it happened earlier, at an unknown time
                        self._begin(event.round)
                case WitnessReported() if event.round == self._round:
                    self._end_device(event.device)
                case RoundVoid() if event.round == self._round:
                    self.end()
                case SessionClosed():
                    self.end()

    def end(self) -> None:
        """Send nothing more about the present round."""
        for device in list(self._due):
            self._end_device(device)

    def _begin(self, number: int) -> None:
        self._round = number
        loop = asyncio.get_running_loop()
        for device, requests in self._requests.items():
            self._due[device] = [
                loop.call_later(
                    (request.after + count * request.every) / self._speed,
                    self._send,
                    device,
                    request.command,
                    number,
                )
                for request in requests
                for count in range(request.times)
            ]

    def _end_device(self, device: str) -> None:
        for timer in self._due.pop(device, ()):
            timer.cancel()

    def _send(self, device: str, command: str, number: int) -> None:
        supervisor = self._devices[device]
        with suppress(CommandRefusedError):  # not connected, busy, or a number out of its bounds
            request = supervisor.prepare(command, str(number))
            supervisor.send(msgspec.structs.replace(request, command=None))
