"""Frames of ccTalk: read whole or not at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devices.slot.cctalk_frames import (
    HOST_ADDRESS,
    MAX_DATA_BYTES,
    READ_CREDITS,
    REQUESTS,
    CcTalkFrame,
    read_frame,
    write_frame,
)
from tests.support.for_each import for_each

ADDRESSES = range(2, 8)
answers = st.builds(
    lambda source, data: (source, write_frame(HOST_ADDRESS, source, 0, data)),
    st.sampled_from(ADDRESSES),
    st.binary(max_size=MAX_DATA_BYTES),
)


def test_the_examples_that_are_public() -> None:
    assert write_frame(2, 1, 245) == bytes((2, 0, 1, 245, 8))
    assert write_frame(2, 1, 231, b"\xff\xff")[-1] == 22
    assert write_frame(1, 2, 0, b"Coin Acceptor")[-1] == 22
    assert write_frame(40, 1, 254, crc=True) == bytes((40, 0, 182, 254, 33))
    assert write_frame(1, 40, 0, crc=True) == bytes((1, 0, 48, 0, 55))


@for_each("crc", [False, True])
@for_each("header", REQUESTS)
def test_a_request_is_read_as_it_was_written(header: int, crc: bool) -> None:
    data = bytes(range(REQUESTS[header][0]))
    raw = write_frame(3, HOST_ADDRESS, header, data, crc)
    assert read_frame(raw, 0, ADDRESSES, crc) == CcTalkFrame(
        3, None if crc else 1, header, data, raw
    )


@given(answers, st.binary(max_size=9), st.binary(max_size=9))
def test_an_answer_is_read_at_any_position(
    answer: tuple[int, bytes], before: bytes, after: bytes
) -> None:
    source, raw = answer
    found = read_frame(before + raw + after, len(before), ADDRESSES, crc=False)
    assert isinstance(found, CcTalkFrame)
    assert (found.to, found.source, found.raw) == (HOST_ADDRESS, source, raw)


@given(answers, st.data())
def test_a_beginning_waits_for_more(answer: tuple[int, bytes], data: st.DataObject) -> None:
    raw = answer[1]
    cut = data.draw(st.integers(1, len(raw) - 1))
    assert read_frame(raw[:cut], 0, ADDRESSES, crc=False) is True


@pytest.mark.parametrize("crc", [False, True])
@given(st.binary(min_size=11, max_size=11), st.integers(0, 15), st.integers(1, 255))
def test_one_damaged_byte_is_no_frame(crc: bool, data: bytes, at: int, change: int) -> None:
    raw = bytearray(write_frame(HOST_ADDRESS, 4, 0, data, crc))
    raw[at] ^= change
    found = read_frame(bytes(raw) + bytes(99), 0, ADDRESSES, crc)
    assert not isinstance(found, CcTalkFrame)


@for_each(
    "raw",
    [
        pytest.param(write_frame(9, HOST_ADDRESS, READ_CREDITS), id="to nobody here"),
        pytest.param(write_frame(HOST_ADDRESS, 9, 0), id="from nobody here"),
        pytest.param(write_frame(2, 3, READ_CREDITS), id="from another host"),
        pytest.param(write_frame(2, HOST_ADDRESS, 1), id="a request that the driver never sends"),
        pytest.param(
            write_frame(2, HOST_ADDRESS, READ_CREDITS, b"x"), id="a request with strange data"
        ),
        pytest.param(write_frame(HOST_ADDRESS, 2, 77), id="an answer with a strange header"),
        pytest.param(bytes((HOST_ADDRESS, MAX_DATA_BYTES + 1)), id="too long"),
    ],
)
def test_foreign_frames_on_this_bus(raw: bytes) -> None:
    assert read_frame(raw, 0, ADDRESSES, crc=False) is False
