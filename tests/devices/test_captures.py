"""Captures of other programs: the bytes that went in come out, or a line is named that does not
fit.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devices.captures import NO_TIMES, CaptureError, Form, read_capture
from devices.recording_lines import parse_time
from tests.support.for_each import for_each

SAMPLE_BYTES = bytes(range(256)) + b"\r\nABC" * 7 + bytes(100)


def rows(data: bytes, width: int = 16) -> list[tuple[int, bytes]]:
    return [(at, data[at : at + width]) for at in range(0, len(data), width)]


def printable(data: bytes) -> str:
    return "".join(chr(byte) if 32 <= byte < 127 else "." for byte in data)


def xxd(data: bytes) -> str:
    lines = []
    for at, row in rows(data):
        groups = " ".join(row[begin : begin + 2].hex() for begin in range(0, len(row), 2))
        lines.append(f"{at:08x}: {groups:<39}  {printable(row)}")
    return "\n".join(lines) + "\n"


def hexdump(data: bytes) -> str:
    """As ``hexdump -C``: equal lines but the first are one asterisk."""
    lines: list[str] = []
    before = None
    for at, row in rows(data):
        if row != before:
            halves = f"{row[:8].hex(' ')}  {row[8:].hex(' ')}".rstrip()
            lines.append(f"{at:08x}  {halves:<48}  |{printable(row)}|")
        elif lines[-1] != "*":
            lines.append("*")
        before = row
    return "\n".join([*lines, f"{len(data):08x}"]) + "\n"


def plain(data: bytes) -> str:
    return "".join(f"{row.hex(' ')}\n" for _, row in rows(data))


def joined(data: bytes) -> str:
    """As ``xxd -p``."""
    return "".join(f"{row.hex()}\n" for _, row in rows(data, 30))


def listed(data: bytes) -> str:
    return ", ".join(f"0x{byte:02X}" for byte in data) + "\n"


DUMPS = (xxd, hexdump, plain, joined, listed)


def bytes_of(text: str | bytes, form: Form = "hex") -> bytes:
    data = text.encode("latin-1") if isinstance(text, str) else text
    return b"".join(part for _, part in read_capture(data, form).chunks)


@pytest.mark.parametrize("dump", DUMPS)
@given(data=st.binary(min_size=1, max_size=200) | st.just(SAMPLE_BYTES))
def test_a_dump_gives_the_bytes_that_it_was_made_of(
    dump: Callable[[bytes], str], data: bytes
) -> None:
    assert bytes_of(dump(data)) == data
    assert bytes_of(dump(data).replace("\n", "\r\n")) == data
    assert bytes_of(dump(data).upper().replace("0X", "0x")) == data


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("options", [["-t", "x1"], ["-t", "x1z"], ["-v", "-t", "x1"]])
def test_a_dump_of_od_is_read(options: list[str]) -> None:
    found = subprocess.run(
        ["od", "-A", "x", *options], input=SAMPLE_BYTES, capture_output=True, check=True
    )
    assert bytes_of(found.stdout) == SAMPLE_BYTES


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize(
    "options", [["-A", "x", "-x"], ["-x"], ["-t", "x1"], ["-c"], ["-A", "x", "-t", "x2"]]
)
def test_a_dump_whose_order_of_bytes_is_unknown_is_refused(options: list[str]) -> None:
    found = subprocess.run(["od", *options], input=SAMPLE_BYTES, capture_output=True, check=True)
    with pytest.raises(CaptureError, match="line"):
        bytes_of(found.stdout)


@pytest.mark.parametrize("dump", [xxd, hexdump])
@given(data=st.data())
def test_a_dump_of_which_lines_are_missing_is_refused(
    dump: Callable[[bytes], str], data: st.DataObject
) -> None:
    lines = dump(bytes(range(160))).splitlines(keepends=True)
    gone = data.draw(st.integers(0, 8))
    with pytest.raises(CaptureError, match="lines are missing"):
        bytes_of("".join(lines[:gone] + lines[gone + 1 :]))


@for_each(
    ("text", "line"),
    [
        ("02 31 5\n", 1),
        ("02 31\n53 zz\n", 2),
        ("00000000: 0231\n00000002: 53q0\n", 2),
        ("00000000  00 00\n*\n", 2),
        ("received: 02 31\n", 1),
        ("(1700000000.5) 02\n31\n", 2),
        ("10:00:00 02\n09:59:59 31\n", 2),
        ("2026-02-30 10:00:00 02\n", 1),
        ("25:00:00 02\n", 1),
        ("\ufeff02".encode("utf-16").decode("latin-1"), 1),
    ],
)
def test_what_does_not_fit_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(CaptureError) as refused:
        bytes_of(text)
    assert refused.value.line == line


@given(st.lists(st.binary(min_size=1, max_size=20), min_size=1, max_size=9))
def test_times_in_all_forms_are_kept(parts: list[bytes]) -> None:
    start = datetime(2026, 11, 26, 22, 59, 57, 123_000, UTC)
    begun = start.timestamp()
    for form, first, words in (
        ("({0:.6f})", begun, "in seconds since 1970"),
        ("{0:.6f}", begun, "in seconds since 1970"),
        ("{1:%Y-%m-%dT%H:%M:%S.%f}Z", begun, "with their zone"),
        ("{1:%Y-%m-%d %H:%M:%S.%f}", begun, "without a zone"),
        ("[{1:%Y-%m-%dT%H:%M:%S,%f}]", begun, "without a zone"),
        ("{1:%H:%M:%S.%f}", begun % 86400, "of day, without a date"),
    ):
        lines = [
            form.format(begun + n, datetime.fromtimestamp(begun + n, UTC)) + f" {part.hex(' ')}\n"
            for n, part in enumerate(parts)
        ]
        captured = read_capture("".join(lines).encode(), "hex")
        assert [part for _, part in captured.chunks] == parts
        found = [parse_time(at) for at, _ in captured.chunks]
        assert [at for at, _ in found] == pytest.approx([first + n for n in range(len(parts))])
        assert words in captured.times


def test_a_day_that_ends_within_a_capture_is_followed() -> None:
    captured = read_capture(b"23:59:59.9 02\n00:00:00.1 03\n", "hex")
    assert [at for at, _ in captured.chunks] == ["86399.900000", "86400.100000"]


@given(st.lists(st.from_regex(rb"[!-~]( [ -~]{0,20})?", fullmatch=True), min_size=1, max_size=9))
def test_lines_of_text_get_their_line_ends_back(lines: list[bytes]) -> None:
    data = b"".join(b"10:00:00.5 " + line + b"\n" for line in lines)
    assert bytes_of(data, "text") == b"".join(line + b"\r\n" for line in lines)
    assert read_capture(data, "text", b"\r").chunks[0][1] == lines[0] + b"\r"


def test_a_blank_at_the_beginning_of_a_line_is_the_devices() -> None:
    assert bytes_of("10:00:00.5  7\n", "text") == b" 7\r\n"
    assert bytes_of(" 7\n", "text") == b" 7\r\n"


@given(st.binary(max_size=2000))
def test_raw_bytes_are_accepted_as_they_are_and_have_no_times(data: bytes) -> None:
    captured = read_capture(data, "raw")
    assert b"".join(part for _, part in captured.chunks) == data
    assert captured.times == NO_TIMES
    assert {at for at, _ in captured.chunks} <= {"0.000000"}


@pytest.mark.parametrize("form", ["raw", "hex", "text"])
@given(data=st.binary(max_size=200))
def test_no_capture_is_an_exception_but_the_one_that_is_documented(form: Form, data: bytes) -> None:
    with suppress(CaptureError):
        read_capture(data, form)
