"""The driver of the Bee-Tek shoe."""

from __future__ import annotations

import msgspec
import pytest

from common.readings import (
    AnyReading,
    CardDrawn,
    DeviceReport,
    LinkGap,
    LinkGarbage,
    LinkLate,
    ShoeFault,
    unescape,
)
from devices.shoe.bee_tek import MAX_LINE_BYTES, BeeTek, Options
from tests.support.devices.shoe_pens import ShoeFeed, cards, of
from tests.support.for_each import for_each

BURN = "[Manual Burn Cards]"


def shoe(min_draw: float = 0.2) -> ShoeFeed:
    return ShoeFeed(BeeTek("shoe", Options(min_draw=min_draw)))


def told(readings: list[AnyReading]) -> list[tuple[str, str]]:
    return [(reading.report, reading.value) for reading in of(DeviceReport, readings)]


def faults(readings: list[AnyReading]) -> list[tuple[str, bool, str | None]]:
    return [(reading.fault, reading.active, reading.detail) for reading in of(ShoeFault, readings)]


class TestCards:
    def test_a_card(self) -> None:
        feed = shoe()
        assert feed.line("[Game]<Card:4S>") == [
            DeviceReport(at=feed.now, device="shoe", report="mode", value="Game"),
            DeviceReport(at=feed.now, device="shoe", report="card_order", value="rank first"),
            CardDrawn(at=feed.now, device="shoe", frame="[Game]<Card:4S> ", card="4s"),
        ]

    @for_each("suit", "CDHS")
    @for_each("rank", ["A", "2", "9", "10", "T", "J", "Q", "K"])
    def test_both_orders(self, rank: str, suit: str) -> None:
        card = rank.replace("10", "T") + suit.lower()
        assert cards(shoe().line(f"[Game]<Card:{rank}{suit}>")) == [card]
        assert cards(shoe().line(f"[Game]<Card:{suit}{rank}>")) == [card]

    def test_the_order_is_reported_when_it_changes(self) -> None:
        feed = shoe()
        for code in ("4S", "H10", "H3", "TD"):
            feed.line(f"[Game]<Card:{code}>")
        orders = [value for report, value in told(feed.readings) if report == "card_order"]
        assert orders == ["rank first", "suit first", "rank first"]

    @for_each("code", ["", "1S", "4X", "44S", "4", "??", "11H", "4s"])
    def test_a_card_with_an_unknown_code_is_unread(self, code: str) -> None:
        assert cards(shoe().line(f"[Game]<Card:{code}>")) == [None]

    def test_the_failed_read(self) -> None:
        (drawn,) = of(CardDrawn, shoe().line("[Game]<Game>"))
        assert (drawn.card, drawn.unsure, drawn.frame) == (None, False, "[Game]<Game> ")

    def test_an_equal_card_is_another_card(self) -> None:
        feed = shoe()
        feed.line("[Game]<Card:4S>")
        assert feed.line("[Game]<Card:4S>") == of(CardDrawn, feed.readings[-1:])

    def test_burned_cards(self) -> None:
        (drawn,) = of(CardDrawn, shoe().line(f"{BURN}<Card:3H>"))
        assert (drawn.card, drawn.to, drawn.unsure) == ("3h", "burn", False)

    @pytest.mark.parametrize("line", ["[Diagnostics]<Card:3H>", "<Card:3H>"])
    def test_a_card_of_another_mode_is_for_a_person(self, line: str) -> None:
        (drawn,) = of(CardDrawn, shoe().line(line))
        assert (drawn.card, drawn.to, drawn.unsure) == ("3h", None, True)


