"""Driver of ccTalk coin acceptors: those of all boxes of a table on one bus.

``docs/technician/devices/coin-acceptors.md`` has the wiring and the settings.

All acceptors share one wire, and the host receives an echo of each request that it sends. The echo
shows to which request the next answer belongs, so a recording is decoded exactly as live data. An
answer is accepted only after the complete echo of its request.

Source: the generic specification of ccTalk, parts 1, 2 and 4, which are public, and makers' manuals
that quote them. This driver was never tried with a real acceptor.
"""

from __future__ import annotations

from collections import deque
from math import inf
from typing import Annotated, Literal

import msgspec

from common.device_health import Counters
from common.money import AMOUNT_META
from common.readings import AnyReading, DeviceReport, LinkGarbage, LinkLate, SlotCoin, escape
from devices.codec import MAX_LIVE_DELAY_SECONDS, Driver, FrameProof
from devices.slot import cctalk_frames as frames
from devices.slot.cctalk_box import BoxAcceptor, Request
from devices.slot.cctalk_coins import POSITIONS

ANSWER_SECONDS = 0.2
"""Default time after a request within which its answer must be complete. At 9600 baud the echo and
the longest usual answer take 0.04 s.
"""
REQUEST_GAP_SECONDS = 0.01
"""Time between an answer and the next request."""
FAILURE_PAUSE_SECONDS = 0.05
"""Time after a failed request: by then every device has dropped a partial frame."""
LATE_AFTER_SECONDS = 2.0
"""If an acceptor's events were not received for longer than this, its coins are late."""
OVERDUE_SECONDS = 2.0
"""Time after a request within which a late answer is attributed to it."""
MAX_OVERDUE_REQUESTS = 16
CLEAN_ANSWERS = 50
"""Number of consecutive answers after which a damaged or missing echo is reported as whole
again.
"""
MAX_JUNK_BYTES = 64
"""Maximum bytes of junk per report."""

