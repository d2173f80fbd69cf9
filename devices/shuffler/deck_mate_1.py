"""Driver of the Deck Mate 1 shuffler, whose serial port only reports power-on and accepts no input.

19200 8N1 on the RJ45 socket at its rear. At power-up it sends one NUL, then a banner with its name.
The only other thing it sends is its history, on request in the service menu; this driver only
reports that a history was sent (``novamas import deck-mate-1`` reads it). The shuffler never sends
a state, a count or a card. Any other text does not come from the shuffler.
"""

from __future__ import annotations

import re

import msgspec

from common.device_health import Counters
from common.readings import AnyReading, DeviceReport, LinkGarbage, ShufflerState, escape
from devices.codec import Driver, FrameProof
from devices.lines import LineSplitter

MAX_LINE_BYTES = 256
"""Maximum size of a line. A longer run without a line end is dropped."""

_LINE_END = re.compile(rb"[\r\n\x00]")
_BANNER = re.compile(r"deck\s*mate", re.IGNORECASE)
_HISTORY = re.compile(r"\b(?:Time|Date|Cyc): *\d")
_HEAD = re.compile(
    r"(?:serial|[a-z ]{0,40}(?:gripper|platform))[a-z .]{0,20}: *\S.*", re.IGNORECASE
)
"""A line at the beginning of a history, other than a time."""
_COUNTER = re.compile(r"[A-Za-z][A-Za-z \-/]{2,40}: *\d{1,12}")
"""A line after the events of a history. It is recognised only by the lines before it."""
_MAX_REPORTED_CHARS = 64
"""Maximum number of characters of a line that are reported."""


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """No options."""


class DeckMate1:
    """One shuffler. See :class:`devices.codec.Codec`."""

    steady = False
    proof = FrameProof.FORM

    def __init__(self, device: str) -> None:
        self.counters = Counters()
        self._device = device
        self._lines = LineSplitter(_LINE_END, MAX_LINE_BYTES)
        self._history = False
        self._counters = False  # a history was sent, and counters may follow

    @property
    def deadline(self) -> float | None:
        """None: the shuffler is silent between two power-ups."""
        return None

    def reconnected(self, now: float) -> None:  # noqa: ARG002
        """Drop a partial line."""
        self._lines.clear()
        self._counters = False

    def polls(self) -> tuple[tuple[float, bytes], ...]:
        """Nothing: the shuffler does not answer."""
        return ()

    def encode(self, command: str, argument: str = "") -> bytes:  # noqa: ARG002
        """Raise ``ValueError``: the shuffler accepts no commands."""
        raise ValueError(
            f"deck-mate-1 has no command {command!r}; this shuffler accepts no commands"
        )

    def feed(self, data: bytes, now: float) -> list[AnyReading]:
        """Decode bytes that arrived at ``now``."""
        self.counters.bytes += len(data)
        out: list[AnyReading] = []
        for piece in self._lines.feed(data):
            if not piece.is_line:
                self._garbage(piece.data, now, out)
            elif stripped := piece.data.strip():
                self._on_line(stripped, now, out)
        return out

    def _on_line(self, line: bytes, now: float, out: list[AnyReading]) -> None:
        text = line.decode("latin-1")
        if not (line.isascii() and text.isprintable()):
            self._garbage(line, now, out)
            return
        history, banner = _HISTORY.search(text) is not None, _BANNER.search(text) is not None
        known = _HEAD.fullmatch(text) or (self._counters and _COUNTER.fullmatch(text))
        if not (history or banner or known):
            self._counters = False
            self._garbage(line, now, out)
            return
        self._counters = self._counters or history
        self.counters.frames += 1
        frame = escape(line)
        if history and not self._history:
            out.append(
                DeviceReport(
                    at=now, device=self._device, frame=frame, report="history", value="sent"
                )
            )
        self._history = history
        if banner and not history:
            # its previous content is unknown, so a person must check before dealing
            out.append(
                DeviceReport(
                    at=now,
                    device=self._device,
                    frame=frame,
                    report="powered_up",
                    value=text[:_MAX_REPORTED_CHARS],
                )
            )
            out.append(
                ShufflerState(
                    at=now, device=self._device, frame=frame, state="idle", detail="powered up"
                )
            )
        elif not history:
            out.append(
                DeviceReport(
                    at=now,
                    device=self._device,
                    frame=frame,
                    report="said",
                    value=text[:_MAX_REPORTED_CHARS],
                )
            )

    def _garbage(self, data: bytes, now: float, out: list[AnyReading]) -> None:
        self.counters.damaged += 1
        out.append(
            LinkGarbage(at=now, device=self._device, frame=escape(data[:64]), bytes=len(data))
        )


def _make(device: str, _options: msgspec.Struct) -> DeckMate1:
    return DeckMate1(device)


DRIVER = Driver(
    name="deck-mate-1",
    kind="shuffler",
    title="Deck Mate 1",
    evidence="observed",
    line="baud=19200",
    options=Options,
    commands=(),
    make=_make,
)
