"""The codec of profiles: fields, conditions, edges, lasting faults, numbers, pace, commands."""

from __future__ import annotations

from functools import reduce
from operator import xor
from typing import Any, get_args

import pytest

from common.readings import (
    AnyReading,
    CardDrawn,
    DeviceReport,
    LinkGap,
    LinkGarbage,
    LinkLate,
    MaybeLate,
    SlotCoin,
    WheelFault,
    WheelNumber,
)
from devices.codec import Codec
from devices.profiles.codec import ProfileCodec
from devices.profiles.profile import parse_profile
from tests.support.devices.described import HEAD, codec, proof
from tests.support.for_each import for_each


def field(text: str, data: bytes, name: str = "f") -> Any:
    """The value that a field has in a line, by the words of its section; ``no``: the line does not
    fit.
    """
    made = codec(f"""
[[message]]
name = "m"
[message.fields]
{text}
[[message.say]]
reading = "device.report"
with = {{ report = "f", value = "<{{{name}}}>" }}
""")
    [reading] = made.feed(data + b"\n", 1.0)
    return reading.value[1:-1] if isinstance(reading, DeviceReport) else "no"


class TestFields:
    @for_each(
        ("text", "data", "value"),
        [
            ("f = { at = 1, width = 2 }", b"abcd", "bc"),
            ("f = { at = -3, width = 2 }", b"abcd", "bc"),
            ("f = { at = 2 }", b"abcd", "cd"),
            ("f = { at = 3, width = 2 }", b"abcd", "no"),
            ('f = { at = 0, width = 2, is = "ab" }', b"abcd", "ab"),
            ('f = { at = 0, width = 2, is = "ab" }', b"Abcd", "no"),
            ("f = { at = 0, strip = true }", b"  ab ", "ab"),
            ('f = { at = 0, encoding = "decimal" }', b"0042", "42"),
            ('f = { at = 0, encoding = "decimal" }', b"4 2", "no"),
            ('f = { at = 0, encoding = "decimal" }', b"-42", "no"),
            ('f = { at = 0, encoding = "decimal" }', "٤٢".encode(), "no"),
            ('f = { at = 0, encoding = "decimal" }', b"9" * 19, "no"),
            ('f = { at = 0, encoding = "decimal" }', b"9007199254740991", "9007199254740991"),
            ('f = { at = 0, encoding = "decimal" }', b"9007199254740992", "no"),
            ('f = { at = 0, width = 8, encoding = "big" }', b"\x7f" * 8, "no"),
            ('f = { at = 0, encoding = "hex" }', b"fF", "255"),
            ('f = { at = 0, encoding = "hex" }', b"0x", "no"),
            ('f = { at = 0, width = 2, encoding = "big" }', b"\x01\x02", "258"),
            ('f = { at = 0, width = 2, encoding = "little" }', b"\x01\x02", "513"),
            ('f = { at = 0, width = 1, encoding = "big", bits = [4, 3] }', b"\xd1", "5"),
            ('f = { at = 0, encoding = "decimal", signed = true }', b"-042", "-42"),
            ('f = { at = 0, encoding = "decimal", signed = true }', b"+42", "42"),
            ('f = { at = 0, encoding = "decimal", signed = true }', b"42", "42"),
            ('f = { at = 0, encoding = "decimal", signed = true }', b"--42", "no"),
            ('f = { at = 0, encoding = "decimal", signed = true }', b"-", "no"),
            ('f = { at = 0, encoding = "decimal", signed = true, decimals = 1 }', b"-158", "-15.8"),
            ('f = { at = 0, encoding = "decimal", signed = true, min = -3 }', b"-4", "no"),
            ('f = { at = 0, width = 2, encoding = "big", signed = true }', b"\xff\xfe", "-2"),
            ('f = { at = 0, width = 2, encoding = "little", signed = true }', b"\xfe\xff", "-2"),
            ('f = { at = 0, width = 1, encoding = "bcd" }', b"\x36", "36"),
            ('f = { at = 0, width = 2, encoding = "bcd" }', b"\x01\x58", "158"),
            ('f = { at = 0, width = 1, encoding = "bcd" }', b"\x3a", "no"),
            ('f = { at = 0, encoding = "decimal", double_zero = "37", max = 36 }', b"37", "00"),
            ('f = { at = 0, encoding = "decimal", double_zero = "00" }', b"0", "0"),
            ('f = { at = 0, strip = true, encoding = "decimal", double_zero = "00" }', b" 0", "0"),
            ('f = { at = 0, strip = true, encoding = "decimal", double_zero = "00" }', b"00", "00"),
            ('f = { at = 0, width = 1, encoding = "big", double_zero = "%" }', b"%", "00"),
            ('f = { at = 0, encoding = "decimal", min = 1, max = 36 }', b"36", "36"),
            ('f = { at = 0, encoding = "decimal", min = 1, max = 36 }', b"37", "no"),
            ('f = { at = 0, encoding = "decimal", decimals = 1 }', b"158", "15.8"),
            ('f = { at = 0, encoding = "decimal", times = 100, plus = 50 }', b"3", "350"),
            ('f = { at = 0, map = { a = "x", b = 7 } }', b"b", "7"),
            ('f = { at = 0, map = { a = "x" } }', b"b", "no"),
            ('f = { at = 0, map = { a = "x" }, otherwise = "y" }', b"b", "y"),
            ('f = { at = 0, map = { a = "x" }, optional = true }', b"b", ""),
            ('f = { at = 0, blank = "--" }', b"--", ""),
            ('f = { at = 0, encoding = "decimal", blank = "--" }', b"-", "no"),
            ('f = { value = "z" }', b"b", "z"),
            ('g = { at = 0 }\nf = { of = "g", map = { 1 = "one" } }', b"1", "one"),
            ("f = { at = 0 }", b"a\x1b[2Jb\xff", "a\\x1b[2Jb\\xff"),
        ],
    )  # fmt: skip
    def test_a_field(self, text: str, data: bytes, value: str) -> None:
        assert field(text, data) == value

    def test_pieces_between_separators(self) -> None:
        made = codec("""
separator = ","
[[message]]
name = "m"
pieces = 3
fields = { last = { at = -1 }, first = { at = 0 } }
[[message.say]]
reading = "device.report"
with = { report = "{first}", value = "{last}" }
""")
        readings = made.feed(b"a,b,c\na,b\na,b,c,d\n", 1.0)
        assert [(r.report, r.value) for r in readings if isinstance(r, DeviceReport)] == [
            ("a", "c")
        ]
        assert made.counters.damaged == 2


