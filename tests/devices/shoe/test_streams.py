"""Bytes as lines really bring them to the codecs of shoes: split anywhere, cut, endless,
arbitrary.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.readings import CardDrawn, LinkGap
from controller.conform.codec_checks import referred
from devices.codec import Codec
from devices.drivers import driver
from tests.support.devices.shoe_pens import card, cards, of, report
from tests.support.devices.splits import assert_any_split_gives_the_same

names = st.sampled_from([rank + suit for rank in "A23456789TJQK" for suit in "cdhs"])
reports = st.builds(
    report,
    st.integers(0, 9),
    st.builds(
        card,
        names,
        st.sampled_from(["player", "banker", "burn", "first", "count"]),
        st.integers(0, 4),
    )
    | st.sampled_from(
        [b"S", b"P", b"C", b"G\x91", b"E\xc1", b"e\x81", b"L\x81", b"M030012", b"X", b"D\x81\xb0"]
    ),
    st.sampled_from([0, 0, 0, 1]),
)
angel_eye = st.lists(
    reports
    | st.sampled_from([b"\x06", b"\x15\x21", b"\x15", b"\x02RD\x0345", b"\x05"])
    | st.binary(max_size=20),
    max_size=20,
).map(b"".join)

lines = st.one_of(
    names.map(lambda name: f" [Game]<Card:{name.upper()}> ".encode()),
    names.map(
        lambda name: (
            f" [Manual Burn Cards]<Card:{name[1].upper()}{name[0].replace('T', '10')}> ".encode()
        )
    ),
    st.sampled_from(
        [
            b"[Game]<Game>",
            b"[Game]<Alarm:E3 Card Not Read>",
            b"[GameAlarm]<Alarm:E5>",
            b"<W0x01>",
            b"[X]<Ready>",
        ]
    ),
    st.binary(max_size=30),
    st.text("[]<>:GameCrd45SH ", max_size=30).map(str.encode),
)
bee_tek = st.lists(
    st.tuples(lines, st.sampled_from([b"\r\n", b"\n", b"\r", b""])), max_size=20
).map(lambda parts: b"".join(line + end for line, end in parts))
streams = st.one_of(
    st.tuples(st.just("angel-eye"), angel_eye | st.binary(max_size=600)),
    st.tuples(st.just("bee-tek"), bee_tek | st.binary(max_size=1200)),
)


def make(name: str) -> Codec:
    found = driver(name)
    return found.make("shoe", found.options())


@given(streams, st.lists(st.integers(0, 1000), max_size=8))
def test_any_split_gives_the_same_readings(given: tuple[str, bytes], cuts: list[int]) -> None:
    name, stream = given
    assert_any_split_gives_the_same(lambda: make(name), stream, cuts)


@given(
    st.sampled_from(["angel-eye", "bee-tek"]),
    st.lists(st.tuples(st.binary(max_size=400), st.floats(0, 100), st.booleans()), max_size=20),
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
        assert max(len(each) for each in referred(codec) if isinstance(each, bytes)) <= 256
        while (due := codec.deadline) is not None and due <= now + 1000:
            now = max(now, due)
            codec.feed(b"", now)
            assert codec.deadline is None or codec.deadline > due


@given(st.lists(names, min_size=1, max_size=30), st.data())
def test_one_whole_copy_of_each_report_is_enough(drawn: list[str], data: st.DataObject) -> None:
    codec, now = make("angel-eye"), 0.0
    readings = []
    for count, name in enumerate(drawn):
        body = card(name, "banker", 1 + count % 3)
        whole = data.draw(st.integers(0, 2))
        seq = count % 9 + 1
        for copy in range(3):
            now += 0.05
            readings += codec.feed(
                report(seq, body, wrong=0 if copy == whole else data.draw(st.integers(0, 255))), now
            )
        now += 0.5
    assert cards(readings) == drawn
    assert of(LinkGap, readings) == []
    assert not any(r.late for r in of(CardDrawn, readings))


@given(st.lists(st.tuples(names, st.booleans()), min_size=2, max_size=40))
def test_a_lost_report_is_reported_with_the_next_that_comes(drawn: list[tuple[str, bool]]) -> None:
    codec = make("angel-eye")
    missing = 0
    for count, (name, comes) in enumerate([("Ac", True), *drawn]):
        if not comes and missing < 7:  # a whole turn of the numbers cannot be seen
            missing += 1
            continue
        readings = codec.feed(report(count % 9 + 1, card(name)) * 3, float(count))
        assert [gap.lost for gap in of(LinkGap, readings)] == ([missing] if missing else [])
        missing = 0


@given(st.lists(names, max_size=30), st.lists(st.integers(0, 60), max_size=3))
def test_a_line_that_is_cut_is_a_gap_and_never_another_card(
    drawn: list[str], cut: list[int]
) -> None:
    codec: Codec = make("bee-tek")
    said: Callable[[str], bytes] = lambda name: f" [Game]<Card:{name.upper()}> \r\n".encode()  # noqa: E731
    for count, name in enumerate(drawn):
        line = said(name)
        whole = count not in cut
        readings = codec.feed(line if whole else line[: 9 + count % 6] + b"\r\n", float(count))
        assert cards(readings) == ([name] if whole else [])
        assert len(of(LinkGap, readings)) == (not whole)


@pytest.mark.parametrize("name", ["angel-eye", "bee-tek"])
def test_a_shoe_is_not_steady(name: str) -> None:
    assert not make(name).steady