class TestModes:
    def test_the_key_is_turned_and_back(self) -> None:
        feed = shoe()
        for mode in ("[Game]", "[Game]", BURN, BURN, "[Game]"):
            feed.line(f"{mode}<Card:4S>")
        assert [value for report, value in told(feed.readings) if report == "mode"] == [
            "Game",
            "Manual Burn Cards",
            "Game",
        ]
        assert faults(feed.readings) == [
            ("warning", True, "mode Manual Burn Cards"),
            ("warning", False, "mode Manual Burn Cards"),
        ]

    def test_from_one_wrong_mode_to_another(self) -> None:
        feed = shoe()
        feed.line(f"{BURN}<Card:4S>")
        assert [active for _, active, _ in faults(feed.line("[Diagnostics]<Ready>"))] == [
            False,
            True,
        ]
        assert told(feed.readings)[-2:] == [("mode", "Diagnostics"), ("said", "Ready")]

    def test_an_alarm_is_no_mode(self) -> None:
        feed = shoe()
        feed.line("[Game]<Card:4S>")
        assert told(feed.line("[GameAlarm]<Alarm:E5 Jam>")) == []


class TestAlarms:
    def test_each_is_reported_once_and_ends_with_the_next_card(self) -> None:
        feed = shoe()
        for line in ("[Game]<Alarm:E3 Card Not Read>",) * 2 + (
            "[GameAlarm]<Alarm:E5 Jam>",
            "<W0x01>",
            "[Game]<W0x01>",
        ):
            feed.line(line)
        begun = [
            ("unread", True, "E3 Card Not Read"),
            ("alarm", True, "E5 Jam"),
            ("warning", True, "W0x01"),
        ]
        assert faults(feed.readings) == begun
        feed.line("[Game]<Game>")
        assert faults(feed.readings) == begun
        assert faults(feed.line("[Game]<Card:4S>")) == [
            (fault, False, detail) for fault, _, detail in begun
        ]
        assert faults(feed.line("[Game]<Card:5S>")) == []

    def test_another_alarm_of_the_kind(self) -> None:
        feed = shoe()
        feed.line("[Game]<Alarm:E5 Jam>")
        assert faults(feed.line("[Game]<Alarm:Door>")) == [("alarm", True, "Door")]


class TestDamage:
    @for_each(
        "piece",
        [
            "[Game]<Card:4S",
            "ard:4S>",
            "S>",
            "[Game",
            "[",
            "x",
            "Game]Card:4S>",
            "[Game]<Card\x00:4S>",
            "\xff\x00",
        ],
    )
    def test_what_may_have_been_a_card_leaves_a_gap(self, piece: str) -> None:
        feed = shoe()
        readings = feed.line(piece)
        assert of(LinkGap, readings) == [LinkGap(at=feed.now, device="shoe", lost=1)]
        assert [r.frame for r in of(LinkGarbage, readings)] == [None]
        assert cards(readings) == []

    @pytest.mark.parametrize("piece", [">", ">>", "> >"])
    def test_a_character_that_comes_again_is_dropped(self, piece: str) -> None:
        readings = shoe().line(piece)
        assert [type(r) for r in readings] == [LinkGarbage]

    def test_nothing_at_all_is_nothing(self) -> None:
        feed = shoe()
        assert feed.raw(b"\r\n\r\n   \r\n") == []
        assert feed.codec.counters.damaged == 0

    @pytest.mark.parametrize(
        "line",
        ["[Game]<Card:4S>>>", "[[Game]<Card:4S>", "[ [[Game]<Card:4S>  ", ">>[Game]<Card:4S>"],
    )
    def test_the_frame_among_repeated_characters(self, line: str) -> None:
        readings = shoe().line(line)
        assert cards(readings) == ["4s"]
        assert of(LinkGap, readings) == []

    def test_a_splice(self) -> None:
        feed = shoe()
        readings = feed.line("[Game]<Ca[Game]<Card:4S>")
        assert [type(r) for r in readings if not isinstance(r, DeviceReport)] == [
            LinkGarbage,
            LinkGap,
            CardDrawn,
        ]

    def test_a_line_that_comes_twice_is_no_live_card(self) -> None:
        feed = shoe()
        readings = feed.line("[Game]<Card:4S>[Game]<Card:4S>")
        assert [(r.card, r.late) for r in of(CardDrawn, readings)] == [("4s", False), ("4s", True)]

    def test_unknown_words(self) -> None:
        feed = shoe()
        assert ("said", "Ready") in told(feed.line("[Game]<Ready>"))
        assert of(LinkGap, feed.line("[Game]<Kard:4S>")) == [
            LinkGap(at=feed.now, device="shoe", lost=1)
        ]
        assert feed.codec.counters.unknown == 2

    def test_an_endless_line_is_dropped_and_its_frames_are_read(self) -> None:
        feed = shoe()
        feed.raw(b" [Game]<Card:4S> " + b"U" * 10_000)
        assert cards(feed.readings) == ["4s"]
        assert sum(r.bytes for r in of(LinkGarbage, feed.readings)) > 10_000 - MAX_LINE_BYTES

    def test_half_a_line_before_the_link_was_closed(self) -> None:
        feed = shoe()
        feed.raw(b" [Game]<Card:4")
        feed.codec.reconnected(feed.now)
        readings = feed.raw(b"S> \r\n")
        assert [type(r) for r in readings] == [LinkGarbage, LinkGap]


