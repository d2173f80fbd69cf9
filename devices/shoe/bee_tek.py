"""Driver of the Bee-Tek shoe, which reads coded cards as they are drawn and sends them as lines of
text.

9600 8N1, a line like `` [Game]<Card:4S> `` with CR LF. The brackets contain the mode, which is set
by a key switch. There is no checksum and no sequence number, so a line is accepted only if its
complete format fits, an equal card is another card, and an unknown line, or dropped bytes that may
have been a card, are reported as a gap. Only ``card.drawn`` contains a line with a card, and
dropped bytes are never shown: the card may be face down.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Annotated

import msgspec

from common.device_health import Counters
from common.readings import (
    AnyReading,
    CardDrawn,
    DeviceReport,
    LinkGarbage,
    ShoeFault,
    ShoeFaultName,
    escape,
)
from devices.codec import DAMAGE_SUBSTITUTE, Driver, FrameProof
from devices.lines import LineSplitter
from devices.losses import LossReporter
from devices.pace import HandPace

MAX_LINE_BYTES = 256
"""Maximum size of a line. The longest line seen has 40 bytes; a longer run without a line end is
dropped.
"""

GAME_MODE = "Game"
BURN_MODE = "Manual Burn Cards"

_LINE_END = re.compile(rb"[\r\n]")
_LINE = re.compile(
    rb"(?:\[(?P<mode>[A-Za-z][A-Za-z ]{0,31})\])?<(?P<what>[!-;=?-Z^-~][ -;=?-Z^-~]{0,63})>[> ]*"
)
"""One line without the space before it. Its last character may be repeated."""

_CARD = re.compile(
    r"Card: *(?:(?P<rank>10|[2-9TJQKA])(?P<suit>[CDHS])"
    r"|(?P<suit_first>[CDHS])(?P<rank_last>10|[2-9TJQKA])) *"
)
_ALARM = re.compile(r"Alarm: *(?P<detail>(?P<code>E\d+)?.*)")
_WARNING = re.compile(r"W0x[0-9A-Fa-f]+")
_HARMLESS_BEFORE, _HARMLESS_AFTER = re.compile(rb"[\[> ]*"), re.compile(rb"[> ]*")
"""Characters that may be repeated before and after a frame. Any other dropped bytes may have been a
card.
"""
_MAYBE_CARD = re.compile(r"[:0-9TJQKACDHS]")
"""Content of an unknown line that may show a part of a card."""

ALARMS: MappingProxyType[str, ShoeFaultName] = MappingProxyType({"E3": "unread"})
"""The codes of alarms. Any other is reported as an alarm."""


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``min_draw``: minimum seconds between two cards; an earlier card is late."""

    min_draw: Annotated[float, msgspec.Meta(ge=0, le=3600)] = 0.2


