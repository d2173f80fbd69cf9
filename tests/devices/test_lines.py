"""A stream is split into lines of a bounded length, however its bytes arrive."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.readings import LinkGarbage
from devices.dice import sicbo_shaker
from devices.drivers import driver
from devices.lines import LinePiece, LineSplitter
from devices.shuffler import deck_mate_1

END = re.compile(rb"[\r\n]")
LONGEST = 4
streams = st.lists(st.sampled_from([b"a", b"b", b"\r", b"\n"]), max_size=30).map(b"".join)


def fed(*chunks: bytes) -> list[LinePiece]:
    lines = LineSplitter(END, LONGEST)
    return [piece for chunk in chunks for piece in lines.feed(chunk)]


@given(streams, st.lists(st.integers(0, 30)))
def test_any_split_gives_the_same_lines(stream: bytes, cuts: list[int]) -> None:
    bounds = [0, *sorted(cuts), len(stream)]
    chunks = [stream[begin:end] for begin, end in pairwise(bounds)]
    assert fed(*chunks) == fed(stream)


@given(streams)
def test_every_byte_is_in_one_piece_or_is_an_end(stream: bytes) -> None:
    pieces = fed(stream + b"\n")
    assert b"".join(piece.data for piece in pieces) == END.sub(b"", stream)
    assert [piece.data for piece in pieces if piece.is_line] == [
        line for line in END.split(stream) if len(line) <= LONGEST
    ]
    assert all(len(piece.data) <= LONGEST for piece in pieces)


def test_a_line_that_is_too_long_comes_in_pieces() -> None:
    assert fed(b"abcdefghi\n\nabcdefg", b"\nabc") == [
        LinePiece(b"abcd", begins=True, ends=False),
        LinePiece(b"efgh", begins=False, ends=False),
        LinePiece(b"i", begins=False, ends=True),
        LinePiece(b"", begins=True, ends=True),
        LinePiece(b"abcd", begins=True, ends=False),
        LinePiece(b"efg", begins=False, ends=True),
    ]


@pytest.mark.parametrize(
    ("name", "longest", "line"),
    [
        ("sicbo-shaker", sicbo_shaker.MAX_LINE_BYTES, b"says 0 S0"),
        ("deck-mate-1", deck_mate_1.MAX_LINE_BYTES, b"Deck Mate"),
    ],
)
def test_the_end_of_a_line_that_is_too_long_is_no_line(
    name: str, longest: int, line: bytes
) -> None:
    def readings(stream: bytes) -> set[type]:
        made = driver(name)
        return {type(reading) for reading in made.make("device", made.options()).feed(stream, 1.0)}

    assert LinkGarbage not in readings(line + b"\n")
    assert readings(b"x" * longest + line + b"\n") == {LinkGarbage}