COINS = """
[[message]]
name = "coins"
match = "box (?P<box>[0-9]+) (?P<amount>[0-9]+)(?P<test> TEST)?"
fields = { box = { encoding = "decimal" }, amount = { encoding = "decimal", times = 100 } }
[[message.say]]
reading = "slot.coin"
with = { box = "{box}", amount = "{amount}" }
unless = { test = " TEST" }
"""


def test_an_expression_with_groups_and_a_condition() -> None:
    readings = codec(COINS).feed(b"box 3 2\nbox 3 2 TEST\nbox x 2\n", 1.0)
    assert readings[0] == SlotCoin(at=1.0, device="wheel", frame="box 3 2", box=3, amount=200)
    assert [type(reading) for reading in readings[1:]] == [LinkGarbage]


def test_a_value_that_the_reading_rejects_is_no_frame_and_no_exception() -> None:
    made = codec("""
[[message]]
name = "card"
fields = { card = { at = 0 } }
[[message.say]]
reading = "shuffler.verdict"
with = { missing = ["{card}"] }
[[message.say]]
reading = "card.drawn"
with = { card = "{nothing}" }
""")
    assert [type(reading).__name__ for reading in made.feed(b"7h\n", 1.0)] == [
        "ShufflerVerdict",
        "CardDrawn",
    ]


