"""The driver of the Angel Eye II-EX: reports and commands."""

from __future__ import annotations

import msgspec
import pytest

from common.readings import (
    AnyReading,
    CardCut,
    CardDrawn,
    DeviceRefused,
    DeviceReport,
    LinkGap,
    LinkGarbage,
    LinkLate,
    ShoeFault,
    ShoeReset,
    ShoeResult,
    unescape,
)
from devices.shoe.angel_eye import DRIVER, AngelEye, Options
from devices.shoe.angel_eye_frames import FAULTS, REFUSALS
from tests.support.devices.shoe_pens import ShoeFeed, card, cards, of, report
from tests.support.for_each import for_each


def shoe(strict_bcc: bool = True, min_draw: float = 0.2) -> ShoeFeed:
    return ShoeFeed(AngelEye("shoe", Options(strict_bcc=strict_bcc, min_draw=min_draw)))


def told(readings: list[AnyReading]) -> list[tuple[str, str]]:
    return [(reading.report, reading.value) for reading in of(DeviceReport, readings)]


class TestCards:
    def test_the_example_of_the_protocol(self) -> None:
        feed = shoe()
        (drawn,) = feed.send(1, b"D\x81\xb8")
        assert drawn == CardDrawn(
            at=feed.now,
            device="shoe",
            frame=r"\x051D\x81\xb8\x034F",
            card="8s",
            to="player",
            index=1,
        )
        assert feed.codec.counters.frames == 3

    @for_each("suit", "cdhs")
    @for_each("rank", "A23456789TJQK")
    def test_every_card(self, rank: str, suit: str) -> None:
        assert cards(shoe().send(1, card(rank + suit))) == [rank + suit]

    @pytest.mark.parametrize(
        ("body", "to", "index"),
        [
            (card("7h", "player", 3), "player", 3),
            (card("7h", "banker", 2), "banker", 2),
            (card("7h", "burn", 0), "burn", None),
            (card("7h", "first", 1), "first", 1),
            (card("7h", "count", 10), "burn", 10),
        ],
    )
    def test_where_it_goes(self, body: bytes, to: str, index: int | None) -> None:
        (drawn,) = of(CardDrawn, shoe().send(1, body))
        assert (drawn.to, drawn.index, drawn.unsure) == (to, index, False)

    @for_each(
        "body",
        [
            b"D\x80\xb8",  # no place in the hand
            b"D\x84\xb8",
            b"D\x81\x88",  # no suit
            b"D\x81\xd8",
            b"D\x81\xb0",  # no rank
            b"D\x81\xbe",
            b"D\x01\xb8",  # not marked as data
            b"D\x81\x38",
            b"D\xb1\xb8",  # no such target
            b"D\x81",
            b"D\x81\xb8\xb8",
            b"R\x80\xb8",
            b"d\xb0\xb8",
            b"d\x00\xb8",
            b"G\x80",
            b"G\x11",
            b"G",
            b"S1",
            b"M1234",
            b"M12\x80456",
        ],
    )
    def test_what_makes_no_sense_is_dropped_and_leaves_a_gap(self, body: bytes) -> None:
        feed = shoe()
        frame = report(3, body)
        feed.send(2, b"P")
        assert feed.send(3, body) == [
            LinkGarbage(at=feed.now, device="shoe", bytes=len(frame)),
            LinkGap(at=feed.now, device="shoe", lost=1),
        ]
        assert cards(feed.send(4, card("7h"))) == ["7h"]
        assert of(LinkGap, feed.readings[-1:]) == []

    def test_a_burned_card_may_be_unread(self) -> None:
        assert cards(shoe().send(1, b"D\xa0\x80")) == [None]

    def test_an_overdrawn_card_is_for_a_person(self) -> None:
        (drawn,) = of(CardDrawn, shoe().send(1, card("7h", code=b"R")))
        assert (drawn.card, drawn.to, drawn.index, drawn.unsure) == ("7h", "player", 1, True)

    @pytest.mark.parametrize(
        ("first", "mode"), [(0x80, "lock"), (0x92, "error 2"), (0xA0, "setting")]
    )
    def test_a_card_outside_the_game(self, first: int, mode: str) -> None:
        readings = shoe().send(1, b"d%c\xb8" % first)
        assert told(readings) == [("drawn_outside", mode)]
        (drawn,) = of(CardDrawn, readings)
        assert (drawn.card, drawn.to, drawn.unsure) == ("8s", None, True)