class BeeTek:
    """One shoe. See :class:`devices.codec.Codec`."""

    steady = False
    proof = FrameProof.FORM

    def __init__(self, device: str, options: Options) -> None:
        self.counters = Counters()
        self._device = device
        self._pace = HandPace(device, options.min_draw)
        self._lines = LineSplitter(_LINE_END, MAX_LINE_BYTES)
        self._spoiled = False  # a byte of the pending line was damaged
        self._losses = LossReporter(device)
        self._mode: str | None = None
        self._order: str | None = None
        self._faults: dict[ShoeFaultName, str] = {}  # active alarms, with their detail

    @property
    def deadline(self) -> float | None:
        """Time at which a burst of reports counts as over."""
        return self._pace.deadline

    def reconnected(self, now: float) -> None:  # noqa: ARG002
        """Drop a partial line."""
        self._lines.clear()
        self._spoiled = False

    def polls(self) -> tuple[tuple[float, bytes], ...]:
        """Nothing: the shoe sends by itself."""
        return ()

    def encode(self, command: str, argument: str = "") -> bytes:  # noqa: ARG002
        """Raise ``ValueError``: no command is known."""
        raise ValueError(f"bee-tek has no command {command!r}; no command of this shoe is known")

    def delayed(self, since: float, now: float) -> None:
        """See :class:`devices.codec.DelayAware`: no hand draws faster than ``min_draw``."""
        self._pace.delayed(since, now)

    def damaged(self, byte: bytes, now: float) -> list[AnyReading]:  # noqa: ARG002
        """See :class:`devices.codec.DamageAware`: the rest of the line could look like a frame."""
        self._spoiled = True
        return self.feed(DAMAGE_SUBSTITUTE, now)

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
        out: list[AnyReading] = [*self._pace.burst(now)]
        for piece in self._lines.feed(data):
            self._on_line(piece.data, now, out)
            self._spoiled = self._spoiled and not piece.ends
        return out

    def _on_line(self, line: bytes, now: float, out: list[AnyReading]) -> None:
        """Handle the frames in a line: usually one, or several if line ends were lost. Drop the
        bytes before and between them.
        """
        begin = 0
        for match in () if self._spoiled else _LINE.finditer(line):
            self._drop_bytes(line[begin : match.start()], _HARMLESS_BEFORE, now, out)
            begin = match.end()
            self.counters.frames += 1
            self._on_frame(match, now, out)
        self._drop_bytes(line[begin:], _HARMLESS_AFTER, now, out)

    def _drop_bytes(
        self, piece: bytes, repeated: re.Pattern[bytes], now: float, out: list[AnyReading]
    ) -> None:
        """Report dropped bytes without showing them: they may belong to a card that is face
        down.
        """
        if not piece.strip():
            return
        self.counters.damaged += 1
        out.append(LinkGarbage(at=now, device=self._device, bytes=len(piece)))
        if not repeated.fullmatch(piece):
            out += self._losses.on_loss(now)

    def _on_frame(self, match: re.Match[bytes], now: float, out: list[AnyReading]) -> None:
        mode, content = (match["mode"] or b"").decode("ascii"), match["what"].decode("ascii")
        evidence = escape(match[0])
        alarm, warning = _ALARM.fullmatch(content), _WARNING.fullmatch(content)
        is_card = content.startswith("Card:") or content == mode == GAME_MODE
        if is_card or alarm or warning:
            out += self._losses.on_report(now)
        if mode and mode != f"{GAME_MODE}Alarm":
            self._on_mode(mode, now, out)
        if content.startswith("Card:"):
            self._report_card(self._parse_card(content, now, out), mode, evidence, now, out)
        elif content == mode == GAME_MODE:
            self._report_card(None, mode, evidence, now, out)
        elif alarm:
            self._begin_fault(
                ALARMS.get(alarm["code"] or "", "alarm"),
                alarm["detail"].strip(),
                evidence,
                now,
                out,
            )
        elif warning:
            self._begin_fault("warning", content, evidence, now, out)
        else:
            self.counters.unknown += 1
            out.append(
                LinkGarbage(at=now, device=self._device, bytes=len(match[0]))
                if _MAYBE_CARD.search(content)
                else DeviceReport(
                    at=now, device=self._device, frame=evidence, report="said", value=content
                )
            )
            out += self._losses.on_loss(now)

    def _on_mode(self, mode: str, now: float, out: list[AnyReading]) -> None:
        """Handle a change of the mode. In any mode but the game's the host receives no game, which
        is reported as a warning until the key is turned back.
        """
        before, self._mode = self._mode, mode
        if before == mode:
            return
        out.append(DeviceReport(at=now, device=self._device, report="mode", value=mode))
        if before not in (None, GAME_MODE):
            self._report_fault("warning", f"mode {before}", False, None, now, out)
        if mode != GAME_MODE:
            self._report_fault("warning", f"mode {mode}", True, None, now, out)

    def _parse_card(self, content: str, now: float, out: list[AnyReading]) -> str | None:
        """Parse the card of a frame. None: the code is invalid, so a card left the shoe but is
        unknown.
        """
        match = _CARD.fullmatch(content)
        if match is None:
            return None
        order = "rank first" if match["rank"] else "suit first"
        if order != self._order:
            self._order = order
            out.append(DeviceReport(at=now, device=self._device, report="card_order", value=order))
        rank, suit = match["rank"] or match["rank_last"], match["suit"] or match["suit_first"]
        return ("T" if rank == "10" else rank) + suit.lower()

    def _report_card(
        self, card: str | None, mode: str, evidence: str, now: float, out: list[AnyReading]
    ) -> None:
        """Report a drawn card. A card that was read ends the alarms, because the shoe deals again.
        Outside game and burning a person must check it.
        """
        if card is not None:
            for fault, detail in self._faults.items():
                self._report_fault(fault, detail, False, None, now, out)
            self._faults.clear()
        late = self._pace.is_late(now, card=True)
        self.counters.late += late
        out.append(
            CardDrawn(
                at=now,
                device=self._device,
                frame=evidence,
                card=card,
                to="burn" if mode == BURN_MODE else None,
                unsure=mode not in (GAME_MODE, BURN_MODE),
                late=late,
            )
        )

    def _begin_fault(
        self, fault: ShoeFaultName, detail: str, evidence: str, now: float, out: list[AnyReading]
    ) -> None:
        if self._faults.get(fault) != detail:
            self._faults[fault] = detail
            self._report_fault(fault, detail, True, evidence, now, out)

    def _report_fault(
        self,
        fault: ShoeFaultName,
        detail: str,
        active: bool,
        evidence: str | None,
        now: float,
        out: list[AnyReading],
    ) -> None:
        out.append(
            ShoeFault(
                at=now,
                device=self._device,
                frame=evidence,
                fault=fault,
                active=active,
                detail=detail,
            )
        )


def _make(device: str, options: msgspec.Struct) -> BeeTek:
    assert isinstance(options, Options)
    return BeeTek(device, options)


DRIVER = Driver(
    name="bee-tek",
    kind="shoe",
    title="USPC Bee-Tek",
    evidence="observed",
    line="baud=9600",
    options=Options,
    commands=(),
    make=_make,
)
