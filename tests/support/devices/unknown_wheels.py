"""Wheels that no driver knows, made from parts: framing, checksum, coding of the number, state and
pace.

Frames are built with the checksums of profiles; each wheel has a rotor speed that changes from
frame to frame, as real ones have.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from devices.profiles.checksums import ChecksumVerifier, checksum_width
from devices.profiles.language import ChecksumSpec

Shown = int | str
Framing = Literal["crlf", "cr", "stx", "dollar", "length", "fixed"]
Coding = Literal["decimal", "padded", "pieces", "hex", "byte", "bcd", "shifted"]
Style = Literal["event", "steady", "counted"]

STYLES: tuple[Style, ...] = ("event", "steady", "counted")
TEXT_CODINGS: tuple[Coding, ...] = ("decimal", "padded", "pieces", "hex")
BINARY_CODINGS: tuple[Coding, ...] = ("byte", "bcd", "shifted")
TEXT_FRAMINGS: tuple[Framing, ...] = ("crlf", "cr", "stx", "dollar")
BINARY_FRAMINGS: tuple[Framing, ...] = ("length", "fixed")

TEXT_CHECKS: dict[str, ChecksumSpec] = {
    "xor": ChecksumSpec(kind="xor", at=-2),
    "sum": ChecksumSpec(kind="sum", at=-2),
    "crc16-modbus": ChecksumSpec(kind="crc16-modbus", at=-4),
}
BINARY_CHECKS: dict[str, ChecksumSpec] = {
    "xor": ChecksumSpec(kind="xor", at=-1, encoding="big"),
    "lrc": ChecksumSpec(kind="lrc", at=-1, encoding="big"),
    "crc16-modbus": ChecksumSpec(kind="crc16-modbus", at=-2, encoding="little"),
    "crc8-smbus": ChecksumSpec(kind="crc8-smbus", at=-1, encoding="big"),
}
STATES = (1, 2, 3, 4)
"""Closed, place your bets, no more bets, and the number is known."""


class UnknownWheel(msgspec.Struct, frozen=True):
    """``check``: name of its checksum, or nothing. ``double_zero``: it has the pocket 00."""

    framing: Framing
    check: str
    coding: Coding
    style: Style
    double_zero: bool = False

    @property
    def is_text(self) -> bool:
        return self.framing in TEXT_FRAMINGS

    def play(self, numbers: Sequence[Shown], seed: int) -> Iterator[tuple[float, bytes]]:
        """What it sends while these numbers come: times and bytes, one frame each."""
        draws = random.Random(seed)
        at, spin, last = 0.0, draws.randrange(50), None
        for number in numbers:
            spin += 1
            for state in STATES:
                for _ in range(draws.randint(4, 9)):
                    at += 0.5
                    if self.style == "steady":
                        shown = number if state == STATES[-1] else last
                        yield at, self.frame("S", state, shown, spin, draws.randint(100, 250))
                    else:
                        yield at, self.frame("S", state, None, spin, draws.randint(100, 250))
            last = number
            for copy in range({"event": 1, "counted": 3, "steady": 0}[self.style]):
                yield at + 0.1 + copy / 100, self.frame("N", 4, number, spin, 0)

    def frame(self, letter: str, state: int, number: Shown | None, spin: int, speed: int) -> bytes:
        """One frame. ``number``: None if it is not known."""
        if self.is_text:
            parts = [letter, str(state), self._text(number), f"{spin % 100:02d}", f"{speed:03d}"]
            return self._framed_text(("," if self.coding == "pieces" else "").join(parts).encode())
        body = bytes((ord(letter), 0x10 + state, self._byte(number), spin % 256, speed)) + (
            b"" if self.framing == "fixed" or letter == "S" else b"\x00"
        )
        head = b"\xaa" if self.framing == "fixed" else b"\x55" + bytes((len(body),))
        return self._checked(head + body, BINARY_CHECKS)

    def _text(self, number: Shown | None) -> str:
        if number is None:
            return "--"
        if number == "00":
            return "37" if self.coding != "hex" else "25"
        assert isinstance(number, int)
        if self.coding == "hex":
            return f"{number:02X}"
        return f"{number:2d}" if self.coding == "padded" else f"{number:02d}"

    def _byte(self, number: Shown | None) -> int:
        if number is None:
            return 0xFF
        value = 37 if number == "00" else number
        assert isinstance(value, int)
        if self.coding == "bcd":
            return value // 10 * 16 + value % 10
        return value + (self.coding == "shifted")

    def _framed_text(self, body: bytes) -> bytes:
        match self.framing:
            case "crlf":
                return self._checked(body, TEXT_CHECKS) + b"\r\n"
            case "cr":
                return self._checked(body, TEXT_CHECKS) + b"\r"
            case "stx":
                return self._checked(b"\x02" + body + b"\x03", TEXT_CHECKS)
            case _:
                return self._checked(b"$" + body + b"*", TEXT_CHECKS, short=1) + b"\r\n"

    def _checked(self, frame: bytes, checks: dict[str, ChecksumSpec], *, short: int = 0) -> bytes:
        if not self.check:
            return frame
        spec = msgspec.structs.replace(checks[self.check], short=short)
        room = frame + bytes(checksum_width(spec))
        return frame + ChecksumVerifier(spec).expected(room, len(frame))