def test_an_invalid_card_is_never_reported() -> None:
    text = (
        HEAD.replace("wheel", "shoe")
        + """
[[message]]
name = "card"
match = "(?P<rank>.)(?P<suit>.)"
fields = { rank = { map = { A = "A" } }, suit = { map = { h = "h" } } }
[[message.say]]
reading = "card.drawn"
with = { card = "{rank}{suit}" }
"""
    )
    made = ProfileCodec("shoe", parse_profile(text))
    assert made.feed(b"Ah\n", 1.0) == [CardDrawn(at=1.0, device="shoe", frame="Ah", card="Ah")]
    assert made.feed(b"1h\n", 1.0) == [
        LinkGarbage(at=1.0, device="shoe", bytes=2),
        LinkGap(at=1.0, device="shoe", lost=1),
    ]


def test_a_frame_with_several_cards_is_evidence_of_no_card() -> None:
    """One of them may be face up, and shown with its bytes, while another is face down."""
    text = (
        HEAD.replace("wheel", "shoe")
        + """
[[message]]
name = "cards"
match = "(?P<rank>.)(?P<suit>.)(?P<rank2>.)(?P<suit2>.)"
[message.fields]
rank = { map = { 7 = "7" } }
suit = { map = { s = "s" } }
rank2 = { map = { 2 = "2" } }
suit2 = { map = { d = "d" } }
[[message.say]]
reading = "card.drawn"
with = { card = "{rank}{suit}" }
[[message.say]]
reading = "card.drawn"
with = { card = "{rank2}{suit2}" }
"""
    )
    made = ProfileCodec("shoe", parse_profile(text))
    assert made.feed(b"7s2d\n", 1.0) == [
        CardDrawn(at=1.0, device="shoe", card=card) for card in ("7s", "2d")
    ]


FAULTS = """
[[message]]
name = "fault"
match = "F(?P<code>[0-9])"
fields = { fault = { of = "code", map = { 1 = "sensor", 2 = "ball_removed" } } }
[[message.say]]
reading = "wheel.fault"
with = { fault = "{fault}", active = true, detail = "{code}" }
stands = "faults"
[[message]]
name = "over"
match = "OK"
[[message.say]]
ends = "faults"
"""


def test_a_fault_lasts_until_it_ends() -> None:
    readings = codec(FAULTS).feed(b"OK\nF1\nF1\nF2\nOK\nOK\nF1\n", 1.0)
    faults = [(r.fault, r.active) for r in readings if isinstance(r, WheelFault)]
    assert faults == [
        ("sensor", True),
        ("ball_removed", True),
        ("sensor", False),
        ("ball_removed", False),
        ("sensor", True),
    ]


FLAGS = """
[[message]]
name = "flags"
[message.fields]
flags = { at = 0, width = 1, encoding = "hex" }
stuck = { of = "flags", bits = [2, 1] }
[[message.say]]
reading = "wheel.fault"
with = { fault = "sensor", active = true }
when = { stuck = 1 }
stands = "stuck"
[[message.say]]
ends = "stuck"
when = { stuck = 0 }
"""


def test_a_flag_is_a_fault_while_it_is_set() -> None:
    readings = codec(FLAGS).feed(b"0\n4\nC\n5\n8\n3\n4\n", 1.0)
    assert [(r.frame, r.active) for r in readings if isinstance(r, WheelFault)] == [
        ("4", True),
        (None, False),
        ("4", True),
    ]


REPEATED = """
[[message]]
name = "status"
match = "(?P<state>[45]) (?P<spin>[0-9]) (?P<pocket>[0-9]{2})"
fields = { state = { encoding = "decimal" }, spin = { encoding = "decimal" }, pocket = { encoding = "decimal", max = 36 } }
[[message.say]]
reading = "wheel.number"
with = { number = "{pocket}", spin = "{spin}" }
when = { state = 5 }
changed = ["spin"]
twice = true
[[message]]
name = "noise"
match = "[a-z]+"
"""


