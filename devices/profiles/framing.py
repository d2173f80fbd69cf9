"""Splits a stream of bytes into frames. Splitting the stream differently gives the same frames; the
buffer is bounded.

There are two kinds: lines of text, also messages in JSON (:class:`LineFraming`), and frames
delimited by marks, a length or a fixed size (:class:`BlockFraming`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator

import msgspec

from devices.profiles.language import FramingSpec


class FrameCandidate(msgspec.Struct, frozen=True):
    """A line without its end, or a block. ``cut``: its beginning was not received, or was
    dropped.
    """

    data: bytes
    cut: bool = False


class DroppedBytes(msgspec.Struct, frozen=True):
    """Bytes that are not a frame."""

    data: bytes


FramingOutput = Generator[FrameCandidate | DroppedBytes, None, bytes]
"""Yields lines and dropped bytes in order; returns what remains in the buffer."""


class LineFraming:
    """Splits a stream into lines, each ended by any of ``ends``; empty lines are skipped."""

    deadline = None

    def __init__(self, framing: FramingSpec) -> None:
        self._ends = framing.ends.encode("latin-1")
        self._end = re.compile(b"[" + re.escape(self._ends) + b"]")
        self._longest = framing.longest
        self._resync = framing.resync.encode("latin-1")
        self._searched = bool(framing.find)
        self._pending = b""
        self._cut = True
        self._spoiled = False  # a byte of the pending line was damaged

    def on_reopened(self) -> None:
        """Drop a partial line; the beginning of the next line was not received."""
        self._pending = b""
        self._cut = True
        self._spoiled = False

    def on_damaged(self, byte: bytes, now: float) -> None:  # noqa: ARG002 - a partial line may wait
        """Handle a damaged byte: it ends no line, and its line is dropped."""
        self._pending += byte.translate(None, self._ends) or b"?"
        self._spoiled = True

    def feed(self, data: bytes, now: float) -> Iterator[FrameCandidate | DroppedBytes]:  # noqa: ARG002 - a partial line may wait
        """Yield complete lines, and pieces of lines that are too long. Must be exhausted."""
        *lines, rest = self._end.split(self._pending + data)
        for line in lines:
            whole = yield from self._limit_length(line)
            if whole:
                yield DroppedBytes(whole) if self._spoiled else FrameCandidate(whole, self._cut)
            self._cut = self._spoiled = False
        self._pending = yield from self._limit_length(rest)

    def _limit_length(self, line: bytes) -> FramingOutput:
        """Split a line that is too long: each piece is searched, or dropped up to the last byte
        that may begin a frame.
        """
        while len(line) > self._longest:
            if self._searched and not self._spoiled:
                yield FrameCandidate(line[: self._longest], self._cut)
                cut = self._longest
            else:
                begin = line.rfind(self._resync, 1, self._longest + 1) if self._resync else -1
                cut = begin if begin > 0 else self._longest + 1
                yield DroppedBytes(line[:cut])
            line = line[cut:]
            self._cut = True
        return line


class BlockFraming:
    """Finds frames of form ``marks``, ``length`` or ``fixed``. ``whole(frame)``: whether it is
    valid; if not, the next frame may begin inside it.

    Dropped bytes are reported with the next frame, or when they reach the length of the longest
    frame.
    """

    def __init__(self, framing: FramingSpec, whole: Callable[[bytes], bool]) -> None:
        self._framing = framing
        self._is_valid = whole
        self._start = framing.start.encode("latin-1")
        self._end = framing.end.encode("latin-1")
        self._escape = framing.escape.encode("latin-1")
        self._ignore = framing.ignore.encode("latin-1")
        start, end, escaping = (re.escape(mark) for mark in (self._start, self._end, self._escape))
        # a single pass: a stream of only escapes must not cost more than any other
        self._bounds = re.compile(
            b"%b(?:%b.|[^%b])*?%b" % (start, escaping, escaping or b" ", end), re.DOTALL
        )
        self._frame_size = {
            "marks": self._size_by_marks,
            "length": self._size_by_length,
            "fixed": self._fixed_size,
        }[framing.form]
        self._pending = b""
        self._spoiled: list[int] = []  # which bytes of it were damaged
        self._dropped = b""
        self._last = 0.0  # when the last byte arrived

    @property
    def deadline(self) -> float | None:
        """When an incomplete frame is abandoned."""
        return self._last + self._framing.within if self._framing.within and self._pending else None

    def on_reopened(self) -> None:
        """Drop a partial frame."""
        self._pending = self._dropped = b""
        self._spoiled = []

    def on_damaged(self, byte: bytes, now: float) -> None:
        """Handle a damaged byte: a frame that contains it is not valid."""
        self._last = now
        self._spoiled.append(len(self._pending))
        self._pending += byte

    def feed(self, data: bytes, now: float) -> Iterator[FrameCandidate | DroppedBytes]:
        """Yield complete frames and dropped bytes. Must be exhausted."""
        while self.deadline is not None and now >= self.deadline:
            yield from self._drop(1)
            yield from self._extract_frames()
        if data:
            self._last = now
            self._pending += data
        yield from self._extract_frames()

    def _extract_frames(self) -> Iterator[FrameCandidate | DroppedBytes]:
        while self._pending:
            begin = self._pending.find(self._start)
            if begin != 0:
                garbage_size = (
                    begin if begin > 0 else len(self._pending) - self._partial_start_size()
                )
                yield from self._drop(garbage_size)
                if begin < 0:
                    return
                continue
            size = self._frame_size()
            if size is None and len(self._pending) <= self._framing.longest:
                return
            if (
                size
                and not any(at < size for at in self._spoiled)
                and (frame := self._unescape(self._pending[:size])) is not None
                and self._is_valid(frame)
            ):
                yield from self._flush_dropped()
                self._consume(size)
                yield FrameCandidate(frame)
            else:
                yield from self._drop(1)

    def _partial_start_size(self) -> int:
        """Number of bytes at the end of the buffer that may begin a frame."""
        max_overlap = min(len(self._start) - 1, len(self._pending))
        return next(
            (
                size
                for size in range(max_overlap, 0, -1)
                if self._start.startswith(self._pending[-size:])
            ),
            0,
        )

    def _drop(self, count: int) -> Iterator[DroppedBytes]:
        for byte in self._consume(count).translate(None, self._ignore):
            self._dropped += bytes((byte,))
            if len(self._dropped) == self._framing.longest:
                yield from self._flush_dropped()

    def _consume(self, count: int) -> bytes:
        """Remove and return ``count`` bytes from the buffer."""
        removed, self._pending = self._pending[:count], self._pending[count:]
        self._spoiled = [at - count for at in self._spoiled if at >= count]
        return removed

    def _flush_dropped(self) -> Iterator[DroppedBytes]:
        if self._dropped:
            dropped, self._dropped = self._dropped, b""
            yield DroppedBytes(dropped)

    def _size_by_marks(self) -> int | None:
        """Size of the frame up to the end mark and the bytes after it. None: incomplete; 0: too
        long.
        """
        longest = self._framing.longest
        if self._escape:
            found = self._bounds.match(self._pending, 0, longest)
            end = found.end() if found else 0
        else:
            end = self._pending.find(self._end, len(self._start), longest) + len(self._end)
        if end < len(self._start) + len(self._end):
            return None
        size = end + self._framing.tail
        if size > longest:
            return 0
        return size if size <= len(self._pending) else None

    def _size_by_length(self) -> int | None:
        """Size that the frame states. None: incomplete; 0: impossible."""
        framing = self._framing
        behind = framing.at + framing.width
        if len(self._pending) < behind:
            return None
        size = int.from_bytes(self._pending[framing.at : behind], framing.order) + framing.adds
        if not behind <= size <= framing.longest:
            return 0
        return size if size <= len(self._pending) else None

    def _fixed_size(self) -> int | None:
        return self._framing.length if self._framing.length <= len(self._pending) else None

    def _unescape(self, frame: bytes) -> bytes | None:
        """Remove the escapes of a frame. None: it ends with an escape character."""
        if not self._escape:
            return frame
        begin, end = len(self._start), len(frame) - len(self._end)
        unescaped, at = bytearray(frame[:begin]), begin
        while at < end:
            escaped = frame.startswith(self._escape, at)
            if escaped and at + 1 >= end:
                return None
            unescaped.append(frame[at + 1] ^ self._framing.escape_xor if escaped else frame[at])
            at += 1 + escaped
        return bytes(unescaped) + frame[end:]
