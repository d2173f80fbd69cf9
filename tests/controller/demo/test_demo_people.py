"""The demo's people at real games, without a wire: they answer to what they see, and the game
follows them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest

from common.contract.commands import AnyCommand
from common.readings import (
    AnyReading,
    DiceFault,
    DiceRead,
    DiceState,
    LinkLost,
    LinkUp,
    ShufflerPacket,
    ShufflerState,
    ShufflerStateName,
    ShufflerVerdict,
    SlotCoin,
    WheelFault,
    WheelPhase,
)
from controller.cli.carrousel import settings_of
from controller.configuration.file import load
from controller.demo import files
from controller.demo.jackpot import PROGRAM, linked
from controller.demo.people import CommandFields, Player, Stacked, TableSeen, dice, shoe, wheel
from controller.demo.places import FLOOR_TABLES, TWO_TABLES, DemoTable, places
from controller.demo.poker import croupier
from controller.demo.staff import enrol
from controller.demo.table_head import PLAYER_BY_GAME
from controller.games.games import make_game
from subscribers.carrousel.settings import CarrouselSettings
from subscribers.carrousel.terms import find_flaws

BY_HAND = {"dealt": "singly", "boxes": 2}
PACKETS = {"dealt": "packets", "boxes": 2}
RIGHT = ShufflerVerdict(at=0.0, decks=1, count=52, set_right=True)


class AtTable:
    """A game and the person who sits there. ``events`` are in the order in which they are
    published.
    """

    def __init__(
        self,
        game: str,
        decree: str,
        person: Player,
        settings: Mapping[str, Any],
        *,
        slips: int = 0,
        stacked: Stacked | None = None,
    ) -> None:
        self.person = person
        self.slips, self.stacked = slips, stacked
        self.events: list[dict[str, Any]] = []
        self._heard: dict[str, dict[str, Any]] = {}
        self._game = make_game(game, decree, settings)
        self._state = self._game.begin()

    @property
    def shown(self) -> dict[str, Any]:
        shown: dict[str, Any] = msgspec.json.decode(
            msgspec.json.encode(self._game.view(self._state).shown)
        )
        return shown

    def word(self) -> CommandFields | None:
        return self.person(
            TableSeen(
                shown=self.shown,
                latest_events=self._heard,
                seed="1",
                slips=self.slips,
                stacked=self.stacked,
            )
        )

    def receive(self, *given: AnyReading | AnyCommand) -> AtTable:
        """Devices send, or the person does; nobody answers yet."""
        for each in given:
            self._state, events = self._game.step(self._state, each)
            for event in events:
                body = msgspec.to_builtins(event) | {"seq": len(self.events) + 1}
                self.events.append(body)
                self._heard[body["type"]] = body
        return self

    def answer(self) -> list[str]:
        """The person gives his answers; every command is followed. Returns their names."""
        said = []
        while (word := self.word()) is not None:
            name, more = word
            body = {"type": name, "at": 0.0, "by": "demo", "role": "table_head", **more}
            self.receive(msgspec.convert(body, AnyCommand))
            said.append(name)
            assert len(said) < 100, said
        return said

    def leaves(self) -> AtTable:
        """Another demo starts: no subscriber has events of this one."""
        self._heard = {}
        return self

    def types(self) -> list[str]:
        return [event["type"] for event in self.events]

    def last(self, kind: str) -> dict[str, Any]:
        return next(event for event in reversed(self.events) if event["type"] == kind)


def packets(size: int, boxes: int = 2) -> list[ShufflerPacket]:
    return [
        ShufflerPacket(at=0.0, size=size, to=to)
        for to in (*(f"box:{box}" for box in range(1, boxes + 1)), "dealer")
    ]


# Where they sit


def test_a_floor_has_what_its_decree_has() -> None:
    def games(decree: str, *, floor: bool = True) -> list[str]:
        return [place.game for place in places(decree, floor=floor)]

    assert games("EUS96") == [place.game for place in FLOOR_TABLES]
    assert games("ARA02") == games("BAL05") == games("EUS96")[:-1]
    assert games("GAL07") == games("EUS96")[:-3]
    assert games("BAL09") == ["three-card-poker"]
    assert games("ARA02", floor=False) == [place.game for place in TWO_TABLES]
    assert games("BAL09", floor=False) == games("ROMA1") == ["roulette-french"]


def test_devices_and_tables_have_names_of_their_own_and_people() -> None:
    devices = [device for place in FLOOR_TABLES for device in place.devices]
    assert len(set(devices)) == len(devices)
    assert len({place.table for place in FLOOR_TABLES}) == len(FLOOR_TABLES)
    assert {place.game for place in FLOOR_TABLES} == set(PLAYER_BY_GAME)


def test_what_a_decree_changes() -> None:
    def at(decree: str, game: str, **asked: Any) -> DemoTable:
        return next(place for place in places(decree, floor=True, **asked) if place.game == game)

    assert at("ARA02", "boule").role == "inspector"
    assert at("EUS96", "boule").role == "table_head"
    assert "--no-packets" in at("ARA02", "poker-no-draw").simulator
    assert "--no-packets" not in at("EUS96", "poker-no-draw").simulator
    assert at("EUS96", "craps").faults
    assert at("EUS96", "craps", faults=False).faults == ()
    assert "late_after = 50.0" in at("EUS96", "craps", speed=50.0).more


def test_the_poker_tables_of_a_decree_with_a_jackpot_are_linked() -> None:
    for decree in ("EUS96", "ARA02", "BAL05"):
        assert linked(places(decree, floor=True)) == ["poker-1", "poker-2"]
    assert linked(places("GAL07", floor=True)) == linked(places("BAL09", floor=True)) == []
    assert linked(places("EUS96", floor=False)) == []


@pytest.mark.parametrize("decree", ["EUS96", "ARA02", "BAL05"])
def test_the_jackpot_is_configured_as_its_decree_wants_it(decree: str, tmp_path: Path) -> None:
    tables = places(decree, floor=True)
    staff = enrol(tmp_path / files.PEOPLE, files.SITE, (), programs=[PROGRAM])
    path = files.write_configuration(tmp_path, tables, 1883, decree, 1.0, staff)
    settings = settings_of(load(path))
    [jackpot] = msgspec.convert(settings, CarrouselSettings).jackpots
    assert find_flaws(jackpot.terms) == []
    assert jackpot.simulated
    assert jackpot.tables == ("poker-1", "poker-2")


# Wheels


def test_a_ball_between_two_holes_is_null() -> None:
    table = AtTable("boule", "EUS96", wheel, {"phases": "device"})
    assert table.answer() == ["session.open"]
    phases = [WheelPhase(at=0.0, phase=phase, spin=1) for phase in ("launched", "settling")]
    table.receive(WheelPhase(at=0.0, phase="idle"), *phases)
    assert table.answer() == []
    table.receive(WheelFault(at=0.0, fault="between", active=True))
    assert table.answer() == ["round.void"]
    assert (table.last("round.void")["round"], table.last("round.void")["reason"]) == (
        1,
        "inspector",
    )


def test_a_null_spin_has_its_own_reason_at_roulette() -> None:
    seen = {"phase": "decision", "asks": ["round.void"], "round": 4, "unresolved": []}
    for what, reason in (
        ("rotor_not_reversed", "rotor_not_reversed"),
        ("number_invalid", "inspector"),
    ):
        assert wheel(TableSeen(shown=seen, latest_events={"irregularity": {"what": what}})) == (
            "round.void",
            {"reason": reason, "round": 4},
        )


def test_a_round_that_a_silence_hid_is_null() -> None:
    table = AtTable("fortune-wheel", "EUS96", wheel, {"phases": "device"})
    table.answer()
    phases = [WheelPhase(at=0.0, phase=phase, spin=1) for phase in ("launched", "settling")]
    table.receive(
        WheelPhase(at=0.0, phase="idle"), *phases, LinkLost(at=0.0, reason="gone"), LinkUp(at=0.0)
    )
    table.receive(WheelPhase(at=0.0, phase="launched", spin=2))
    assert table.last("round.unresolved")["round"] == 1
    assert table.answer() == ["round.void"]
    assert table.shown["unresolved"] == []


# A shoe


def test_a_shoe_for_each_demo() -> None:
    table = AtTable("punto-banca", "EUS96", shoe, {"rounds": "shoe", "turn": "when_complete"})
    assert table.answer() == ["session.open", "shoe.start"]
    assert table.shown["shoe"]["number"] == "1"
    assert table.leaves().answer() == ["shoe.start"]
    assert table.shown["shoe"]["number"] == "2"


def test_the_decision_about_cards_that_stop_the_table() -> None:
    def decision(hands: dict[str, Any], asks: list[str], what: str) -> CommandFields | None:
        shown = {
            "phase": "decision",
            "asks": asks,
            "round": 7,
            "hands": hands,
            "unresolved": [],
            "shoe": {"number": "3"},
        }
        return shoe(
            TableSeen(
                shown=shown,
                latest_events={
                    "shoe.started": {"seq": 1},
                    "irregularity": {"seq": 2, "what": what},
                },
            )
        )

    assert decision({}, ["card.decide"], "card_unsure") == ("card.decide", {"action": "next_round"})
    assert decision({}, ["card.decide"], "card_unread") == ("card.decide", {"action": "remove"})
    assert decision({"player": [None]}, ["card.decide", "round.void"], "card_unread") == (
        "round.void",
        {"reason": "misdeal", "round": 7},
    )
    assert decision({}, ["shoe.start", "card.decide"], "shoe_reset") == (
        "shoe.start",
        {"shoe": "4"},
    )


# Dice

OPENING = [
    "session.open",
    "dice.set",
    "dice.choose",
    "boxes.set",
    "shooter.set",
    "bet.place",
    "bet.place",
]


def thrown(table: AtTable, throw: int, *values: int) -> AtTable:
    states = [DiceState(at=0.0, state=state, throw=throw) for state in ("moving", "settled")]
    return table.receive(
        *states,
        DiceRead(at=0.0, values=values, throw=throw),
        DiceState(at=0.0, state="idle", throw=throw),
    )


def craps() -> AtTable:
    return AtTable("craps", "EUS96", dice, {"rounds": "dice"})


def test_dice_seats_a_shooter_and_his_bet() -> None:
    table = craps()
    assert table.answer() == OPENING
    assert table.leaves().answer() == []
    assert thrown(table, 1, 5, 3).answer() == []
    thrown(table, 2, 4, 3)
    assert table.answer() == ["bet.place", "bet.place"]
    assert [event["seat"] for event in table.events if event["type"] == "shooter.changed"] == [1, 2]
    assert (table.types().count("round.result"), table.types().count("irregularity")) == (2, 0)


def test_a_cocked_die_is_null() -> None:
    table = craps()
    table.answer()
    table.receive(
        DiceState(at=0.0, state="moving", throw=1), DiceFault(at=0.0, fault="cocked", active=True)
    )
    assert table.answer() == ["round.void"]
    assert table.last("round.void")["reason"] == "die_on_chips"


def test_a_die_that_fell_to_the_floor_in_a_series() -> None:
    table = craps()
    table.answer()
    thrown(table, 1, 5, 3)
    table.receive(
        DiceState(at=0.0, state="moving", throw=2), DiceFault(at=0.0, fault="missing", active=True)
    )
    assert table.answer() == ["die.report", "round.void", "dice.choose"]
    assert table.last("round.void")["reason"] == "die_off_table"
    thrown(table, 3, 4, 3)
    assert table.answer()[:2] == ["dice.set", "dice.choose"]
    assert set(table.shown["dice"]["playing"]) <= set(table.last("dice.registered")["serials"])
    thrown(table, 4, 6, 5)
    assert table.types()[-1] == "round.opened"
    assert table.types().count("round.result") == 3


# Poker


@pytest.mark.parametrize(
    ("game", "decree", "size"), [("poker-no-draw", "EUS96", 5), ("three-card-poker", "EUS96", 3)]
)
def test_rounds_of_packets(game: str, decree: str, size: int) -> None:
    table = AtTable(game, decree, croupier, PACKETS)
    assert table.answer()[:3] == ["session.open", "bets.open", "boxes.set"]
    for number in range(1, 21):
        table.receive(RIGHT)
        assert table.answer() == ["bets.close"]
        table.receive(*packets(size))
        assert "hand.act" in table.answer()
        assert (table.types().count("round.result"), table.shown["round"]) == (number, number + 1)
    assert "irregularity" not in table.types()
    decided = {event["decision"] for event in table.events if event["type"] == "hand.decided"}
    assert decided == {"go", "pass"}


@pytest.mark.parametrize(
    ("game", "decree"), [("poker-no-draw", "ARA02"), ("three-card-poker", "BAL09")]
)
def test_rounds_dealt_by_hand(game: str, decree: str) -> None:
    table = AtTable(game, decree, croupier, BY_HAND)
    table.answer()
    for number in range(1, 4):
        table.receive(RIGHT)
        assert "cards.deal" in table.answer()
        assert table.types().count("round.result") == number
    assert "irregularity" not in table.types()


def test_a_misread_card_is_corrected() -> None:
    table = AtTable("poker-no-draw", "EUS96", croupier, PACKETS, slips=1)
    table.answer()
    while "irregularity" not in table.types():
        table.receive(RIGHT)
        table.answer()
        table.receive(*packets(5))
        table.answer()
    assert table.last("irregularity")["what"] == "card_duplicate"
    assert table.types()[-1] == "bet.placed"
    assert table.types().count("round.result") == table.shown["round"] - 1


def test_a_stacked_deck_hits_the_jackpot_of_a_participant() -> None:
    hand = ("9s", "8s", "7s", "6s", "5s")
    settings = {**PACKETS, "jackpot_stake": 500}
    table = AtTable("poker-no-draw", "EUS96", croupier, settings, slips=2, stacked=Stacked(2, hand))
    table.answer()
    for number in range(1, 16):
        if number not in (2, 3):  # nobody takes part
            table.receive(SlotCoin(at=0.0, device="slots", box=2, amount=500))
        table.receive(RIGHT)
        table.answer()
        table.receive(*packets(5))
        table.answer()
    awards = [event for event in table.events if event["type"] == "award.qualified"]
    found = [(award["round"], award["box"], award["hand"]) for award in awards]
    assert found == [(number, "box:2", "straight_flush") for number in (4, 10)]
    assert {award["cards"] for award in awards} == {hand}


def test_a_jam_delays_the_deal_until_the_shuffler_is_ready() -> None:
    table = AtTable("three-card-poker", "EUS96", croupier, PACKETS)
    table.answer()
    table.receive(RIGHT)
    table.answer()
    first, *others = packets(3)
    table.receive(first, ShufflerState(at=0.0, state="jam", detail="feed"))
    assert table.answer() == []
    table.receive(ShufflerState(at=0.0, state="dealing"), *others)
    assert table.answer()[0] == "card.decide"
    assert table.types().count("round.result") == 1


def test_a_wrong_deck_is_waited_out() -> None:
    table = AtTable("poker-no-draw", "EUS96", croupier, PACKETS)
    table.answer()
    table.receive(
        msgspec.structs.replace(RIGHT, count=51, set_right=False),
        ShufflerState(at=0.0, state="count_wrong"),
    )
    assert table.answer() == []
    table.receive(ShufflerState(at=0.0, state="shuffling"), RIGHT)
    assert table.answer() == ["bets.close"]


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ([ShufflerPacket(at=0.0, size=4)], "wrong_count"),
        ([ShufflerPacket(at=0.0, size=3, to="dealer")], "wrong_order"),
        ([LinkLost(at=0.0, reason="gone")], "misdeal"),
        ([*packets(3), ShufflerPacket(at=0.0, size=3)], "wrong_count"),
    ],
)
def test_a_deal_that_went_wrong_is_null(wrong: list[AnyReading], reason: str) -> None:
    table = AtTable("three-card-poker", "EUS96", croupier, PACKETS)
    table.answer()
    table.receive(RIGHT)
    table.answer()
    table.receive(*wrong)
    assert table.answer()[:2] == ["round.void", "bets.open"]
    assert table.last("round.void")["reason"] == reason


def test_packets_that_come_before_bets_are_closed() -> None:
    table = AtTable("three-card-poker", "EUS96", croupier, PACKETS)
    table.answer()
    table.receive(*packets(3))
    assert table.answer()[:2] == ["round.void", "bets.open"]  # of a deal that nobody saw begin
    table.receive(RIGHT, packets(3)[0])
    assert table.answer() == ["bets.close"]
    table.receive(*packets(3)[1:])
    table.answer()
    assert table.types().count("round.result") == 1


def test_the_round_of_an_earlier_demo_is_null() -> None:
    table = AtTable("poker-no-draw", "EUS96", croupier, PACKETS)
    table.answer()
    table.receive(RIGHT)
    table.answer()
    table.receive(*packets(5)[:2])
    assert table.leaves().answer()[:2] == ["round.void", "bets.open"]


def noise(size: int) -> list[AnyReading]:
    """Messages that a shuffler may send at any time."""
    states: tuple[ShufflerStateName, ...] = ("shuffling", "dealing", "jam", "count_wrong")
    wrong: list[AnyReading] = [
        msgspec.structs.replace(RIGHT, count=51),
        ShufflerPacket(at=0.0, size=size + 1),
        LinkLost(at=0.0, reason="gone"),
    ]
    return [
        RIGHT,
        RIGHT,
        *packets(size) * 3,
        *wrong,
        LinkUp(at=0.0),
        *(ShufflerState(at=0.0, state=state) for state in states),
    ]


@pytest.mark.parametrize(("game", "size"), [("poker-no-draw", 5), ("three-card-poker", 3)])
def test_the_croupier_can_answer_anything_that_a_shuffler_reports(game: str, size: int) -> None:
    for seed in range(40):
        random = Random(seed)
        table = AtTable(game, "EUS96", croupier, PACKETS, slips=2)
        for _ in range(60):
            table.receive(*random.choices(noise(size), k=random.randint(1, 4)))
            table.answer()
        table.receive(LinkUp(at=0.0), ShufflerState(at=0.0, state="shuffling"), RIGHT)
        for _ in range(4):
            table.answer()
            table.receive(RIGHT)
        results = table.types().count("round.result")
        for _ in range(2):
            table.receive(RIGHT)
            table.answer()
            table.receive(*packets(size))
            table.answer()
        assert table.types().count("round.result") > results
