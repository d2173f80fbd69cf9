"""A byte that was damaged on a line with parity: the system marks it, and no driver takes the frame
that it belongs to; recordings and journals keep which byte it was.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.readings import (
    AnyReading,
    CardDrawn,
    DamagedBytes,
    DiceRead,
    LinkGarbage,
    ShoeResult,
    SlotCoin,
    WheelCell,
    WheelNumber,
    escape,
    unescape,
)
from controller.cli import main
from controller.cli.decode import decode
from controller.conform.codecs import contents
from devices.calls import (
    AnyCall,
    BytesReceived,
    LinkClosed,
    LinkOpened,
    apply_call,
    read_calls,
    write_calls,
)
from devices.codec import Codec
from devices.drivers import DRIVERS, driver
from devices.links.marks import ParityMarkDecoder
from devices.profiles.drivers import driver_of
from devices.profiles.profile import parse_profile
from devices.recording import read_recording
from devices.recording_writer import RecordingWriter
from devices.watch import Watch
from tests.devices.test_proof import CODECS, RECORDINGS

PIECES = st.lists(st.tuples(st.integers(0, 255), st.booleans()), max_size=30)
"""Bytes, and whether each was damaged."""


def received(pieces: list[tuple[int, bool]]) -> bytes:
    data = bytes(byte for byte, _ in pieces)
    damaged = tuple(at for at, (_, bad) in enumerate(pieces) if bad)
    return DamagedBytes(data, damaged) if damaged else data


def marked(pieces: list[tuple[int, bool]]) -> bytes:
    """As termios(3) says that the system passes them on."""
    return b"".join(
        b"\xff\0" + bytes((byte,)) if bad else b"\xff\xff" if byte == 0xFF else bytes((byte,))
        for byte, bad in pieces
    )


def damage(data: bytes) -> list[tuple[int, bool]]:
    bad = data.damaged if isinstance(data, DamagedBytes) else ()
    return [(byte, at in bad) for at, byte in enumerate(data)]


@given(PIECES, st.lists(st.integers(0, 90), max_size=6))
def test_marks_are_undone_however_the_stream_is_split(
    pieces: list[tuple[int, bool]], cuts: list[int]
) -> None:
    stream, marks, got = marked(pieces), ParityMarkDecoder(), list[tuple[int, bool]]()
    ends = [*sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    for begin, end in zip([0, *ends], ends, strict=False):
        got += damage(marks.decode(stream[begin:end]))
    assert got == pieces


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (b"S4\r\n", b"S4\r\n"),
        (b"S\xff\x004\r\n", DamagedBytes(b"S4\r\n", (1,))),
        (b"\xff\xff", b"\xff"),
        (b"\xff\x00\xff", DamagedBytes(b"\xff", (0,))),
        (b"\xff\x00\x00", DamagedBytes(b"\x00", (0,))),  # a break
        (b"\xff\xff\x00A", b"\xff\x00A"),
        (b"\xffA", b"\xffA"),  # no system sends it
        (b"A\xff", b"A"),
        (b"A\xff\x00", b"A"),
    ],
)
def test_the_marks_of_the_system(stream: bytes, expected: bytes) -> None:
    assert damage(ParityMarkDecoder().decode(stream)) == damage(expected)


@given(PIECES)
def test_damage_is_written_and_read(pieces: list[tuple[int, bool]]) -> None:
    """As recordings and journals have it: one printable line, with the byte as received."""
    text = escape(received(pieces))
    assert text.isascii()
    assert text == "" or text.isprintable()
    assert damage(unescape(text)) == pieces
    device, [call] = read_calls(write_calls("shoe", [BytesReceived(1.0, received(pieces))]))
    assert device == "shoe"
    assert isinstance(call, BytesReceived)
    assert damage(call.data) == pieces


@pytest.mark.parametrize("text", ["\\?", "\\?4", "\\?4g", "x\\?\\?34", "\\?34\\x"])
def test_a_wrong_escape_is_no_damage(text: str) -> None:
    with pytest.raises(ValueError, match=r"backslash|truncated"):
        unescape(text)


def test_a_question_mark_behind_a_backslash_marks_no_damage() -> None:
    assert unescape(escape(b"\\?34")) == b"\\?34"
    assert not isinstance(unescape(escape(b"\\?34")), DamagedBytes)


def watched(name: str) -> Watch:
    return Watch(CODECS[name](), "device", 5.0)


STREAM = [
    b"SA\r\n",
    DamagedBytes(b"H11\r\n", (2,)),
    b"C9\r\n",
    DamagedBytes(b"\xff\x00\r\n", (0, 1, 2, 3)),
]


def test_a_recording_decodes_as_it_was_received(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path / "shoe.rec", {"device": "shoe"})
    live, readings = watched("barcode-serial"), list[AnyReading]()
    live.opened(0.0)
    for number, data in enumerate(STREAM):
        writer.write(1000.0 + number, data)
        readings += live.feed(data, float(number))
    writer.close()
    assert "H1\\?31\\r\\n" in (tmp_path / "shoe.rec").read_text()
    recording = read_recording(tmp_path / "shoe.rec")
    assert [damage(chunk.data) for chunk in recording] == [damage(data) for data in STREAM]
    assert [*decode(watched("barcode-serial"), recording)] == readings
    assert [reading.card for reading in readings if isinstance(reading, CardDrawn)] == ["As", "9c"]


def test_a_recording_plays_and_is_recorded_with_its_damage(tmp_path: Path) -> None:
    first, second = tmp_path / "first.rec", tmp_path / "second.rec"
    writer = RecordingWriter(first, {"device": "shoe"})
    for number, data in enumerate(STREAM):
        writer.write(1000.0 + number, data)
    writer.close()
    url = f"replay://{first}?speed=0"
    main(["record", "--driver", "barcode-serial", url, str(second)])
    played = [damage(chunk.data) for chunk in read_recording(second)]
    assert played == [damage(data) for data in STREAM]


def test_a_journal_derives_what_was_received() -> None:
    calls: list[AnyCall] = [
        LinkOpened(0.0),
        *(BytesReceived(2.0 + number, data) for number, data in enumerate(STREAM)),
        LinkClosed(9.0, "unplugged"),
    ]
    live, derived = watched("barcode-serial"), watched("barcode-serial")
    readings = [reading for call in calls for reading in apply_call(live, call)]
    _, stored = read_calls(write_calls("device", calls))
    assert [reading for call in stored for reading in apply_call(derived, call)] == readings
    assert sum(isinstance(each, LinkGarbage) for each in readings) == 2


CASES = [
    (driver_name, path)
    for path in RECORDINGS
    for driver_name in [read_recording(path).header["driver"]]
    if driver(driver_name).scheme == "serial"
]
SAMPLES = 30
"""Places in each recording at which a byte is damaged."""
LONGEST = 12_000
"""Bytes of a recording that are used."""
RESULTS = (CardDrawn, WheelNumber, WheelCell, DiceRead, SlotCoin, ShoeResult)


def codec_of(path: Path) -> Codec:
    header = read_recording(path).header
    if header["driver"] == "profile":
        found = driver_of(
            parse_profile((path.parent.parent / "profiles" / "acme-rota.toml").read_text())
        )
        return found.make("device", found.options())
    found = driver(header["driver"])
    given = header.get("options")
    options: Any = {}
    if given:
        options = tomllib.loads(f"given = {{ {given} }}")["given"]
    return found.make("device", msgspec.convert(options, found.options))


def heard_chunks(path: Path) -> list[tuple[float, bytes]]:
    chunks, size = list[tuple[float, bytes]](), 0
    for chunk in read_recording(path):
        if not chunk.sent and size < LONGEST:
            chunks.append((chunk.at, chunk.data))
            size += len(chunk.data)
    return chunks


def play(path: Path, chunks: list[tuple[float, bytes]]) -> tuple[int, list[AnyReading]]:
    codec = codec_of(path)
    watch = Watch(codec, "device", 60.0)
    watch.opened(chunks[0][0])
    found = [reading for at, data in chunks for reading in watch.feed(data, at)]
    return codec.counters.frames, [each for each in found if isinstance(each, RESULTS)]


def changed(
    chunks: list[tuple[float, bytes]], number: int, place: int, how: str
) -> list[tuple[float, bytes]]:
    at, data = chunks[number]
    wrong = data[:place] + bytes((data[place] ^ 1,)) + data[place + 1 :]
    new = DamagedBytes(wrong, (place,)) if how == "damaged" else data[:place] + data[place + 1 :]
    return [*chunks[:number], (at, new), *chunks[number + 1 :]]


def places(chunks: list[tuple[float, bytes]]) -> Iterator[tuple[int, int]]:
    every = [
        (number, place) for number, (_, data) in enumerate(chunks) for place in range(len(data))
    ]
    yield from every[:: max(1, len(every) // SAMPLES)]


@pytest.mark.parametrize(("name", "path"), CASES, ids=lambda case: getattr(case, "stem", case))
def test_no_frame_with_a_damaged_byte_is_accepted(name: str, path: Path) -> None:
    chunks = heard_chunks(path)
    frames, results = play(path, chunks)
    needed = 0
    for number, place in places(chunks):
        got, seen = play(path, changed(chunks, number, place, "damaged"))
        without, _ = play(path, changed(chunks, number, place, "missing"))
        assert got <= frames
        if without < frames:  # the byte is needed
            needed += 1
            assert got < frames, (number, place, chunks[number])
        assert contents(seen) <= contents(results), (number, place, chunks[number])
    assert needed or not frames
    assert name in DRIVERS


def test_no_remainder_of_a_damaged_card_line_is_accepted() -> None:
    """The rest of a line could be a shorter one that is valid."""
    for name, line in (
        ("bee-tek", b"[Game]<Card:4S>\r\n"),
        ("bee-tek.toml", b"[Game]<Card:4S>\r\n"),
        ("barcode-serial", b"HT\r\n"),
    ):
        for place in range(len(line) - 2):
            watch = watched(name)
            watch.opened(-60.0)
            found = watch.feed(b"\r\n", 1.0) + watch.feed(DamagedBytes(line, (place,)), 1.0)
            assert not [each for each in found if isinstance(each, CardDrawn)]
            found = watch.feed(line, 5.0)
            assert [reading.unsure for reading in found if isinstance(reading, CardDrawn)] == [
                False
            ]


BINARY = """
name = "binary"
kind = "slot"
title = "A slot whose frames may have any byte"
source = "a test"

