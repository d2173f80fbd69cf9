"""Splits a stream into lines of a bounded length, for devices whose lines need nothing more."""

from __future__ import annotations

import re
from typing import NamedTuple


class LinePiece(NamedTuple):
    """A line without its end, or a part of one that is too long. ``begins``: at the line's begin;
    ``ends``: at its end.
    """

    data: bytes
    begins: bool
    ends: bool

    @property
    def is_line(self) -> bool:
        """Whether this is a whole line."""
        return self.begins and self.ends


class LineSplitter:
    """Holds the line that has not ended. ``longest``: bytes of a line that is not cut."""

    def __init__(self, end: re.Pattern[bytes], longest: int) -> None:
        self._end = end
        self._longest = longest
        self.clear()

    def clear(self) -> None:
        """Drop the line that has not ended."""
        self._pending = b""
        self._begins = True

    def feed(self, data: bytes) -> list[LinePiece]:
        """Return the lines that end in ``data``, also empty ones, and all full pieces of lines that
        are too long.
        """
        found: list[LinePiece] = []
        *lines, rest = self._end.split(self._pending + data)
        for line in lines:
            found.append(LinePiece(self._without_pieces(line, found), self._begins, True))
            self._begins = True
        self._pending = self._without_pieces(rest, found)
        return found

    def _without_pieces(self, line: bytes, found: list[LinePiece]) -> bytes:
        while len(line) > self._longest:
            found.append(LinePiece(line[: self._longest], self._begins, False))
            line = line[self._longest :]
            self._begins = False
        return line
