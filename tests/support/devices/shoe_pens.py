"""Pens to write what shoes say, and a clock."""

from __future__ import annotations

from functools import reduce
from operator import xor
from typing import TypeVar

from common.readings import AnyReading, CardDrawn, Reading
from devices.codec import Codec

R = TypeVar("R", bound=Reading)
SUITS = {"d": 1, "c": 2, "s": 3, "h": 4}
TARGETS = {"player": 0, "banker": 1, "burn": 2, "first": 4, "count": 5}


def report(seq: int, body: bytes, wrong: int = 0) -> bytes:
    """One copy of an Angel Eye report; ``wrong`` spoils its check."""
    content = b"%d%b\x03" % (seq, body)
    return b"\x05%b%02X" % (content, reduce(xor, content) ^ wrong)


def card(name: str, to: str = "player", index: int = 1, code: bytes = b"D") -> bytes:
    """The body of a report of a drawn card."""
    return code + bytes(
        (
            0x80 | TARGETS[to] << 4 | index,
            0x80 | SUITS[name[1]] << 4 | "A23456789TJQK".index(name[0]) + 1,
        )
    )


class ShoeFeed:
    """A codec and the time. Every ``send`` gives the readings of that chunk; ``readings`` stores
    them all.
    """

    def __init__(self, codec: Codec) -> None:
        self.codec = codec
        self.now = 100.0
        self.readings: list[AnyReading] = []

    def raw(self, data: bytes, after: float = 0.0) -> list[AnyReading]:
        self.now += after
        readings = self.codec.feed(data, self.now)
        self.readings += readings
        return readings

    def send(self, seq: int, body: bytes, after: float = 1.0, copies: int = 3) -> list[AnyReading]:
        """A report of an Angel Eye, with its copies."""
        return self.raw(report(seq, body) * copies, after)

    def line(self, text: str, after: float = 1.0) -> list[AnyReading]:
        """A line of a Bee-Tek."""
        return self.raw(f" {text} \r\n".encode("latin-1"), after)


def of(kind: type[R], readings: list[AnyReading]) -> list[R]:
    return [reading for reading in readings if isinstance(reading, kind)]


def cards(readings: list[AnyReading]) -> list[str | None]:
    return [reading.card for reading in of(CardDrawn, readings)]
