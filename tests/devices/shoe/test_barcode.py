"""Barcode scanners: what a code means, what is never guessed, and bytes as lines and devices really
bring them.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common.readings import (
    AnyReading,
    CardCut,
    CardDrawn,
    LinkGap,
    LinkGarbage,
    LinkLate,
    LinkUnintelligible,
    ShoeFault,
)
from devices.codec import Codec
from devices.drivers import driver
from devices.shoe.barcode_cards import PACK, RANKS, STANDARD, SUITS
from devices.shoe.barcode_frames import LAYOUT
from devices.watch import Watch
from simulators.shoe.barcode import KEYS_UP, card_code, key_reports, pos_reports
from tests.support.devices.splits import assert_any_split_gives_the_same
from tests.support.for_each import for_each

CARDS = sorted(PACK)
cards = st.sampled_from(CARDS)
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "serial": ("barcode-serial", {}),
    "keyboard": ("barcode-hid", {}),
    "pos": ("barcode-hid", {"reports": "pos"}),
}


def make(kind: str, **options: Any) -> Codec:
    name, fixed = KINDS[kind]
    found = driver(name)
    return found.make("shoe", msgspec.convert({**fixed, **options}, found.options))


def said(kind: str, text: str) -> bytes:
    """A code as such a scanner says it."""
    return {
        "serial": lambda: f"{text}\r\n".encode(),
        "keyboard": lambda: b"".join(key_reports(text)),
        "pos": lambda: b"".join(pos_reports(text)),
    }[kind]()


def typed(kind: str, text: str) -> bytes:
    """Any printable text."""
    if kind != "keyboard":
        return said(kind, text)
    places = {
        chr(sign[shift]): (usage, shift) for usage, sign in LAYOUT.items() for shift in (1, 0)
    }
    pressed = [key(places[each][0], shift=bool(places[each][1])) for each in text]
    return b"".join(report for each in (*pressed, key(0x28)) for report in (each, KEYS_UP))


def key(*usages: int, shift: bool = False, modifiers: int = 0, reserved: int = 0) -> bytes:
    return bytes((modifiers or 2 * shift, reserved, *usages)).ljust(8, b"\0")


def drawn(readings: list[AnyReading]) -> list[str | None]:
    return [reading.card for reading in read(readings)]


def read(readings: list[AnyReading]) -> list[CardDrawn]:
    return [reading for reading in readings if isinstance(reading, CardDrawn)]


def kinds(readings: list[AnyReading]) -> list[type[AnyReading]]:
    return [type(reading) for reading in readings]


@pytest.mark.parametrize("kind", KINDS)
class TestEveryScanner:
    @for_each("card", CARDS)
    def test_every_card_is_read(self, kind: str, card: str) -> None:
        scanner = make(kind)
        [reading] = scanner.feed(said(kind, card_code(card)), 1.0)
        assert isinstance(reading, CardDrawn)
        assert (reading.card, reading.unsure, reading.late, reading.to) == (
            card,
            False,
            False,
            None,
        )
        assert (scanner.counters.damaged, scanner.counters.unknown) == (0, 0)

    def test_an_equal_code_right_after_another_is_for_a_person(self, kind: str) -> None:
        scanner = make(kind)
        readings = [
            *scanner.feed(said(kind, "SA"), 1.0),
            *scanner.feed(said(kind, "SA"), 1.9),
            *scanner.feed(said(kind, "SA"), 2.9),
        ]
        assert drawn(readings) == ["As", "As", "As"]
        assert [reading.unsure for reading in readings if isinstance(reading, CardDrawn)] == [
            False,
            True,
            False,
        ]

    def test_a_scanner_may_read_twice_faster_than_a_hand_draws(self, kind: str) -> None:
        readings = make(kind).feed(said(kind, "SA") * 2, 1.0)
        assert [
            (reading.unsure, reading.late) for reading in readings if isinstance(reading, CardDrawn)
        ] == [
            (False, False),
            (True, False),
        ]

    def test_what_is_read_twice_in_a_burst_is_late_too(self, kind: str) -> None:
        readings = make(kind).feed(said(kind, "HA") + said(kind, "SA") * 2, 1.0)
        assert [reading.late for reading in readings if isinstance(reading, CardDrawn)] == [
            False,
            True,
            True,
        ]

    def test_another_card_between_two_equal_ones_makes_both_sure(self, kind: str) -> None:
        scanner = make(kind)
        readings = [
            reading
            for text in ("SA", "HA", "SA")
            for reading in scanner.feed(said(kind, text), 1.0)
        ]
        assert [reading.unsure for reading in readings if isinstance(reading, CardDrawn)] == [
            False,
            False,
            False,
        ]

    def test_how_long_an_equal_code_is_doubted_is_for_the_site(self, kind: str) -> None:
        scanner = make(kind, repeat=0, min_draw=0)
        readings = scanner.feed(said(kind, "SA") * 2, 1.0)
        assert [
            (reading.card, reading.unsure) for reading in readings if isinstance(reading, CardDrawn)
        ] == [("As", False)] * 2

    def test_an_unknown_code_is_an_unknown_card(self, kind: str) -> None:
        scanner = make(kind)
        fault, card = scanner.feed(said(kind, "X99"), 1.0)
        assert fault == ShoeFault(at=1.0, device="shoe", fault="card_code", active=True)
        assert isinstance(card, CardDrawn)
        assert card.card is None
        assert scanner.counters.unknown == 1
        ended, known = scanner.feed(said(kind, "SA"), 3.0)
        assert ended == ShoeFault(at=3.0, device="shoe", fault="card_code", active=False)
        assert drawn([known]) == ["As"]

    def test_the_message_that_it_could_not_read_is_an_unknown_card(self, kind: str) -> None:
        scanner = make(kind, noread="NR")
        fault, card = scanner.feed(said(kind, "NR"), 1.0)
        assert fault == ShoeFault(at=1.0, device="shoe", fault="unread", active=True)
        assert drawn([card]) == [None]
        assert drawn(scanner.feed(said(kind, "NR"), 5.0)) == [None]
        assert scanner.counters.unknown == 0
        assert kinds(scanner.feed(said(kind, "NOREAD"), 9.0)) == [ShoeFault, ShoeFault, CardDrawn]

    def test_the_table_of_the_site_is_the_only_one(self, kind: str) -> None:
        table = {f"{number:03}": card for number, card in enumerate(CARDS)} | {
            "900": "cut",
            "017 B": "As",
        }
        scanner = make(kind, cards=table)
        readings = [
            *scanner.feed(said(kind, "017 B"), 1.0),
            *scanner.feed(said(kind, "900"), 2.0),
            *scanner.feed(said(kind, "SA"), 3.0),
        ]
        assert kinds(readings) == [CardDrawn, CardCut, ShoeFault, CardDrawn]
        assert drawn(readings) == ["As", None]

    def test_what_came_in_a_burst_is_late(self, kind: str) -> None:
        scanner = make(kind)
        readings = scanner.feed(said(kind, "SA") + said(kind, "H2") + said(kind, "C3"), 10.0)
        assert [reading.late for reading in readings if isinstance(reading, CardDrawn)] == [
            False,
            True,
            True,
        ]
        assert scanner.deadline == pytest.approx(10.2)
        assert scanner.feed(b"", 10.3) == [LinkLate(at=10.3, device="shoe", frames=2, silence=0.0)]

    def test_half_a_code_is_reported_and_never_completed(self, kind: str) -> None:
        begun = {"serial": b"HA", "keyboard": key(0x0B, shift=True) + KEYS_UP, "pos": bytes(10)}[
            kind
        ]
        scanner = make(kind)
        assert scanner.feed(begun, 1.0) == []
        assert scanner.deadline == 2.0
        assert scanner.feed(b"", 2.0) == [
            LinkGarbage(at=2.0, device="shoe", bytes=len(begun)),
            LinkGap(at=2.0, device="shoe", lost=1),
        ]
        assert scanner.deadline is None
        assert drawn(scanner.feed(said(kind, "SA"), 3.0)) == ["As"]

    def test_half_a_code_before_the_unplugging_is_reported_once(self, kind: str) -> None:
        begun = {"serial": b"HA", "keyboard": key(0x0B, shift=True), "pos": bytes(10)}[kind]
        scanner = make(kind)
        scanner.feed(begun, 1.0)
        scanner.reconnected(1.5)
        assert scanner.deadline == 1.5
        assert kinds(scanner.feed(b"", 1.5)) == [LinkGarbage, LinkGap]
        assert scanner.deadline is None
        assert drawn(scanner.feed(said(kind, "SA"), 3.0)) == ["As"]
        scanner.reconnected(4.0)
        assert scanner.deadline is None

    def test_a_flood_is_a_gap_in_each_second_and_before_the_next_code(self, kind: str) -> None:
        scanner = make(kind)
        damaged = {
            "serial": b"\xff\r\n",
            "keyboard": key(1) + key(0x28) + KEYS_UP,
            "pos": bytes(64),
        }[kind]
        readings = [reading for n in range(25) for reading in scanner.feed(damaged, n * 0.1)]
        assert [
            reading.at for reading in readings if isinstance(reading, LinkGap)
        ] == pytest.approx([0.0, 1.0, 2.0])
        again = [*scanner.feed(said(kind, "SA"), 2.5), *scanner.feed(damaged, 2.6)]
        assert kinds(again) == [LinkGap, CardDrawn, LinkGarbage, LinkGap]

    def test_only_a_drawn_card_shows_what_was_scanned(self, kind: str) -> None:
        scanner = make(kind)
        readings = scanner.feed(
            said(kind, "X99") + said(kind, "SA") + b"\x04\xff" * 200 + said(kind, "NOREAD"), 1.0
        )
        readings += scanner.feed(b"", 5.0)
        assert {type(reading) for reading in readings if reading.frame is not None} == {CardDrawn}

    def test_it_accepts_no_commands_and_needs_no_requests(self, kind: str) -> None:
        scanner = make(kind)
        assert scanner.polls() == ()
        assert not scanner.steady
        with pytest.raises(ValueError, match="no command 'beep'"):
            scanner.encode("beep")

    def test_it_is_up_from_its_first_code_on_however_slow(self, kind: str) -> None:
        watch = Watch(make(kind), "shoe", stale_after=5.0)
        watch.opened(0.0)
        readings = [
            r
            for n, byte in enumerate(said(kind, "HT") * 3)
            for r in watch.feed(bytes([byte]), 100.0 + n * 0.05)
        ]
        assert LinkUnintelligible not in kinds(readings)
        assert drawn(readings) == ["Th", "Th", "Th"]


class TestSerial:
    @pytest.mark.parametrize("end", ["\r", "\n", "\r\n", "\n\r"])
    def test_any_line_end_will_do(self, end: str) -> None:
        assert drawn(make("serial").feed(f"SA{end}{end} DQ {end}".encode(), 1.0)) == ["As", "Qd"]

    @for_each(
        "line",
        [
            b"S\x00",
            b"S\xb1",
            b"\x02SA\x03",
            b"SA\tS1",
            b"x" * 41,
            b"x" * 41 + b"SA",
            b" " * 41 + b"SA",
        ],
    )
    def test_a_line_that_is_no_text_or_too_long_is_a_gap(self, line: bytes) -> None:
        scanner = make("serial")
        readings = scanner.feed(line + b"\r\n", 1.0)
        assert set(kinds(readings)) == {LinkGarbage, LinkGap}
        assert sum(r.bytes for r in readings if isinstance(r, LinkGarbage)) in (
            len(line),
            len(line) - 41,
        )
        assert drawn(scanner.feed(b"SA\r\n", 2.0)) == ["As"]

    def test_codes_are_compared_as_they_are(self) -> None:
        assert drawn(make("serial").feed(b"s1\r\n", 1.0)) == [None]


class TestKeyboard:
    @for_each("usage", LAYOUT)
    def test_every_key_of_the_layout(self, usage: int) -> None:
        plain, shifted = list(LAYOUT[usage].decode())
        for sign, shift in ((plain, False), (shifted, True)):
            table = {f"{number:03}": card for number, card in enumerate(CARDS)} | {
                f"A{sign}A": "As"
            }
            stream = (
                key(4, shift=True)
                + KEYS_UP
                + key(usage, shift=shift)
                + KEYS_UP
                + key(4, shift=True)
                + KEYS_UP
                + key(0x58)
                + KEYS_UP
            )
            assert drawn(make("keyboard", cards=table).feed(stream, 1.0)) == ["As"]

    def test_keys_that_overlap_are_distinguished(self) -> None:
        h, two, enter = 0x0B, 0x1F, 0x28
        stream = key(h, shift=True) + key(h, two) + key(two) + key(two, enter) + KEYS_UP
        assert drawn(make("keyboard").feed(stream, 1.0)) == ["2h"]

    def test_shift_may_go_down_before_and_stay_down(self) -> None:
        stream = (
            key(modifiers=0x20)
            + key(0x16, modifiers=0x20)
            + key(modifiers=0x20)
            + KEYS_UP
            + key(0x1F)
            + KEYS_UP
            + key(0x28, shift=True)
        )
        scanner = make("keyboard")
        assert drawn(scanner.feed(stream + key(shift=True) + KEYS_UP, 1.0)) == ["2s"]
        assert scanner.deadline is None

    @for_each(
        "between",
        [
            pytest.param(key(1, 1, 1, 1, 1, 1), id="too many keys"),
            pytest.param(
                key(0x1E) + key(0x1E),
                id="a report twice: the key may have gone up and down again between",
            ),
            pytest.param(KEYS_UP + KEYS_UP, id="a report twice: a key may have gone down between"),
            pytest.param(key(0x1E, 0x1F), id="two keys at once"),
            pytest.param(key(0x39) + KEYS_UP, id="caps lock"),
            pytest.param(key(0x1E, modifiers=1) + KEYS_UP, id="control"),
            pytest.param(key(0x1E, reserved=7), id="no report"),
        ],
    )
    def test_a_code_that_is_in_doubt_is_a_gap(self, between: bytes) -> None:
        scanner = make("keyboard")
        stream = (
            key(0x0B, shift=True)
            + KEYS_UP
            + between
            + KEYS_UP
            + key(0x1E)
            + KEYS_UP
            + key(0x28)
            + KEYS_UP
        )
        assert kinds(scanner.feed(stream, 1.0)) == [LinkGarbage, LinkGap]
        assert drawn(scanner.feed(said("keyboard", "SA"), 2.0)) == ["As"]

    def test_enter_alone_is_nothing(self) -> None:
        scanner = make("keyboard")
        assert scanner.feed(key(0x28) + KEYS_UP + KEYS_UP + key(0x28) + KEYS_UP, 1.0) == []
        assert scanner.deadline is None

    def test_the_tail_of_a_code_that_is_too_long_is_no_code(self) -> None:
        scanner = make("keyboard")
        readings = scanner.feed(b"".join(key_reports("X" * 41 + "SA")), 1.0)
        assert set(kinds(readings)) == {LinkGarbage, LinkGap}
        assert drawn(scanner.feed(said("keyboard", "SA"), 2.0)) == ["As"]

    def test_a_key_that_never_ends_does_not_pile_up(self) -> None:
        scanner = make("keyboard")
        readings = scanner.feed((key(4) + KEYS_UP) * 5000, 1.0)
        assert set(kinds(readings)) == {LinkGarbage, LinkGap}


class TestPos:
    def test_a_text_in_several_reports_is_one(self) -> None:
        first, second = pos_reports("x" * 60)
        scanner = make("pos")
        assert kinds(scanner.feed(first, 1.0) + scanner.feed(second, 1.0)) == [
            LinkGarbage,
            LinkGap,
            LinkGarbage,
        ]
        short = bytearray(pos_reports("SA")[0])
        begun = bytearray(pos_reports("S")[0])
        begun[63] = 1
        assert scanner.feed(bytes(begun), 2.0) == []
        short[1:2], short[5:7] = b"\x01", b"A\0"
        assert drawn(scanner.feed(bytes(short), 2.0)) == ["As"]

    def test_the_tail_of_a_text_that_is_too_long_is_no_code(self) -> None:
        scanner = make("pos")
        readings = scanner.feed(b"".join(pos_reports("x" * 56 + "SA")), 1.0)
        assert set(kinds(readings)) == {LinkGarbage, LinkGap}
        assert drawn(scanner.feed(said("pos", "SA"), 2.0)) == ["As"]

    @pytest.mark.parametrize(
        "report", [b"\x04" + bytes(63), b"\x02\x00" + bytes(62), b"\x02\x39" + bytes(62), bytes(64)]
    )
    def test_a_report_of_another_kind_is_a_gap(self, report: bytes) -> None:
        scanner = make("pos")
        assert kinds(scanner.feed(report, 1.0)) == [LinkGarbage, LinkGap]
        assert drawn(scanner.feed(said("pos", "SA"), 2.0)) == ["As"]


@for_each(
    ("options", "told"),
    [
        ({"cards": {}}, "add codes for Ac, 2c, "),
        (
            {"cards": {code: card for code, card in STANDARD.items() if card != "7h"}},
            "add codes for 7h$",
        ),
        ({"cards": {**STANDARD, "X": "1h"}}, "'X' is '1h', which is not a card"),
        ({"cards": {**STANDARD, "": "7h"}}, "'' is not a valid code"),
        ({"cards": {**STANDARD, "H\r": "7h"}}, r"'H\\r' is not a valid code"),
        ({"cards": {**STANDARD, "é": "7h"}}, "'é' is not a valid code"),
        ({"cards": {**STANDARD, "x" * 41: "7h"}}, "is not a valid code; use 1 to 40"),
        ({"cards": {**STANDARD, "  ": "7h"}}, "'  ' is not a valid code"),
        ({"cards": {**STANDARD, "H7 ": "8h"}}, "'H7 ' and 'H7' are one code"),
        ({"noread": "H7"}, "noread: 'H7' is also the code of 7h"),
        ({"noread": " H7  "}, "noread: ' H7  ' is also the code of 7h"),
        ({"noread": "NO\tREAD"}, r"noread: 'NO\\tREAD' is no code"),
        ({"repeat": -1}, "repeat"),
    ],
)
@for_each("kind", KINDS)
def test_a_table_that_cannot_be_right_is_named(
    kind: str, options: dict[str, Any], told: str
) -> None:
    with pytest.raises(msgspec.ValidationError, match=told):
        make(kind, **options)


codes = st.text(st.characters(codec="ascii", categories=["L", "N", "P", "S", "Zs"]), min_size=1)
padded = st.tuples(
    st.sampled_from(["", " ", "   "]), codes.map(str.strip), st.sampled_from(["", " "])
)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=15, deadline=None)
@given(
    table=st.lists(
        padded.map("".join).filter(lambda code: 0 < len(code.strip()) <= 40),
        min_size=54,
        max_size=54,
        unique_by=str.strip,
    ),
    sent_padded=st.booleans(),
)
def test_each_code_of_a_table_that_is_accepted_gives_its_card(
    kind: str, table: list[str], sent_padded: bool
) -> None:
    *codes, cut, noread = table
    named = dict(zip(codes, CARDS, strict=True))
    scanner = make(kind, cards={**named, cut: "cut"}, noread=noread)
    for number, (told, card) in enumerate(named.items()):
        sent = told if sent_padded and len(told) <= 40 else told.strip()
        assert drawn(scanner.feed(typed(kind, sent), 5.0 * number)) == [card]
    assert kinds(scanner.feed(typed(kind, cut.strip()), 1000.0)) == [CardCut]
    unread, unknown = scanner.feed(typed(kind, noread.strip()), 2000.0)
    assert unread == ShoeFault(at=2000.0, device="shoe", fault="unread", active=True)
    assert drawn([unknown]) == [None]


def test_the_standard_table_has_the_letters_of_suit_and_rank() -> None:
    assert set(STANDARD.values()) == PACK
    assert {code: STANDARD[code] for code in ("HT", "SA", "DQ", "C2")} == {
        "HT": "Th",
        "SA": "As",
        "DQ": "Qd",
        "C2": "2c",
    }


NUMBERS = {
    f"{suit.upper()}{number}": rank + suit for suit in SUITS for number, rank in enumerate(RANKS, 1)
}
"""Codes of two lengths: of ``H11``, ``H1`` is left when a character is lost."""


@for_each("kind", KINDS)
def test_what_a_lost_character_can_leave_of_another_code_is_for_a_person(kind: str) -> None:
    scanner = make(kind, cards=NUMBERS)
    for number, (code, card) in enumerate(NUMBERS.items()):
        (reading,) = read(scanner.feed(said(kind, code), 5.0 * number))
        assert reading.card == card
        assert reading.unsure == (int(code[1:]) <= 3)


@for_each("table", [STANDARD, NUMBERS])
def test_of_a_damaged_code_no_other_card_is_read(table: Mapping[str, str]) -> None:
    for code, card in table.items():
        for begin, end in combinations(range(len(code) + 1), 2):
            scanner = make("serial", cards=dict(table))
            damaged = code[:begin] + code[end:]
            left = read(scanner.feed(said("serial", damaged), 1.0))
            assert all(each.unsure or each.card in (None, card) for each in left), damaged


texts = st.sampled_from(sorted(STANDARD)) | st.sampled_from(
    ["NOREAD", "X99", "1234567890123", "x" * 45]
)
noise = st.binary(max_size=70)
streams = st.sampled_from(sorted(KINDS)).flatmap(
    lambda kind: st.tuples(
        st.just(kind),
        st.lists(texts.map(lambda text: said(kind, text)) | noise, max_size=12).map(b"".join)
        | st.binary(max_size=900),
    )
)


@given(streams, st.lists(st.integers(0, 1000), max_size=8))
def test_any_split_gives_the_same_readings(given: tuple[str, bytes], cuts: list[int]) -> None:
    kind, stream = given
    assert_any_split_gives_the_same(lambda: make(kind), stream, cuts)


@given(
    st.sampled_from(sorted(KINDS)),
    st.lists(st.tuples(st.binary(max_size=400), st.floats(0, 100), st.booleans()), max_size=20),
)
def test_arbitrary_bytes_at_any_time_never_raise_and_leave_nothing_undue(
    kind: str, chunks: list[tuple[bytes, float, bool]]
) -> None:
    scanner, now = make(kind), 0.0
    for data, after, reopened in chunks:
        now += after
        if reopened:
            scanner.reconnected(now)
        scanner.feed(data, now)
        while (due := scanner.deadline) is not None and due <= now + 1000:
            now = max(now, due)
            scanner.feed(b"", now)
            assert scanner.deadline is None or scanner.deadline > due


@given(st.sampled_from(sorted(KINDS)), st.lists(cards, min_size=1, max_size=30))
def test_what_was_scanned_is_read_in_its_order_and_nothing_else(
    kind: str, scanned: list[str]
) -> None:
    scanner = make(kind)
    readings = [
        reading
        for n, card in enumerate(scanned)
        for reading in scanner.feed(said(kind, card_code(card)), 2.0 * n)
    ]
    assert drawn(readings) == scanned
    assert len(readings) == len(scanned)


@given(st.lists(cards, min_size=1, max_size=8), st.data())
def test_a_lost_report_of_a_keyboard_never_makes_another_card(
    scanned: list[str], data: st.DataObject
) -> None:
    stream = [report for card in scanned for report in key_reports(card_code(card))]
    lost = data.draw(st.integers(0, len(stream) - 1))
    scanner = make("keyboard", min_draw=0)
    readings = scanner.feed(b"".join(stream[:lost] + stream[lost + 1 :]), 1.0)
    read = [card for card in drawn(readings) if card is not None]
    left = iter(scanned)
    assert all(card in left for card in read), (
        "the codes read are the codes scanned, with some left out"
    )
    count = len([reading for reading in readings if isinstance(reading, LinkGap)]) + drawn(
        readings
    ).count(None)
    assert len(read) == len(scanned) or count or scanner.deadline is not None
