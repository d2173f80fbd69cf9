"""Drivers of barcode scanners that read cards as they are drawn: one serial, one USB HID.

A scanner sends only when it reads. A code in the site's table is a card. Any other code, and the
scanner's own no-read message, is an unknown card. An incomplete code may have been a card and is
reported as a gap. An equal code soon after another may be one card read twice or two equal cards;
the driver cannot decide this, so a person must check that card, and any whose code is also what a
lost character leaves of another code.

Only ``card.drawn`` contains the scanned code: the card may be face down.

On a serial line any text may be a code. Only a code of the table, or the no-read message, proves
that the scanner is there; other text in the first second of a connection comes from a device
server.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Annotated, Literal

import msgspec

from common.device_health import Counters
from common.readings import (
    AnyReading,
    CardCut,
    CardDrawn,
    LinkGarbage,
    ShoeFault,
    ShoeFaultName,
    escape,
)
from devices.codec import GREETING_SECONDS, Driver, FrameProof
from devices.losses import LossReporter
from devices.pace import HandPace
from devices.shoe.barcode_cards import (
    CUT_CARD,
    STANDARD,
    check,
    remnants,
    strip_blanks,
    table_of,
)
from devices.shoe.barcode_frames import KeyboardDecoder, LineDecoder, PosDecoder, Scan, ScanDecoder

CODE_TIMEOUT_SECONDS = 1.0
"""Time after its last byte when an incomplete code is abandoned. At 9600 baud a complete code takes
0.05 s.
"""


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``cards``: code -> card, for all 52, and ``"cut"`` for the cut card; default:
    :data:`devices.shoe.barcode_cards.STANDARD`.

    ``noread``: the scanner's no-read message; ``repeat``: seconds within which an equal code may be
    the same card; ``min_draw``: minimum seconds between two cards.
    """

    cards: dict[str, str] | None = None
    noread: str = "NOREAD"
    repeat: Annotated[float, msgspec.Meta(ge=0, le=3600)] = 1.0
    min_draw: Annotated[float, msgspec.Meta(ge=0, le=3600)] = 0.2

    def __post_init__(self) -> None:
        check(STANDARD if self.cards is None else self.cards, self.noread)


