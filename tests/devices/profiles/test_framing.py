"""Where frames begin and end: each form, damaged and split anywhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.readings import AnyReading, DeviceReport, LinkGap, LinkGarbage
from devices.codec import Codec
from tests.support.devices.described import codec, proof
from tests.support.devices.splits import assert_any_split_gives_the_same

PROFILE_HEAD = """
[[message]]
name = "any"
fields = { said = { at = %d } }
[[message.say]]
reading = "device.report"
with = { report = "said", value = "{said}" }
"""

LINE = (
    '[framing]\nlongest = 16\n[[message]]\nname = "ok"\nmatch = "ok(?P<said>.*)"\n'
    + PROFILE_HEAD.split("\n", 4)[4]
)
MARKS = (
    '[framing]\nform = "marks"\nlongest = 16\nstart = "<"\nend = ">"\nbody = [1, -1]\n'
    + PROFILE_HEAD % 0
)
ESCAPED = MARKS.replace('end = ">"', 'end = ">"\nescape = "\\\\"\nescape_xor = 32')
SUM = '[checksum]\nkind = "sum"\nat = -1\nencoding = "big"\n'
LENGTH = (
    '[framing]\nform = "length"\nlongest = 16\nstart = "\\u00aa"\nat = 1\nadds = 3\nbody = [2, -1]\n'
    + SUM
    + PROFILE_HEAD % 0
)
FIXED = (
    '[framing]\nform = "fixed"\nstart = "\\u0002"\nlength = 4\n[checksum]\nkind = "xor"\nat = -1\nencoding = "big"\n'
    + PROFILE_HEAD % 1
)
FORMS = {"line": LINE, "marks": MARKS, "escaped": ESCAPED, "length": LENGTH, "fixed": FIXED}


def said(readings: list[AnyReading]) -> list[str]:
    return [reading.value for reading in readings if isinstance(reading, DeviceReport)]


def dropped(readings: list[AnyReading]) -> list[str | None]:
    return [reading.frame for reading in readings if isinstance(reading, LinkGarbage)]


def counted(body: bytes, wrong: int = 0) -> bytes:
    """A frame of the form ``length``: a byte that begins it, the length of the body, the body, the
    sum of it all.
    """
    frame = b"\xaa" + bytes((len(body),)) + body
    return frame + bytes(((sum(frame) + wrong) & 0xFF,))


def test_bytes_that_are_all_escapes_cost_no_more_than_others() -> None:
    """The end is found in one way through, whatever the bytes are."""
    many = codec(ESCAPED.replace("longest = 16", "longest = 4096"))
    for byte in b"<\\" * 1000 + b"<" + b"\\>" * 2000:
        many.feed(bytes((byte,)), 1.0)
    many.reconnected(2.0)
    assert said(many.feed(b"<" + b"\\\x1e" * 1000 + b">", 3.0)) == [">" * 1000]


class TestLines:
    def test_each_end_ends_a_line_and_an_empty_one_does_not_count(self) -> None:
        readings = codec(LINE).feed(b"ok1\rok2\n\r\nok3\r\n", 1.0)
        assert said(readings) == ["1", "2", "3"]
        assert dropped(readings) == []

    def test_an_unknown_line_is_garbage(self) -> None:
        assert dropped(codec(LINE).feed(b"no\r\n", 1.0)) == ["no"]

    def test_a_line_that_is_too_long_is_dropped(self) -> None:
        readings = codec(LINE).feed(b"x" * 40 + b"\nok1\n", 1.0)
        assert sum(reading.bytes for reading in readings if isinstance(reading, LinkGarbage)) == 40
        assert said(readings) == ["1"]

    def test_half_a_line_before_a_reconnect_is_dropped(self) -> None:
        made = codec(LINE)
        made.feed(b"ok", 1.0)
        made.reconnected(2.0)
        assert said(made.feed(b"1\nok2\n", 3.0)) == ["2"]

    def test_a_line_with_an_unseen_beginning_is_accepted_only_where_harmless(
        self,
    ) -> None:
        made = codec(LINE.replace('name = "ok"', 'name = "ok"\nwhole = true'))
        assert said(made.feed(b"ok1\nok2\n", 1.0)) == ["2"]
        made.reconnected(2.0)
        assert said(made.feed(b"ok3\nok4\n", 2.0)) == ["4"]


class TestMarks:
    def test_frames_and_what_lies_between_them(self) -> None:
        readings = codec(MARKS).feed(b"<1>xx<2><3", 1.0)
        assert said(readings) == ["1", "2"]
        assert dropped(readings) == ["xx"]

    def test_a_frame_that_is_too_long_is_dropped_and_one_within_is_found(self) -> None:
        assert said(codec(MARKS).feed(b"<" + b"y" * 20 + b"<1>", 1.0)) == ["1"]

    def test_escaped_marks_belong_to_the_frame(self) -> None:
        marks = b"<a\\\x1e\\|b>"  # the escape, then the byte, its bit 20 turned over
        assert said(codec(ESCAPED).feed(marks, 1.0)) == ["a>\\b"]

    def test_an_escape_at_the_end_is_no_end(self) -> None:
        assert said(codec(ESCAPED).feed(b"<a\\>>", 1.0)) == ["a\\x1e"]


class TestLengths:
    def test_a_frame_has_its_stated_length(self) -> None:
        assert said(codec(LENGTH).feed(counted(b"17") + counted(b"") + counted(b"red"), 1.0)) == [
            "17",
            "",
            "red",
        ]

    def test_a_wrong_sum_drops_the_frame_and_not_the_next(self) -> None:
        made = codec(LENGTH)
        readings = made.feed(counted(b"17", wrong=1) + counted(b"18"), 1.0)
        assert said(readings) == ["18"]
        assert made.counters.damaged == made.counters.frames == 1

    def test_a_length_that_cannot_be_does_not_hold_up_what_follows(self) -> None:
        assert said(codec(LENGTH).feed(b"\xaa\xff" + counted(b"18"), 1.0)) == ["18"]

    def test_a_frame_that_is_begun_is_broken_off_in_time(self) -> None:
        made = codec(LENGTH.replace("at = 1\n", "at = 1\nwithin = 0.5\n", 1))
        assert made.feed(b"\xaa\x09" + counted(b"18"), 1.0) == []
        assert made.deadline == 1.5
        readings = made.feed(b"", 1.5)
        assert said(readings) == ["18"]
        assert dropped(readings) == ["\\xaa\\t"]
        assert made.deadline is None


class TestGaps:
    GAP = LINE.replace("longest = 16", "longest = 16\ngap = true")

    def test_what_is_dropped_may_have_been_a_report_reported_once_until_a_frame_comes(self) -> None:
        readings = codec(self.GAP).feed(b"no\nno\nok1\nno\n", 1.0)
        assert [type(r) for r in readings] == [
            LinkGarbage,
            LinkGap,
            LinkGarbage,
            DeviceReport,
            LinkGarbage,
            LinkGap,
        ]

    def test_dropped_bytes_of_a_shoe_are_not_shown(self) -> None:
        text = self.GAP.replace("[framing]", "[framing]\nshown = false")
        assert dropped(codec(text).feed(b"Qh\n", 1.0)) == [None]


streams = {
    "line": st.lists(st.sampled_from([b"ok1", b"ok", b"no", b"\r", b"\n", b"x" * 17]) | st.binary(max_size=4)).map(b"".join),
    "marks": st.lists(st.sampled_from([b"<", b">", b"<1>", b"y" * 9]) | st.binary(max_size=4)).map(b"".join),
    "escaped": st.lists(st.sampled_from([b"<", b">", b"\\", b"<1>", b"y" * 9]) | st.binary(max_size=4)).map(b"".join),
    "length": st.lists(
        st.binary(max_size=13).map(counted) | st.sampled_from([b"\xaa", counted(b"1", 1)]) | st.binary(max_size=4)
    ).map(b"".join),
    "fixed": st.lists(st.sampled_from([b"\x02ab\x01", b"\x02", b"\x02ab\x02"]) | st.binary(max_size=4)).map(b"".join),
    "acme-rota": st.lists(
        st.sampled_from([b"\x0211S1250\x0356", b"\x0213S2248\x035E", b"\x0216E01\x0340", b"\x02", b"\x03"]) | st.binary(max_size=6)
    ).map(b"".join),
}  # fmt: skip


def made(form: str) -> Codec:
    return codec(FORMS[form]) if form in FORMS else proof(form)


@pytest.mark.parametrize("form", streams)
@given(st.data())
def test_any_split_gives_the_same_readings(form: str, data: st.DataObject) -> None:
    stream = data.draw(streams[form])
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=6))
    readings = assert_any_split_gives_the_same(lambda: made(form), stream, cuts)
    assert sum(r.bytes for r in readings if isinstance(r, LinkGarbage)) <= len(stream)


@pytest.mark.parametrize("form", streams)
@given(st.lists(st.tuples(st.binary(max_size=300), st.floats(0, 100), st.booleans()), max_size=12))
def test_arbitrary_bytes_at_any_time_never_raise_and_never_pile_up(
    form: str, chunks: list[tuple[bytes, float, bool]]
) -> None:
    one, now = made(form), 0.0
    for data, after, reopened in chunks:
        now += after
        if reopened:
            one.reconnected(now)
        one.feed(data, now)
        assert len(one._stream._pending) <= 256  # type: ignore[attr-defined]
        while (due := one.deadline) is not None:
            one.feed(b"", due)
            assert one.deadline is None or one.deadline > due
