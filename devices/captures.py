"""Imports captures that other programs made of a line: raw bytes, hexadecimal text, or lines of
text, each of which may begin with its time.

A capture must contain only what the device sent. Nothing is guessed: if it does not fit the format,
or lines are missing, it is refused with the line number.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, time
from typing import Literal

import msgspec

from common.errors import NovamasError
from devices.recording_lines import format_time

Form = Literal["raw", "hex", "text"]

RAW_CHUNK_BYTES = 256
"""Bytes per chunk if a capture does not show which bytes arrived together."""
NO_TIMES = "none in the capture: all bytes are at 0, and are judged as one burst"
_HALF_DAY_SECONDS, _DAY_SECONDS = 43_200.0, 86_400.0

_EPOCH = re.compile(r"\(?(\d{9,10}\.\d{1,9})\)?(?:[ \t]|$)")
_ISO = re.compile(
    r"\[?(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?)\]?(?:[ \t]|$)"
)
_TIME_OF_DAY = re.compile(r"\[?(\d\d:\d\d:\d\d(?:[.,]\d{1,9})?)\]?(?:[ \t]|$)")

_OFFSET_ALONE = re.compile(r"([0-9A-Fa-f]{4,16}):?")
_PAIR = "[0-9A-Fa-f]{2}"
_XXD = re.compile(rf"([0-9A-Fa-f]{{4,16}}): ?((?:(?:{_PAIR})+ )*(?:{_PAIR})+)(?:[ \t]{{2,}}.*)?")
_DUMP = re.compile(
    rf"([0-9A-Fa-f]{{6,16}})[ \t]+((?:{_PAIR}[ \t]+)*{_PAIR})(?:[ \t]+(?:\|.*\||>.*<))?"
)
_HEX_BYTES = re.compile(rf"(?:{_PAIR})+|(?:0[xX])?{_PAIR}(?:[ \t,:;-]+(?:0[xX])?{_PAIR})*[,;]?")


class CaptureError(NovamasError, ValueError):
    """A capture that cannot be imported. ``line``: 0 for the whole file; ``what``: the reason."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(f"line {line}: {what}" if line else what)
        self.line, self.what = line, what


class Capture(msgspec.Struct, frozen=True):
    """The content of a capture. ``chunks``: the time of each, as a recording writes it, and its
    bytes. ``times``: where the times come from, in words.
    """

    chunks: tuple[tuple[str, bytes], ...]
    times: str


class _CaptureLine(msgspec.Struct, frozen=True):
    """A line split into its time, as written, and the rest."""

    number: int
    time: str
    rest: bytes


def read_capture(data: bytes, form: Form, line_end: bytes = b"\r\n") -> Capture:
    """Read a capture. ``line_end``: the end of each line of text, which the capture has lost.
    Raises :class:`CaptureError`.
    """
    if form == "raw":
        parts = (
            data[begin : begin + RAW_CHUNK_BYTES] for begin in range(0, len(data), RAW_CHUNK_BYTES)
        )
        return Capture(tuple(("0.000000", part) for part in parts), NO_TIMES)
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise CaptureError(1, "this is UTF-16; convert it first: `iconv -f UTF-16 -t UTF-8`")
    data = data.removeprefix(codecs.BOM_UTF8)
    kind, lines = _split_times(data)
    stamps = _stamps(kind, lines)
    if form == "text":
        found = [line.rest + line_end for line in lines]
    elif kind is None and (dumped := _read_dump(lines)) is not None:
        found = dumped
        stamps = ["0.000000"] * len(found)
    else:
        found = [_read_hex(line) for line in lines]
    chunks = tuple((at, part) for at, part in zip(stamps, found, strict=True) if part)
    return Capture(chunks, NO_TIMES if kind is None else kind.words)


# Times


class _TimeFormat(msgspec.Struct, frozen=True):
    """A format of times. ``words``: its description."""

    pattern: re.Pattern[str]
    stamps: Callable[[list[_CaptureLine]], Iterator[tuple[str, float]]]
    words: str


def _epoch_stamps(lines: list[_CaptureLine]) -> Iterator[tuple[str, float]]:
    for line in lines:
        at = round(float(line.time), 6)
        yield format_time(at), at


def _zoned_stamps(lines: list[_CaptureLine]) -> Iterator[tuple[str, float]]:
    for line in lines:
        at = _datetime(line).timestamp()
        yield format_time(at), at


def _local_stamps(lines: list[_CaptureLine]) -> Iterator[tuple[str, float]]:
    for line in lines:
        at = _datetime(line)
        yield at.isoformat(timespec="microseconds"), at.replace(tzinfo=UTC).timestamp()


def _time_of_day_stamps(lines: list[_CaptureLine]) -> Iterator[tuple[str, float]]:
    before, days = 0.0, 0.0
    for line in lines:
        try:
            of_day = time.fromisoformat(_six_digits(line.time))
        except ValueError:
            raise CaptureError(line.number, f"{line.time} is not a time of day") from None
        seconds = of_day.hour * 3600 + of_day.minute * 60 + of_day.second
        at = days + seconds + of_day.microsecond / 1e6
        if before - at > _HALF_DAY_SECONDS:
            days, at = days + _DAY_SECONDS, at + _DAY_SECONDS
        before = at
        yield f"{at:.6f}", at