[framing]
form = "fixed"
start = "\\u00aa"
length = 4

[fields]
box = { at = 1, width = 1, encoding = "big" }
amount = { at = 2, width = 2, encoding = "big" }

[[message]]
name = "coin"

[[message.say]]
reading = "slot.coin"
with = { box = "{box}", amount = "{amount}" }
"""


@given(
    st.lists(st.tuples(st.integers(1, 20), st.integers(1, 65535)), min_size=3, max_size=9),
    st.data(),
)
def test_a_profile_without_a_check_drops_the_damaged_frame_alone(
    coins: list[tuple[int, int]], data: st.DataObject
) -> None:
    """Also where FF is a value like any other."""
    found = driver_of(parse_profile(BINARY))
    codec = found.make("slot", found.options())
    coins = [(box, amount) for box, amount in coins if 0xAA not in amount.to_bytes(2, "big")]
    stream = b"".join(b"\xaa" + bytes((box,)) + amount.to_bytes(2, "big") for box, amount in coins)
    if not coins:
        return
    place = data.draw(st.integers(0, len(stream) - 1))
    watch = Watch(codec, "slot", 5.0)
    watch.opened(-60.0)
    readings = watch.feed(DamagedBytes(stream, (place,)), 1.0)
    taken = [(reading.box, reading.amount) for reading in readings if isinstance(reading, SlotCoin)]
    damaged = place // 4
    assert taken == [*coins[:damaged], *coins[damaged + 1 :]]
