"""A Slingshot 2 that is also asked: for its parameters, then for its win log.

It is asked only in state 6, where it answers and no ball is in play, and only between two of its
status lines: 0.1 s after one that is live. So a wheel that falls silent, or starts a game, is asked
nothing more.
"""

from __future__ import annotations

from common.cammegh_ss2_frames import CLOSED, LINE_END, Status
from common.readings import AnyReading, DeviceParameter, WheelLog, escape
from devices.wheel.cammegh_ss2 import CammeghSS2, Options
from devices.wheel.cammegh_ss2_confirmation import ConfirmedStatus
from devices.wheel.cammegh_ss2_inquiry import AcceptedValue, ParameterInquiry
from devices.wheel.cammegh_ss2_log import MAX_LINE_BYTES, PAGE_CHARACTERS, WINS, WinLogReader
from devices.wheel.cammegh_ss2_parameters import expected, read_parameter

REQUEST_DELAY_SECONDS = 0.1
"""Time from a status line to the request that follows it; half a period of a faster wheel."""
REREADING_SECONDS = 600.0
"""Time between two readings of the parameters while the wheel stays in state 6: at the multiples of
it, so that a decoder that begins later keeps the same times.
"""


class AskingCammeghSS2(CammeghSS2):
    """See :class:`devices.codec.RequestingCodec`."""

    own = 0
    _max_line_bytes = MAX_LINE_BYTES

    def __init__(self, device: str, options: Options) -> None:
        super().__init__(device, options)
        self._pocket_count = options.pockets
        self._twice = options.heard_twice
        self._delay = min(REQUEST_DELAY_SECONDS, (options.poll or options.period) / 2)
        self._inquiry: ParameterInquiry | None = None  # None: not in state 6
        self._interval = 0.0  # the multiple of the interval in which it began
        self._log: WinLogReader | None = None  # None: nothing to read
        self._request_due: float | None = None

    @property
    def deadline(self) -> float | None:
        """When the next request is due."""
        return self._request_due

    def reconnected(self, now: float) -> None:
        """Ask again when the wheel is next seen in state 6."""
        super().reconnected(now)
        self._stop_asking()

    def ask(self, now: float) -> bytes:
        """Return the next request, if it is due."""
        if self._request_due is None or now < self._request_due:
            return b""
        self._request_due = None
        request = b""
        if self._inquiry is not None and not self._inquiry.is_over:
            request = self._inquiry.request(now)
        elif self._log is not None:
            request = self._log.request(now)
        return request + LINE_END if request else b""

    def _on_confirmed(
        self,
        status: Status,
        line: bytes,
        confirmed: ConfirmedStatus,
        now: float,
        out: list[AnyReading],
    ) -> None:
        super()._on_confirmed(status, line, confirmed, now, out)
        if status.state != CLOSED:
            if (log := self._log) is not None and log.is_begun and not log.is_over:
                log.interrupt()
                self._report_log(log, line, now, out)
            self._stop_asking()
        elif not self._beat.late:
            self._on_closed(now, line, out)

    def _on_closed(self, now: float, line: bytes, out: list[AnyReading]) -> None:
        """Plan the next request: the wheel is live and in state 6."""
        inquiry, interval = self._inquiry, now // REREADING_SECONDS
        if inquiry is None and self._pocket_count <= WINS:
            self._log = WinLogReader(twice=self._twice)
        if inquiry is None or (inquiry.is_over and interval != self._interval):
            inquiry = self._inquiry = ParameterInquiry(twice=self._twice)
            self._interval = interval
        for unanswered in inquiry.give_up(now):
            self._report_parameter(unanswered, line, now, out)
        if self._log is not None and self._log.is_over:
            self._report_log(self._log, line, now, out)
        if not inquiry.is_over or self._log is not None:
            self._request_due = now + self._delay

    def _stop_asking(self) -> None:
        self._inquiry = self._log = self._request_due = None

    def _on_line(self, line: bytes, now: float, out: list[AnyReading]) -> None:
        log = self._log
        if log is None or not log.on_line(line):
            super()._on_line(line, now, out)
            return
        self.counters.frames += 1
        if log.is_over:
            self._report_log(log, line, now, out)

    def _on_reply(self, line: bytes, now: float, out: list[AnyReading]) -> bool:
        reply, inquiry = read_parameter(line), self._inquiry
        if reply is None or inquiry is None or not inquiry.expects(reply[0]):
            return super()._on_reply(line, now, out)
        self.counters.frames += 1
        if (accepted := inquiry.on_reply(*reply)) is not None:
            self._report_parameter(accepted, line, now, out)
        return True

    def _report_parameter(
        self, accepted: AcceptedValue, line: bytes, now: float, out: list[AnyReading]
    ) -> None:
        name, value = accepted
        out.append(
            DeviceParameter(
                at=now,
                device=self._device,
                frame=escape(line),
                parameter=name,
                value=value,
                expected=None if value is None else expected(name, value, self._pocket_count),
            )
        )

    def _report_log(
        self, log: WinLogReader, line: bytes, now: float, out: list[AnyReading]
    ) -> None:
        self._log = None  # once until the wheel has left state 6
        out.append(
            WheelLog(
                at=now,
                device=self._device,
                frame=escape(LINE_END.join(log.lines or [line])),
                pages=log.count,
                first=log.first_page * PAGE_CHARACTERS,
                entries=log.entries(),
                problem=log.problem,
            )
        )
