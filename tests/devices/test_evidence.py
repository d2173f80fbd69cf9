"""A recording that an editor, a mail program or a transfer changed never decodes to something else:
it gives the readings of the whole, those of the lines up to a place, or a refusal.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from controller.cli import main
from controller.cli.decode import decode, make_codec
from devices.recording import Chunk, read_recording
from devices.recording_writer import ClockedWriter, RecordingWriter
from devices.watch import Watch
from tests.conftest import cases
from tests.devices.test_recordings import RECORDINGS

START = 1_758_612_328.384
MOST = 150
"""Chunks of a recording that are tried."""

Edit = Callable[[st.DataObject, list[bytes]], bytes]
"""Changes to the lines of a file, with their ends."""


def _place(data: st.DataObject, lines: list[bytes], *, chunks: bool = True) -> int:
    """A line: with ``chunks``, one of those that hold bytes of the device."""
    places = [at for at, line in enumerate(lines) if not (chunks and line.startswith(b"#"))]
    return data.draw(st.sampled_from(places))


def _without_header(_: st.DataObject, lines: list[bytes]) -> bytes:
    return b"".join(line for line in lines if not line.startswith(b"#"))


def _tail(data: st.DataObject, lines: list[bytes]) -> bytes:
    return b"".join(lines[_place(data, lines, chunks=False) :])


def _header_and_tail(data: st.DataObject, lines: list[bytes]) -> bytes:
    header = [line for line in lines if line.startswith(b"#")]
    return b"".join([*header, *lines[_place(data, lines) :]])


def _head(data: st.DataObject, lines: list[bytes]) -> bytes:
    return b"".join(lines[: _place(data, lines)])


def _head_of_bytes(data: st.DataObject, lines: list[bytes]) -> bytes:
    whole = b"".join(lines)
    return whole[: data.draw(st.integers(0, len(whole)))]


def _without_some(data: st.DataObject, lines: list[bytes]) -> bytes:
    begin = _place(data, lines, chunks=False)
    return b"".join(lines[:begin] + lines[begin + data.draw(st.integers(1, 3)) :])


def _byte_order_mark(_: st.DataObject, lines: list[bytes]) -> bytes:
    return b"\xef\xbb\xbf" + b"".join(lines)


def _cr_lf(_: st.DataObject, lines: list[bytes]) -> bytes:
    return b"".join(lines).replace(b"\n", b"\r\n")


def _cr(_: st.DataObject, lines: list[bytes]) -> bytes:
    return b"".join(lines).replace(b"\n", b"\r")


def _no_blanks_at_ends(_: st.DataObject, lines: list[bytes]) -> bytes:
    return b"".join(line.rstrip() + b"\n" for line in lines)


def _blanks_at_ends(_: st.DataObject, lines: list[bytes]) -> bytes:
    return b"".join(line.rstrip(b"\n") + b"  \n" for line in lines)


def _single_blanks(_: st.DataObject, lines: list[bytes]) -> bytes:
    return re.sub(rb"  +", b" ", b"".join(lines))


def _tabs(_: st.DataObject, lines: list[bytes]) -> bytes:
    return re.sub(rb" {2,8}", b"\t", b"".join(lines))


def _no_tabs(_: st.DataObject, lines: list[bytes]) -> bytes:
    return b"".join(lines).expandtabs(4)


def _hard_blanks(_: st.DataObject, lines: list[bytes]) -> bytes:
    return b"".join(lines).replace(b"  ", b" \xc2\xa0")


def _blank_lines(_: st.DataObject, lines: list[bytes]) -> bytes:
    return b"".join(lines).replace(b"\n", b"\n\n")


def _joined(data: st.DataObject, lines: list[bytes]) -> bytes:
    at = _place(data, lines, chunks=False)
    between = data.draw(st.sampled_from([b"", b" "]))
    return b"".join([*lines[:at], lines[at].rstrip(b"\n"), between, *lines[at + 1 :]])


def _wrapped(data: st.DataObject, lines: list[bytes]) -> bytes:
    width = data.draw(st.integers(20, 80))
    return b"".join(
        line[begin : begin + width].rstrip(b"\n") + b"\n"
        for line in lines
        for begin in range(0, len(line), width)
    )


def _quoted(_: st.DataObject, lines: list[bytes]) -> bytes:
    return b"".join(b"> " + line for line in lines)


def _quoted_printable(_: st.DataObject, lines: list[bytes]) -> bytes:
    return b"".join(lines).replace(b"=", b"=3D")


def _utf_16(data: st.DataObject, lines: list[bytes]) -> bytes:
    codec = data.draw(st.sampled_from(["utf-16", "utf-16-le", "utf-16-be"]))
    return b"".join(lines).decode().encode(codec)


def _a_line_cut(data: st.DataObject, lines: list[bytes]) -> bytes:
    at = _place(data, lines)
    cut = data.draw(st.integers(0, len(lines[at]) - 1))
    return b"".join([*lines[:at], lines[at][:cut] + b"\n", *lines[at + 1 :]])


def _columns_cut(data: st.DataObject, lines: list[bytes]) -> bytes:
    width = data.draw(st.integers(20, 80))
    return b"".join(line.rstrip(b"\n")[:width] + b"\n" for line in lines)


def _repeated(data: st.DataObject, lines: list[bytes]) -> bytes:
    at = _place(data, lines)
    to = data.draw(st.integers(at, len(lines)))
    return b"".join([*lines[:to], lines[at], *lines[to:]])


def _moved(data: st.DataObject, lines: list[bytes]) -> bytes:
    at, to = _place(data, lines), _place(data, lines)
    others = [line for number, line in enumerate(lines) if number != at]
    return b"".join([*others[:to], lines[at], *others[to:]])


def _sorted(_: st.DataObject, lines: list[bytes]) -> bytes:
    return b"".join(sorted(lines))


def _no_last_line_end(_: st.DataObject, lines: list[bytes]) -> bytes:
    return b"".join(lines)[:-1]


def _one_character(data: st.DataObject, lines: list[bytes]) -> bytes:
    at = _place(data, lines)
    place = data.draw(st.integers(0, len(lines[at]) - 2))
    other = data.draw(st.sampled_from(b"0123456789AFZ <>\\~."))
    line = lines[at][:place] + bytes([other]) + lines[at][place + 1 :]
    return b"".join([*lines[:at], line, *lines[at + 1 :]])


def _lower_case(_: st.DataObject, lines: list[bytes]) -> bytes:
    return b"".join(lines).lower()


def _other_framing(_: st.DataObject, lines: list[bytes]) -> bytes:
    return b"".join(lines).replace(b"framing: raw", b"framing: line")


SHOWN_BY_THE_FORM: tuple[Edit, ...] = (
    _without_header,
    _head,
    _byte_order_mark,
    _cr_lf,
    _cr,
    _blank_lines,
    _quoted,
    _utf_16,
    _tabs,
    _hard_blanks,
    _no_tabs,
)
"""Edits that change nothing, or show without checks."""
EDITS: tuple[Edit, ...] = (
    *SHOWN_BY_THE_FORM,
    _tail,
    _header_and_tail,
    _head_of_bytes,
    _without_some,
    _no_blanks_at_ends,
    _blanks_at_ends,
    _single_blanks,
    _joined,
    _wrapped,
    _quoted_printable,
    _a_line_cut,
    _columns_cut,
    _repeated,
    _moved,
    _sorted,
    _no_last_line_end,
    _one_character,
    _lower_case,
    _other_framing,
)
WHOLE = (_byte_order_mark, _cr_lf, _blank_lines, _no_last_line_end)
"""Edits after which everything is still there."""


@cache
def chunks_of(path: Path) -> tuple[Chunk, ...]:
    return tuple(read_recording(path).chunks[:MOST])


@cache
def words(path: Path) -> tuple[str, ...]:
    """The driver of a recording and its options, as for the command line. A header has the values
    of coins in cents, as the wire has; people write them as money.
    """
    header = read_recording(path).header
    options = header.get("options", "").split(", ")
    if header["driver"] == "profile":
        file = path.parent / options[0].partition("=")[2].strip(' "')
        return (f"profile:{file}",)
    split = (option.partition("=") for option in options if option)
    pairs = {key.strip(): value for key, _, value in split}
    if "coins" in pairs:
        coins = json.loads(pairs["coins"].strip())
        written = (f"[{position},{value / 100:.2f}]" for position, value in coins)
        pairs["coins"] = f"[{','.join(written)}]"
    return (
        header["driver"],
        *(word for key, value in pairs.items() for word in ("--option", f"{key}={value}")),
    )


@cache
def readings(path: Path, count: int, begin: float) -> list[str]:
    """The readings of the first chunks of a recording, as JSON, for a clock that starts at this
    time.
    """
    driver, *options = words(path)
    codec = make_codec(driver, "device", options[1::2])
    watch = Watch(codec, "device", 5.0)
    chunks = [replace(chunk, at=round(chunk.at - begin, 6)) for chunk in chunks_of(path)[:count]]
    return [msgspec.json.encode(reading).decode() for reading in decode(watch, chunks)]


def decoded(path: Path, file: Path) -> tuple[int, list[str], str]:
    """Exit status, readings and messages of ``novamas decode``."""
    driver, *options = words(path)
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = main(["decode", driver, str(file), *options])
    return status, out.getvalue().splitlines(), err.getvalue()


def judge(path: Path, file: Path, edit: Edit, begin: float) -> None:
    status, lines, told = decoded(path, file)
    if status == 0:
        count = len(read_recording(file))
        assert count == len(chunks_of(path)) or edit not in WHOLE
        assert lines == readings(path, count, begin)
    else:
        assert edit not in WHOLE
        assert lines == []
        assert str(file) in told.splitlines()[-1]
        assert re.search(
            r"use the (whole )?file|convert it back|not a recording, or empty|unknown \w+ '",
            told.splitlines()[-1],
        )
        assert "Traceback" not in told


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
@settings(max_examples=cases(25, 200), deadline=None)
@given(data=st.data())
def test_a_changed_recording_gives_no_other_reading(
    path: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    file = tmp_path_factory.getbasetemp() / f"{path.stem}.rec"
    file.unlink(missing_ok=True)
    writer = RecordingWriter(file, {"device": "device", "driver": "any"})
    clocked = ClockedWriter(writer)
    set_at, by = (
        data.draw(st.integers(0, MOST)),
        data.draw(st.sampled_from([-3600.0, 0.0, 86400.0])),
    )
    for number, chunk in enumerate(chunks_of(path)):
        time_of_day = START + chunk.at + (by if number >= set_at else 0.0)
        clocked.write(chunk.at, time_of_day, chunk.data, chunk.sent)
    writer.close()
    edit = data.draw(st.sampled_from(EDITS))
    file.write_bytes(edit(data, file.read_bytes().splitlines(keepends=True)))
    judge(path, file, edit, chunks_of(path)[0].at)


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
@pytest.mark.parametrize("edit", SHOWN_BY_THE_FORM)
@settings(max_examples=cases(1, 5), deadline=None)
@given(data=st.data())
def test_without_checks_the_form_shows_what_it_can(
    path: Path, edit: Edit, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    file = tmp_path_factory.getbasetemp() / f"{path.stem}.rec"
    header = [line for line in path.read_bytes().splitlines(keepends=True) if line[:1] == b"#"]
    rest = [line for line in path.read_bytes().splitlines(keepends=True) if line[:1] != b"#"]
    file.write_bytes(edit(data, [*header, *rest[:MOST]]))
    judge(path, file, edit, 0.0)
