"""Bytes as lines really bring them to the codecs of boards: split anywhere, cut, endless,
arbitrary.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from common.readings import DeviceReport, LinkGap, SlotCoin
from controller.conform.codec_checks import referred
from devices.board.report import MAX_LINE_BYTES, read_report, write_report
from tests.support.devices.board_pens import Board, make, of
from tests.support.devices.splits import assert_any_split_gives_the_same

masks = st.sampled_from(["00000", "00001", "00040", "00041", "3FFFF", "40000"])
small = st.integers(0, 3)
faces = st.sampled_from(["1", "6@10.20", "?", "/@1.1", "7", ""])
REPORTS: dict[str, Any] = {
    "boule": st.tuples(st.just("holes"), masks, masks, small, small),
    "fortune": st.tuples(
        st.just("wheel"),
        st.integers(0, 60),
        st.integers(0, 400),
        small,
        st.sampled_from("+-0x"),
        st.integers(0, 400),
        small,
        st.sampled_from(["ok", "encoder"]),
    ),
    "dice": st.tuples(st.just("dice"), small, small, st.just("ok"), faces, faces),
    "shuffler": st.one_of(
        st.tuples(st.just("state"), st.sampled_from(["idle", "jam", "7h"]), small),
        st.tuples(st.just("packet"), small, small, st.sampled_from(["box:1", "dealer", "7h"])),
        st.tuples(
            st.just("verdict"),
            small,
            small,
            st.sampled_from("01-"),
            st.sampled_from("01-"),
            st.just("7h+Ks"),
            st.just("-"),
        ),
    ),
    "slot": st.one_of(
        st.tuples(st.just("coin"), small, small, small),
        st.tuples(st.just("coins"), small, st.just("ok")),
    ),
}


@st.composite
def streams(draw: st.DrawFn) -> tuple[str, bytes]:
    """Reports of a board, with all faults of a line."""
    kind = draw(st.sampled_from(sorted(REPORTS)))
    data = b""
    for _ in range(draw(st.integers(0, 12))):
        words = draw(REPORTS[kind] | st.tuples(st.just("boot"), small, st.just("x")))
        line = write_report(draw(st.integers(0, 70_000)), draw(st.integers(0, 9_000)), kind, *words)
        how = draw(st.sampled_from(["whole", "whole", "whole", "cut", "joined", "twice", "junk"]))
        cut = draw(st.integers(0, len(line)))
        junk = draw(st.binary(max_size=30))
        data += {
            "whole": line,
            "cut": line[:cut],
            "joined": line.rstrip(),
            "twice": line * 2,
            "junk": junk + line,
        }[how]
    return f"{kind}-board", data


@given(
    streams()
    | st.tuples(st.sampled_from([f"{kind}-board" for kind in REPORTS]), st.binary(max_size=600)),
    st.data(),
)
def test_any_split_gives_the_same_readings(given: tuple[str, bytes], data: st.DataObject) -> None:
    name, stream = given
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=8))
    assert_any_split_gives_the_same(lambda: make(name), stream, cuts)


@given(
    st.sampled_from([f"{kind}-board" for kind in REPORTS]),
    st.lists(
        st.tuples(
            streams().map(lambda given: given[1]) | st.binary(max_size=400),
            st.floats(0, 100),
            st.booleans(),
        ),
        max_size=12,
    ),
)
def test_arbitrary_bytes_at_any_time_never_raise_and_never_pile_up(
    name: str, chunks: list[tuple[bytes, float, bool]]
) -> None:
    codec, now = make(name), 0.0
    for data, after, reopened in chunks:
        now += after
        if reopened:
            codec.reconnected(now)
        codec.feed(data, now)
        held = [len(each) for each in referred(codec) if isinstance(each, bytes)]
        assert max(held) <= MAX_LINE_BYTES


@given(st.lists(st.booleans(), max_size=60))
def test_every_coin_that_comes_is_reported_once_and_every_one_that_does_not_is_missed(
    coming: list[bool],
) -> None:
    board = Board("slot-board")
    board.show("coins", 0, "ok", seconds=2.0)
    for count, comes in enumerate(coming, 1):
        board.now += 0.5
        line = board.line("coin", count, 1, count)
        board.raw(line if comes else line[: count % (len(line) - 6)] + b"\r\n")
    board.show("coins", len(coming), "ok")
    assert [coin.amount for coin in of(SlotCoin, board.readings)] == [
        count for count, comes in enumerate(coming, 1) if comes
    ]
    missed = sum(
        int(r.value) for r in of(DeviceReport, board.readings) if r.report == "coins_missed"
    )
    assert missed == coming.count(False) == sum(gap.lost for gap in of(LinkGap, board.readings))


@given(st.binary(max_size=MAX_LINE_BYTES))
def test_no_noise_is_a_report(noise: bytes) -> None:
    assert read_report(noise) is None