class TestOtherReports:
    @pytest.mark.parametrize(
        ("byte", "winner", "pairs", "forced"),
        [
            (0x91, "player", ("player",), False),
            (0x90, "player", (), False),
            (0xA3, "tie", ("player", "banker"), False),
            (0xC2, "banker", ("banker",), False),
            (0xF0, None, (), True),
        ],
    )
    def test_results(
        self, byte: int, winner: str | None, pairs: tuple[str, ...], forced: bool
    ) -> None:
        (result,) = of(ShoeResult, shoe().send(1, b"G%c" % byte))
        assert (result.winner, result.pairs, result.forced, result.device) == (
            winner,
            pairs,
            forced,
            "shoe",
        )
        assert result.frame is not None

    @for_each(("code", "fault"), [*FAULTS.items(), (9, "alarm")])
    def test_errors_begin_and_end(self, code: int, fault: str) -> None:
        feed = shoe()
        feed.send(1, b"E%c" % (0x80 | code))
        feed.send(2, b"E%c" % (0xC0 | code))
        feed.send(3, b"e%c" % (0x80 | code))
        found = [(r.fault, r.active, r.detail) for r in of(ShoeFault, feed.readings)]
        assert found == [
            (fault, True, str(code)),
            (fault, True, f"{code}, error mode"),
            (fault, False, str(code)),
        ]

    def test_the_rest(self) -> None:
        feed = shoe()
        assert [type(r) for r in feed.send(1, b"S") + feed.send(1, b"C")] == [ShoeReset, CardCut]
        feed.send(2, b"P")
        feed.send(3, b"L\x81")
        feed.send(4, b"L\x80")
        feed.send(5, b"M030012")
        assert told(feed.readings) == [
            ("state", "stand-by"),
            ("lock", "locked"),
            ("lock", "unlocked"),
            ("preset", "03=0012"),
        ]

    def test_an_unknown_report_is_counted(self) -> None:
        feed = shoe()
        assert feed.send(1, b"X\x81") == []
        assert (
            feed.codec.counters.unknown,
            feed.codec.counters.frames,
            feed.codec.counters.damaged,
        ) == (1, 3, 0)
        assert of(LinkGap, feed.send(2, b"P")) == []


class TestLine:
    def test_acknowledgements_between_reports(self) -> None:
        feed = shoe()
        readings = feed.raw(b"\x06" + report(1, b"P") + b"\x15\x21" + report(2, b"P"))
        assert told(readings) == [
            ("accepted", "command"),
            ("state", "stand-by"),
            ("refusal", "busy"),
            ("state", "stand-by"),
        ]
        assert [(r.command, r.reason) for r in of(DeviceRefused, readings)] == [("command", "busy")]
        assert feed.codec.counters.frames == 2

    def test_among_garbage_they_are_garbage(self) -> None:
        feed = shoe()
        assert feed.raw(b"\xff\x06\x15\x21\xff") == []
        assert [r.bytes for r in of(LinkGarbage, feed.send(1, b"P"))] == [5]

    @for_each(("code", "reason"), REFUSALS.items())
    def test_every_refusal(self, code: int, reason: str) -> None:
        readings = shoe().raw(b"\x15" + bytes((code,)))
        assert told(readings) == [("refusal", reason)]
        assert [r.reason for r in of(DeviceRefused, readings)] == [
            "busy" if code in (0x21, 0x22) else "no"
        ]

    def test_the_answer_to_a_register_request(self) -> None:
        assert told(shoe().raw(b"\x02RD0012\x0310")) == []
        feed = shoe()
        content = b"\x02RD0012\x03"
        check = 0
        for byte in content:
            check ^= byte
        assert told(feed.raw(content + b"%02X" % check)) == [("register", "RD0012")]

    @for_each("cut", range(1, 8))
    def test_a_cut_frame_is_never_completed(self, cut: int) -> None:
        feed = shoe()
        frame = report(1, card("7h"))
        readings = feed.raw(frame[:cut] + report(1, b"P"))
        assert cards(readings) == []
        assert told(readings) == [("state", "stand-by")]
        assert [r.bytes for r in of(LinkGarbage, readings)] == [cut]

    def test_what_was_dropped_is_reported_though_nothing_follows(self) -> None:
        feed = shoe()
        assert feed.raw(report(1, card("7h"), wrong=1)) == []
        due = feed.codec.deadline
        assert due is not None
        feed.now = due
        assert feed.raw(b"") == [LinkGarbage(at=due, device="shoe", bytes=8)]
        assert feed.codec.deadline is None
        assert feed.codec.counters.damaged == 1

    def test_an_endless_frame_is_dropped(self) -> None:
        feed = shoe()
        feed.raw(b"\x051" + b"\xaa" * 1000)
        assert sum(r.bytes for r in of(LinkGarbage, feed.readings)) >= 800
        assert told(feed.send(1, b"P")) == [("state", "stand-by")]

    @pytest.mark.parametrize(
        "bad",
        [report(1, b"P")[:-2] + b"1g", report(1, b"P").lower(), b"\x05AP\x0312", b"\x051\x0332"],
    )
    def test_other_shapes(self, bad: bytes) -> None:
        assert of(DeviceReport, shoe().raw(bad)) == []

    def test_a_lenient_shoe_reports_it_each_time(self) -> None:
        feed = shoe(strict_bcc=False)
        readings = feed.raw(report(1, card("7h"), wrong=1) + report(1, card("7h")) * 2)
        assert told(readings) == [("check", "wrong, and taken all the same")]
        assert cards(readings) == ["7h"]
        assert told(feed.send(2, card("8h"))) == []

    def test_even_a_lenient_shoe_waits_for_a_copy_that_makes_sense(self) -> None:
        feed = shoe(strict_bcc=False)
        readings = feed.raw(report(1, b"D\x80\xb8", wrong=1) + report(1, card("7h")))
        assert [type(r) for r in readings] == [LinkGarbage, CardDrawn]


