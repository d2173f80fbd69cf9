"""Simulated shoes before the drivers of the real ones: what was drawn is what is read, whatever
happens on the line.
"""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common.readings import (
    AnyReading,
    CardCut,
    CardDrawn,
    DeviceRefused,
    DeviceReport,
    LinkGap,
    LinkGarbage,
    LinkLate,
    LinkUnintelligible,
    LinkUp,
    ShoeFault,
    ShoeReset,
    ShoeResult,
)
from devices.drivers import driver
from devices.shoe import angel_eye_frames as frames
from devices.watch import Watch
from simulators.faults import FAULTS
from simulators.line import SimulatedLine
from simulators.shoe import baccarat
from simulators.shoe.angel_eye import AngelEyeShoe
from simulators.shoe.bee_tek import BeeTekShoe
from simulators.shoe.shoe import SimulatedShoe
from tests.support.devices.shoe_pens import cards, of

SHOES: dict[str, type[SimulatedShoe]] = {"angel-eye": AngelEyeShoe, "bee-tek": BeeTekShoe}
BOTH = pytest.mark.parametrize("name", SHOES)
COUP = ("9h", "2c", "Kd", "3s")
"""Player 9 on two cards, bank 5: no hand draws."""


class Table:
    """A simulated shoe on its line, read by the driver and its watch every 20 ms."""

    def __init__(self, name: str, shoe: SimulatedShoe) -> None:
        made = driver(name)
        self.codec = made.make("shoe", made.options())
        self.shoe = shoe
        self.line = SimulatedLine(shoe)
        self.readings: list[AnyReading] = []
        self._watch = Watch(self.codec, "shoe", 5.0)
        self._watch.opened(0.0)
        self.now = 0.0

    def play(
        self, until: float, faults: dict[float, tuple[str, float]] | None = None
    ) -> list[AnyReading]:
        """All readings up to a time."""
        due = sorted((faults or {}).items())
        while self.now < until:
            while due and due[0][0] <= self.now:
                at, (name, value) = due.pop(0)
                (self.line if FAULTS[name].where == "line" else self.shoe).fault(name, value, at)
            for at, data in self.line.advance(self.now):
                self.readings += self._watch.feed(data, at)
            self.readings += self._watch.tick(self.now)
            self.now += 0.02
        return self.readings

    def command(self, command: str) -> None:
        self.shoe.receive(self.codec.encode(command), self.now)


def heard(
    name: str, until: float, *faults: tuple[float, str, float], **options: object
) -> list[AnyReading]:
    """The readings of a shoe that deals a known first coup at 11 seconds, and four a minute."""
    shoe = SHOES[name](**{"seed": 3, "games_per_hour": 240, "burn": False, "cards": COUP} | options)  # type: ignore[arg-type]
    return Table(name, shoe).play(until, {at: (fault, value) for at, fault, value in faults})


def told(readings: list[AnyReading], report: str) -> list[str]:
    return [reading.value for reading in of(DeviceReport, readings) if reading.report == report]


def faults(readings: list[AnyReading]) -> list[tuple[str, bool]]:
    return [(reading.fault, reading.active) for reading in of(ShoeFault, readings)]


