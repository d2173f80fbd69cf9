"""The six dice of a table of craps: registered, chosen, changed, lost and found."""

from __future__ import annotations

from typing import Any

import pytest

from common.contract.events import (
    DiceChosen,
    DiceRegistered,
    DieLost,
    Irregularity,
    RoundResult,
)
from common.contract.refusals import RejectedError
from tests.support.for_each import for_each
from tests.support.games.craps_play import DECREES, OTHERS, SET, Play, ruled, table
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind, only, whats

rule = pytest.mark.rule
every = pytest.mark.parametrize("decree", DECREES)


CHANGE = {
    "BAL05": {"ca": "canvi de daus"},
    "ARA02": {"es": "cambio de dados"},
    "EUS96": {"eu": "Dado-aldaketa"},
    "GAL07": {"gl": "Cambio de dados"},
}


def opened(decree: str = "ARA02", **settings: Any) -> Play:
    play = Play(decree, **settings)
    play.send("session.open")
    return play


@ruled("BAL05-053", "ARA02-122", "EUS96-099", "GAL07-130")
def test_six_dice_two_of_them_in_play(decree: str) -> None:
    play = opened(decree)
    assert play.shown["asks"] == ["dice.set"]
    registered = only(play.send("dice.set", role="croupier", serials=SET), DiceRegistered)
    assert (registered.serials, registered.by) == (SET, "M. Lasa")
    assert play.shown["asks"] == ["dice.choose"]
    with pytest.raises(RejectedError, match=r"send dice-choose: "):
        play.send("bets.open")
    chosen = only(play.send("dice.choose", role="croupier", serials=["103", "106"]), DiceChosen)
    assert (chosen.playing, chosen.reserve) == (("103", "106"), ("101", "102", "104", "105"))
    assert chosen.announcement is None
    assert play.shown["asks"] == []
    play.send("bets.open")


@ruled("BAL05-053", "ARA02-122", "EUS96-099", "GAL07-130")
@for_each("serials", [[], SET[:5], [*SET, "107"], [*SET[:5], SET[0]], [*SET[:5], ""]])
def test_no_other_number_of_dice(decree: str, serials: list[str]) -> None:
    play = opened(decree)
    with pytest.raises(RejectedError, match=f"6 dice, each with its own serial number: {decree}-"):
        play.send("dice.set", serials=serials)


@ruled("BAL05-053", "ARA02-122", "EUS96-099", "GAL07-130")
@for_each("serials", [[], ["101"], ["101", "101"], ["101", "102", "103"]])
def test_no_other_number_of_dice_in_play(decree: str, serials: list[str]) -> None:
    play = opened(decree)
    play.send("dice.set", serials=SET)
    with pytest.raises(RejectedError, match="choose two different dice"):
        play.send("dice.choose", serials=serials)


def test_dice_that_the_table_does_not_have() -> None:
    play = opened()
    with pytest.raises(RejectedError, match="the dice of the table are not registered"):
        play.send("dice.choose", serials=SET[:2])
    play.send("dice.set", serials=SET)
    with pytest.raises(
        RejectedError, match="choose among these dice: 101, 102, 103, 104, 105, 106"
    ):
        play.send("dice.choose", serials=["101", "201"])


@ruled("BAL05-053", "ARA02-122 ARA02-123", "EUS96-101", "GAL07-130")
def test_dice_of_the_session_before(decree: str) -> None:
    play = table(decree)
    play.send("session.close")
    play.send("session.open")
    events = play.send("dice.set", serials=(*OTHERS[:5], SET[3]))
    breach = only(events, Irregularity)
    assert (breach.what, breach.detail, breach.asks) == ("dice_reused", "104", ("dice.set",))
    assert play.shown["asks"] == ["dice.set"]
    with pytest.raises(RejectedError, match=r"send dice-set"):
        play.send("bets.open")
    with pytest.raises(RejectedError, match="the dice of the table are not registered"):
        play.send("dice.choose", serials=OTHERS[:2])
    assert whats(play.send("dice.set", serials=OTHERS)) == ["dice.registered"]
    play.send("session.close")
    play.send("session.open")
    assert whats(play.send("dice.set", serials=SET)) == [
        "dice.registered"
    ]  # not those of the session just before


def test_a_slip_in_the_numbers_is_corrected() -> None:
    play = opened()
    play.send("dice.set", serials=(*SET[:5], "160"))
    assert whats(play.send("dice.set", serials=SET)) == ["dice.registered"]


