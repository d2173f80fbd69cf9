"""Driver of the Acme W1. It sends `N:<number>` and a line feed when the ball has come to rest."""

from __future__ import annotations

import re

import msgspec

from common.device_health import Counters
from common.readings import AnyReading, LinkGarbage, WheelNumber, WheelPhase, escape
from devices.codec import Driver, FrameProof

LONGEST = 64
RESULT = re.compile(rb"N:(\d|[12]\d|3[0-6])")


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """No options."""


class AcmeW1:
    """One wheel."""

    steady = False
    proof = FrameProof.FORM
    deadline = None

    def __init__(self, device: str) -> None:
        self.counters = Counters()
        self._device = device
        self._pending = b""  # the incomplete line: its beginning ...
        self._dropped = 0  # ... and how many more bytes it has

    def feed(self, data: bytes, now: float) -> list[AnyReading]:
        """Decode bytes that arrived at `now`."""
        self.counters.bytes += len(data)
        readings: list[AnyReading] = []
        *lines, pending = (self._pending + data).split(b"\n")
        for line in lines:
            readings += self._line(line, now)
            self._dropped = 0
        self._pending = pending[:LONGEST]
        self._dropped += len(pending) - len(self._pending)
        return readings

    def _line(self, line: bytes, now: float) -> list[AnyReading]:
        match = None if self._dropped else RESULT.fullmatch(line)
        if match is None:
            return [self._garbage(line, now)]
        self.counters.frames += 1
        evidence = escape(line)
        return [
            WheelPhase(at=now, device=self._device, frame=evidence, phase="settled"),
            WheelNumber(at=now, device=self._device, frame=evidence, number=int(match[1])),
        ]

    def _garbage(self, line: bytes, now: float) -> LinkGarbage:
        self.counters.damaged += 1
        frame = escape(line[:LONGEST])
        return LinkGarbage(
            at=now, device=self._device, frame=frame, bytes=len(line) + self._dropped
        )

    def reconnected(self, now: float) -> None:  # noqa: ARG002
        """Drop a partial line."""
        self._pending, self._dropped = b"", 0

    def polls(self) -> tuple[tuple[float, bytes], ...]:
        """None: it sends by itself."""
        return ()

    def encode(self, command: str, argument: str = "") -> bytes:  # noqa: ARG002
        """Always raises: it takes no commands."""
        raise ValueError(f"acme-w1 has no command {command!r}")


DRIVER = Driver(
    name="acme-w1",
    kind="wheel",
    title="Acme W1",
    evidence="observed",
    line="baud=19200",
    options=Options,
    commands=(),
    make=lambda device, _: AcmeW1(device),
)
