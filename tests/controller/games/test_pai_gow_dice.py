"""A table of pai gow: who has the bank, the dice, and the place that they choose."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from common.contract.events import (
    AlertCleared,
    AlertRaised,
    ButtonMoved,
    CardDealt,
    DiceRegistered,
    DiceThrown,
    Irregularity,
)
from common.contract.refusals import RejectedError
from common.readings import DiceFault
from controller.games.games import make_game
from tests.support.for_each import for_each
from tests.support.games.banked_play import Play, bets_of, irregularities
from tests.support.games.decrees import by_decree
from tests.support.games.pai_gow_play import DECREES, WINS, played, table
from tests.support.games.play import of_kind

every = pytest.mark.parametrize("decree", DECREES)


# Bank


@pytest.mark.parametrize("decree", by_decree("BAL09-081"))
def test_the_bank_is_published_and_goes_round(decree: str) -> None:
    play = Play("pai-gow", decree)
    play.open(2, 5)
    assert play.shown["bank"] == "dealer"
    moved = [
        event.seat
        for _ in range(4)
        for event in of_kind(play.send("button.set", "croupier"), ButtonMoved)
    ]
    assert moved == [2, 5, 7, 2]
    assert play.shown["bank"] == "box:2"
    with pytest.raises(RejectedError, match="box:2 already has the bank"):
        play.send("button.set", seat=2)
    with pytest.raises(RejectedError, match="one of the places in play"):
        play.send("button.set", seat=3)


@every
def test_the_croupier_must_take_the_bank_when_his_turn_comes(decree: str) -> None:
    play = Play("pai-gow", decree)
    play.open(2, 5)
    play.send("button.set", seat=5)
    with pytest.raises(RejectedError, match="does not pass over the croupier"):
        play.send("button.set", seat=2)
    play.send("button.set", seat=7)
    play.send("button.set", seat=5)


def test_the_bank_is_at_a_place_in_play() -> None:
    play = Play("pai-gow", "BAL09")
    play.open(2, 5)
    play.send("button.set", seat=5)
    play.send("boxes.set", boxes=[1, 2])
    with pytest.raises(RejectedError, match="box:5 has the bank and is not in play"):
        play.send("bets.open")
    play.send("session.close")
    play.open(1)
    assert play.shown["bank"] == "dealer"


@pytest.mark.parametrize("decree", by_decree("BAL09-013"))
def test_six_players_are_the_maximum(decree: str) -> None:
    play = Play("pai-gow", decree)
    with pytest.raises(
        RejectedError,
        match="boxes must name at least one box from 1 to 6, each once: Ordre de 16 de",
    ):
        play.open(1, 7)


@pytest.mark.parametrize("decree", by_decree("BAL09-074"))
def test_the_commission_is_up_to_five_percent_and_published_before_the_round(decree: str) -> None:
    with pytest.raises(ValueError, match="commission = 51: must be 0 to 50"):
        make_game("pai-gow", decree, {"commission": 51})
    play = Play("pai-gow", decree, commission=25)
    play.open(1)
    assert play.shown["commission"] == 25
    assert bets_of(played(WINS, decree=decree, commission=25).result(), "box:1") == {
        "bet": ("win", (39, 40))
    }


# Dice


@pytest.mark.parametrize("decree", by_decree("BAL09-039 BAL09-034", "EUS96-176"))
def test_the_dice_determine_the_first_hand(decree: str) -> None:
    play = table(1, 2, 5, decree=decree)
    assert play.shown["phase"] == "dice"
    events = play.dice(3, 4, 5)
    [throw] = of_kind(events, DiceThrown)
    assert (throw.values, throw.total, throw.seat) == (
        (3, 4, 5),
        12,
        4,
    )  # no player at 4: the next one clockwise
    served = [event.to for _ in range(4) for event in of_kind(play.packet(7), CardDealt)]
    assert list(dict.fromkeys(served)) == ["box:5", "dealer", "box:1", "box:2"]
    assert Counter(served) == dict.fromkeys(("box:5", "dealer", "box:1", "box:2"), 7)


@pytest.mark.parametrize("decree", by_decree("BAL09-038", "EUS96-177"))
def test_the_count_begins_at_the_bank(decree: str) -> None:
    play = Play("pai-gow", decree)
    play.open(1, 2, 3)
    play.send("button.set", seat=2)
    play.bets()
    [throw] = of_kind(play.send("dice.tell", "croupier", values=[1, 1, 6]), DiceThrown)
    assert throw.seat == 2


@pytest.mark.parametrize("decree", by_decree("BAL09-037", "EUS96-176"))
def test_dice_before_no_more_bets_do_not_count(decree: str) -> None:
    play = Play("pai-gow", decree)
    play.open(1)
    assert irregularities(play.dice(1, 2, 3)) == [("dice_before_close", ())]
    play.send("bets.open")
    assert irregularities(play.dice(1, 2, 3)) == [("dice_before_close", ())]
    with pytest.raises(RejectedError, match="bets are still open; send bets-close"):
        play.send("dice.tell", values=[1, 2, 3])
    play.send("bets.close")
    assert of_kind(play.dice(1, 2, 4), DiceThrown)


@every
@pytest.mark.rule("BAL09-036", "EUS96-176")
@for_each("values", [(1, 2), (1, 2, 3, 4), (0, 2, 3), (1, 2, 7)])
def test_there_are_three_dice_of_six_sides(decree: str, values: tuple[int, ...]) -> None:
    play = table(decree=decree)
    assert irregularities(play.dice(*values)) == [("dice_wrong", ())]
    with pytest.raises(RejectedError, match="3 dice"):
        play.send("dice.tell", values=values)


@every
@for_each(
    ("fields", "wrong"),
    [
        ({"serials": ["1", "2", "3"], "side": 200, "same_colour": True}, []),
        ({"serials": ["1", "2"]}, ["2 dice"]),
        ({"serials": ["1", "2", "2"]}, ["3 dice"]),
        ({"serials": ["1", "2", "3"], "side": 260, "same_colour": False}, ["side 260", "colours"]),
    ],
)
def test_the_dice_are_of_one_colour_and_20_to_25_millimetres(
    decree: str, fields: dict[str, Any], wrong: list[str]
) -> None:
    play = Play("pai-gow", decree)
    play.open(1)
    events = play.send("dice.set", "croupier", **fields)
    assert [event.serials for event in of_kind(events, DiceRegistered)] == [
        tuple(fields["serials"])
    ]
    assert [(event.what, event.detail) for event in of_kind(events, Irregularity)] == [
        ("dice_wrong", each) for each in wrong
    ]


def test_a_second_throw_does_not_count_unless_the_croupier_confirms_it() -> None:
    play = table()
    play.dice(1, 2, 3)
    assert irregularities(play.dice(4, 5, 6)) == [("dice_again", ())]
    events = play.send("dice.tell", "croupier", values=[4, 5, 6])
    assert irregularities(events) == [("dice_differ", ())]
    assert [event.total for event in of_kind(events, DiceThrown)] == [15]
    play.packet(7)
    with pytest.raises(RejectedError, match="cards are already dealt"):
        play.send("dice.tell", values=[1, 2, 3])


def test_a_throw_that_is_known_late_is_reported_by_a_person() -> None:
    play = table()
    assert irregularities(play.dice(1, 2, 3, late=True)) == [
        ("dice_late", ("dice.tell", "round.void"))
    ]
    assert [
        event.seat for event in of_kind(play.send("dice.tell", values=[1, 2, 3]), DiceThrown)
    ] == [5]


@pytest.mark.parametrize("decree", by_decree("BAL09-039"))
def test_no_card_comes_before_the_dice(decree: str) -> None:
    play = table(decree=decree)
    assert irregularities(play.cards("Ah")) == [("card_before_dice", ("card.decide", "round.void"))]
    with pytest.raises(RejectedError):
        play.send("cards.deal", "croupier")
    play.dice(1, 2, 3)
    play.send("card.decide", action="accept")
    assert len(of_kind(play.events, CardDealt)) == 1


def test_a_fault_of_the_reader_of_the_dice_is_an_alert() -> None:
    play = table()
    fault = DiceFault(at=1.0, device="dice", fault="cocked", active=True)
    assert [event.alert for event in of_kind(play.take(fault), AlertRaised)] == ["dice_cocked"]
    over = DiceFault(at=2.0, device="dice", fault="cocked", active=False)
    assert [event.alert for event in of_kind(play.take(over), AlertCleared)] == ["dice_cocked"]