@ruled("BAL05-053", "ARA02-122", "EUS96-101", "GAL07-130")
def test_a_session_without_dice_does_not_renew_earlier_dice(decree: str) -> None:
    play = table(decree)
    for command in ("session.close", "session.open", "session.close", "session.open"):
        play.send(command)
    assert only(play.send("dice.set", serials=SET), Irregularity).what == "dice_reused"


@ruled("BAL05-054", "ARA02-123", "EUS96-100", "GAL07-129")
def test_dice_of_the_wrong_make(decree: str) -> None:
    play = opened(decree)
    for side in (199, 251):
        breach = only(play.send("dice.set", serials=SET, side=side), Irregularity)
        assert (breach.what, breach.detail) == ("dice_size", f"{side / 10:g} mm")
    assert whats(play.send("dice.set", serials=SET, same_colour=False)) == [
        "dice.registered",
        "dice_colour",
    ]
    assert play.shown["dice"]["unfit"] == ["dice_colour"]
    for right in (200, 250, None):
        assert whats(play.send("dice.set", serials=SET, side=right, same_colour=True)) == [
            "dice.registered"
        ]


# Changes


@ruled("BAL05-061 BAL05-062", "ARA02-132", "EUS96-112", "GAL07-135 GAL07-142")
def test_dice_are_changed_between_series_alone(decree: str) -> None:
    play = table(decree)
    chosen = only(play.send("dice.choose", serials=["105", "101"]), DiceChosen)
    assert chosen.announcement == CHANGE[decree]
    assert chosen.reserve == ("102", "103", "104", "106")
    play.totals(8)
    with pytest.raises(RejectedError, match=f"before the series is over: {decree}-"):
        play.send("dice.choose", serials=["103", "104"])
    with pytest.raises(RejectedError, match=f"before the series is over: {decree}-"):
        play.send("dice.set", serials=OTHERS)
    play.totals(8)
    play.send("dice.choose", serials=["103", "104"])
    assert whats(play.send("dice.set", serials=OTHERS)) == ["dice.registered"]
    assert only(play.send("dice.set", serials=SET), Irregularity).what == "dice_reused"


@ruled("BAL05-061", "ARA02-132", "EUS96-112", "GAL07-135")
def test_a_die_that_fell_in_a_series_is_replaced_from_the_reserve(decree: str) -> None:
    play = table(decree)
    play.totals(8)
    play.bets()
    play.move()
    events = play.send("die.report", role="croupier", serial="102")
    assert whats(events) == ["die.lost", "die_off_table"]
    assert only(events, Irregularity).asks == ("round.confirm", "round.void")
    with pytest.raises(RejectedError, match="are thrown"):
        play.send("dice.choose", serials=["103", "104"])
    play.send("round.void", role="croupier", reason="die_off_table")
    assert play.shown["asks"] == ["dice.choose"]
    with pytest.raises(RejectedError, match="choose among these dice: 103, 104, 105, 106"):
        play.send("dice.choose", serials=["101", "103"])
    chosen = only(play.send("dice.choose", serials=["104", "103"]), DiceChosen)
    assert (chosen.playing, chosen.reserve, chosen.announcement) == (
        ("104", "103"),
        ("101", "105", "106"),
        CHANGE[decree],
    )
    with pytest.raises(RejectedError, match="before the series is over"):
        play.send("dice.choose", serials=["105", "106"])
    assert play.point == 8


@every
def test_a_die_that_broke_in_a_series_is_replaced(decree: str) -> None:
    play = table(decree)
    play.totals(8)
    play.bets()
    play.move()
    play.send("round.void", role="croupier", reason="die_broken")
    chosen = only(play.send("dice.choose", role="croupier", serials=["101", "104"]), DiceChosen)
    assert (chosen.reserve, chosen.announcement) == (("102", "103", "105", "106"), CHANGE[decree])
    assert outcome_of(only(play.totals(9), RoundResult)).point == 8
    with pytest.raises(RejectedError, match=f"before the series is over: {decree}-"):
        play.send("dice.choose", role="croupier", serials=["105", "106"])
    play.bets()
    play.move()
    play.send("round.void", role="croupier", reason="dice_slid")
    with pytest.raises(RejectedError, match=f"before the series is over: {decree}-"):
        play.send("dice.choose", role="croupier", serials=["105", "106"])


def test_one_die_replaces_another_where_the_house_allows_it() -> None:
    play = table(floor_die="one")
    play.totals(8)
    play.send("die.report", serial="102")
    play.send("dice.choose", serials=["101", "103"])


