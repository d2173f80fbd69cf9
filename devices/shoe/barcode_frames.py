"""Decoders for the ways in which a scanner sends a code: a line of text, keys of a keyboard, or
reports of a HID scanner.

Sources: USB HID 1.11 (boot keyboard, appendix B) and its usage tables (page 07, US layout); the
report of HID point-of-sale scanners (page 8C) as printed in several makers' manuals.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Protocol

import msgspec

from devices.codec import FrameProof
from devices.shoe.barcode_cards import MAX_CODE_CHARS, is_code


class Scan(msgspec.Struct, frozen=True):
    """A scanned code and its bytes. ``code`` None: part of it is missing or invalid."""

    code: str | None
    bytes: bytes


class ScanDecoder(Protocol):
    """Bytes in, codes out; splitting the bytes differently gives the same codes."""

    proof: FrameProof
    """What an unknown code proves: nothing, if it is a line of text."""
    frames: int
    """Number of well-formed reports; 0 for lines of text."""

    def push(self, data: bytes) -> list[Scan]:
        """Return the codes that end in these bytes."""
        ...

    def drop(self) -> int:
        """Discard a partial code; return its size in bytes."""
        ...

    @property
    def pending(self) -> bool:
        """Whether there is a partial code."""
        ...


def code_of(text: bytes, frame: bytes) -> Scan:
    """Build the scan of a complete frame."""
    code = text.decode("latin-1").strip()
    return Scan(code if is_code(code) else None, frame)


class LineDecoder:
    """Decodes codes that are followed by CR, LF or both."""

    proof = FrameProof.TEXT
    frames = 0

    def __init__(self) -> None:
        self._line = bytearray()
        self._cut = False  # the beginning of this line was dropped

    @property
    def pending(self) -> bool:
        """See :class:`ScanDecoder`."""
        return bool(self._line.strip())

    def push(self, data: bytes) -> list[Scan]:
        """See :class:`ScanDecoder`."""
        scans = []
        for byte in data:
            if byte not in b"\r\n":
                self._line.append(byte)
                if len(self._line) <= MAX_CODE_CHARS:
                    continue
                self._cut = True
            line, cut = bytes(self._line), self._cut
            self._line.clear()
            self._cut = cut and byte not in b"\r\n"
            if line.strip():
                scans.append(Scan(None, line) if cut else code_of(line, line))
        return scans

    def drop(self) -> int:
        """See :class:`ScanDecoder`."""
        size = len(self._line)
        self._line.clear()
        self._cut = False
        return size


SHIFT_KEYS = 0x22
"""Modifier bits of both shift keys."""
ENTER_USAGES = (0x28, 0x58)
MAX_ERROR_USAGE = 0x03
"""Usages up to this one are errors: too many keys at once, or a failed self-test."""


def _layout() -> dict[int, bytes]:
    """Usage -> the character without and with shift."""
    keys = {
        0x04 + place: bytes((letter, letter - 32))
        for place, letter in enumerate(b"abcdefghijklmnopqrstuvwxyz")
    }
    keys |= {
        0x1E + place: bytes(pair)
        for place, pair in enumerate(zip(b"1234567890", b"!@#$%^&*()", strict=True))
    }
    keys |= {
        0x2D + place: bytes(pair)
        for place, pair in enumerate(zip(b"-=[]\\", b"_+{}|", strict=True))
    }
    keys |= {
        0x33 + place: bytes(pair)
        for place, pair in enumerate(zip(b";'`,./", b':"~<>?', strict=True))
    }
    keys |= {0x54 + place: bytes((sign, sign)) for place, sign in enumerate(b"/*-+")}
    keys |= {0x59 + place: bytes((sign, sign)) for place, sign in enumerate(b"1234567890.")}
    return keys | {0x2C: b"  "}


LAYOUT: MappingProxyType[int, bytes] = MappingProxyType(_layout())
"""A US keyboard, including the keypad."""


class KeyboardDecoder:
    """Decodes the reports of a boot keyboard, 8 bytes each: modifiers, a zero, and up to six
    pressed keys. Enter ends a code.

    A key counts when it goes down. The code is unknown if two keys go down in one report (their
    order is unknown), if a report is repeated within a code (one between may be lost), or if there
    is an error or a key that is not a character.
    """

    SIZE = 8
    proof = FrameProof.FORM

    def __init__(self) -> None:
        self.frames = 0
        self._rest = b""
        self._last = bytes(self.SIZE)
        self._text = bytearray()
        self._reports = bytearray()
        self._spoiled = False

    @property
    def pending(self) -> bool:
        """See :class:`ScanDecoder`."""
        return bool(self._rest or self._reports)

    def push(self, data: bytes) -> list[Scan]:
        """See :class:`ScanDecoder`."""
        data = self._rest + data
        whole = len(data) - len(data) % self.SIZE
        self._rest = data[whole:]
        reports = (data[begin : begin + self.SIZE] for begin in range(0, whole, self.SIZE))
        return [scan for report in reports if (scan := self._report(report)) is not None]

    def drop(self) -> int:
        """See :class:`ScanDecoder`. All keys count as released."""
        size = len(self._rest) + len(self._reports)
        self._rest = b""
        self._last = bytes(self.SIZE)
        self._clear()
        return size

    def _report(self, report: bytes) -> Scan | None:
        wrong = report[1] != 0 or any(0 < key <= MAX_ERROR_USAGE for key in report[2:])
        down = [key for key in report[2:] if key and key not in self._last[2:]]
        repeated = report == self._last
        if not wrong:
            self.frames += 1
            self._last = report
        if not self._reports and not wrong and not down:
            return None
        self._reports += report
        if wrong or repeated or len(down) > 1:
            self._spoiled = True
        if down and down[-1] in ENTER_USAGES and not wrong:
            return self._end()
        if down and not self._spoiled:
            self._press(down[0], report[0])
        if len(self._text) > MAX_CODE_CHARS or len(self._reports) > self.SIZE * MAX_CODE_CHARS * 4:
            self._spoiled = True
            scan = self._end()
            self._spoiled = True  # the keys until Enter belong to it
            return scan
        return None

    def _press(self, key: int, modifiers: int) -> None:
        if key in LAYOUT and not modifiers & ~SHIFT_KEYS:
            self._text.append(LAYOUT[key][modifiers != 0])
        else:
            self._spoiled = True

    def _end(self) -> Scan | None:
        text, reports, spoiled = bytes(self._text), bytes(self._reports), self._spoiled
        self._clear()
        if not text and not spoiled:
            return None
        return Scan(None, reports) if spoiled else code_of(text, reports)

    def _clear(self) -> None:
        self._text.clear()
        self._reports.clear()
        self._spoiled = False


class PosDecoder:
    """Decodes the reports of a HID scanner, 64 bytes each.

    Byte 0 is the report's number, 2; byte 1 the length of the text; bytes 2 to 4 the kind of
    barcode; bytes 5 to 60 the text; bit 0 of byte 63 means that the text continues in the next
    report.
    """

    SIZE = 64
    proof = FrameProof.FORM
    NUMBER = 2
    TEXT = 5
    MOST = 56

    def __init__(self) -> None:
        self.frames = 0
        self._rest = b""
        self._text = bytearray()
        self._reports = bytearray()
        self._cut = False  # the next reports continue a text that was too long

    @property
    def pending(self) -> bool:
        """See :class:`ScanDecoder`."""
        return bool(self._rest or self._reports)

    def push(self, data: bytes) -> list[Scan]:
        """See :class:`ScanDecoder`."""
        data = self._rest + data
        whole = len(data) - len(data) % self.SIZE
        self._rest = data[whole:]
        reports = (data[begin : begin + self.SIZE] for begin in range(0, whole, self.SIZE))
        return [scan for report in reports if (scan := self._report(report)) is not None]

    def drop(self) -> int:
        """See :class:`ScanDecoder`."""
        size = len(self._rest) + len(self._reports)
        self._rest = b""
        self._cut = False
        self._clear()
        return size

    def _report(self, report: bytes) -> Scan | None:
        size, goes_on = report[1], report[-1] & 1
        self._reports += report
        if report[0] != self.NUMBER or not 0 < size <= self.MOST:
            return self._end(None)
        self.frames += 1
        self._text += report[self.TEXT : self.TEXT + size]
        if goes_on and len(self._text) <= MAX_CODE_CHARS:
            return None
        scan = self._end(None if self._cut or goes_on else bytes(self._text))
        self._cut = bool(goes_on)
        return scan

    def _end(self, text: bytes | None) -> Scan:
        reports = bytes(self._reports)
        self._clear()
        return Scan(None, reports) if text is None else code_of(text, reports)

    def _clear(self) -> None:
        self._text.clear()
        self._reports.clear()
