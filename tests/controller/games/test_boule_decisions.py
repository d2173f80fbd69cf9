"""Boule: faults are for the person in charge to decide; limits and the minimum of a cloth."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from common.contract.events import (
    Irregularity,
    LastRounds,
    LimitChanged,
    ResultCorrected,
    RoundOpened,
    RoundResult,
    RoundVoid,
    SessionOpened,
)
from common.contract.refusals import RejectedError
from common.readings import WheelFaultName
from controller.games.boule.game import BouleGame
from controller.games.boule.settings import BREACHES, BouleSettings
from controller.games.games import make_game
from tests.support.for_each import for_each
from tests.support.games.cells_play import DECREES, Play, table
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind, only, whats

DECISIONS = ("round.confirm", "round.void")
FAULTS: tuple[WheelFaultName, ...] = ("ball_out", "between", "too_few_turns")


@for_each("fault", FAULTS)
@for_each(
    "decree",
    [pytest.param("ARA02", marks=pytest.mark.rule("ARA02-034")), "BAL05", "EUS96", "GAL07"],
)
def test_a_fault_of_the_spin_asks_and_the_inspector_declares_it_null(
    decree: str, fault: WheelFaultName
) -> None:
    play = table("boule", decree)
    play.spin(1, 1)
    play.until_closed(2)
    events = play.fault(fault)
    assert only(events, Irregularity).asks == DECISIONS
    assert play.shown["phase"] == "decision"
    assert play.fault(fault) == []
    play.phase("settled", 2)
    assert play.cell(4, 2) == []
    void = only(play.send("round.void", "inspector", reason="inspector"), RoundVoid)
    assert (void.role, void.last_number, void.round) == ("inspector", 1, 2)
    assert void.law.startswith(f"{decree}-")
    relaunch = only(play.send("bets.open"), RoundOpened)
    assert relaunch.relaunch
    assert relaunch.announcement is not None


@pytest.mark.rule("ARA02-034")
def test_in_aragon_only_the_inspector_declares_a_spin_null() -> None:
    play = table("boule", "ARA02")
    play.until_closed(1)
    with pytest.raises(
        RejectedError, match="role table_head is not allowed to do this; allowed: inspector"
    ):
        play.send("round.void", "table_head", reason="inspector")
    with pytest.raises(
        RejectedError,
        match="ball_out is not a reason to void a round here; allowed: inspector",
    ):
        play.send("round.void", "inspector", reason="ball_out")


def test_a_waiting_number_is_the_result_when_a_person_confirms_it() -> None:
    play = table()
    play.until_closed(1)
    play.fault("ball_out")
    play.phase("settled", 1)
    assert play.cell(4, 1) == []
    play.again()
    result = only(play.send("round.confirm", "inspector"), RoundResult)
    assert (outcome_of(result).number, result.confirmed_by) == (4, "M. Lasa (inspector)")


def test_of_a_ball_between_two_holes_the_person_in_charge_may_state_the_number() -> None:
    play = table()
    play.until_closed(1)
    play.fault("between")
    assert (
        outcome_of(only(play.send("round.confirm", "inspector", number=8), RoundResult)).number == 8
    )


def test_before_bets_are_closed_no_number_is_accepted() -> None:
    play = table()
    play.send("bets.open")
    play.phase("launched", 1)
    play.fault("ball_out")
    with pytest.raises(RejectedError, match="the ball of round 1 has not fallen yet"):
        play.send("round.confirm", "inspector", number=8)
    assert play.send("round.confirm", "inspector") == []
    play.send("bets.close")
    play.phase("settled", 1)
    assert only(play.cell(9, 1), RoundResult).confirmed_by == "M. Lasa (inspector)"


def test_too_few_turns_of_the_ball_ask_where_they_are_counted() -> None:
    play = table(turns=4)
    assert outcome_of(only(play.spin(1, 1, turns=4), RoundResult)).number == 1
    assert whats(play.spin(2, 2, turns=3))[-1] == "too_few_turns"
    assert outcome_of(only(play.send("round.confirm"), RoundResult)).number == 2
    assert outcome_of(only(table(turns=0).spin(1, 1, turns=0), RoundResult)).number == 1


@pytest.mark.parametrize("setting", BREACHES)
def test_a_breach_is_only_reported_where_the_table_is_set_so(setting: str) -> None:
    play = table(turns=1, **{setting: "warn"})
    play.until_closed(1)
    for fault in get_args(WheelFaultName):
        if fault == setting:
            play.fault(fault)
    if setting == "launched_again":
        play.phase("launched", 2)
    play.phase("settled", 2)
    assert outcome_of(only(play.cell(3, 2), RoundResult)).number == 3
    assert [event.asks for event in of_kind(play.events, Irregularity)] == [()]


def test_a_second_launch_in_one_round_asks() -> None:
    play = table()
    play.send("bets.open")
    play.phase("launched", 1)
    assert play.phase("launched", 1) == []
    events = play.phase("launched", 2)
    assert whats(events) == ["launched_again"]
    assert only(events, Irregularity).asks == DECISIONS


def test_a_fault_before_the_launch_does_not_affect_the_round() -> None:
    play = table()
    play.send("bets.open")
    assert play.fault("ball_out") == []
    assert play.shown["asks"] == []


@for_each("game", ["boule", "fortune-wheel"])
@for_each("fault", ["number_unknown", "between", "too_few_turns"])
def test_a_fault_of_the_previous_spin_does_not_affect_the_current_round(
    game: str, fault: WheelFaultName
) -> None:
    """The person in charge was quicker than the board, which waits longer before it reports that no
    place is seen.
    """
    play = table(game)
    play.until_closed(1)
    play.send("round.void", "inspector", reason="inspector")
    play.send("bets.open")
    events = [
        *play.fault(fault, spin=1),
        *play.send("bets.close"),
        *play.fault(fault, active=False, spin=1),
        *play.fault(fault, spin=1),
    ]
    assert [each for each in whats(events) if each not in ("number_unknown", "alert.cleared")] == [
        "bets.closed"
    ]
    play.phase("launched", 2)
    events = play.fault(fault, spin=2)
    assert only(events, Irregularity).asks == DECISIONS


def test_a_sensor_that_fails_is_an_alert() -> None:
    play = table()
    assert whats(play.fault("sensor")) == ["sensor"]
    assert whats(play.fault("sensor", active=False)) == ["alert.cleared"]


def test_a_number_shown_differently_afterwards_asks_for_a_correction() -> None:
    play = table()
    play.spin(3, 1)
    assert whats(play.fault("number_changed")) == ["number_changed", "number_changed"]
    corrected = only(play.send("result.correct", round=1, number=2), ResultCorrected)
    assert (
        outcome_of(corrected).number,
        corrected.was,
        outcome_of(corrected).colour,
        outcome_of(corrected).half,
    ) == (
        2,
        3,
        "red",
        "falta",
    )
    assert play.shown["counts"] == {"2": 1}


def test_two_witnesses_that_disagree_ask() -> None:
    play = table()
    play.until_closed(1)
    play.phase("settled", 1)
    events = play.number(3, 1, conflict=7)
    assert whats(events) == ["witnesses_disagree", "round.unresolved"]


# When the table closes


def test_a_table_that_runs_by_itself_opens_nothing_when_it_closes() -> None:
    play = table(phases="device")
    play.alone(1, 1)
    play.phase("launched", 2)
    play.phase("settling", 2)
    play.fault("between")
    assert whats(play.send("session.close")) == ["round.unresolved", "session.closed"]
    assert (play.shown["phase"], play.state.current) == ("closed", None)


def test_a_table_that_closes_leaves_the_ball_that_runs_unresolved() -> None:
    play = table()
    play.until_closed(1)
    assert whats(play.send("session.close")) == ["round.unresolved", "session.closed"]


# Limits


@pytest.mark.rule("BAL05-047")
@pytest.mark.parametrize("decree", DECREES)
def test_the_minimum_is_the_authorised_one_or_twice_as_much(decree: str) -> None:
    for minimum in (500, 1000, None):
        play = Play("boule", decree, authorised_minimum=500)
        assert only(play.send("session.open", minimum=minimum), SessionOpened).minimum == minimum
    for minimum in (499, 750, 1500, 2000):
        play = Play("boule", decree, authorised_minimum=500)
        with pytest.raises(
            RejectedError,
            match=f"the minimum of a cloth may not be {minimum}; allowed: 500, 1000: {decree}-",
        ):
            play.send("session.open", minimum=minimum)


@pytest.mark.rule("BAL05-047")
def test_the_minimum_does_not_change_to_another() -> None:
    play = table(authorised_minimum=500)
    with pytest.raises(RejectedError, match="may not be 2000; allowed: 500, 1000"):
        play.send("limit.announce", minimum=2000)
    assert only(play.send("limit.announce", minimum=1000), LastRounds).left == 3
    for spin in (1, 2, 3):
        play.spin(1, spin)
    assert only(play.events, LimitChanged).minimum == 1000
    with pytest.raises(RejectedError, match="the minimum is already 1000"):
        play.send("limit.announce", minimum=1000)


def test_the_last_rounds_before_closing_are_counted() -> None:
    play = table()
    play.send("last_rounds.announce", "croupier")
    for spin in (1, 2, 3):
        play.spin(1, spin)
    assert [outcome_of(result).last_of_session for result in of_kind(play.events, RoundResult)] == [
        False,
        False,
        True,
    ]
    assert play.shown["last_rounds"] == 0


# The map of the holes

ROW = tuple(range(1, 10))


@pytest.mark.rule("BAL05-038", "ARA02-028", "EUS96-035", "GAL07-028")
@for_each("decree", DECREES)
@for_each(
    ("holes", "why"),
    [
        ((ROW * 2,), "the holes lie in 2 rows, not in 1"),
        ((ROW, ROW[:-1]), "there are 18 holes, not 17; each number has 2 holes; 9 has 1"),
        (
            (ROW, (*ROW[:-1], 8)),
            "each number has 2 holes; 8 has 3; each number has 2 holes; 9 has 1",
        ),
        ((ROW, (*ROW[:-1], 0)), "there is no number 0; there are 1 to 9"),
    ],
)
def test_a_map_that_the_decree_does_not_allow_is_refused(decree: str, holes: Any, why: str) -> None:
    with pytest.raises(ValueError, match=f"holes: {why}"):
        make_game("boule", decree, {"holes": holes})


def test_a_map_of_the_site_says_which_hole_has_which_number() -> None:
    play = table(holes=(tuple(reversed(ROW)), ROW))
    assert outcome_of(only(play.spin(1, 1), RoundResult)).number == 9
    assert isinstance(play.game, BouleGame)
    assert isinstance(play.game.settings, BouleSettings)


@pytest.mark.parametrize("game", ["boule", "fortune-wheel"])
def test_after_the_last_announced_round_no_bets_open_by_themselves_and_no_spin_is_lost(
    game: str,
) -> None:
    play = table(game, phases="device")
    play.send("last_rounds.announce", "croupier")
    said = [event for spin in (1, 2, 3) for event in play.alone(1, spin)]
    assert [event.round for event in of_kind(said, RoundOpened)] == [1, 2, 3]
    assert [event.left for event in of_kind(said, LastRounds)] == [2, 1, 0]
    assert play.shown["phase"] == "waiting"
    events = play.alone(1, 4)
    assert (only(events, RoundOpened).round, only(events, RoundResult).round) == (4, 4)
    assert only(events, Irregularity).what == "phase_skipped"