def _datetime(line: _CaptureLine) -> datetime:
    try:
        return datetime.fromisoformat(_six_digits(line.time))
    except ValueError:
        raise CaptureError(line.number, f"{line.time} is not a time") from None


def _six_digits(text: str) -> str:
    """Reduce or pad a fraction to the six digits that Python parses."""
    return re.sub(r"[.,](\d+)", lambda found: "." + found[1][:6].ljust(6, "0"), text)


_EPOCH_FORMAT = _TimeFormat(
    _EPOCH, _epoch_stamps, "of each line, as the capture has them, in seconds since 1970"
)
_ZONED_FORMAT = _TimeFormat(
    _ISO, _zoned_stamps, "of each line, as the capture has them, with their zone"
)
_LOCAL_FORMAT = _TimeFormat(
    _ISO, _local_stamps, "of each line, as the capture has them, without a zone: written as if UTC"
)
_TIME_OF_DAY_FORMAT = _TimeFormat(
    _TIME_OF_DAY,
    _time_of_day_stamps,
    "of each line, as the capture has them: of day, without a date or zone",
)


def _split_times(data: bytes) -> tuple[_TimeFormat | None, list[_CaptureLine]]:
    """Recognise the format of the times and split the lines. Empty lines are left out. Either all
    lines have a time or none has.
    """
    lines = [
        (number, line.removesuffix(b"\r"))
        for number, line in enumerate(data.split(b"\n"), 1)
        if line.strip()
    ]
    if not lines:
        raise CaptureError(0, "the capture is empty")
    first = lines[0][1].decode("latin-1")
    kind = next(
        (
            known
            for known in (_EPOCH_FORMAT, _LOCAL_FORMAT, _TIME_OF_DAY_FORMAT)
            if known.pattern.match(first)
        ),
        None,
    )
    if kind is None:
        return None, [_CaptureLine(number, "", line) for number, line in lines]
    found = []
    for number, line in lines:
        text = line.decode("latin-1")
        match = kind.pattern.match(text)
        if match is None:
            raise CaptureError(number, f"has no time, as line {lines[0][0]} has one")
        found.append(_CaptureLine(number, match[1], line[match.end() :]))
    if kind is _LOCAL_FORMAT:
        zoned = {_datetime(line).tzinfo is not None for line in found}
        if len(zoned) > 1:
            raise CaptureError(0, "some times have a zone and others do not")
        kind = _ZONED_FORMAT if zoned == {True} else _LOCAL_FORMAT
    return kind, found


def _stamps(kind: _TimeFormat | None, lines: list[_CaptureLine]) -> list[str]:
    if kind is None:
        return ["0.000000"] * len(lines)
    stamps: list[str] = []
    latest = float("-inf")
    for line, (stamp, at) in zip(lines, kind.stamps(lines), strict=True):
        if at < latest:
            raise CaptureError(
                line.number,
                f"its time {line.time} is before that of the line above; import the part before "
                "this line and the rest separately",
            )
        latest = at
        stamps.append(stamp)
    return stamps


# Bytes


def _read_hex(line: _CaptureLine) -> bytes:
    """Parse a line of hexadecimal numbers."""
    text = line.rest.decode("latin-1").strip()
    if text and not _HEX_BYTES.fullmatch(text):
        raise CaptureError(
            line.number,
            f"{text[:40]!r} is not hexadecimal; write two digits for each byte, as in `02 31 53`, "
            "or leave the dump as `xxd` or `hexdump -C` wrote it",
        )
    return bytes.fromhex(re.sub(r"0[xX]|[^0-9A-Fa-f]", "", text))


def _read_dump(lines: list[_CaptureLine]) -> list[bytes] | None:
    """Parse a dump with offsets, which prove that no line is missing. None: there are no
    offsets.
    """
    texts = [(line.number, line.rest.decode("latin-1").strip()) for line in lines]
    form = next((form for form in (_XXD, _DUMP) if form.fullmatch(texts[0][1])), None)
    if form is None:
        return None
    found: list[bytes] = []
    size, repeats = 0, False
    for number, text in texts:
        if text == "*" and found:
            repeats = True
            continue
        match = form.fullmatch(text)
        offset_line = match or _OFFSET_ALONE.fullmatch(text)
        if offset_line is None:
            raise CaptureError(number, f"{text[:40]!r} is not a line of this dump")
        offset = int(offset_line[1], 16)
        while repeats and size < offset:
            found.append(found[-1])
            size += len(found[-1])
        repeats = False
        if offset != size:
            raise CaptureError(
                number,
                f"its offset is {offset}, but there are {size} bytes above it: "
                "lines are missing, or columns were changed",
            )
        if match is not None:
            found.append(bytes.fromhex(re.sub(r"[ \t]", "", match[2])))
            size += len(found[-1])
    if repeats:
        raise CaptureError(
            texts[-1][0], "the dump does not show how often the line above is repeated"
        )
    return found
