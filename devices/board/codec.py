"""Base class of the codecs of sensor boards: lines, checks, sequence numbers, copies, restarts and
lateness.

The codec of one kind of board defines its words and their meaning, and keeps its own state.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Mapping
from typing import Annotated, ClassVar

import msgspec

from common.device_health import Counters
from common.readings import AnyReading, DeviceReport, LinkGap, LinkGarbage, LinkLate, escape
from devices.board.lateness import MAX_DRIFT, Lateness
from devices.board.report import (
    CLOCK_WRAP_MS,
    FORMAT_VERSION,
    FRAME,
    HEARTBEAT_SECONDS,
    MAX_LINE_BYTES,
    SEQUENCE_NUMBERS,
    Report,
    read_report,
)
from devices.codec import FrameProof
from devices.lines import LineSplitter

RECENT_LINES = 8
"""Number of previous lines with which a line is compared. An equal line is a copy, because number
and time together are unique.
"""

MAX_REPORT_GAP_MS = round(1500 * HEARTBEAT_SECONDS)
"""Maximum time between reports, in milliseconds of the board's clock. A board that was silent for
longer may not have watched its sensors either.
"""

_LINE_END = re.compile(rb"[\r\n]")
_BOOT_FIELDS = re.compile(rf"{FORMAT_VERSION},(?P<says>[!-~][ -~]{{0,63}})")


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of all boards. ``late_after``: a report is late if it arrives this many seconds later
    than the fastest one.
    """

    late_after: Annotated[float, msgspec.Meta(gt=0, le=86400)] = 1.0

    def __post_init__(self) -> None:
        if not self.late_after > 0:
            raise ValueError(
                f"late_after: expected a number of seconds above 0, got {self.late_after:g}"
            )


class BoardMessage(msgspec.Struct, frozen=True):
    """A parsed report. ``now``: when it arrived; ``at``: when the board sent it, in seconds of the
    board's clock; ``late``: it waited, or may have waited; ``frame``: the evidence.
    """

    word: str
    fields: re.Match[str]
    now: float
    at: float
    late: bool
    frame: str


