"""Boule: what goes wrong is for the person in charge to decide; limits and the minimum of a cloth."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from controller.events import (
    BetsClosed,
    BetsLastCall,
    Irregularity,
    LastRounds,
    LimitChanged,
    ResultCorrected,
    RoundOpened,
    RoundResult,
    RoundUnresolved,
    RoundVoid,
    SessionOpened,
)
from controller.games.boule.game import BouleGame
from controller.games.boule.settings import BREACHES, BouleSettings
from controller.games.game import Rejected
from controller.games.games import make_game
from devices.readings import Phase, WheelFaultName
from tests.controller.games.cells_play import DECREES, Play, table
from tests.controller.games.play import of_kind, only, whats

DECISIONS = ("round.confirm", "round.void")
FAULTS: tuple[WheelFaultName, ...] = ("ball_out", "between", "too_few_turns")


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("decree", [pytest.param("ARA02", marks=pytest.mark.rule("ARA02-034")), "BAL05", "EUS96", "GAL07"])
def test_a_fault_of_the_spin_asks_and_the_spin_is_null_by_the_inspectors_word(decree: str, fault: WheelFaultName) -> None:
    play = table("boule", decree)
    play.spin(1, 1)
    play.until_closed(2)
    said = play.fault(fault)
    assert only(said, Irregularity).asks == DECISIONS
    assert play.shown["phase"] == "decision"
    assert play.fault(fault) == []
    play.phase("settled", 2)
    assert play.cell(4, 2) == []
    void = only(play.say("round.void", "inspector", reason="inspector"), RoundVoid)
    assert (void.role, void.last_number, void.round) == ("inspector", 1, 2)
    assert void.law.startswith(f"{decree}-")
    relaunch = only(play.say("bets.open"), RoundOpened)
    assert relaunch.relaunch
    assert relaunch.announcement is not None


@pytest.mark.rule("ARA02-034")
def test_in_aragon_nobody_but_the_inspector_calls_a_spin_null() -> None:
    play = table("boule", "ARA02")
    play.until_closed(1)
    with pytest.raises(Rejected, match="the role table_head may not say this; it is for inspector"):
        play.say("round.void", "table_head", reason="inspector")
    with pytest.raises(Rejected, match="the decree does not make a spin null for ball_out; it does for inspector"):
        play.say("round.void", "inspector", reason="ball_out")


def test_the_number_that_waits_is_the_result_when_a_person_stands_for_it() -> None:
    play = table()
    play.until_closed(1)
    play.fault("ball_out")
    play.phase("settled", 1)
    assert play.cell(4, 1) == []
    play.again()
    result = only(play.say("round.confirm", "inspector"), RoundResult)
    assert (result.number, result.confirmed_by) == (4, "M. Lasa (inspector)")


def test_of_a_ball_between_two_holes_the_person_in_charge_may_say_the_number() -> None:
    play = table()
    play.until_closed(1)
    play.fault("between")
    assert only(play.say("round.confirm", "inspector", number=8), RoundResult).number == 8


def test_before_bets_are_closed_nobody_tells_a_number() -> None:
    play = table()
    play.say("bets.open")
    play.phase("launched", 1)
    play.fault("ball_out")
    with pytest.raises(Rejected, match="the ball of round 1 has not fallen yet"):
        play.say("round.confirm", "inspector", number=8)
    assert play.say("round.confirm", "inspector") == []
    play.say("bets.close")
    play.phase("settled", 1)
    assert only(play.cell(9, 1), RoundResult).confirmed_by == "M. Lasa (inspector)"


def test_a_ball_that_made_too_few_turns_asks_where_they_are_counted() -> None:
    play = table(turns=4)
    assert only(play.spin(1, 1, turns=4), RoundResult).number == 1
    assert whats(play.spin(2, 2, turns=3))[-1] == "too_few_turns"
    assert only(play.say("round.confirm"), RoundResult).number == 2
    assert only(table(turns=0).spin(1, 1, turns=0), RoundResult).number == 1


@pytest.mark.parametrize("setting", BREACHES)
def test_a_breach_is_only_reported_where_the_table_has_it_so(setting: str) -> None:
    play = table(turns=1, **{setting: "warn"})
    play.until_closed(1)
    for fault in get_args(WheelFaultName):
        if fault == setting:
            play.fault(fault)
    if setting == "launched_again":
        play.phase("launched", 2)
    play.phase("settled", 2)
    assert only(play.cell(3, 2), RoundResult).number == 3
    assert [event.asks for event in of_kind(play.events, Irregularity)] == [()]


def test_a_second_launch_in_one_round_asks() -> None:
    play = table()
    play.say("bets.open")
    play.phase("launched", 1)
    assert play.phase("launched", 1) == []
    said = play.phase("launched", 2)
    assert whats(said) == ["launched_again"]
    assert only(said, Irregularity).asks == DECISIONS


def test_a_fault_before_the_launch_says_nothing_of_the_round() -> None:
    play = table()
    play.say("bets.open")
    assert play.fault("ball_out") == []
    assert play.shown["asks"] == []


@pytest.mark.parametrize("game", ["boule", "fortune-wheel"])
@pytest.mark.parametrize("fault", ["number_unknown", "between", "too_few_turns"])
def test_a_fault_of_the_spin_before_says_nothing_of_the_round_in_hand(game: str, fault: WheelFaultName) -> None:
    """The person in charge was quicker than the board, which waits for longer before it says that no place is seen."""
    play = table(game)
    play.until_closed(1)
    play.say("round.void", "inspector", reason="inspector")
    play.say("bets.open")
    said = [
        *play.fault(fault, spin=1),
        *play.say("bets.close"),
        *play.fault(fault, active=False, spin=1),
        *play.fault(fault, spin=1),
    ]
    assert [each for each in whats(said) if each not in ("number_unknown", "alert.cleared")] == ["bets.closed"]
    play.phase("launched", 2)
    said = play.fault(fault, spin=2)
    assert only(said, Irregularity).asks == DECISIONS


def test_a_sensor_that_fails_is_an_alert() -> None:
    play = table()
    assert whats(play.fault("sensor")) == ["sensor"]
    assert whats(play.fault("sensor", active=False)) == ["alert.cleared"]


def test_a_number_shown_differently_afterwards_asks_for_a_correction() -> None:
    play = table()
    play.spin(3, 1)
    assert whats(play.fault("number_changed")) == ["number_changed", "number_changed"]
    corrected = only(play.say("result.correct", round=1, number=2), ResultCorrected)
    assert (corrected.number, corrected.was, corrected.colour, corrected.half) == (2, 3, "red", "falta")
    assert play.shown["counts"] == {"2": 1}


def test_two_witnesses_that_disagree_ask() -> None:
    play = table()
    play.until_closed(1)
    play.phase("settled", 1)
    said = play.number(3, 1, conflict=7)
    assert whats(said) == ["witnesses_disagree", "round.unresolved"]


# Silence


@pytest.mark.parametrize("phases", ["person", "device"])
def test_what_a_silence_hid_is_a_candidate_until_a_person_confirms_it(phases: str) -> None:
    play = table(phases=phases)
    if phases == "person":
        play.until_closed(1)
    else:
        play.phase("launched", 1)
        play.phase("settling", 1)
    play.gap()
    said = [*play.phase("settled", 1, late=True), *play.cell(4, 1, late=True)]
    assert [event.candidate for event in of_kind(said, RoundUnresolved)] == [4]
    assert of_kind(said, RoundResult) == []
    assert play.shown["unresolved"] == [1]
    play.again()
    assert only(play.say("round.confirm", round=1), RoundResult).number == 4


@pytest.mark.parametrize(("game", "fault"), [("boule", "ball_out"), ("boule", "between"), ("fortune-wheel", "between")])
def test_a_fault_that_is_all_that_is_heard_of_a_spin_leaves_its_round_unresolved(game: str, fault: WheelFaultName) -> None:
    """A silence hid the launch, and the ball was taken out before its hole was known: the round was played."""
    play = table(game, phases="device")
    play.alone(1, 1)
    play.gap()
    said = play.fault(fault, spin=2)
    assert whats(said)[:2] == [fault, "round.unresolved"]
    assert only(said, Irregularity).asks == DECISIONS
    assert (only(said, RoundUnresolved).round, only(said, RoundUnresolved).spin) == (2, 2)
    play.fault(fault, active=False, spin=2)
    play.alone(3, 3)
    assert [(result.round, result.spin) for result in of_kind(play.events, RoundResult)] == [(1, 1), (3, 3)]
    assert only(play.say("round.void", "inspector", round=2, reason="inspector"), RoundVoid).round == 2


def test_a_launch_that_is_counted_is_not_the_one_before_that_was_not() -> None:
    """A board that was started anew has no count for a spin that would have that of the one before; then a silence hid its end."""
    play = table(phases="device")
    play.alone(1, 1)
    play.phase("launched")
    play.phase("settling")
    play.gap()
    said = play.phase("launched", 12)
    assert (only(said, RoundUnresolved).round, only(said, RoundUnresolved).why) == (2, "silence")
    play.phase("settling", 12)
    play.phase("settled", 12)
    assert only(play.cell(4, 12), RoundResult).round == 3


def test_a_fault_of_a_spin_that_is_over_ends_no_round_after_a_silence() -> None:
    play = table(phases="device")
    play.alone(1, 1)
    play.gap()
    assert play.fault("ball_out", spin=1) == []
    play.fault("ball_out", active=False, spin=1)
    assert [result.round for result in of_kind(play.alone(3, 2), RoundResult)] == [2]


@pytest.mark.parametrize("launched_live", [True, False])
@pytest.mark.parametrize("phase", ["settling", "no_more_bets"])
def test_bets_that_a_silence_may_have_hidden_the_end_of_are_not_said_to_be_closed_in_time(
    phase: Phase, launched_live: bool
) -> None:
    """The plate comes back with a burst, and by then the ball is about to lie. If it still runs, the calls are in time."""
    play = table(phases="device")
    play.alone(1, 1)
    play.gap()
    play.phase("launched", 2, late=True)
    if launched_live:
        play.phase("launched", 2)
    else:
        play.phase(phase, 2, late=True)
    said = play.phase(phase, 2)
    assert only(said, BetsClosed).unobserved is not launched_live
    assert bool(of_kind(said, BetsLastCall)) == (launched_live and phase == "settling")
    play.phase("settled", 2)
    assert only(play.cell(4, 2), RoundResult).number == 4


@pytest.mark.parametrize("phases", ["person", "device"])
def test_a_spin_that_is_over_speaks_of_no_other_round(phases: str) -> None:
    play = table(phases=phases)
    if phases == "person":
        play.until_closed(1)
    else:
        play.phase("launched", 1)
        play.phase("settling", 1)
    play.say("round.void", "inspector", reason="inspector")
    if phases == "person":
        assert whats(play.say("bets.open")) == ["round.opened"]
    play.gap()
    assert play.phase("launched", 1) == []
    assert play.phase("settling", 1) == []
    assert whats(play.phase("settled", 1)) == ([] if phases == "person" else ["round.opened"])
    assert [*play.cell(4, 1), *play.cell(4, 1, late=True)] == []
    assert play.shown["unresolved"] == []


def test_a_place_of_a_round_that_had_none_is_its_candidate() -> None:
    play = table(phases="device")
    play.phase("launched", 1)
    play.phase("settling", 1)
    play.gap()
    play.phase("launched", 2)
    play.phase("launched", 3)
    assert play.shown["unresolved"] == [1, 2]
    unresolved = only(play.cell(4, 2, late=True), RoundUnresolved)
    assert (unresolved.round, unresolved.candidate) == (2, 4)


def test_a_table_that_runs_by_itself_goes_on_when_the_wheel_says_live_that_it_stands() -> None:
    play = table(phases="device")
    play.alone(1, 1)
    play.phase("launched", 2)
    play.gap()
    play.phase("settled", 2, late=True)
    assert whats(play.cell(4, 2, late=True)) == ["round.unresolved"]
    assert whats(play.phase("settled", 2)) == ["round.opened"]


def test_a_wheel_that_went_on_in_a_silence_leaves_its_round_unresolved() -> None:
    play = table(phases="device")
    play.alone(1, 1)
    play.phase("launched", 2)
    play.phase("settling", 2)
    play.gap()
    said = play.phase("launched", 4)
    assert only(said, RoundUnresolved).why == "silence"
    assert of_kind(said, Irregularity) == []


@pytest.mark.parametrize("fault", ["between", "ball_out"])
def test_a_table_that_runs_by_itself_goes_on_after_a_fault_that_is_decided(fault: WheelFaultName) -> None:
    play = table(phases="device")
    play.alone(1, 1)
    play.phase("launched", 2)
    play.phase("settling", 2)
    play.fault(fault)
    assert whats(play.say("round.void", "inspector", reason="inspector")) == ["round.void", "round.opened"]
    play.fault(fault, active=False)
    assert whats(play.alone(3, 3)) == ["bets.last_call", "bets.closed", "round.result", "round.opened"]


def test_a_table_that_runs_by_itself_opens_nothing_when_it_closes() -> None:
    play = table(phases="device")
    play.alone(1, 1)
    play.phase("launched", 2)
    play.phase("settling", 2)
    play.fault("between")
    assert whats(play.say("session.close")) == ["round.unresolved", "session.closed"]
    assert (play.shown["phase"], play.state.hand) == ("closed", None)


def test_a_table_that_closes_leaves_the_ball_that_runs_unresolved() -> None:
    play = table()
    play.until_closed(1)
    assert whats(play.say("session.close")) == ["round.unresolved", "session.closed"]


# Limits


@pytest.mark.rule("BAL05-047")
@pytest.mark.parametrize("decree", DECREES)
def test_the_minimum_is_the_authorised_one_or_twice_as_much(decree: str) -> None:
    for minimum in (500, 1000, None):
        play = Play("boule", decree, authorised_minimum=500)
        assert only(play.say("session.open", minimum=minimum), SessionOpened).minimum == minimum
    for minimum in (499, 750, 1500, 2000):
        play = Play("boule", decree, authorised_minimum=500)
        with pytest.raises(Rejected, match=f"the minimum of a cloth is 500 or 1000, not {minimum}: {decree}-"):
            play.say("session.open", minimum=minimum)


@pytest.mark.rule("BAL05-047")
def test_nor_does_it_change_to_another() -> None:
    play = table(authorised_minimum=500)
    with pytest.raises(Rejected, match="500 or 1000, not 2000"):
        play.say("limit.announce", minimum=2000)
    assert only(play.say("limit.announce", minimum=1000), LastRounds).left == 3
    for spin in (1, 2, 3):
        play.spin(1, spin)
    assert only(play.events, LimitChanged).minimum == 1000
    with pytest.raises(Rejected, match="the minimum is 1000 already"):
        play.say("limit.announce", minimum=1000)


def test_the_last_rounds_before_closing_are_counted() -> None:
    play = table()
    play.say("last_rounds.announce", "croupier")
    for spin in (1, 2, 3):
        play.spin(1, spin)
    assert [result.last_of_session for result in of_kind(play.events, RoundResult)] == [False, False, True]
    assert play.shown["last_rounds"] == 0


# The map of the holes

ROW = tuple(range(1, 10))


@pytest.mark.rule("BAL05-038", "ARA02-028", "EUS96-035", "GAL07-028")
@pytest.mark.parametrize("decree", DECREES)
@pytest.mark.parametrize(
    ("holes", "why"),
    [
        ((ROW * 2,), "the holes lie in 2 rows, not in 1"),
        ((ROW, ROW[:-1]), "there are 18 holes, not 17; each number has 2 holes; 9 has 1"),
        ((ROW, (*ROW[:-1], 8)), "each number has 2 holes; 8 has 3; each number has 2 holes; 9 has 1"),
        ((ROW, (*ROW[:-1], 0)), "there is no number 0; there are 1 to 9"),
    ],
)
def test_a_map_that_the_decree_does_not_allow_is_refused(decree: str, holes: Any, why: str) -> None:
    with pytest.raises(ValueError, match=f"holes: {why}"):
        make_game("boule", decree, {"holes": holes})


def test_a_map_of_the_site_says_which_hole_has_which_number() -> None:
    play = table(holes=(tuple(reversed(ROW)), ROW))
    assert only(play.spin(1, 1), RoundResult).number == 9
    assert isinstance(play.game, BouleGame)
    assert isinstance(play.game.settings, BouleSettings)


@pytest.mark.parametrize("phases", ["device", "person"])
@pytest.mark.parametrize("spin", [None, 7])
def test_a_place_told_while_it_moved_and_then_a_silence_is_what_a_person_is_asked_about(phases: str, spin: int | None) -> None:
    play = table("boule", phases=phases)
    if phases == "person":
        play.until_closed(spin)
    else:
        play.phase("launched", spin)
        play.phase("settling", spin)
    assert play.cell(4, spin) == []
    play.gap()
    said = play.phase("settled", spin)
    assert (only(said, RoundUnresolved).why, only(said, RoundUnresolved).candidate) == ("silence", play.game.settings.holes[0][3])
    assert not of_kind(play.events, RoundResult)


def test_a_place_told_while_it_moved_is_never_that_of_a_later_round() -> None:
    play = table("boule", phases="device")
    play.phase("launched", 7)
    play.cell(4, 7)
    play.gap()
    assert only(play.fault("number_unknown", spin=9), RoundUnresolved).candidate is None
    play.phase("settled", 9)
    assert not of_kind(play.events, RoundResult)
    assert play.state.held is None


def test_a_place_told_while_it_moved_is_not_definitive_where_another_spin_settles() -> None:
    play = table("boule", phases="person")
    play.until_closed(7)
    assert play.cell(4, 7) == []
    said = play.phase("settled", 8)
    assert only(said, Irregularity).what == "not_definitive"
    assert only(said, RoundUnresolved).candidate == play.game.settings.holes[0][3]


@pytest.mark.parametrize("game", ["boule", "fortune-wheel"])
def test_after_the_last_announced_round_no_bets_open_by_themselves_and_no_spin_is_lost(game: str) -> None:
    play = table(game, phases="device")
    play.say("last_rounds.announce", "croupier")
    said = [event for spin in (1, 2, 3) for event in play.alone(1, spin)]
    assert [event.round for event in of_kind(said, RoundOpened)] == [1, 2, 3]
    assert [event.left for event in of_kind(said, LastRounds)] == [2, 1, 0]
    assert play.shown["phase"] == "waiting"
    told = play.alone(1, 4)
    assert (only(told, RoundOpened).round, only(told, RoundResult).round) == (4, 4)
    assert only(told, Irregularity).what == "phase_skipped"
