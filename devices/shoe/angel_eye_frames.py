"""Frames of the Angel Eye II-EX: patterns and tables.

RS-232, 4800 8N1. A report is ``ENQ seq data ETX bcc``; a command, and the answer to a register
request, is ``STX data ETX bcc``. The check is two upper-case hex digits: the XOR of the bytes after
ENQ, or from STX itself, up to ETX. Bytes of cards are 80h and above, so they contain no control
character. Source: second-hand, from programs that quote the vendor's document.
"""

from __future__ import annotations

import re
from functools import reduce
from operator import xor
from types import MappingProxyType
from typing import Literal

import msgspec

from common.readings import ShoeFaultName, ShoeResult

STX, ETX, ENQ, ACK, NAK = 0x02, 0x03, 0x05, 0x06, 0x15
STARTS = frozenset((STX, ENQ, ACK, NAK))
ANSWERS = (ACK, NAK)
NOISE = re.compile(b"[^%b]+" % re.escape(bytes(STARTS)))
MAX_FRAME_BYTES = 128
"""Maximum size of a frame. A longer one has lost its end."""

REFUSALS: MappingProxyType[int, str] = MappingProxyType(
    {
        0x01: "overflow, framing or parity",
        0x02: "check",
        0x03: "no end",
        0x11: "format or length",
        0x12: "address",
        0x13: "command",
        0x14: "type",
        0x21: "busy",
        0x22: "write in progress",
        0xFF: "other",
    }
)
"""The byte after NAK."""


def bcc(data: bytes) -> bytes:
    """Return the check over these bytes, as it is sent."""
    return b"%02X" % reduce(xor, data, 0)


def noise(data: bytes, begin: int) -> int:
    """Return the number of bytes from ``begin`` with which no frame can start."""
    found = NOISE.match(data, begin)
    return found.end() - begin if found else 0


def next_piece(data: bytes, begin: int, strict: bool) -> tuple[int, bool] | None:
    """Return the next piece from ``begin``: its length, and whether it is a complete frame. None:
    more bytes are needed.

    Bytes after a piece do not change it. ``strict``: a frame with a wrong check is not complete.
    """
    first = data[begin]
    if first == ACK:
        return 1, True
    if first == NAK:
        if len(data) < begin + 2:
            return None
        return (2, True) if data[begin + 1] in REFUSALS else (1, False)
    if first not in (ENQ, STX):
        return 1, False
    for at in range(begin + 1, begin + MAX_FRAME_BYTES):
        if at == len(data):
            return None
        if data[at] in STARTS:
            return at - begin, False
        if data[at] == ETX:
            break
    else:
        return 1, False
    if len(data) < at + 3:
        return None
    check = data[at + 1 : at + 3]
    whole = (
        has_valid_bcc(data[begin : at + 3])
        if strict
        else re.fullmatch(rb"[0-9A-F]{2}", check) is not None
    )
    return (at + 3 - begin, True) if whole else (at + 1 - begin, False)


def has_valid_bcc(frame: bytes) -> bool:
    """Return whether the check of a complete frame is correct."""
    return frame[-2:] == bcc(frame[frame[0] == ENQ : -2])


def lost_reports(before: int, seq: int, zero: bool) -> int:
    """Return the minimum number of reports lost between two sequence numbers. ``zero``: 9 is known
    to be followed by 0; otherwise it may also be followed by 1, because the sources differ.
    """
    skips = seq <= before and seq != 0 and not zero
    return (seq - before - 1) % 10 - skips


SUITS: MappingProxyType[int, str] = MappingProxyType({1: "d", 2: "c", 3: "s", 4: "h"})
RANKS = "A23456789TJQK"

TARGETS: MappingProxyType[int, str] = MappingProxyType(
    {0b000: "player", 0b001: "banker", 0b010: "burn", 0b100: "first", 0b101: "burn"}
)
HANDS = ("player", "banker")
OUTSIDE: MappingProxyType[int, str] = MappingProxyType(
    {0b000: "lock", 0b001: "error", 0b010: "setting"}
)
"""The mode in which a card was drawn outside the game."""


class DrawnCard(msgspec.Struct, frozen=True):
    """A card and its destination or, outside the game, the mode. ``card`` None: drawn but not
    read.
    """

    card: str | None
    to: str
    index: int | None


def read_drawn(data: bytes) -> DrawnCard | None:
    """Decode the two bytes of D and R. None: malformed; a card of a hand has a place, a rank and a
    suit.
    """
    if not _marked(data):
        return None
    to, index, card = TARGETS.get(data[0] >> 4 & 7), data[0] & 15, _card(data[1])
    if to is None or (to in HANDS and (card is None or not 1 <= index <= 3)):
        return None
    return DrawnCard(card, to, index or None)


def read_outside(data: bytes) -> DrawnCard | None:
    """Decode the two bytes of d; in error mode ``index`` is the error code."""
    mode = OUTSIDE.get(data[0] >> 4 & 7)
    if mode is None or not _marked(data):
        return None
    return DrawnCard(_card(data[1]), mode, data[0] & 15 or None)


def _marked(data: bytes) -> bool:
    return all(byte & 0x80 for byte in data)


def _card(byte: int) -> str | None:
    suit, rank = SUITS.get(byte >> 4 & 7), byte & 15
    return RANKS[rank - 1] + suit if suit and 1 <= rank <= 13 else None


_RESULTS: MappingProxyType[int, ShoeResult] = MappingProxyType(
    {
        0b001: ShoeResult(at=0.0, winner="player"),
        0b010: ShoeResult(at=0.0, winner="tie"),
        0b100: ShoeResult(at=0.0, winner="banker"),
        0b111: ShoeResult(at=0.0, winner=None, forced=True),
    }
)
_PAIRS: tuple[tuple[int, Literal["player", "banker"]], ...] = ((1, "player"), (2, "banker"))


def read_result(byte: int) -> ShoeResult | None:
    """Decode the byte of G into a reading without its time. None if malformed."""
    found = _RESULTS.get(byte >> 4 & 7) if byte & 0x80 else None
    if found is None:
        return None
    pairs = tuple(hand for bit, hand in _PAIRS if byte & bit)
    return msgspec.structs.replace(found, pairs=pairs)


FAULTS: MappingProxyType[int, ShoeFaultName] = MappingProxyType(
    {
        1: "unread",
        2: "overdraw",
        3: "button",
        4: "reverse_exit",
        5: "reverse_midway",
        6: "card_code",
        7: "timeout",
    }
)
"""The codes of E and e. Any other is reported as an alarm."""

LENGTHS: MappingProxyType[bytes, int] = MappingProxyType(
    {
        b"S": 0,
        b"P": 0,
        b"D": 2,
        b"d": 2,
        b"R": 2,
        b"G": 1,
        b"C": 0,
        b"E": 1,
        b"e": 1,
        b"L": 1,
        b"M": 6,
    }
)
"""Bytes after the letter of each known report."""

COMMANDS: MappingProxyType[str, bytes] = MappingProxyType(
    {
        "lock": b"LK02",
        "unlock": b"LK01",
        "clear_error": b"EC00",
        "overdraw_keep": b"EC01",
        "overdraw_discard": b"EC02",
        "confirm": b"GP00",
    }
)
"""All commands that may be sent to the shoe: type and data of the operation."""


def command(operation: bytes) -> bytes:
    """Build the frame of an operation."""
    frame = bytes((STX,)) + b"OP" + operation + bytes((ETX,))
    return frame + bcc(frame)