class TestTheGame:
    def test_a_shoe_has_its_cards(self) -> None:
        assert Counter(baccarat.shuffled(6, Random(1))) == Counter([*baccarat.CARDS] * 6)

    @pytest.mark.parametrize(
        ("dealt", "order", "winner"),
        [
            ("9h 2c Kd 3s", "PBPB", "player"),  # a natural ends it
            ("2h 4c Kd 4s", "PBPB", "banker"),
            ("2h 2c 3d 5s 4h", "PBPBP", "player"),  # 5 draws a 4, the bank's 7 stands
            ("6h 2c Kd 3s 9h", "PBPBB", "player"),  # 6 stands, the bank's 5 draws
            ("2h Tc 3d 3s 8h", "PBPBP", "tie"),  # the bank's 3 stands before an 8
            ("2h Tc 3d 3s 7h 4h", "PBPBPB", "banker"),
            ("Kh Qc Jd Ts Ah Ac", "PBPBPB", "tie"),
        ],
    )
    def test_coups_of_the_table(self, dealt: str, order: str, winner: str) -> None:
        hands: baccarat.Hands = {"player": [], "banker": []}
        to = ""
        for card in dealt.split():
            hand = baccarat.next_hand(hands)
            assert hand is not None
            hands[hand].append(card)
            to += hand[0].upper()
        assert (to, baccarat.next_hand(hands), baccarat.winner(hands)) == (order, None, winner)

    def test_pairs(self) -> None:
        assert baccarat.pairs({"player": ["9h", "9c", "2h"], "banker": ["Kd", "Qs", "Qd"]}) == (
            "player",
        )

    @BOTH
    def test_a_whole_shoe_and_the_next(self, name: str) -> None:
        shoe = SHOES[name](seed=5, decks=1, cut=20, games_per_hour=3600)
        table = Table(name, shoe)
        readings = table.play(200)
        assert shoe.shoes >= 2
        assert cards(readings) == shoe.drawn[: len(cards(readings))]
        assert len(shoe.drawn) - len(cards(readings)) <= 1
        assert of(LinkGap, readings) == []
        assert of(LinkGarbage, readings) == []
        if name == "angel-eye":
            assert len(of(ShoeReset, readings)) == shoe.shoes
            assert len(of(CardCut, readings)) >= shoe.shoes - 1
            results = of(ShoeResult, readings)
            assert [r.winner for r in results] == [
                baccarat.winner(hands) for hands in shoe.coups[: len(results)]
            ]
            assert [r.pairs for r in results] == [
                baccarat.pairs(hands) for hands in shoe.coups[: len(results)]
            ]

    @BOTH
    def test_the_burn(self, name: str) -> None:
        table = Table(name, SHOES[name](cards=("4h",)))
        places = [drawn.to for drawn in of(CardDrawn, table.play(20))]
        assert places[:6] == [
            {"angel-eye": "first", "bee-tek": "burn"}[name],
            *["burn"] * 4,
            {"angel-eye": "player", "bee-tek": None}[name],
        ]

    def test_a_shoe_without_anything_to_deal(self) -> None:
        with pytest.raises(ValueError, match="52 cards behind the cut card of 1 decks"):
            AngelEyeShoe(decks=1)


class TestLine:
    @settings(max_examples=10, deadline=None)
    @given(
        name=st.sampled_from(sorted(SHOES)),
        seed=st.integers(0, 2**32),
        struck=st.dictionaries(
            st.floats(5, 110),
            st.tuples(st.sampled_from(["silence", "split", "spliced", "damaged"]), st.floats(1, 9)),
            max_size=6,
        ),
    )
    def test_a_bad_line_never_makes_another_card_of_it(
        self, name: str, seed: int, struck: dict[float, tuple[str, float]]
    ) -> None:
        shoe = SHOES[name](seed=seed, games_per_hour=240)
        readings = Table(name, shoe).play(120, struck)
        left = iter(shoe.drawn)
        assert all(
            any(card == drawn for drawn in left) for card in cards(readings) if card is not None
        )

    @BOTH
    def test_a_split_line_is_read_all_the_same(self, name: str) -> None:
        assert cards(heard(name, 20, (10.5, "split", 0))) == [*COUP]

    def test_a_copy_more_is_no_card_more(self) -> None:
        assert cards(heard("angel-eye", 20, (10.5, "duplicate", 0))) == [*COUP]

    def test_a_line_that_comes_twice_is_late(self) -> None:
        drawn = of(CardDrawn, heard("bee-tek", 20, (10.5, "duplicate", 0)))
        assert [(draw.card, draw.late) for draw in drawn[:3]] == [
            ("9h", False),
            ("9h", True),
            ("2c", False),
        ]

    @pytest.mark.parametrize("fault", ["damaged", "spliced"])
    def test_a_copy_less_is_no_card_less(self, fault: str) -> None:
        readings = heard("angel-eye", 20, (10.5, fault, 0))
        assert cards(readings) == [*COUP]
        assert of(LinkGap, readings) == []
        assert of(LinkGarbage, readings) != []

    def test_a_damaged_line_is_a_gap_or_an_unread_card(self) -> None:
        readings = heard("bee-tek", 20, (10.5, "spliced", 0))
        assert cards(readings) == [*COUP[1:]]
        assert [gap.lost for gap in of(LinkGap, readings)] == [1]

    @BOTH
    def test_a_burst_is_late_but_its_first_card(self, name: str) -> None:
        readings = heard(name, 40, (10.5, "burst", 10))
        drawn = of(CardDrawn, readings)[:4]
        assert [draw.card for draw in drawn] == [*COUP]
        assert [draw.late for draw in drawn] == [False, True, True, True]
        assert len(of(LinkLate, readings)) == 1
        assert not any(reading.late for reading in of(CardDrawn, readings)[4:])

    def test_a_silence_is_a_gap(self) -> None:
        readings = heard("angel-eye", 30, (10.5, "silence", 3))
        lost = [gap.lost for gap in of(LinkGap, readings)]
        assert len(lost) == 1
        assert len(cards(readings)) + lost[0] >= 4
        assert cards(readings)[: 4 - lost[0]] == [*COUP[lost[0] :]]

    @BOTH
    def test_the_wrong_speed_is_unintelligible_and_over(self, name: str) -> None:
        readings = heard(name, 60, (10.5, "wrong_baud", 20))
        links = [
            type(reading)
            for reading in readings
            if isinstance(reading, LinkUp | LinkUnintelligible)
        ]
        assert links[-2:] == [LinkUnintelligible, LinkUp]