class HidOptions(Options, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``reports``: whether the scanner acts as a keyboard or as a HID point-of-sale scanner."""

    reports: Literal["keyboard", "pos"] = "keyboard"


class Barcode:
    """One scanner. See :class:`devices.codec.Codec`."""

    steady = False
    proof = FrameProof.FORM

    def __init__(self, device: str, options: Options, framing: ScanDecoder) -> None:
        self.counters = Counters()
        self._device = device
        self._cards = STANDARD if options.cards is None else table_of(options.cards)
        self._remnants = remnants(self._cards)
        self._noread = strip_blanks(options.noread)
        self._repeat = options.repeat
        self._framing = framing
        self._pace = HandPace(device, options.min_draw)
        self._last_byte_at = 0.0  # when the last byte arrived
        # a partial code left by a closed link: when to report it, and its size
        self._cut: tuple[float, int] | None = None
        # the last code, when it arrived, and whether it was late
        self._last: tuple[str, float, bool] | None = None
        self._fault: ShoeFaultName | None = None
        self._losses = LossReporter(device)
        self._greeting_until = -inf  # until then, unknown text may come from a device server

    @property
    def deadline(self) -> float | None:
        """When a burst is over, or an incomplete code is abandoned."""
        timeout = self._last_byte_at + CODE_TIMEOUT_SECONDS if self._framing.pending else None
        times = (self._pace.deadline, timeout, self._cut and self._cut[0])
        return min((time for time in times if time is not None), default=None)

    def opened(self, now: float) -> None:
        """See :class:`devices.codec.GreetingAware`."""
        if self._framing.proof is FrameProof.TEXT:
            self._greeting_until = now + GREETING_SECONDS

    def reconnected(self, now: float) -> None:
        """Drop a partial code, and report it."""
        size = self._framing.drop() + (self._cut[1] if self._cut else 0)
        self._cut = (now, size) if size else None

    def polls(self) -> tuple[tuple[float, bytes], ...]:
        """Nothing: a scanner sends by itself."""
        return ()

    def encode(self, command: str, argument: str = "") -> bytes:  # noqa: ARG002
        """Raise ``ValueError``: a scanner accepts no commands."""
        raise ValueError(f"a barcode scanner has no command {command!r}; it accepts no commands")

    def delayed(self, since: float, now: float) -> None:
        """See :class:`devices.codec.DelayAware`: no hand draws faster than ``min_draw``."""
        self._pace.delayed(since, now)

    @property
    def opening(self) -> float:
        """See :class:`devices.codec.KeptBytesAware`."""
        return self._pace.opening

    def kept(self, now: float) -> None:
        """See :class:`devices.codec.KeptBytesAware`."""
        self._pace.kept(now)

    def feed(self, data: bytes, now: float) -> list[AnyReading]:
        """Decode bytes that arrived at ``now``."""
        out: list[AnyReading] = [*self._pace.burst(now)]
        if self._cut is not None:
            self._report_lost(self._cut[1], now, out)
            self._cut = None
        if self._framing.pending and now >= self._last_byte_at + CODE_TIMEOUT_SECONDS:
            self._report_lost(self._framing.drop(), now, out)
        if data:
            self._last_byte_at = now
            self.counters.bytes += len(data)
            reports = self._framing.frames
            scans = self._framing.push(data)
            self.counters.frames += self._framing.frames - reports
            for scan in scans:
                self._on_scan(scan, now, out)
        return out

    def _on_scan(self, scan: Scan, now: float, out: list[AnyReading]) -> None:
        if scan.code is None:
            self._report_lost(len(scan.bytes), now, out)
            return
        card = self._cards.get(scan.code)
        if card is not None or scan.code == self._noread:
            self.counters.frames += self._framing.proof is FrameProof.TEXT
            self._greeting_until = -inf
        elif now < self._greeting_until:
            self.counters.damaged += 1
            out.append(LinkGarbage(at=now, device=self._device, bytes=len(scan.bytes)))
            return
        out += self._losses.on_report(now)
        if card is None and scan.code != self._noread:
            self.counters.unknown += 1
        self._set_fault(
            "unread" if scan.code == self._noread else "card_code" if card is None else None,
            now,
            out,
        )
        repeated = (
            self._last
            if self._last and self._last[0] == scan.code and now - self._last[1] < self._repeat
            else None
        )
        # a repeated code may come faster than a hand can draw
        late = repeated[2] if repeated else self._pace.is_late(now, card=card != CUT_CARD)
        self._last = (scan.code, now, late)
        evidence = escape(scan.bytes)
        self.counters.late += late
        if card == CUT_CARD:
            out.append(CardCut(at=now, device=self._device, frame=evidence, late=late))
        else:
            out.append(
                CardDrawn(
                    at=now,
                    device=self._device,
                    frame=evidence,
                    card=card,
                    unsure=repeated is not None or scan.code in self._remnants,
                    late=late,
                )
            )

    def _report_lost(self, size: int, now: float, out: list[AnyReading]) -> None:
        """Report dropped bytes without showing them: they may belong to a card that is face
        down.
        """
        self.counters.damaged += 1
        out.append(LinkGarbage(at=now, device=self._device, bytes=size))
        out += self._losses.on_loss(now)

    def _set_fault(self, fault: ShoeFaultName | None, now: float, out: list[AnyReading]) -> None:
        """Begin or end the fault. A code that was read ends it."""
        before, self._fault = self._fault, fault
        if before not in (None, fault):
            out.append(ShoeFault(at=now, device=self._device, fault=before, active=False))
        if fault not in (None, before):
            out.append(ShoeFault(at=now, device=self._device, fault=fault, active=True))


HID_DECODERS: dict[str, Callable[[], ScanDecoder]] = {
    "keyboard": KeyboardDecoder,
    "pos": PosDecoder,
}


def _make_serial(device: str, options: msgspec.Struct) -> Barcode:
    assert isinstance(options, Options)
    return Barcode(device, options, LineDecoder())


def _make_hid(device: str, options: msgspec.Struct) -> Barcode:
    assert isinstance(options, HidOptions)
    return Barcode(device, options, HID_DECODERS[options.reports]())


SERIAL = Driver(
    name="barcode-serial",
    kind="shoe",
    title="Barcode scanner, serial",
    evidence="documented",
    line="baud=9600",
    options=Options,
    commands=(),
    make=_make_serial,
)

HID = Driver(
    name="barcode-hid",
    kind="shoe",
    title="Barcode scanner, USB HID",
    evidence="documented",
    line="",
    scheme="usb",
    options=HidOptions,
    framings=({}, {"reports": "pos"}),
    commands=(),
    make=_make_hid,
)