@for_each(
    ("stream", "told"),
    [
        (b"4 1 14\n5 1 35\n5 1 35\n5 1 35\n", [35]),
        (b"4 1 14\n5 1 14\n4 1 14\n5 1 35\n5 1 35\n", [35]),  # a state misread
        (b"4 1 14\n5 1 34\n5 1 35\n5 1 35\n", [35]),  # a number misread
        (b"5 1 14\n4 1 14\n5 1 14\n4 1 14\n", []),  # twice, but not running
        (b"5 1 35\nabc\n5 1 35\n", [35]),
        (b"5 1 35\n4 2 35\n5 2 35\n5 2 35\n", [35]),
    ],
)
def test_what_must_be_received_twice(stream: bytes, told: list[int]) -> None:
    assert [
        r.number for r in codec(REPEATED).feed(stream, 1.0) if isinstance(r, WheelNumber)
    ] == told


FORGOTTEN = """
[[message]]
name = "status"
match = "(?P<state>[45]) (?P<pocket>[0-9]{2})"
fields = { pocket = { encoding = "decimal", max = 36 } }
[[message.say]]
reading = "wheel.number"
with = { number = "{pocket}" }
when = { state = "5" }
changed = ["pocket"]
twice = true
[[message.say]]
forgets = "wheel.number"
when = { state = "4" }
twice = true
"""


@for_each(
    ("stream", "numbers"),
    [
        (b"4 00\n4 00\n5 17\n5 17\n5 17\n", [17]),
        (b"5 17\n5 17\n4 00\n4 00\n5 17\n5 17\n", [17, 17]),
        (b"5 17\n5 17\n4 00\n5 17\n5 17\n", [17]),  # a state misread once is no new spin
    ],
)
def test_what_is_forgotten_must_be_received_twice(stream: bytes, numbers: list[int]) -> None:
    assert [
        r.number for r in codec(FORGOTTEN).feed(stream, 1.0) if isinstance(r, WheelNumber)
    ] == numbers


NUMBERED = """
[sequence]
field = "number"
first = 1
last = 9
copies = 2
[[message]]
name = "result"
match = "(?P<number>[0-9]) (?P<pocket>[0-9]+)"
fields = { number = { encoding = "decimal" }, pocket = { encoding = "decimal", max = 36 } }
[[message.say]]
reading = "wheel.number"
with = { number = "{pocket}" }
twice = false
[[message]]
name = "started"
match = "(?P<number>[0-9]) boot"
fields = { number = { encoding = "decimal" } }
restarts = true
"""


def numbers(readings: list[AnyReading]) -> list[Any]:
    return [
        r.number if isinstance(r, WheelNumber) else r.lost if isinstance(r, LinkGap) else None
        for r in readings
    ]


@for_each(
    ("stream", "told"),
    [
        (b"8 17\n9 17\n1 18\n", [17, 17, 18]),
        (b"3 17\n3 17\n3 17\n4 0\n", [17, 0]),
        (b"3 17\n6 18\n", [17, 2, 18]),
        (b"9 17\n2 18\n", [17, 1, 18]),
        (b"3 17\n4 18\n3 17\n4 18\n5 19\n", [17, 18, 19]),
        (b"3 17\n3 18\n", [17, 1, 18]),
        (b"3 17\n2 18\n", [17, 1, 18]),
        (b"3 17\n8 18\n", [17, 4, 18]),
        (b"3 17\n9 18\n", [17, 1, 18]),
        (b"1 boot\n2 17\n5 18\n", [17, 2, 18]),
        (b"5 17\n1 boot\n2 18\n", [17, 1, 18]),
    ],
)
def test_sequence_numbers(stream: bytes, told: list[int]) -> None:
    """A gap gives the number of missing frames, a copy is dropped, a restart resets the numbers."""
    assert [
        number for number in numbers(codec(NUMBERED).feed(stream, 1.0)) if number is not None
    ] == told


def test_numbers_continue_over_a_reconnect() -> None:
    made = codec(NUMBERED)
    made.feed(b"3 17\n", 1.0)
    made.reconnected(2.0)
    assert numbers(made.feed(b"5 18\n", 3.0)) == [1, 18]