class BoardCodec(ABC):
    """One board. See :class:`devices.codec.Codec`. ``words``: word -> pattern of its fields."""

    kind: ClassVar[str]
    words: ClassVar[Mapping[str, re.Pattern[str]]]
    accepts_late: ClassVar[frozenset[str]] = frozenset()
    """Words that are accepted even if they may have waited. All others are repeated within a
    second.
    """
    shows_garbage: ClassVar[bool] = True
    """Whether unparsable bytes may appear in readings."""
    steady = True
    proof = FrameProof.CHECKED

    def __init__(self, device: str, options: Options) -> None:
        self.counters = Counters()
        self._device = device
        self._lines = LineSplitter(_LINE_END, MAX_LINE_BYTES)
        self._last: Report | None = None
        self._recent: deque[bytes] = deque(maxlen=RECENT_LINES)
        self._ms = 0  # the board's clock in milliseconds, continued across its wrap-around
        self._arrived = 0.0
        self._lateness = Lateness(options.late_after)
        self._late, self._silence = 0, 0.0
        self._reported_unknown: set[str] = set()  # unknown words that were already reported

    @property
    def deadline(self) -> float | None:
        """None: the state report that arrives every second drives all timing."""
        return None

    def reconnected(self, now: float) -> None:  # noqa: ARG002 - the next report shows the gap
        """Drop a partial line. Reports may have waited meanwhile."""
        self._lines.clear()
        self._lateness.restart()

    def polls(self) -> tuple[tuple[float, bytes], ...]:
        """Nothing: a board sends by itself."""
        return ()

    def encode(self, command: str, argument: str = "") -> bytes:  # noqa: ARG002
        """Raise ``ValueError``: a board accepts no commands."""
        raise ValueError(
            f"{self.kind} board: no command {command!r}; a sensor board accepts no commands"
        )

    def feed(self, data: bytes, now: float) -> list[AnyReading]:
        """Decode bytes that arrived at ``now``."""
        self.counters.bytes += len(data)
        out: list[AnyReading] = []
        for piece in self._lines.feed(data):
            self._on_line(piece.data, now, out)
        return out

    def delayed(self, since: float, now: float) -> None:
        """See :class:`devices.codec.DelayAware`: the board's clock shows when it sent a report."""
        self._lateness.delayed(since, now)

    @property
    def opening(self) -> None:
        """See :class:`devices.codec.KeptBytesAware`: the board's clock shows when a backlog is
        over.
        """
        return

    def kept(self, now: float) -> None:  # noqa: ARG002 - the next report counts
        """See :class:`devices.codec.KeptBytesAware`."""
        self._lateness.kept()

    @abstractmethod
    def on_message(self, message: BoardMessage, out: list[AnyReading]) -> None:
        """Handle a report."""

    @abstractmethod
    def on_restart(self) -> None:
        """Discard the state: the board was restarted."""

    def on_gap(self) -> None:  # noqa: B027 - optional: not every board waits for something
        """Handle lost reports: anything that was being timed may have been interrupted."""

    def report(
        self, report: str, value: str, now: float, out: list[AnyReading], frame: str | None = None
    ) -> None:
        """Append a report of the board about itself."""
        out.append(
            DeviceReport(at=now, device=self._device, frame=frame, report=report, value=value)
        )

    def _on_line(self, line: bytes, now: float, out: list[AnyReading]) -> None:
        """Parse the reports in a line: usually one, or several if line ends were lost. Drop the
        bytes between them.
        """
        begin = 0
        for match in FRAME.finditer(line):
            self._drop_bytes(line[begin : match.start()], now, out)
            begin = match.end()
            report = read_report(match[0])
            if report is None:
                self._drop_bytes(match[0], now, out)
            else:
                self._on_report(report, now, out)
        self._drop_bytes(line[begin:], now, out)

    def _drop_bytes(self, piece: bytes, now: float, out: list[AnyReading]) -> None:
        if piece:
            self.counters.damaged += 1
            shown = escape(piece[:64]) if self.shows_garbage else None
            out.append(LinkGarbage(at=now, device=self._device, frame=shown, bytes=len(piece)))

    def _on_report(self, report: Report, now: float, out: list[AnyReading]) -> None:
        if report.kind != self.kind:
            # not a valid frame, so that a wrong driver is noticed
            self.counters.unknown += 1
            self._report_once("kind", report.kind, now, out)
            return
        if report.line in self._recent and (
            report.word != "boot" or now - self._arrived < HEARTBEAT_SECONDS
        ):
            return  # a copy does not show that the board is alive
        self.counters.frames += 1
        self._follow_clock(report, now, out)
        self._recent.append(report.line)
        self._last, heard_before, self._arrived = report, self._arrived, now
        waited = self._lateness.is_late(self._ms / 1000, now)
        self._report_burst(waited, now - heard_before, now, out)
        self._on_valid_report(report, waited, now, out)

    def _follow_clock(self, report: Report, now: float, out: list[AnyReading]) -> None:
        """Follow the board's sequence number and clock; detect lost reports and restarts, announced
        or not.
        """
        last = self._last
        if last is None:
            self._ms = report.ms
            return
        since, lost = self._ms, (report.number - last.number - 1) % SEQUENCE_NUMBERS
        passed = (report.ms - last.ms) % CLOCK_WRAP_MS
        if (
            report.word == "boot"
            or passed >= CLOCK_WRAP_MS // 2
            or lost >= SEQUENCE_NUMBERS // 2
            or (lost and not self._has_run_since(last, report, now))
        ):
            self._ms = report.ms
            self._recent.clear()
            self._lateness.restart()
            self.on_restart()
            lost = 1  # reports from before the restart may be missing
            if report.word != "boot":
                self.report(
                    "boot",
                    "not heard",
                    now,
                    out,
                    escape(report.line) if self.shows_garbage else None,
                )
        else:
            self._ms += passed
        if lost or self._ms - since > MAX_REPORT_GAP_MS:
            self.on_gap()
        if lost:
            out.append(LinkGap(at=now, device=self._device, lost=lost))

    def _has_run_since(self, last: Report, report: Report, now: float) -> bool:
        """Whether the board's clock shows that it was not restarted after ``last``: it went on as
        ours did, or shows more than the time since then. Numbers and counts do not show it: those
        of a restarted board may be past the old ones.
        """
        elapsed = 1000 * (now - self._arrived)
        passed = (report.ms - last.ms) % CLOCK_WRAP_MS
        return abs(passed - elapsed) <= MAX_REPORT_GAP_MS or (
            report.ms >= last.ms and report.ms > (1 + MAX_DRIFT) * elapsed
        )

    def _report_burst(
        self, waited: bool, silence: float, now: float, out: list[AnyReading]
    ) -> None:
        """Report a burst once it is over."""
        if waited:
            self._silence = self._silence if self._late else silence
            self._late += 1
            self.counters.late += 1
        elif self._late:
            out.append(
                LinkLate(
                    at=now, device=self._device, frames=self._late, silence=round(self._silence, 3)
                )
            )
            self._late = 0

    def parse_fields(self, report: Report) -> re.Match[str] | None:
        """Return the fields of a report, or None if they are malformed."""
        shape = _BOOT_FIELDS if report.word == "boot" else self.words.get(report.word)
        return shape.fullmatch(report.fields) if shape is not None else None

    def on_malformed(self, report: Report, now: float, out: list[AnyReading]) -> None:
        """Handle a line with a correct check but malformed content. If its word is known, a report
        was lost.
        """
        self.counters.unknown += 1
        self._report_once("not_understood", report.word, now, out)
        if report.word in self.words:
            self.on_gap()
            out.append(LinkGap(at=now, device=self._device, lost=1))

    def _on_valid_report(
        self, report: Report, waited: bool, now: float, out: list[AnyReading]
    ) -> None:
        fields = self.parse_fields(report)
        joined = self._lateness.is_learning(now)
        if fields is None:
            self.on_malformed(report, now, out)
        elif report.word == "boot":
            self.report("boot", fields["says"], now, out, escape(report.line))
        elif joined and report.word not in self.accepts_late:
            self.on_gap()  # a state report that may have waited; it will be repeated
        else:
            self.on_message(
                BoardMessage(
                    report.word, fields, now, self._ms / 1000, waited or joined, escape(report.line)
                ),
                out,
            )

    def _report_once(self, report: str, value: str, now: float, out: list[AnyReading]) -> None:
        """Report a value only once, and only a limited number of values."""
        if value not in self._reported_unknown and len(self._reported_unknown) < RECENT_LINES:
            self._reported_unknown.add(value)
            self.report(report, value, now, out)
