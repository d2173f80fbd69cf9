"""Driver of the Cammegh Slingshot 2 (SS2, SS2 TT), an automatic roulette wheel on RS-232.

The wheel sends its status every half second, and the bare winning number immediately before the
first status that contains it. The result is taken from the status, once per spin; the bare number
is the second witness. Two lines must agree on the number. Lines that arrive in a burst after a
silence are late and never give a live result.
"""

# Long: one state machine; its phases, spins and faults are decided from the same status line.

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from common import cammegh_ss2_frames as frames
from common.cammegh_ss2_frames import Status
from common.device_health import Counters
from common.readings import (
    AnyReading,
    DeviceRefused,
    DeviceReport,
    LinkGarbage,
    Number,
    Phase,
    WheelFault,
    WheelFaultName,
    WheelNumber,
    WheelPhase,
    escape,
)
from devices.codec import FrameProof
from devices.pace import SteadyPace
from devices.wheel.cammegh_ss2_confirmation import ConfirmedStatus, StatusConfirmation

MAX_LINE_BYTES = 256
"""Maximum size of a line. The longest line in normal operation has 20 bytes; a longer run without a
line end is dropped.
"""
MIN_POLL_SECONDS = 0.1
"""Minimum time between two requests for the status."""


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``pockets``: number of pockets; ``period``: seconds between two status lines; ``poll``:
    seconds between requests, for a wheel that does not send its status by itself (0: it does);
    ``heard_twice``: two lines must agree before they are accepted; ``ask``: ask the wheel for its
    parameters and its win log.
    """

    pockets: Literal[37, 38, 39, 40] = 37
    period: Annotated[float, msgspec.Meta(gt=0, le=3600)] = 0.5
    poll: Annotated[float, msgspec.Meta(ge=0, le=3600)] = 0.0
    heard_twice: bool = True
    ask: bool = False

    def __post_init__(self) -> None:
        if 0 < self.poll < MIN_POLL_SECONDS:
            raise ValueError(
                f"poll: expected 0 or at least {MIN_POLL_SECONDS:g} s, got {self.poll:g} s"
            )


class _Result(msgspec.Struct, frozen=True):
    """A number shown for a spin, and the lines that showed it."""

    spin: int
    number: Number
    lines: bytes


class CammeghSS2:
    """One wheel. See :class:`devices.codec.Codec`."""

    steady = True
    proof = FrameProof.FORM
    _max_line_bytes = MAX_LINE_BYTES

    def __init__(self, device: str, options: Options) -> None:
        self.counters = Counters()
        self._device = device
        self._poll = options.poll
        self._pockets = frames.pockets_of(options.pockets)

        self._pending = b""
        self._cut = True  # the beginning of the pending line was not received, or was dropped

        self._beat = SteadyPace(device, options.poll or options.period)
        self._reopened = False
        self._rest_unseen = False  # kept lines may have hidden how the ball came to rest
        self._last_live_spin: int | None = (
            None  # the last spin that was seen live before the ball was at rest
        )

        self._confirmation = StatusConfirmation(options.heard_twice)
        self._last: Status | None = None  # the last confirmed status
        self._is_quiet = False  # it was live and without faults, so its repetition has no effect
        self._phase: Phase | None = None
        self._shown: tuple[Phase, int, int, bool, bool] | None = None
        self._reported: _Result | None = None  # the last result that was reported
        self._candidate: _Result | None = None  # seen late in state 5; not reported yet
        self._bare: _Result | None = None

        self._state_began = 0.0
        self._warned: dict[int, float] = {}  # warning bit -> since when it has been set
        self._faults: set[WheelFaultName] = set()
        self._self_test: set[str] = set()

    @property
    def deadline(self) -> float | None:
        """None: the status that arrives every half second drives all timing."""
        return None

    def reconnected(self, now: float) -> None:  # noqa: ARG002 - silence counts from the last frame
        """Drop a partial line. The next lines are late until the pace is normal again."""
        self._pending = b""
        self._cut = True
        self._beat.on_reopened()
        self._reopened = True

    def polls(self) -> tuple[tuple[float, bytes], ...]:
        """Mode and versions, once; the status, if the wheel does not send it by itself."""
        once = tuple((0.0, probe + frames.LINE_END) for probe in frames.PROBES)
        return (*once, (self._poll, frames.POLL + frames.LINE_END)) if self._poll else once

    def encode(self, command: str, argument: str = "") -> bytes:
        """Encode ``start start_anticlockwise restart power_on power_off``; none has an argument."""
        if command not in frames.COMMANDS:
            raise ValueError(
                f"cammegh-ss2 has no command {command!r}; there are: {', '.join(frames.COMMANDS)}"
            )
        if argument:
            raise ValueError(f"cammegh-ss2: {command} takes no argument, got {argument!r}")
        return frames.COMMANDS[command] + frames.LINE_END

    def feed(self, data: bytes, now: float) -> list[AnyReading]:
        """Decode bytes that arrived at ``now``."""
        self.counters.bytes += len(data)
        readings: list[AnyReading] = []
        received = self._pending + data
        lines = received.splitlines()
        rest = b"" if received[-1:] in frames.LINE_END else lines.pop()
        for line in lines:
            if len(line) > self._max_line_bytes:
                line = self._limit_length(line, now, readings)
            if line:
                self._on_line(line, now, readings)
            self._cut = False
        self._pending = (
            rest if len(rest) <= self._max_line_bytes else self._limit_length(rest, now, readings)
        )
        return readings

    def delayed(self, since: float, now: float) -> None:
        """See :class:`devices.codec.DelayAware`: the pace shows how many lines it sent
        meanwhile.
        """
        self._beat.delayed(since, now)

    @property
    def opening(self) -> None:
        """See :class:`devices.codec.KeptBytesAware`: the pace shows when a backlog is over."""
        return

    def kept(self, now: float) -> None:  # noqa: ARG002 - the next line counts
        """See :class:`devices.codec.KeptBytesAware`."""
        self._beat.kept()
        self._reopened = self._rest_unseen = True

    def _limit_length(self, line: bytes, now: float, out: list[AnyReading]) -> bytes:
        """Drop the excess of a line that is too long, up to its last ``*``, so that no frame is
        lost.
        """
        while len(line) > self._max_line_bytes:
            star = line.rfind(b"*", 1, self._max_line_bytes + 1)
            cut = star if star > 0 else self._max_line_bytes + 1
            self._garbage(line[:cut], now, out)
            line = line[cut:]
            self._cut = True
        return line

    def _on_line(self, line: bytes, now: float, out: list[AnyReading]) -> None:
        status = frames.read_status(line)
        if status is None:
            star = line.rfind(b"*")
            if star > 0:
                self._garbage(line[:star], now, out)
                line = line[star:]
                self._cut = True
                status = frames.read_status(line)
        if status is not None:
            self.counters.frames += 1
            self._on_status(status, line, now, out)
        elif not (self._on_bare_number(line, now, out) or self._on_reply(line, now, out)):
            # a line that starts like a status, or contains impossible characters, was damaged; any
            # other is of an unknown kind
            if (
                line.startswith(b"*")
                and not line.startswith(b"*X")
                and line.isascii()
                and line.decode("ascii").isprintable()
            ):
                self.counters.unknown += 1
            else:
                self._garbage(line, now, out)

    def _garbage(self, data: bytes, now: float, out: list[AnyReading]) -> None:
        self.counters.damaged += 1
        out.append(
            LinkGarbage(at=now, device=self._device, frame=escape(data[:64]), bytes=len(data))
        )

    def _on_bare_number(self, line: bytes, now: float, out: list[AnyReading]) -> bool:
        """Handle the second witness: a complete line of two characters in state 4 or 5. In other
        states such a line is the tail of another.
        """
        number = frames.NUMBERS.get(line)
        last = self._last
        if (
            number is None
            or self._cut
            or self._reopened
            or last is None
            or last.state not in (4, frames.SETTLED)
        ):
            return False
        self.counters.frames += 1
        self._is_quiet = False
        self._bare = _Result(last.spin, number, line)
        if self._reported and self._reported.spin == last.spin and self._reported.number != number:
            self._set_fault("witnesses_disagree", True, line, now, out, detail=line.decode("ascii"))
        return True

    def _on_reply(self, line: bytes, now: float, out: list[AnyReading]) -> bool:
        """Handle answers, and documented lines that the wheel sends by itself."""
        evidence = escape(line)
        if match := frames.SELF_TEST_CODE.fullmatch(line):
            self._on_self_test(int(match[1]), evidence, now, out)
        elif match := frames.REFUSED.fullmatch(line):
            command, reason = escape(match[1]), match[2].decode("ascii").lower()
            out.append(
                DeviceRefused(
                    at=now, device=self._device, frame=evidence, command=command, reason=reason
                )
            )
        elif reports := frames.read_reports(line):
            for name, value in reports:
                out.append(
                    DeviceReport(
                        at=now, device=self._device, frame=evidence, report=name, value=value
                    )
                )
        else:
            return False
        self.counters.frames += 1
        return True

    def _on_self_test(self, code: int, evidence: str, now: float, out: list[AnyReading]) -> None:
        """Report each code of a self-test once; a passed test ends them all."""
        if code:
            detail = f"{code} {frames.SELF_TEST_FAULTS.get(code, '')}".rstrip()
            if detail not in self._self_test:
                self._self_test.add(detail)
                out.append(
                    WheelFault(
                        at=now,
                        device=self._device,
                        frame=evidence,
                        fault="self_test",
                        active=True,
                        detail=detail,
                    )
                )
            return
        if self._self_test:
            self._self_test.clear()
            out.append(
                WheelFault(
                    at=now, device=self._device, frame=evidence, fault="self_test", active=False
                )
            )
        out.append(
            DeviceReport(
                at=now, device=self._device, frame=evidence, report="self_test", value="passed"
            )
        )

    def _on_status(self, status: Status, line: bytes, now: float, out: list[AnyReading]) -> None:
        out += self._beat.on_frame(now)
        self._reopened = False
        if self._beat.late:
            self.counters.late += 1
        if self._warned and (self._beat.late or self._beat.was_unread(now)):
            self._warned.clear()
        bare = self._bare.number if self._bare and self._bare.spin == status.spin else None
        confirmed = self._confirmation.confirm(status, line, now, self._beat.late, bare)
        if confirmed is not None:
            self._on_confirmed(status, line, confirmed, now, out)

    def _on_confirmed(
        self,
        status: Status,
        line: bytes,
        confirmed: ConfirmedStatus,
        now: float,
        out: list[AnyReading],
    ) -> None:
        last, self._last = self._last, status
        late = self._beat.late
        if confirmed.again and self._is_quiet and not late:
            return
        if last is None or last.state != status.state or last.spin != status.spin:
            self._state_began = confirmed.since
        if last is not None:
            self._follow_spins(last, status, confirmed.lines, now, out)
        self._report_phase(status, line, now, out)
        if status.state == frames.SETTLED:
            joined = last is None or (self._rest_unseen and status.spin != self._last_live_spin)
            self._on_settled(status, confirmed.lines, now, out, joined=joined)
        elif not late:
            self._last_live_spin, self._rest_unseen = status.spin, False
        self._check_reported(status, line, now, out)
        wrong = bool(
            status.warnings
            or self._faults
            or self._warned
            or status.state == frames.BALL_NOT_IN_TRACK
        )
        self._is_quiet = not late and not wrong
        if wrong:
            live = not late and not self._beat.was_unread(now)
            self._update_faults(status, line, confirmed.since, now, out, live=live)

    def _follow_spins(
        self, last: Status, status: Status, lines: bytes, now: float, out: list[AnyReading]
    ) -> None:
        """Follow the spin counter. A missed result is recovered only from the lines of the next
        spin.
        """
        if (
            status.state == frames.BALL_IN_RIM
            and self._reported
            and self._reported.spin == status.spin
        ):
            # launched again with the same count: expect another result
            self._reported = self._candidate = self._bare = None
        restarted = status.number is None and last.number is not None
        if status.spin == last.spin and not restarted:
            return
        candidate = (
            self._candidate if self._candidate and self._candidate.spin == last.spin else None
        )
        if restarted or status.spin != last.spin % frames.MAX_SPIN + 1:
            # power cycle, or more than one missed spin
            if candidate is not None:
                self._report_result(candidate, now, out, late=True, other=None)
            self._reported = self._candidate = self._bare = self._last_live_spin = None
            return
        if self._reported and self._reported.spin == last.spin:
            return
        lost = candidate
        if status.state != frames.SETTLED:
            lost = _Result(last.spin, status.number, lines) if status.number is not None else None
        if lost is not None:
            self._report_result(lost, now, out, late=True, other=candidate)

    def _report_phase(self, status: Status, line: bytes, now: float, out: list[AnyReading]) -> None:
        self._phase = frames.PHASES.get(status.state, self._phase)
        if self._phase is None:
            return
        shown = (self._phase, status.spin, status.direction, status.speed == 0, self._beat.late)
        if shown == self._shown:
            return
        self._shown = shown
        out.append(
            WheelPhase(
                at=now,
                device=self._device,
                frame=escape(line),
                phase=self._phase,
                spin=status.spin,
                rpm=status.speed / 10,
                direction=frames.DIRECTIONS[status.direction],
                late=self._beat.late,
            )
        )

    def _on_settled(
        self, status: Status, lines: bytes, now: float, out: list[AnyReading], joined: bool
    ) -> None:
        if status.number is None:
            self._set_fault(
                "number_unknown", True, lines, now, out, detail=frames.BLANK_NUMBER.decode("ascii")
            )
            return
        if self._reported and self._reported.spin == status.spin:
            return
        result = _Result(status.spin, status.number, lines)
        if self._beat.late:
            self._candidate = result
        else:
            # if the link was opened long after the ball fell, the number is only a candidate
            self._report_result(result, now, out, late=joined, other=None)

    def _report_result(
        self, result: _Result, now: float, out: list[AnyReading], late: bool, other: _Result | None
    ) -> None:
        """Report the result of a spin once. ``other``: the result in an earlier late line."""
        bare = self._bare if self._bare and self._bare.spin == result.spin else None
        conflict = next(
            (
                candidate.number
                for candidate in (bare, other)
                if candidate and candidate.number != result.number
            ),
            None,
        )
        evidence = result.lines if bare is None else bare.lines + frames.LINE_END + result.lines
        self._reported = result
        self._candidate = self._bare = None
        out.append(
            WheelNumber(
                at=now,
                device=self._device,
                frame=escape(evidence),
                number=result.number,
                spin=result.spin,
                late=late,
                witness="both" if bare and bare.number == result.number else "status",
                conflict=conflict,
            )
        )
        self._set_fault("witnesses_disagree", False, result.lines, now, out)
        unknown = result.number not in self._pockets
        self._set_fault(
            "number_unknown",
            unknown,
            result.lines,
            now,
            out,
            detail=str(result.number) if unknown else None,
        )

    def _check_reported(
        self, status: Status, line: bytes, now: float, out: list[AnyReading]
    ) -> None:
        """Report a fault if the number changes after it was reported."""
        reported = self._reported
        if reported is None or status.number is None:
            return
        if status.spin == (
            reported.spin if status.state == frames.SETTLED else reported.spin % frames.MAX_SPIN + 1
        ):
            changed = status.number != reported.number
            self._set_fault(
                "number_changed",
                changed,
                line,
                now,
                out,
                detail=str(status.number) if changed else None,
            )

    def _update_faults(
        self,
        status: Status,
        line: bytes,
        since: float,
        now: float,
        out: list[AnyReading],
        *,
        live: bool,
    ) -> None:
        """Turn warning bits into faults after the device's own ignore times. Only ``live`` lines
        raise a fault, because the times are times of arrival; any line without the warning ends it,
        so that no fault is carried over to the next spin.
        """
        for bit in (1, 2, 4, 8) if live else ():
            if not status.warnings & bit:
                self._warned.pop(bit, None)
            else:
                self._warned.setdefault(bit, since)
        due: set[WheelFaultName] = set()
        for warning in frames.WARNINGS:
            if status.warnings & warning.bit and status.state == warning.state:
                if warning.fault in self._faults:
                    due.add(warning.fault)
                elif live:
                    state_began = warning.since == "state"
                    began = self._state_began if state_began else self._warned[warning.bit]
                    if now - began >= warning.after:
                        due.add(warning.fault)
        if status.state == frames.BALL_NOT_IN_TRACK and (
            live or "ball_not_in_track" in self._faults
        ):
            due.add("ball_not_in_track")
        for fault in (
            *dict.fromkeys(warning.fault for warning in frames.WARNINGS),
            "ball_not_in_track",
        ):
            self._set_fault(fault, fault in due, line, now, out)

    def _set_fault(
        self,
        fault: WheelFaultName,
        active: bool,
        line: bytes,
        now: float,
        out: list[AnyReading],
        detail: str | None = None,
    ) -> None:
        """Report that a fault begins or ends; nothing if it is unchanged."""
        if active == (fault in self._faults):
            return
        (self._faults.add if active else self._faults.discard)(fault)
        spin = self._last.spin if self._last else None
        out.append(
            WheelFault(
                at=now,
                device=self._device,
                frame=escape(line),
                fault=fault,
                active=active,
                spin=spin,
                detail=detail,
            )
        )
