"""Driver of the Angel Eye II-EX, a baccarat shoe on RS-232 that reads each card as it is drawn.

The shoe sends every report three times with the same sequence number, and only when something
happens. A copy is recognised by sequence number and content together; for older reports only for a
short time. A missing number is reported as a gap. Only ``card.drawn`` contains a frame with a card,
and dropped bytes are never shown: the card may be face down.
"""

from __future__ import annotations

from collections import deque
from typing import Annotated, NamedTuple

import msgspec

from common.device_health import Counters
from common.readings import (
    AnyReading,
    CardCut,
    CardDrawn,
    DeviceRefused,
    DeviceReport,
    LinkGap,
    LinkGarbage,
    ShoeFault,
    ShoeReset,
    escape,
)
from devices.codec import Driver, FrameProof
from devices.pace import HandPace
from devices.shoe import angel_eye_frames as frames

MAX_INTERLEAVED = 3
"""Number of reports whose copies may arrive interleaved."""
GARBAGE_DELAY_SECONDS = 0.5
"""Time after which dropped bytes are reported, even if no frame follows."""


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``strict_bcc``: drop a frame with a wrong check; ``min_draw``: minimum seconds between two
    cards; ``mixed``: maximum seconds between copies of a report with another report in between.
    """

    strict_bcc: bool = True
    min_draw: Annotated[float, msgspec.Meta(ge=0, le=3600)] = 0.2
    mixed: Annotated[float, msgspec.Meta(ge=0, le=3600)] = 2.0


class _RecentReport(NamedTuple):
    """A report: its number, its content, and when its last copy arrived."""

    seq: int
    body: bytes
    last_at: float


class AngelEye:
    """One shoe. See :class:`devices.codec.Codec`."""

    steady = False

    def __init__(self, device: str, options: Options) -> None:
        self.counters = Counters()
        self.proof = FrameProof.CHECKED if options.strict_bcc else FrameProof.FORM
        self._device = device
        self._strict = options.strict_bcc
        self._mixed = options.mixed
        self._pace = HandPace(device, options.min_draw)

        self._pending = b""
        self._dropped = 0  # bytes, not reported yet
        self._dropped_at = 0.0

        self._recent: deque[_RecentReport] = deque(maxlen=MAX_INTERLEAVED)  # most recent last
        self._reopened = False
        self._zero_follows_nine = False  # number 9 has been followed by 0

    @property
    def deadline(self) -> float | None:
        """When a burst is over, or dropped bytes must be reported."""
        garbage = self._dropped_at + GARBAGE_DELAY_SECONDS if self._dropped else None
        return min(
            (time for time in (self._pace.deadline, garbage) if time is not None), default=None
        )

    def reconnected(self, now: float) -> None:  # noqa: ARG002 - sequence numbers show what was missed
        """Drop a partial frame. Copies may have waited meanwhile."""
        self._pending = b""
        self._reopened = True

    def polls(self) -> tuple[tuple[float, bytes], ...]:
        """Nothing: the shoe sends by itself, and no harmless request is known."""
        return ()

    def encode(self, command: str, argument: str = "") -> bytes:
        """Encode ``lock unlock clear_error overdraw_keep overdraw_discard confirm``; none has an
        argument.
        """
        if command not in frames.COMMANDS:
            raise ValueError(
                f"angel-eye has no command {command!r}; there are: {', '.join(frames.COMMANDS)}"
            )
        if argument:
            raise ValueError(f"angel-eye: {command} takes no argument, got {argument!r}")
        return frames.command(frames.COMMANDS[command])

    def delayed(self, since: float, now: float) -> None:
        """See :class:`devices.codec.DelayAware`: no hand draws faster than ``min_draw``."""
        self._pace.delayed(since, now)

    def damaged(self, byte: bytes, now: float) -> list[AnyReading]:  # noqa: ARG002
        """See :class:`devices.codec.DamageAware`: FF may be data, but 00 is in no frame."""
        return self.feed(b"\x00", now)

    @property
    def opening(self) -> float:
        """See :class:`devices.codec.KeptBytesAware`."""
        return self._pace.opening

    def kept(self, now: float) -> None:
        """See :class:`devices.codec.KeptBytesAware`."""
        self._pace.kept(now)

    def feed(self, data: bytes, now: float) -> list[AnyReading]:
        """Decode bytes that arrived at ``now``."""
        self.counters.bytes += len(data)
        if data and self._reopened:
            self._recent = deque(
                (report._replace(last_at=now) for report in self._recent), MAX_INTERLEAVED
            )
            self._reopened = False
        out: list[AnyReading] = [*self._pace.burst(now)]
        if self._dropped and now >= self._dropped_at + GARBAGE_DELAY_SECONDS:
            self._report_dropped(now, out)
        data, begin = self._pending + data, 0
        while begin < len(data):
            if noise := frames.noise(data, begin):
                self._drop_noise(noise, now, out)
                begin += noise
                continue
            if (piece := frames.next_piece(data, begin, self._strict)) is None:
                break
            size, whole = piece
            if whole and not (self._dropped and data[begin] in frames.ANSWERS):
                self._report_dropped(now, out)
                self._on_frame(data[begin : begin + size], now, out)
            else:
                self._drop(size, now, out)
            begin += size
        self._pending = data[begin:]
        return out

    def _drop(self, size: int, now: float, out: list[AnyReading]) -> None:
        self._dropped += size
        self._dropped_at = now
        if self._dropped >= frames.MAX_FRAME_BYTES:
            self._report_dropped(now, out)

    def _drop_noise(self, size: int, now: float, out: list[AnyReading]) -> None:
        """Drop bytes as if one after another: each report has the bytes of a frame."""
        while size:
            part = min(size, frames.MAX_FRAME_BYTES - self._dropped)
            self._drop(part, now, out)
            size -= part

    def _report_dropped(self, now: float, out: list[AnyReading]) -> None:
        """Report dropped bytes without showing them: they may belong to a card that is face
        down.
        """
        if self._dropped:
            self.counters.damaged += 1
            out.append(LinkGarbage(at=now, device=self._device, bytes=self._dropped))
            self._dropped = 0

    def _on_frame(self, frame: bytes, now: float, out: list[AnyReading]) -> None:
        """Handle a frame. An answer has only one or two bytes and proves nothing about the line, so
        it is not counted, and after dropped bytes it is ignored.
        """
        match frame[0]:
            case frames.ACK:
                out.append(self._device_report("accepted", "command", frame, now))
            case frames.NAK:
                busy = frames.REFUSALS[frame[1]] in ("busy", "write in progress")
                out.append(self._device_report("refusal", frames.REFUSALS[frame[1]], frame, now))
                out.append(
                    DeviceRefused(
                        at=now,
                        device=self._device,
                        frame=escape(frame),
                        command="command",
                        reason="busy" if busy else "no",
                    )
                )
            case frames.STX if frame.isascii():
                self.counters.frames += 1
                out.append(self._device_report("register", escape(frame[1:-3]), frame, now))
            case _ if frame[1:2].isdigit() and len(frame) > 5:
                self.counters.frames += 1
                self._on_report(int(frame[1:2]), frame[2:-3], frame, now, out)
            case _:
                self._drop(len(frame), now, out)

    def _on_report(
        self, seq: int, body: bytes, frame: bytes, now: float, out: list[AnyReading]
    ) -> None:
        if self._is_copy(seq, body, now):
            return
        readings = self._read(body, frame, now)
        right = frames.has_valid_bcc(frame)
        if readings is None:
            self._drop(len(frame), now, out)
            self._report_dropped(now, out)
            if not right:
                return  # an intact copy may follow
        missing = self._count_missing(seq, body) + (readings is None)
        if body == b"S":
            self._recent.clear()
        self._recent.append(_RecentReport(seq, body, now))
        if missing:
            out.append(LinkGap(at=now, device=self._device, lost=missing))
        if not right:
            out.append(
                DeviceReport(
                    at=now,
                    device=self._device,
                    report="check",
                    value="wrong, and taken all the same",
                )
            )
        out += readings or ()

    def _is_copy(self, seq: int, body: bytes, now: float) -> bool:
        """Whether this report is a copy. A copy of the last report may arrive at any later time, a
        copy of an older one only within a short time; otherwise it is another report with the same
        number. Two resets are never copies of each other.
        """
        for place, report in enumerate(self._recent, 1):
            known = place == len(self._recent) or (
                body != b"S" and now - report.last_at <= self._mixed
            )
            if known and (report.seq, report.body) == (seq, body):
                self._recent[place - 1] = report._replace(last_at=now)
                return True
        return False

    def _count_missing(self, seq: int, body: bytes) -> int:
        """Minimum number of lost reports. A reset may restart the numbers, and does not always use
        one itself.
        """
        if not self._recent or body == b"S":
            return 0
        before, last_body, _ = self._recent[-1]
        if last_body == b"S":
            return (
                0
                if seq in (0, 1, before)
                else frames.lost_reports(before, seq, self._zero_follows_nine)
            )
        self._zero_follows_nine = self._zero_follows_nine or (before == 9 and seq == 0)
        return frames.lost_reports(before, seq, self._zero_follows_nine)

    def _read(self, body: bytes, frame: bytes, now: float) -> list[AnyReading] | None:
        """Decode a report. None: its kind is known but its content is malformed."""
        code, data = body[:1], body[1:]
        if code not in frames.LENGTHS:
            self.counters.unknown += 1
            return []
        if len(data) != frames.LENGTHS[code] or (code == b"M" and not data.isascii()):
            return None
        match code:
            case b"D" | b"R":
                return self._drawn_readings(
                    frames.read_drawn(data), frame, now, repeated=code == b"R"
                )
            case b"d":
                return self._outside_readings(frames.read_outside(data), frame, now)
            case b"G":
                result = frames.read_result(data[0])
                if result is None:
                    return None
                late = self._is_late(now, card=False)
                return [
                    msgspec.structs.replace(
                        result, at=now, device=self._device, frame=escape(frame), late=late
                    )
                ]
            case b"C":
                return [
                    CardCut(
                        at=now,
                        device=self._device,
                        frame=escape(frame),
                        late=self._is_late(now, card=False),
                    )
                ]
            case b"E" | b"e":
                return self._fault_readings(data[0], code == b"E", frame, now)
            case b"S":
                return [
                    ShoeReset(
                        at=now,
                        device=self._device,
                        frame=escape(frame),
                        detail="start of communication",
                    )
                ]
            case b"P":
                return [self._device_report("state", "stand-by", frame, now)]
            case b"L":
                return [
                    self._device_report("lock", "locked" if data[0] & 1 else "unlocked", frame, now)
                ]
        return [self._device_report("preset", f"{escape(data[:2])}={escape(data[2:])}", frame, now)]

    def _drawn_readings(
        self, drawn: frames.DrawnCard | None, frame: bytes, now: float, repeated: bool
    ) -> list[AnyReading] | None:
        """Report a drawn card. An overdrawn card that is carried over is marked for a person to
        check.
        """
        if drawn is None:
            return None
        return [
            CardDrawn(
                at=now,
                device=self._device,
                frame=escape(frame),
                card=drawn.card,
                to=drawn.to,
                index=drawn.index,
                unsure=repeated,
                late=self._is_late(now, card=True),
            )
        ]

    def _outside_readings(
        self, drawn: frames.DrawnCard | None, frame: bytes, now: float
    ) -> list[AnyReading] | None:
        """Report a card that left the shoe outside the game."""
        if drawn is None:
            return None
        mode = drawn.to if drawn.index is None else f"{drawn.to} {drawn.index}"
        late = self._is_late(now, card=True)
        return [
            DeviceReport(at=now, device=self._device, report="drawn_outside", value=mode),
            CardDrawn(
                at=now,
                device=self._device,
                frame=escape(frame),
                card=drawn.card,
                unsure=True,
                late=late,
            ),
        ]

    def _fault_readings(
        self, byte: int, active: bool, frame: bytes, now: float
    ) -> list[AnyReading]:
        code = byte & (0x3F if active else 0x7F)
        mode = ", error mode" if active and byte & 0x40 else ""
        fault = frames.FAULTS.get(code, "alarm")
        detail = f"{code}{mode}"
        return [
            ShoeFault(
                at=now,
                device=self._device,
                frame=escape(frame),
                fault=fault,
                active=active,
                detail=detail,
            )
        ]

    def _is_late(self, now: float, card: bool) -> bool:
        late = self._pace.is_late(now, card)
        self.counters.late += late
        return late

    def _device_report(self, report: str, value: str, frame: bytes, now: float) -> DeviceReport:
        return DeviceReport(
            at=now, device=self._device, frame=escape(frame), report=report, value=value
        )


def _make(device: str, options: msgspec.Struct) -> AngelEye:
    assert isinstance(options, Options)
    return AngelEye(device, options)


DRIVER = Driver(
    name="angel-eye",
    kind="shoe",
    title="Angel Eye II-EX",
    evidence="documented",
    line="baud=4800",
    options=Options,
    commands=tuple(frames.COMMANDS),
    make=_make,
)