@ruled("BAL05-061", "ARA02-133", "EUS96-113", "GAL07-136")
def test_a_die_that_is_not_found_takes_the_set_with_it(decree: str) -> None:
    play = table(decree)
    play.totals(8)
    play.send("die.report", serial="102")
    play.send("dice.choose", serials=["103", "104"])
    assert not of_kind(play.totals(9), Irregularity)
    over = only(play.totals(8), Irregularity)
    assert (over.what, over.detail, over.asks) == ("die_lost", "102", ("dice.set",))
    with pytest.raises(RejectedError, match=r"send dice-set"):
        play.send("bets.open")
    assert (
        only(play.send("dice.set", serials=(*OTHERS[:5], "106")), Irregularity).what
        == "dice_reused"
    )
    play.send("dice.set", serials=OTHERS)
    play.send("dice.choose", serials=OTHERS[:2])
    assert outcome_of(only(play.totals(4), RoundResult)).point is None


@every
def test_a_die_that_is_found_in_time(decree: str) -> None:
    play = table(decree)
    play.totals(8)
    play.send("die.report", serial="102")
    play.send("dice.choose", serials=["103", "104"])
    event = only(play.send("die.report", found=True), DieLost)
    assert (event.serial, event.found) == ("102", True)
    assert not of_kind(play.totals(8), Irregularity)
    play.send("dice.choose", serials=["101", "102"])


def test_a_die_that_is_found_before_other_dice_came() -> None:
    play = table()
    play.send("die.report", serial="102")
    play.send("dice.choose", serials=["103", "104"])
    assert only(play.totals(7), Irregularity).what == "die_lost"
    play.send("die.report", serial="102", found=True)
    assert play.shown["asks"] == []
    assert outcome_of(only(play.totals(5), RoundResult)).total == 5


def test_a_die_of_the_reserve_may_be_lost_too() -> None:
    play = table()
    play.bets()
    assert whats(play.send("die.report", serial="106")) == ["die.lost"]
    assert play.shown["dice"]["lost"] == ["106"]
    assert only(play.throw(3, 4), Irregularity).what == "die_lost"


def test_which_die_was_lost_must_be_clear() -> None:
    play = table()
    for fields, why in (
        ({}, "name the die in serial: 101, 102"),
        ({"serial": "999"}, "this table has no die 999"),
        ({"serial": "102", "found": True}, "die 102 is not lost"),
        ({"found": True}, "there is no such die"),
    ):
        with pytest.raises(RejectedError, match=why):
            play.send("die.report", **fields)
    play.send("die.report", serial="102")
    with pytest.raises(RejectedError, match="die 102 is already reported lost"):
        play.send("die.report", serial="102")
    assert only(play.send("die.report"), DieLost).serial == "101"  # the only other one in play


def test_where_too_few_dice_are_left_others_come_even_in_a_series() -> None:
    play = table()
    play.totals(8)
    for serial in SET[1:5]:
        play.send("die.report", serial=serial)
    assert play.shown["asks"] == ["dice.set"]
    play.send("dice.set", serials=OTHERS)
    play.send("dice.choose", serials=OTHERS[:2])
    assert outcome_of(only(play.totals(8), RoundResult)).point == 8


# Dice that are not reported, or too late


def test_unreported_dice() -> None:
    play = opened(serials="unwatched", shooter="unwatched")
    play.send("bets.open")
    play.send("bets.close")
    assert whats(play.send("die.report")) == ["die.lost", "die_off_table"]
    play.send("round.confirm")
    assert outcome_of(only(play.throw(1, 2), RoundResult)).total == 3


def test_dice_thrown_before_they_were_registered() -> None:
    play = opened(rounds="dice", shooter="unwatched")
    events = play.throw(1, 2)
    assert (only(events, Irregularity).what, only(events, Irregularity).asks) == (
        "dice_unregistered",
        ("dice.set",),
    )
    play.send("dice.set", serials=SET)
    assert whats(play.send("dice.choose", serials=SET[:2])) == ["dice.chosen", "round.opened"]
    assert outcome_of(only(play.throw(1, 2), RoundResult)).total == 3


def test_a_throw_with_a_die_that_was_not_chosen() -> None:
    play = table()
    play.send("bets.open")
    play.bet("win")
    play.send("die.report", serial="101")
    breach = only(play.send("bets.close"), Irregularity)
    assert (breach.what, breach.detail) == ("dice_unregistered", "dice.choose")
    play.throw(1, 2)
    assert whats(play.send("round.confirm")) == ["round.result", "die_lost"]
