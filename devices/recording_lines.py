r"""The lines of a recording: chunks, remarks, and the checks that reveal changes.

A chunk is ``<time> <direction> <payload> ~<check>``. A run (chunks from the device in short
succession) is one line: ``<time> << <payload> <pauses> ~<check>``. Its payload is that of all
chunks; its pauses, separated by commas, are the microseconds between one chunk and the next, each
followed by ``x`` and the size of the later chunk unless that is one byte.

The check is a CRC-32 over all lines and remarks since the header, so a line that was changed, cut,
removed, repeated or moved does not match. It protects against editors and transfer errors, not
against a forger.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Literal, NamedTuple

from common.readings import escape, unescape

Framing = Literal["line", "raw"]
LINE_END = b"\r\n"
CHECK_KIND = "crc32"
"""The value of ``# check:`` in the header of a recording whose lines have checks."""
MAX_TIME_SECONDS = 253_402_300_799.0
"""The end of the year 9999, in seconds since 1970."""
LINK_OPENED = "the link was opened again here"

RUN_MARK = "<<"
"""The direction of a run."""
MAX_RUN_PAUSE_SECONDS = 0.05
"""Maximum pause between two chunks of a run. A longer pause begins a new line."""

_PAUSE = re.compile(r"(\d{1,6})(?:x(\d{1,6}))?", re.ASCII)
_SECONDS = re.compile(r"\d+(\.\d+)?")
_SEALED = re.compile(rb"(.*) ~([0-9A-F]{8})", re.DOTALL)
_GAP = re.compile(rf"\d+ chunks are missing here|{LINK_OPENED}")
_STEP = re.compile(r"the clock was set by ([+-]\d+\.\d{6}) s here")


class LaterChunk(NamedTuple):
    """A chunk of a run after the first: microseconds since the previous chunk, and size in
    bytes.
    """

    pause: int
    size: int


class Chain:
    """Running check of a recording since its latest header."""

    def __init__(self, framing: Framing) -> None:
        self.value = zlib.crc32(framing.encode())

    def add(self, line: bytes) -> None:
        """Include a remark, without its line end."""
        self.value = zlib.crc32(line, self.value)

    def seal(self, line: bytes) -> bytes:
        """Return the line with its check appended."""
        self.add(line)
        return b"%b ~%08X" % (line, self.value)

    def matches(self, line: bytes, check: int) -> bool:
        """Return whether a line has the check that results from all lines before it. The chain
        continues from the check in the file, so that each change is found once.
        """
        self.add(line)
        before, self.value = self.value, check
        return before == check


def unseal(line: bytes) -> tuple[bytes, int | None]:
    """Split a line into its content and its check; None: there is no check."""
    found = _SEALED.fullmatch(line)
    return (line, None) if found is None else (found[1], int(found[2], 16))


def chunk_line(time: str, data: bytes, sent: bool) -> bytes:
    """Format a chunk as a line, without check and line end."""
    return f"{time} {'>' if sent else '<'} {escape(data)}".encode("ascii")


def run_line(time: str, data: bytes, later: Sequence[LaterChunk]) -> bytes:
    """Format a run as a line, without check and line end. ``data``: the bytes of all its chunks;
    ``later``: the chunks after the first.
    """
    pauses = ",".join(str(pause) if size == 1 else f"{pause}x{size}" for pause, size in later)
    return f"{time} {RUN_MARK} {escape(data)} {pauses}".encode("ascii")


def split_run(line: bytes) -> tuple[bytes, list[LaterChunk]]:
    """Split the line of a run, without its check, into the line of one chunk with all its bytes,
    and the chunks after the first. The line of a chunk is returned unchanged. Raises
    ``ValueError``.
    """
    time, _, rest = line.partition(b" ")
    if not rest.startswith(RUN_MARK.encode() + b" "):
        return line, []
    payload, _, pauses = rest[len(RUN_MARK) + 1 :].rpartition(b" ")
    found = [_PAUSE.fullmatch(match) for match in pauses.decode("latin-1").split(",")]
    pieces = [LaterChunk(int(match[1]), int(match[2] or 1)) for match in found if match is not None]
    if len(pieces) < len(found):
        raise ValueError("the pauses at the end of the line cannot be read")
    return b"%b < %b" % (time, payload), pieces


def step_remark(seconds: float) -> str:
    """Format the remark that the clock was set by ``seconds``."""
    return f"the clock was set by {seconds:+.6f} s here"


def read_ending(end: bytes) -> tuple[float | None, int | None]:
    """Read the end of a file: the time of its last chunk, by the clock as it is set now, and the
    check from which the next line continues. None: not found.
    """
    remarks: list[bytes] = []
    for line in reversed(end.split(b"\n")[1:-1]):
        body, check = unseal(line.rstrip(b"\r"))
        if line.startswith(b"#") or not line.strip():
            remarks.append(body)
            continue
        try:
            body, later = split_run(body)
            at, absolute = parse_time(body.split(b" ", 1)[0].decode("latin-1"))
        except ValueError:
            continue
        at += sum(piece.pause for piece in later) / 1e6
        for remark in reversed(remarks):
            text = remark[1:].decode("utf-8", "replace").strip()
            step = step_of(text)
            at += step or 0.0
            if check is not None and (step is not None or gap_of(text) is not None):
                check = zlib.crc32(remark, check)
        return at if absolute else None, check
    return None, None


def gap_of(remark: str) -> str | None:
    """Return why bytes may be missing at a remark, or None if it is not such a remark."""
    return remark if _GAP.fullmatch(remark) else None


def step_of(remark: str) -> float | None:
    """Return the seconds by which the clock was set at a remark, or None if it is not such a
    remark.
    """
    found = _STEP.fullmatch(remark)
    return None if found is None else float(found[1])


def format_time(at: float) -> str:
    """Format seconds since 1970 as UTC with microseconds.

    >>> format_time(1758612328.384)
    '2025-09-23T07:25:28.384000Z'
    """
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def parse_chunk(line: bytes, framing: Framing, *, checked: bool) -> tuple[float, bool, bytes, bool]:
    """Parse the line of a chunk, without its check, into (time, whether it is absolute, bytes,
    whether they were sent). ``checked``: a check has proved that it is unchanged. Raises
    ``ValueError`` describing the error.
    """
    text = line.decode("latin-1")
    time, _, rest = text.partition(" ")
    direction, _, payload = rest.partition(" ")
    if direction not in {"<", ">"}:
        raise ValueError("not a recording line; expected `TIME < BYTES` or `TIME > BYTES`")
    at, absolute = parse_time(time)
    if not (payload.isascii() and payload.isprintable()):
        raise ValueError(
            "the payload has a character that no recording has (a tab, or one that is not ASCII): "
            "an editor changed the line"
        )
    try:
        data = unescape(payload)
    except ValueError as error:
        raise ValueError(f"invalid escape in the payload: {error}") from error
    if framing == "raw":
        return at, absolute, data, direction == ">"
    if not checked and (b"\r" in data or b"\n" in data):
        raise ValueError(
            "the payload has a line end, but the header says `framing: line`, which leaves line "
            "ends out; Novamás itself records with `framing: raw`"
        )
    return at, absolute, data + LINE_END, direction == ">"


def parse_time(text: str) -> tuple[float, bool]:
    """Parse a time into seconds, and whether they count from 1970. Raises ``ValueError``."""
    if _SECONDS.fullmatch(text):
        if (seconds := float(text)) > MAX_TIME_SECONDS:
            raise ValueError(f"time {text[:20]}... is after the year 9999")
        return seconds, False
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"time {text!r} is neither ISO 8601 nor seconds") from None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp(), True