def test_what_comes_after_a_silence_is_late_until_it_is_paced() -> None:
    made = proof("cammegh-ss2-status", "wheel")
    line = b"*X;2;001;17;0;158;0\r\n"
    readings = [r for at in (1.0, 1.5, 60.0, 60.01, 60.5) for r in made.feed(line, at)]
    assert [type(r) for r in readings if isinstance(r, LinkLate)] == [LinkLate]
    assert made.counters.late == 2


def rota(number: int, body: bytes) -> bytes:
    content = b"%02d%b\x03" % (number, body)
    return b"\x02%b%02X" % (content, reduce(xor, content))


def test_a_result_that_had_waited_is_late_though_it_comes_before_the_beat_that_shows_it() -> None:
    made = proof("acme-rota", "wheel")
    readings = [
        r
        for at, frame in (
            (1.0, rota(1, b"S3200")),
            (60.0, rota(2, b"N17004")),
            (60.0, rota(3, b"S4200")),
        )
        for r in made.feed(frame, at)
    ]
    assert [(r.number, r.late) for r in readings if isinstance(r, WheelNumber)] == [(17, True)]
    assert [
        r.frames
        for at in (60.5, 61.0)
        for r in made.feed(rota(int(at * 2 - 117), b"S4200"), at)
        if isinstance(r, LinkLate)
    ] == [2]


def test_a_result_between_two_beats_is_live() -> None:
    made = proof("acme-rota", "wheel")
    readings = [
        r
        for at, frame in ((1.0, rota(1, b"S3200")), (1.6, rota(2, b"N17004")))
        for r in made.feed(frame, at)
    ]
    assert [(r.number, r.late) for r in readings if isinstance(r, WheelNumber)] == [(17, False)]


def test_after_a_reconnect_a_result_is_late_until_the_beat_is_back() -> None:
    made = proof("acme-rota", "wheel")
    made.feed(rota(1, b"S3200"), 1.0)
    made.reconnected(1.2)
    assert [r.late for r in made.feed(rota(2, b"N17004"), 1.3) if isinstance(r, WheelNumber)] == [
        True
    ]


def test_a_right_check_and_no_message_is_an_unknown_frame() -> None:
    made = codec("""
[checksum]
kind = "xor"
at = -2
[[message]]
name = "m"
starts = "A"
""")
    readings = made.feed(b"B42\nA41\nA00\n", 1.0)
    assert (made.counters.frames, made.counters.unknown, made.counters.damaged) == (2, 1, 1)
    assert [r.frame for r in readings if isinstance(r, LinkGarbage)] == ["B42", "A00"]


class TestCommands:
    def test_a_command_with_an_argument_and_a_check(self) -> None:
        made: Codec = proof("acme-rota")
        assert made.encode("start") == b"\x02G\x0344"
        assert made.encode("speed", "75") == b"\x02V075\x0367"
        assert made.polls() == ((2.0, b"\x02?\x033C"),)

    @for_each(
        ("command", "argument", "told"),
        [
            ("stop", "", "acme-rota has no command 'stop'; there are: start, speed"),
            ("start", "1", "acme-rota: start takes no argument, got '1'"),
            ("speed", "", "acme-rota: speed takes a whole number from 50 to 300, got ''"),
            ("speed", "301", "acme-rota: speed takes a whole number from 50 to 300, got '301'"),
            ("speed", "1e2", "got '1e2'"),
            ("speed", "\x03", r"got '\\x03'"),
            ("speed", "²", "got '²'"),
        ],
    )
    def test_rejected_commands(self, command: str, argument: str, told: str) -> None:
        with pytest.raises(ValueError, match=told):
            proof("acme-rota").encode(command, argument)

    def test_one_without_commands(self) -> None:
        with pytest.raises(ValueError, match="acme has no command 'start'; there are: none"):
            codec(COINS).encode("start")


def test_every_reading_with_a_late_field_is_paced() -> None:
    tells = {kind for kind in get_args(AnyReading) if "late" in kind.__struct_fields__}
    assert tells == set(get_args(MaybeLate))