class TestAngelEye:
    def test_one_right_copy_is_enough_and_none_is_a_gap(self) -> None:
        readings = heard("angel-eye", 25, (10.5, "bad_bcc", 2))
        assert (cards(readings), of(LinkGap, readings)) == ([*COUP], [])
        readings = heard("angel-eye", 25, (10.5, "bad_bcc", 3))
        assert cards(readings) == [*COUP[1:]]
        assert [type(r) for r in readings if isinstance(r, LinkGarbage | LinkGap | CardDrawn)][
            :3
        ] == [
            LinkGarbage,
            LinkGap,
            CardDrawn,
        ]

    def test_a_lost_report(self) -> None:
        readings = heard("angel-eye", 25, (10.5, "lost_report", 0))
        assert cards(readings) == [*COUP[1:]]
        assert [gap.lost for gap in of(LinkGap, readings)] == [1]

    def test_an_unread_card_is_drawn_again(self) -> None:
        readings = heard("angel-eye", 40, (10.5, "unread", 5))
        assert faults(readings) == [("unread", True), ("unread", False)]
        assert cards(readings)[:4] == [*COUP]

    def test_an_overdrawn_card_is_kept_for_the_next_coup(self) -> None:
        readings = heard("angel-eye", 60, (10.5, "overdraw", 3))
        assert faults(readings) == [("overdraw", True), ("overdraw", False)]
        after = of(CardDrawn, readings)[4:6]
        assert [(each.unsure, each.to, each.index) for each in after] == [
            (True, "player", 1),
            (False, "banker", 1),
        ]

    def test_or_discarded_by_command(self) -> None:
        table = Table("angel-eye", AngelEyeShoe(seed=3, games_per_hour=240, burn=False, cards=COUP))
        table.play(18, {10.5: ("overdraw", 30.0)})
        assert faults(table.readings) == [("overdraw", True)]
        table.command("overdraw_discard")
        table.play(40)
        assert told(table.readings, "accepted") == ["command"]
        assert faults(table.readings) == [("overdraw", True), ("overdraw", False)]
        after = of(CardDrawn, table.readings)[4]
        assert (after.unsure, after.to, after.index) == (False, "player", 1)

    def test_locked_it_deals_no_cards(self) -> None:
        table = Table("angel-eye", AngelEyeShoe(seed=3, games_per_hour=240, burn=False))
        table.play(8)
        table.command("lock")
        table.play(40)
        assert cards(table.readings) == []
        table.command("unlock")
        table.play(60)
        assert told(table.readings, "lock") == ["locked", "unlocked"]
        assert len(cards(table.readings)) >= 4

    @pytest.mark.parametrize(
        ("command", "reason"),
        [
            (b"\x02OPLK02\x031C", "check"),
            (frames.command(b"XX02"), "type"),
            (frames.command(b"LK09"), "format or length"),
            (b"\x02XXLK02\x0304", "command"),
        ],
    )
    def test_refusals(self, command: bytes, reason: str) -> None:
        table = Table("angel-eye", AngelEyeShoe())
        table.play(4)
        table.shoe.receive(command, table.now)
        table.play(5)
        assert told(table.readings, "refusal") == [reason]
        assert [refused.reason for refused in of(DeviceRefused, table.readings)] == ["no"]

    def test_a_reset_in_the_middle_of_a_coup(self) -> None:
        readings = heard("angel-eye", 30, (12.5, "reset", 2))
        kinds = [type(r) for r in readings if isinstance(r, ShoeReset | CardDrawn | ShoeResult)]
        assert kinds[0] is ShoeReset
        assert ShoeReset in kinds[2:5]
        assert of(LinkGap, readings) == []
        again = kinds.index(ShoeReset, 1)
        first = of(CardDrawn, readings)[again - 1]
        assert (first.to, first.index) == ("player", 1)

    def test_the_cut_card_in_the_middle_of_a_coup_ends_the_shoe_behind_it(self) -> None:
        readings = heard("angel-eye", 40, (11.5, "cut_card", 0))
        kinds = [
            type(r) for r in readings if isinstance(r, CardCut | CardDrawn | ShoeResult | ShoeReset)
        ]
        assert kinds[:8] == [
            ShoeReset,
            CardDrawn,
            CardCut,
            CardDrawn,
            CardDrawn,
            CardDrawn,
            ShoeResult,
            ShoeReset,
        ]

    def test_an_alarm(self) -> None:
        assert faults(heard("angel-eye", 40, (10.5, "alarm", 5))) == [
            ("timeout", True),
            ("timeout", False),
        ]