class TestLate:
    def test_what_no_hand_can_draw_is_late(self) -> None:
        feed = shoe()
        feed.send(1, card("7h"), after=30.0)
        readings = feed.raw(report(2, card("8h", "banker")) * 3 + report(3, b"G\x90") * 3)
        readings += feed.send(4, card("9h"), after=0.1)
        feed.now += 0.25
        readings += feed.raw(b"")
        assert [r.late for r in readings if isinstance(r, CardDrawn | ShoeResult)] == [
            True,
            True,
            True,
        ]
        assert of(LinkLate, readings) == [
            LinkLate(at=feed.now, device="shoe", frames=3, silence=0.0)
        ]
        assert feed.codec.counters.late == 3
        (drawn,) = of(CardDrawn, feed.send(5, card("Th")))
        assert not drawn.late

    def test_the_silence_before_a_burst(self) -> None:
        feed = shoe()
        feed.send(1, card("7h"))
        feed.raw(report(2, card("8h")) + report(3, card("9h")), after=40.0)
        (late,) = of(LinkLate, feed.send(4, card("Th")))
        assert (late.frames, late.silence) == (1, 40.0)

    def test_the_verdict_right_behind_a_live_card_is_live(self) -> None:
        feed = shoe()
        readings = feed.raw(report(1, card("7h")) + report(2, b"G\x90") + report(3, b"C"))
        assert [r.late for r in readings if isinstance(r, CardDrawn | ShoeResult | CardCut)] == [
            False,
            False,
            False,
        ]

    def test_it_can_be_switched_off(self) -> None:
        feed = shoe(min_draw=0)
        readings = feed.raw(report(1, card("7h")) + report(2, card("8h")))
        assert [r.late for r in of(CardDrawn, readings)] == [False, False]
        assert feed.codec.deadline is None


class TestTowardsTheShoe:
    def test_the_example_of_the_protocol(self) -> None:
        assert AngelEye("shoe", Options()).encode("lock") == b"\x02OPLK02\x031B"

    def test_the_commands_and_no_others(self) -> None:
        codec = AngelEye("shoe", Options())
        assert {name: codec.encode(name)[3:-3] for name in DRIVER.commands} == {
            "lock": b"LK02",
            "unlock": b"LK01",
            "clear_error": b"EC00",
            "overdraw_keep": b"EC01",
            "overdraw_discard": b"EC02",
            "confirm": b"GP00",
        }
        with pytest.raises(ValueError, match="no command 'reset'; there are: lock, unlock"):
            codec.encode("reset")
        with pytest.raises(ValueError, match="lock takes no argument, got '1'"):
            codec.encode("lock", "1")
        assert codec.polls() == ()

    @pytest.mark.parametrize("options", [{"min_draw": -1}, {"strict": True}, {"strict_bcc": 1}])
    def test_options_that_cannot_be(self, options: dict[str, float]) -> None:
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(options, Options)


def test_only_a_drawn_card_shows_a_card() -> None:
    feed = shoe()
    secret = card("7h", "banker", 2)
    feed.send(1, secret)
    feed.raw(report(2, secret, wrong=1) + report(2, secret)[:-1])
    feed.send(3, b"d\x80" + secret[2:])
    feed.send(4, b"D\x80" + secret[2:])
    feed.now += 10
    feed.raw(b"")
    for reading in feed.readings:
        if not isinstance(reading, CardDrawn):
            assert secret[2] not in unescape(reading.frame or "")
            assert "7h" not in repr(reading)