class TestNoise:
    def test_a_gap_is_reported_once_a_second_and_before_the_next_line(self) -> None:
        """A person may have settled the last gap before the next loss."""
        feed = shoe()
        readings = [feed.line("noise", after=after) for after in (1.0, 0.4, 0.4, 0.4)]
        assert [len(of(LinkGap, each)) for each in readings] == [1, 0, 0, 1]
        assert of(LinkGap, feed.line("noise", after=0.4)) == []
        assert [type(r) for r in feed.line("[Game]<Card:4S>", after=0.1)][:1] == [LinkGap]
        assert len(of(LinkGap, feed.line("noise", after=0.1))) == 1

    def test_noise_that_came_at_once_is_one_gap(self) -> None:
        feed = shoe()
        readings = feed.raw(b"noise\r\nnoise\r\n [Game]<Card:4S> \r\n", after=1.0)
        assert len(of(LinkGap, readings)) == 1

    @pytest.mark.parametrize("words", ["Ready", "Card10", "Card", "4S"])
    def test_any_unknown_words_are_a_gap_and_no_part_of_a_card_is_shown(self, words: str) -> None:
        readings = shoe().line(f"[Game]<{words}>")
        assert len(of(LinkGap, readings)) == 1
        assert [r.value for r in of(DeviceReport, readings)] == [
            "Game",
            *(["Ready"] * (words == "Ready")),
        ]


class TestLate:
    def test_a_burst(self) -> None:
        feed = shoe()
        feed.line("[Game]<Card:4S>")
        readings = feed.raw(
            b"".join(b" [Game]<Card:%cS> \r\n" % rank for rank in b"567"), after=60.0
        )
        readings += feed.line("[Game]<Card:8S>")
        assert [(r.card, r.late) for r in of(CardDrawn, readings)] == [
            ("5s", False),
            ("6s", True),
            ("7s", True),
            ("8s", False),
        ]
        (late,) = of(LinkLate, readings)
        assert (late.frames, late.silence) == (2, 60.0)

    def test_it_can_be_switched_off(self) -> None:
        readings = shoe(min_draw=0).raw(b" [Game]<Card:4S> \r\n" * 2)
        assert [r.late for r in of(CardDrawn, readings)] == [False, False]


def test_it_accepts_no_commands() -> None:
    codec = BeeTek("shoe", Options())
    assert codec.polls() == ()
    with pytest.raises(ValueError, match="bee-tek has no command 'lock'"):
        codec.encode("lock")


@pytest.mark.parametrize("options", [{"min_draw": -1}, {"mode": "Game"}])
def test_options_that_cannot_be(options: dict[str, float]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(options, Options)


def test_only_a_drawn_card_shows_a_card() -> None:
    feed = shoe()
    lines = (
        "[Game]<Card:4S>",
        "[Game]<Card:4S",
        "[Game]<Kard:4S>",
        "[Diagnostics]<Card:4S>",
        "4S",
        "<Card:S4>",
        "[X]<4S>",
    )
    for line in lines:
        feed.line(line)
    for reading in feed.readings:
        if not isinstance(reading, CardDrawn):
            assert b"4S" not in unescape(reading.frame or "")
            assert "4s" not in repr(reading).lower()