class TestBeeTek:
    def test_an_unread_card_is_null(self) -> None:
        readings = heard("bee-tek", 30, (10.5, "unread", 5))
        assert cards(readings)[:4] == [None, *COUP[1:]]
        assert faults(readings) == [("unread", True), ("unread", False)]

    def test_a_lost_line_cannot_be_seen(self) -> None:
        readings = heard("bee-tek", 20, (10.5, "lost_report", 0))
        assert cards(readings) == [*COUP[1:]]
        assert of(LinkGap, readings) == []

    def test_repeated_characters(self) -> None:
        readings = heard("bee-tek", 20, (10.5, "repeated", 0))
        assert cards(readings) == [*COUP]
        assert of(LinkGap, readings) == []

    def test_suit_first(self) -> None:
        readings = heard("bee-tek", 20, suit_first=True, cards=("Th", *COUP[1:]))
        assert cards(readings)[:4] == ["Th", *COUP[1:]]
        assert told(readings, "card_order") == ["suit first"]

    def test_the_key_is_turned(self) -> None:
        readings = heard("bee-tek", 20, (10.5, "wrong_mode", 1))
        assert next(drawn.to for drawn in of(CardDrawn, readings)) == "burn"
        assert faults(readings) == [("warning", True), ("warning", False)]
        assert told(readings, "mode") == ["Manual Burn Cards", "Game"]

    def test_an_alarm_and_a_warning(self) -> None:
        readings = heard("bee-tek", 40, (10.5, "alarm", 5))
        assert faults(readings) == [
            ("warning", True),
            ("alarm", True),
            ("warning", False),
            ("alarm", False),
        ]

    def test_an_overdrawn_card_is_a_card_as_any_other(self) -> None:
        readings = heard("bee-tek", 23, (10.5, "overdraw", 3))
        assert len(cards(readings)) == 5
        assert not any(drawn.unsure for drawn in of(CardDrawn, readings))

    def test_a_reset_is_not_reported(self) -> None:
        readings = heard("bee-tek", 40, (12.5, "reset", 2))
        assert not any(isinstance(reading, ShoeReset | LinkGap) for reading in readings)
        assert cards(readings)[0] == COUP[0]