Address = Annotated[int, msgspec.Meta(ge=2, le=255)]
Box = Annotated[int, msgspec.Meta(ge=1, le=99)]
Position = Annotated[int, msgspec.Meta(ge=1, le=POSITIONS)]
Amount = Annotated[int, msgspec.Meta(ge=1, le=999_999_999, extra=AMOUNT_META)]


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``boxes``: the bus address of each acceptor, and its box. ``coins``: positions and their
    amounts in minor units; only these are accepted. Empty: all coins that the acceptors name.
    ``currency``: the two letters in the names of coins. ``poll``: seconds between two requests to
    one acceptor. ``answer``: seconds after a request within which its answer must be complete.
    ``checksum``: the kind that the bus uses.
    """

    boxes: tuple[tuple[Address, Box], ...] = ((2, 1),)
    coins: tuple[tuple[Position, Amount], ...] = ()
    currency: Annotated[str, msgspec.Meta(pattern="^([A-Z]{2})?$")] = "EU"
    poll: Annotated[float, msgspec.Meta(ge=0.1, le=0.9)] = 0.5
    answer: Annotated[float, msgspec.Meta(ge=0.05, le=1.0)] = ANSWER_SECONDS
    checksum: Literal["simple", "crc"] = "simple"

    def __post_init__(self) -> None:
        # an invalid field is empty here; the check of the file reports it
        if not self.boxes:
            raise ValueError("boxes: no acceptor; give address and box of each: [[2, 1], [3, 2]]")
        for name, found in (
            ("boxes: address", [address for address, _ in self.boxes]),
            ("boxes: box", [box for _, box in self.boxes]),
            ("coins: position", [position for position, _ in self.coins]),
        ):
            if twice := [value for value in found if found.count(value) > 1]:
                raise ValueError(f"{name} {twice[0]} is given twice; give each once")


class CcTalkCodec:
    """The acceptors of one table. See :class:`devices.codec.Codec` and
    :class:`devices.codec.RequestingCodec`.
    """

    steady = True
    proof = FrameProof.CHECKED

    def __init__(self, device: str, options: Options) -> None:
        self.counters = Counters()
        self.own = 0
        self._device = device
        self._crc = options.checksum == "crc"
        self._limit = options.answer
        # a change must be received twice, so a longer limit counts twice
        self._late_after = LATE_AFTER_SECONDS + 2 * max(0.0, options.answer - ANSWER_SECONDS)
        self._acceptors = {
            address: BoxAcceptor(
                device, address, box, dict(options.coins), options.currency, options.poll
            )
            for address, box in options.boxes
        }
        self._pending = b""
        self._junk = b""
        # the pending request, when it was sent, and when its answer is overdue
        self._request: tuple[BoxAcceptor, Request] | None = None
        self._asked_at = -inf
        self._answer_by = inf
        # acceptors that did not answer in time, and when they were asked: they may still answer
        self._overdue: deque[tuple[BoxAcceptor, float]] = deque(maxlen=MAX_OVERDUE_REQUESTS)
        self._next = -inf
        self._touched = False  # bytes that are not a frame arrived since the request
        self._echo: tuple[BoxAcceptor, Request] | None = None  # the request on the line, unanswered
        self._echoed = False
        self._line = "whole"
        self._clean = 0
        self._echo_missing = False  # an echo is missing: it may still come, and old answers with it
        self._unsure_until = -inf
        self._late, self._silence = 0, 0.0

    @property
    def deadline(self) -> float | None:
        """When to send the next request, or when an answer is overdue."""
        if self._request is not None:
            return self._answer_by
        return max(self._next, min(acceptor.due for acceptor in self._acceptors.values()))

    def reconnected(self, now: float) -> None:
        """Drop partial frames. Acceptors may have been replaced; old answers may still come."""
        self._pending = self._junk = b""
        self._request, self._echo = None, None
        self._overdue.clear()
        self._next, self._echo_missing = now, True
        for acceptor in self._acceptors.values():
            acceptor.on_reconnected(now)

    @property
    def opening(self) -> None:
        """See :class:`devices.codec.KeptBytesAware`: coins are late for some time after kept
        bytes.
        """
        return

    def kept(self, now: float) -> None:
        """See :class:`devices.codec.KeptBytesAware`. Old answers may still come."""
        self._unsure_until = now + MAX_LIVE_DELAY_SECONDS

    def polls(self) -> tuple[tuple[float, bytes], ...]:
        """Nothing at fixed intervals: see :meth:`ask`."""
        return ()

    def encode(self, command: str, argument: str = "") -> bytes:  # noqa: ARG002
        """Raise ``ValueError``: acceptors accept no commands."""
        raise ValueError(f"cctalk-acceptor has no command {command!r}; it accepts no commands")

    def ask(self, now: float) -> bytes:
        """Return a request to the acceptor that has waited longest, unless one is pending."""
        if self._request is not None or now < self._next:
            return b""
        acceptor = min(
            self._acceptors.values(), key=lambda candidate: (candidate.due, candidate.address)
        )
        if now < acceptor.due:
            return b""
        header, data = acceptor.request(now)
        self._request, self._asked_at, self._answer_by = (
            (acceptor, (header, data)),
            now,
            now + self._limit,
        )
        self._echoed, self._touched = self._echo is not None, False
        return frames.write_frame(acceptor.address, frames.HOST_ADDRESS, header, data, self._crc)

    def feed(self, data: bytes, now: float) -> list[AnyReading]:
        """Decode bytes that arrived at ``now``."""
        out: list[AnyReading] = []
        if not data:
            if now >= self._answer_by:
                self._on_overdue(now, out)
            return out
        self.counters.bytes += len(data)
        if self._echo_missing:
            self._echo_missing, self._unsure_until = False, now + MAX_LIVE_DELAY_SECONDS
        received, begin = self._pending + data, 0
        while begin < len(received):
            found = frames.read_frame(received, begin, self._acceptors, self._crc)
            if found is True:
                break
            if found is False:
                self._junk += received[begin : begin + 1]
                self._touched = True
                begin += 1
                if len(self._junk) == MAX_JUNK_BYTES:
                    self._drop_junk(now, out)
                continue
            self._drop_junk(now, out)
            begin += len(found.raw)
            self._frame(found, now, out)
        self._pending = received[begin:]
        return out

    def damaged(self, byte: bytes, now: float) -> list[AnyReading]:
        """See :class:`devices.codec.DamageAware`: any byte may be part of a frame."""
        out: list[AnyReading] = []
        self.counters.bytes += len(byte)
        self._junk += self._pending + byte
        self._pending = b""
        self._touched = True
        self._drop_junk(now, out)
        return out

    def _frame(self, frame: frames.CcTalkFrame, now: float, out: list[AnyReading]) -> None:
        if frame.to != frames.HOST_ADDRESS:
            self.own += len(frame.raw)
            self._echo = self._acceptors[frame.to], (frame.header, frame.data)
            self._echoed = True
            return
        echo, self._echo = self._echo, None
        evidence = escape(frame.raw)
        if echo is None or frame.source not in (None, echo[0].address):
            # a copy, or too late to attribute; the acceptor that was asked may still answer
            self._echo = echo
            self.counters.unknown += 1
            self._on_unrequested(frame, now, evidence, out)
            return
        acceptor, request = echo
        self._request, self._answer_by, self._next = None, inf, now + REQUEST_GAP_SECONDS
        self._report_echo("whole", now, out)
        if (size := self._wrong_size(frame, request[0])) is not None:
            self.counters.unknown += 1
            acceptor.on_wrong_size(request[0], len(frame.data), size, now, evidence, out)
            return
        self.counters.frames += 1
        self._overdue = deque(
            (item for item in self._overdue if item[0] is not acceptor), MAX_OVERDUE_REQUESTS
        )
        if frame.header == frames.NAK:
            acceptor.on_refusal(request[0], now, evidence, out)
        elif frame.header == frames.BUSY:
            acceptor.on_busy(now, evidence, out)
        else:
            silence = now - acceptor.last_buffer_at
            late = silence > self._late_after or now < self._unsure_until
            found = acceptor.on_answer(request, frame.data, now, late, evidence)
            coins = any(isinstance(item, SlotCoin) for item in found)
            self._count_late(coins, late, silence, now, out)
            out += found

    def _on_unrequested(
        self, frame: frames.CcTalkFrame, now: float, evidence: str, out: list[AnyReading]
    ) -> None:
        """Handle an answer that belongs to no pending request."""
        for overdue in self._overdue:
            acceptor, asked_at = overdue
            if now - asked_at <= OVERDUE_SECONDS and frame.source in (None, acceptor.address):
                self._overdue.remove(overdue)  # answers come in the order of the requests
                acceptor.on_late_answer(now - asked_at, self._limit, now, evidence, out)
                return
        if frame.source is not None:
            self._acceptors[frame.source].on_unrequested_answer()

    def _wrong_size(self, frame: frames.CcTalkFrame, header: int) -> int | None:
        """Expected number of data bytes of an answer, if it has another number."""
        size = frames.REQUESTS[header][1] if frame.header == frames.ACK else 0
        return None if size in (None, len(frame.data)) else size

    def _count_late(
        self, coins: bool, late: bool, silence: float, now: float, out: list[AnyReading]
    ) -> None:
        """Count answers with late coins; report them once an answer is live."""
        if late and coins:
            self._late += 1
            self.counters.late += 1
            self._silence = max(self._silence, silence)
        elif self._late and not late:
            out.append(
                LinkLate(
                    at=now, device=self._device, frames=self._late, silence=round(self._silence, 3)
                )
            )
            self._late, self._silence = 0, 0.0

    def _on_overdue(self, now: float, out: list[AnyReading]) -> None:
        """Handle an overdue answer: the acceptor is silent, or the line is faulty."""
        self._touched = self._touched or bool(self._pending)
        self._junk += self._pending
        self._pending = b""
        self._drop_junk(now, out)
        if self._request is None:
            return
        acceptor, (header, _) = self._echo or self._request
        self._request, self._echo, self._answer_by, self._next = (
            None,
            None,
            inf,
            now + FAILURE_PAUSE_SECONDS,
        )
        if self._echoed:
            self._overdue.append((acceptor, self._asked_at))
            acceptor.on_no_answer(header, now, out)
            return
        acceptor.due = now  # ask again, in its turn
        self._echo_missing = not self._touched
        self._report_echo("damaged" if self._touched else "missing", now, out)

    def _report_echo(self, line: str, now: float, out: list[AnyReading]) -> None:
        """Report when the echo becomes damaged or missing, and when it has been whole for some
        time.
        """
        self._clean = self._clean + 1 if line == "whole" else 0
        if line == self._line or (line == "whole" and self._clean < CLEAN_ANSWERS):
            return
        self._line = line
        out.append(DeviceReport(at=now, device=self._device, report="echo", value=line))

    def _drop_junk(self, now: float, out: list[AnyReading]) -> None:
        if self._junk:
            self.counters.damaged += 1
            out.append(
                LinkGarbage(
                    at=now,
                    device=self._device,
                    frame=escape(self._junk[:MAX_JUNK_BYTES]),
                    bytes=len(self._junk),
                )
            )
            self._junk = b""


def _make(device: str, options: msgspec.Struct) -> CcTalkCodec:
    assert isinstance(options, Options)
    return CcTalkCodec(device, options)


DRIVER = Driver(
    name="cctalk-acceptor",
    kind="slot",
    title="ccTalk coin acceptors on one bus",
    evidence="documented",
    line="baud=9600",
    framings=({}, {"checksum": "crc"}),
    options=Options,
    commands=(),
    make=_make,
)
