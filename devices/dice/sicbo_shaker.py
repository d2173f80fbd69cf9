"""Driver of a dice shaker controlled over MQTT, as used by one studio's programs.

It answers on ``<base>/says`` when ``/state`` is published on ``<base>/listens``: S0 idle, S1
shaking, S2 command received, S90 motion failed. It does not read the dice: their values come from
another device or a person, after S0.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal

import msgspec

from common.device_health import Counters
from common.readings import (
    AnyReading,
    DeviceReport,
    DiceFault,
    DiceFaultName,
    DiceState,
    LinkGarbage,
    escape,
)
from devices.codec import Driver, FrameProof
from devices.lines import LineSplitter

STATE_REQUEST = b"listens /state\n"
IDLE, SHAKING, RECEIVED, FAILED = "S0", "S1", "S2", "S90"
STATES = (IDLE, SHAKING, RECEIVED, FAILED)
DiceStateName = Literal["idle", "moving", "settled"]
KNOWN_LEAVES = ("says", "status", "response", "listens")
MAX_LINE_BYTES = 4096
"""Maximum number of bytes buffered without a line end."""
_MAX_REPORTED_CHARS = 120
"""Maximum number of characters of a text that are reported."""
_LINE_END = re.compile(rb"\n")
_LINE = re.compile(rb"(?P<leaf>[^ ]{1,64}) (?P<kept>[01]) (?P<payload>.*)")


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``poll``: seconds between two requests for the state. ``shake``: the shaker's own command for
    shaking.
    """

    poll: Annotated[float, msgspec.Meta(ge=0.2, le=3600)] = 1.0
    shake: str = "/cycle/?pattern=0&parameter1=10&parameter2=0&amplitude=0.41&duration=6"


class SicboShaker:
    """One shaker. See :class:`devices.codec.Codec`."""

    steady = True
    proof = FrameProof.FORM

    def __init__(self, device: str, options: Options) -> None:
        self.counters = Counters()
        self._device = device
        self._options = options
        self._lines = LineSplitter(_LINE_END, MAX_LINE_BYTES)
        self._kept: float | None = None  # when bytes last arrived that may have been kept
        self._state: str | None = None
        self._reported: tuple[str, bool] | None = None
        self._received = False  # a command was received, but the dice have not moved yet
        self._throw = 0
        self._faults: set[DiceFaultName] = set()
        self._last_texts: dict[str, str] = {}

    @property
    def deadline(self) -> float | None:
        """None: the answers drive all timing."""
        return None

    def reconnected(self, now: float) -> None:  # noqa: ARG002
        """Drop a partial line. The shaker's actions meanwhile are unknown."""
        self._lines.clear()
        self._received = False

    @property
    def opening(self) -> float:
        """See :class:`devices.codec.KeptBytesAware`: by then the shaker has answered a request."""
        return 2 * self._options.poll

    def kept(self, now: float) -> None:
        """See :class:`devices.codec.KeptBytesAware`."""
        self._kept = now

    def polls(self) -> tuple[tuple[float, bytes], ...]:
        """A request for the state."""
        return ((self._options.poll, STATE_REQUEST),)

    def encode(self, command: str, argument: str = "") -> bytes:
        """Encode ``shake``. Raises ``ValueError`` unless the last state was idle."""
        if command != "shake" or argument:
            raise ValueError("sicbo-shaker has one command: shake, without an argument")
        if self._state != IDLE:
            raise ValueError(
                f"sicbo-shaker: it must be idle, but its state is {self._state or 'unknown'}; wait"
            )
        return b"listens " + escape(self._options.shake.encode()).encode("ascii") + b"\n"

    def feed(self, data: bytes, now: float) -> list[AnyReading]:
        """Decode lines of the link."""
        self.counters.bytes += len(data)
        out: list[AnyReading] = []
        for piece in self._lines.feed(data):
            (self._on_line if piece.is_line else self._garbage)(piece.data, now, out)
        return out

    def _on_line(self, line: bytes, now: float, out: list[AnyReading]) -> None:
        match = _LINE.fullmatch(line)
        if match is None or not line.isascii() or match["leaf"].decode("ascii") not in KNOWN_LEAVES:
            if line:
                self._garbage(line, now, out)
            return
        leaf, payload, frame = (
            match["leaf"].decode("ascii"),
            match["payload"].decode("ascii"),
            escape(line),
        )
        if leaf == "listens":
            return  # messages to the shaker
        self.counters.frames += 1
        if leaf == "says" and payload in STATES:
            late = match["kept"] == b"1" or self._kept == now
            self._on_state(payload, late, frame, now, out)
        elif self._last_texts.get(leaf) != payload:
            self.counters.unknown += leaf == "says"
            self._last_texts[leaf] = payload
            out.append(
                DeviceReport(
                    at=now,
                    device=self._device,
                    frame=frame[:_MAX_REPORTED_CHARS],
                    report=leaf,
                    value=payload[:_MAX_REPORTED_CHARS],
                )
            )

    def _on_state(
        self, state: str, late: bool, frame: str, now: float, out: list[AnyReading]
    ) -> None:
        self.counters.late += late
        before, self._state = self._state, state
        if state == SHAKING and before != SHAKING:
            self._throw += 1
            self._set_fault("unchanged", False, frame, now, out)
        if state == RECEIVED:
            self._received = True
        elif state == SHAKING:
            self._received = False
        # it accepted the command but did not shake, so the dice have not moved
        elif state == IDLE and self._received:
            self._received = False
            self._set_fault("unchanged", True, frame, now, out)
        self._set_fault(
            "sensor", state == FAILED, frame, now, out, detail=state if state == FAILED else None
        )
        if state not in (SHAKING, IDLE):
            return
        word: DiceStateName = "moving" if state == SHAKING else "settled" if self._throw else "idle"
        if (word, late) != self._reported:
            self._reported = (word, late)
            out.append(
                DiceState(
                    at=now,
                    device=self._device,
                    frame=frame,
                    state=word,
                    throw=self._throw or None,
                    late=late,
                )
            )

    def _set_fault(
        self,
        fault: DiceFaultName,
        active: bool,
        frame: str,
        now: float,
        out: list[AnyReading],
        detail: str | None = None,
    ) -> None:
        if active == (fault in self._faults):
            return
        (self._faults.add if active else self._faults.discard)(fault)
        out.append(
            DiceFault(
                at=now,
                device=self._device,
                frame=frame,
                fault=fault,
                active=active,
                throw=self._throw or None,
                detail=detail,
            )
        )

    def _garbage(self, data: bytes, now: float, out: list[AnyReading]) -> None:
        self.counters.damaged += 1
        out.append(
            LinkGarbage(at=now, device=self._device, frame=escape(data[:64]), bytes=len(data))
        )


def _make(device: str, options: msgspec.Struct) -> SicboShaker:
    assert isinstance(options, Options)
    return SicboShaker(device, options)


DRIVER = Driver(
    name="sicbo-shaker",
    kind="dice",
    title="Dice shaker over MQTT",
    evidence="observed",
    line="",
    scheme="mqtt",
    options=Options,
    commands=("shake",),
    make=_make,
)
