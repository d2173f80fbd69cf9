"""The course of a throw and of a series at a table of craps."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from common.contract.commands import VoidReason
from common.contract.events import (
    BetsClosed,
    Irregularity,
    PointSet,
    RoundOpened,
    RoundResult,
    RoundVoid,
    ShooterChanged,
)
from common.contract.refusals import RejectedError
from tests.support.for_each import for_each
from tests.support.games.craps_play import DECREES, faces, outcomes, ruled, table
from tests.support.games.outcomes import history, outcome_of
from tests.support.games.play import of_kind, only, whats

rule = pytest.mark.rule
every = pytest.mark.parametrize("decree", DECREES)
NULL: tuple[Any, ...] = tuple(
    reason
    for reason in get_args(VoidReason)
    if reason.startswith(("die_", "dice_")) or reason == "bad_throw"
)


CALLS = {
    "BAL05": {"ca": "prou apostes"},
    "ARA02": {"es": "ya no va más"},
    "EUS96": {"eu": "besterik ez"},
    "GAL07": {"gl": "Xa non vai máis"},
}
NULL_CALLS = {
    "BAL05": {"ca": "tirada nul·la"},
    "ARA02": {"es": "tirada nula"},
    "EUS96": {"eu": "jaurtialdi baliogabea"},
    "GAL07": {"gl": "Tirada nula"},
}


@ruled("BAL05-052 BAL05-055", "ARA02-124", "EUS96-105 EUS96-106", "GAL07-129 GAL07-131")
def test_a_throw_is_a_round(decree: str) -> None:
    play = table(decree)
    events = play.play(2, 4)
    assert whats(events) == [
        "round.opened",
        "bet.placed",
        "bets.closed",
        "round.result",
        "point.set",
    ]
    assert only(events, BetsClosed).announcement == CALLS[decree]
    result = only(events, RoundResult)
    assert (
        result.round,
        outcome_of(result).dice,
        outcome_of(result).total,
        outcome_of(result).point,
    ) == (1, (2, 4), 6, None)
    assert [frame.frame for frame in result.frames] == ["moving 1", "read 1"]
    assert only(events, PointSet).point == 6
    assert outcome_of(only(play.play(5, 6), RoundResult)).point == 6


@ruled("BAL05-056 BAL05-057", "ARA02-129 ARA02-130", "EUS96-108 EUS96-110", "GAL07-137 GAL07-138")
def test_a_series(decree: str) -> None:
    play = table(decree)
    for total in (7, 11, 2, 3, 12):
        events = play.totals(total)
        assert not [*of_kind(events, PointSet), *of_kind(events, ShooterChanged)]
    assert [event.point for event in of_kind(play.totals(5, 9, 11), PointSet)] == [5]
    assert outcomes(play.events)["win"] == "stays"
    made = play.totals(5)
    assert (only(made, PointSet).point, outcomes(made)["win"], outcomes(made)["dont_win"]) == (
        None,
        "win",
        "lose",
    )
    assert not of_kind(made, ShooterChanged)
    lost = [*play.totals(10), *play.totals(7)]
    assert [event.point for event in of_kind(lost, PointSet)] == [10, None]
    assert outcomes(lost)["win"] == "lose"
    changed = only(lost, ShooterChanged)
    assert (changed.seat, changed.why, changed.round) == (2, "seven", 11)


@every
def test_every_series_of_three_throws(decree: str) -> None:
    """The table's point after any three throws follows the rule, and the dice pass on only with a
    lost seven.
    """
    play = table(decree, rounds="dice", shooter="unwatched")
    start = play.state
    for first in range(2, 13):
        for second in range(2, 13):
            for third in range(2, 13):
                play.state, point, passes = start, None, 0
                events = [
                    event for total in (first, second, third) for event in play.throw(*faces(total))
                ]
                for total in (first, second, third):
                    passes += point is not None and total == 7
                    if point is None:
                        point = total if total in (4, 5, 6, 8, 9, 10) else None
                    elif total in (7, point):
                        point = None
                assert play.point == point
                assert len(of_kind(events, ShooterChanged)) == passes


# Null throws


@for_each("reason", NULL)
@ruled(
    "BAL05-059 BAL05-060",
    "ARA02-126 ARA02-127 ARA02-128",
    "EUS96-102 EUS96-103 EUS96-104",
    "GAL07-132 GAL07-133 GAL07-134",
)
def test_a_null_throw_changes_no_bet_and_no_point(decree: str, reason: Any) -> None:
    play = table(decree)
    play.totals(8)
    play.bet("hard_6", "seat:2", amount=500)
    before = play.state.bets
    play.bets()
    play.move()
    events = play.send("round.void", role="croupier", reason=reason)
    null = only(events, RoundVoid)
    assert null.announcement == NULL_CALLS[decree]
    assert null.law.startswith(decree)
    assert "«" in null.article
    assert (play.point, play.state.bets) == (8, before)
    assert play.lie(3, 4) == []  # the dice of the null throw
    again = play.send("bets.open", role="croupier")
    assert only(again, RoundOpened).relaunch
    assert history(play)[-1]["reason"] == reason


def test_there_are_eight_causes() -> None:
    assert len(NULL) == 8


def test_a_cause_of_another_game() -> None:
    play = table()
    play.bets()
    with pytest.raises(RejectedError, match="ball_out is not a reason to void a round"):
        play.send("round.void", reason="ball_out")


@every
def test_the_person_responsible_declares_unforeseen_throws_null(decree: str) -> None:
    play = table(decree)
    play.bets()
    others = ("croupier", "table_head")
    [role] = ["croupier"] if decree == "ARA02" else ["table_head"]  # the stickman's, or his head's
    for other in (*(each for each in others if each != role), "technician"):
        with pytest.raises(RejectedError, match=f"role {other} is not allowed"):
            play.send("round.void", role=other, reason="inspector")
    void = only(play.send("round.void", role=role, reason="inspector"), RoundVoid)
    assert void.law.startswith(decree)


# Before the bets are closed


@ruled("BAL05-055", "ARA02-124", "EUS96-106", "GAL07-131")
def test_a_throw_before_the_bets_are_closed_waits(decree: str) -> None:
    play = table(decree)
    play.send("bets.open")
    play.bet("win")
    events = play.throw(3, 4)
    breach = only(events, Irregularity)
    assert (breach.what, breach.asks) == ("throw_before_close", ("round.confirm", "round.void"))
    assert play.shown["phase"] == "decision"
    assert only(play.send("round.void", reason="bad_throw"), RoundVoid).law.startswith(decree)


def test_a_throw_before_the_bets_are_closed_counts_if_a_person_confirms_it() -> None:
    play = table()
    play.send("bets.open")
    play.bet("win")
    play.throw(3, 4)
    events = play.send("round.confirm")
    assert whats(events) == ["bets.closed", "round.result"]
    assert only(events, BetsClosed).unobserved
    assert only(events, RoundResult).confirmed_by == "M. Lasa (table_head)"


def test_dice_that_were_in_the_air_when_the_bets_were_closed() -> None:
    play = table()
    play.send("bets.open")
    play.bet("win")
    play.move()
    assert whats(play.send("bets.close")) == ["bets.closed", "throw_before_close"]
    assert play.lie(3, 4) == []
    assert play.shown["asks"] == ["round.confirm", "round.void"]


@rule("ARA02-124")
def test_a_throw_before_the_bets_are_closed_is_null_if_the_house_says_so() -> None:
    play = table(early_throw="void")
    play.send("bets.open")
    assert whats(play.throw(3, 4)) == ["throw_before_close", "round.void"]


def test_dice_moving_before_the_call_are_no_throw_if_the_house_says_so() -> None:
    play = table(early_throw="ignored")
    play.send("bets.open")
    play.bet("win")
    assert play.throw(3, 4) == []
    play.send("bets.close")
    assert outcome_of(only(play.throw(1, 4), RoundResult)).total == 5
    assert play.throw(1, 4) == []  # the stickman has taken them


def test_a_throw_without_a_round_is_reported_once() -> None:
    play = table()
    assert whats(play.throw(3, 4)) == ["throw_out_of_round"]
    assert play.throw(3, 5) == []
    assert only(play.play(3, 6), RoundResult).round == 1


# Bets that the dice close


def test_the_moving_dice_close_the_bets() -> None:
    play = table(rounds="dice")
    assert of_kind(play.events, RoundOpened)
    play.bet("win")
    events = play.throw(2, 4)
    assert whats(events) == ["bets.closed", "round.result", "point.set", "round.opened"]
    assert only(events, BetsClosed).unobserved
    with pytest.raises(RejectedError, match="open by themselves"):
        play.send("bets.open")
    with pytest.raises(RejectedError, match="open by themselves"):
        play.send("bets.close")


def test_after_a_null_throw_they_open_when_the_dice_lie() -> None:
    play = table(rounds="dice")
    play.bet("win")
    play.move()
    assert whats(play.send("round.void", reason="die_on_edge")) == ["round.void"]
    assert whats(play.state_said("settled")) == ["round.opened"]
    assert play.lie(6, 6) == []


def test_a_reader_that_does_not_report_moving_dice() -> None:
    play = table(rounds="dice", shooter="unwatched")
    events = [*play.lie(2, 4, throw=None), *play.lie(2, 4, throw=None)]
    assert [outcome_of(event).total for event in of_kind(events, RoundResult)] == [6, 6]
    assert play.point is None


# Dice reported by the croupier


def test_dice_reported_where_no_device_reads_them() -> None:
    play = table()
    play.bets()
    result = only(play.send("dice.tell", role="croupier", values=[2, 4]), RoundResult)
    assert (outcome_of(result).dice, result.confirmed_by, result.frames) == (
        (2, 4),
        "M. Lasa (croupier)",
        (),
    )


def test_dice_reported_and_then_read_otherwise() -> None:
    play = table()
    play.bets()
    play.move()
    play.send("dice.tell", role="croupier", values=[2, 4])
    breach = only(play.lie(2, 5), Irregularity)
    assert (breach.what, breach.asks) == ("dice_reread", ("result.correct",))
    assert not of_kind(play.lie(4, 2), Irregularity)


@pytest.mark.parametrize("values", [[], [1], [1, 7], [0, 3], [1, 2, 3]])
def test_impossible_totals_are_refused(values: list[int]) -> None:
    play = table()
    play.bets()
    with pytest.raises(RejectedError, match="values must name 2 dice, each from 1 to 6"):
        play.send("dice.tell", role="croupier", values=values)


def test_when_dice_cannot_be_reported() -> None:
    play = table()
    with pytest.raises(RejectedError, match="no throw waits for its dice; send bets-open first"):
        play.send("dice.tell", values=[1, 2])
    play.send("bets.open")
    with pytest.raises(RejectedError, match="bets are still open"):
        play.send("dice.tell", values=[1, 2])
