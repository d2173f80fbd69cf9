"""A regular spin, and inputs out of order."""

from __future__ import annotations

import pytest

from common.contract.events import (
    AlertCleared,
    AlertRaised,
    BetsClosed,
    Irregularity,
    RoundOpened,
    RoundResult,
    RoundUnresolved,
)
from common.readings import Number
from tests.support.games.outcomes import history, outcome_of
from tests.support.games.play import of_kind, only, whats
from tests.support.games.roulette_play import DECREES, Play

CALLS = {
    "BAL05": {"ca": "Prou apostes"},
    "ARA02": {"es": "no va más"},
    "EUS96": {"eu": "besterik ez"},
    "GAL07": {"gl": "Non vai mais"},
}


@pytest.mark.rule("ARA02-008", "BAL05-017", "EUS96-011", "GAL07-007")
def test_bets_are_open_until_the_ball_is_about_to_fall(play: Play) -> None:
    assert whats(play.phase("bets_open", 1)) == ["round.opened"]
    assert play.shown["phase"] == "bets_open"
    assert play.phase("ball_in_rim", 1, direction="clockwise") == []
    assert play.shown["phase"] == "bets_open"
    assert whats(play.phase("no_more_bets", 1)) == ["bets.closed"]
    assert play.shown["phase"] == "bets_closed"


@pytest.mark.parametrize("decree", DECREES)
def test_no_more_bets_is_called_in_the_words_of_the_decree(decree: str) -> None:
    play = Play(decree)
    play.open()
    assert only(play.until_closed(1), BetsClosed).announcement == CALLS[decree]


@pytest.mark.rule("ARA02-012", "BAL05-019", "EUS96-021", "GAL07-010")
@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (17, ("black", "odd", "falta", 2, 2)),
        (36, ("red", "even", "pasa", 3, 3)),
        (10, ("black", "even", "falta", 1, 1)),
        (0, (None, None, None, None, None)),
    ],
)
def test_a_result_has_the_number_and_its_chances(
    play: Play, number: int, expected: tuple[object, ...]
) -> None:
    result = only(play.spin(number, 1), RoundResult)
    assert outcome_of(result).number == number
    assert (
        outcome_of(result).colour,
        outcome_of(result).parity,
        outcome_of(result).half,
        outcome_of(result).dozen,
        outcome_of(result).column,
    ) == expected


@pytest.mark.rule("ARA02-002", "BAL05-012", "EUS96-003", "EUS96-022", "GAL07-002")
def test_zero_is_published_with_nothing_but_its_number(play: Play) -> None:
    zero = only(play.spin(0, 1), RoundResult)
    assert (
        outcome_of(zero).number,
        outcome_of(zero).colour,
        outcome_of(zero).parity,
        outcome_of(zero).half,
    ) == (0, None, None, None)


@pytest.mark.rule("ARA02-011", "BAL05-018", "GAL07-009")
def test_there_is_no_result_before_the_ball_lies_in_a_pocket(play: Play) -> None:
    assert of_kind(play.until_closed(1), RoundResult) == []
    assert play.phase("settled", 1) == []
    assert outcome_of(only(play.number(8, 1), RoundResult)).number == 8


def test_a_result_carries_the_frames_that_prove_it(play: Play) -> None:
    result = only(play.spin(8, 1), RoundResult)
    assert [frame.frame for frame in result.frames] == [
        "bets_open 1",
        "ball_in_rim 1",
        "no_more_bets 1",
        "number 1",
    ]
    assert [frame.at for frame in result.frames] == sorted(frame.at for frame in result.frames)


def test_rounds_count_from_one_and_the_spin_counter_may_wrap(play: Play) -> None:
    events = [*play.spin(8, 255), *play.spin(8, 256), *play.spin(8, 1)]
    assert [(event.session, event.round, event.spin) for event in of_kind(events, RoundResult)] == [
        (1, 1, 255),
        (1, 2, 256),
        (1, 3, 1),
    ]
    assert [event.last_number for event in of_kind(events, RoundOpened)] == [None, 8, 8]


def test_a_wheel_without_a_spin_counter_plays_as_well(play: Play) -> None:
    assert [event.round for event in of_kind([*play.spin(8), *play.spin(8)], RoundResult)] == [1, 2]


def test_a_wheel_may_idle_between_spins(play: Play) -> None:
    play.spin(8, 1)
    assert play.phase("idle", 2) == []
    assert whats(play.spin(9, 2)) == ["round.opened", "bets.closed", "round.result"]


def test_a_repeated_phase_opens_nothing(play: Play) -> None:
    play.phase("bets_open", 1, rpm=17.5, direction="clockwise")
    assert play.phase("bets_open", 1, rpm=0.0, direction="clockwise") == []
    assert play.phase("bets_open", 1, rpm=3.0, direction="anticlockwise") == []


def test_a_repeated_launch_is_one_launch(play: Play) -> None:
    play.phase("bets_open", 1)
    play.phase("ball_in_rim", 1, rpm=17.5, direction="clockwise")
    assert play.phase("ball_in_rim", 1, rpm=17.0, direction="clockwise") == []
    play.phase("no_more_bets", 1)
    assert play.phase("no_more_bets", 1, direction="clockwise") == []
    assert len(only(play.number(8, 1), RoundResult).frames) == 4


def test_a_repeated_number_is_no_second_result(play: Play) -> None:
    play.spin(8, 1)
    assert play.number(8, 1) == []
    play.phase("bets_open", 2)
    assert play.number(8, 1) == []


def test_history_shows_the_latest_twenty(play: Play) -> None:
    for spin in range(1, 71):
        play.spin(spin % 37, spin)
    lines = history(play)
    assert [line["round"] for line in lines] == list(range(51, 71))
    assert lines[-1] == {
        "round": 70,
        "kind": "result",
        "spin": 70,
        "outcome": {
            "family": "roulette",
            "number": 33,
            "colour": "black",
            "parity": "odd",
            "half": "pasa",
            "dozen": 3,
            "column": 3,
            "zeros": 0,
            "last_of_session": False,
        },
        "corrected": False,
    }


@pytest.mark.rule("ARA02-010", "EUS96-012", "BAL05-017", "GAL07-007")
def test_a_number_before_no_more_bets_is_no_result(play: Play) -> None:
    play.phase("bets_open", 1)
    play.phase("ball_in_rim", 1)
    play.phase("settled", 1)
    events = play.number(8, 1)
    assert whats(events) == ["before_no_more_bets", "round.unresolved"]
    assert only(events, RoundUnresolved).candidate == 8
    assert only(events, Irregularity).asks == ("round.confirm", "round.void")
    assert play.state.tally().number is None


@pytest.mark.rule("ARA02-001", "BAL05-011", "EUS96-001", "GAL07-001")
@pytest.mark.parametrize("number", ["00", "000", 37, -1])
def test_a_number_that_the_wheel_does_not_have_is_no_result(play: Play, number: Number) -> None:
    play.until_closed(1)
    events = play.number(number, 1)
    assert whats(events) == ["number_invalid", "number_unknown", "round.unresolved"]
    unresolved = only(events, RoundUnresolved)
    assert (unresolved.why, unresolved.candidate) == ("number_unknown", None)
    assert only(events, AlertRaised).alert == "number_unknown"
    assert whats(play.spin(8, 2)) == [
        "round.opened",
        "bets.closed",
        "alert.cleared",
        "round.result",
    ]


def test_a_wheel_that_cannot_read_its_pocket_leaves_the_round_unresolved(play: Play) -> None:
    play.until_closed(1)
    assert whats(play.fault("number_unknown")) == [
        "number_unknown",
        "number_invalid",
        "round.unresolved",
    ]
    assert only(play.fault("number_unknown", active=False), AlertCleared).alert == "number_unknown"


def test_a_pocket_that_cannot_be_read_before_the_launch_is_not_of_the_round_whose_bets_are_open(
    play: Play,
) -> None:
    play.spin(8, 1)
    play.phase("bets_open", 2)
    assert whats(play.fault("number_unknown")) == ["number_unknown"]
    for phase in ("ball_in_rim", "no_more_bets", "settled"):
        play.phase(phase, 2)
    assert outcome_of(only(play.number(9, 2), RoundResult)).number == 9


def test_after_a_silence_an_unreadable_pocket_may_be_of_the_current_round(play: Play) -> None:
    play.spin(8, 1)
    play.phase("bets_open", 2)
    play.gap()
    assert whats(play.fault("number_unknown"))[-1] == "round.unresolved"


def test_two_witnesses_that_disagree_leave_the_round_unresolved(play: Play) -> None:
    play.until_closed(1)
    events = play.number(8, 1, conflict=9)
    assert whats(events) == ["witnesses_disagree", "round.unresolved"]
    assert (only(events, RoundUnresolved).why, only(events, RoundUnresolved).candidate) == (
        "witnesses_disagree",
        8,
    )


@pytest.mark.rule("ARA02-011", "BAL05-018", "GAL07-009")
def test_a_ball_that_never_came_to_rest_leaves_the_round_unresolved(play: Play) -> None:
    play.until_closed(1)
    events = play.phase("bets_open", 1)
    assert whats(events) == ["not_definitive", "round.unresolved", "round.opened"]
    assert (only(events, RoundUnresolved).why, only(events, RoundUnresolved).candidate) == (
        "undecided",
        None,
    )
    assert whats(play.spin(8, 1))[-1] == "round.result"


def test_a_launch_without_a_result_leaves_the_round_unresolved(play: Play) -> None:
    play.phase("bets_open", 1)
    play.phase("ball_in_rim", 1)
    assert whats(play.phase("bets_open", 1)) == [
        "phase_skipped",
        "round.unresolved",
        "round.opened",
    ]


def test_a_number_that_is_shown_differently_afterwards_is_an_irregularity(play: Play) -> None:
    play.spin(8, 1)
    events = play.fault("number_changed")
    assert whats(events) == ["number_changed", "number_changed"]
    assert only(events, Irregularity).asks == ("result.correct",)


@pytest.mark.rule("ARA02-008", "BAL05-017", "EUS96-011", "GAL07-007")
def test_a_missing_phase_is_reported_and_the_spin_counts(play: Play) -> None:
    play.phase("bets_open", 1)
    assert whats(play.phase("no_more_bets", 1)) == ["phase_skipped", "bets.closed"]
    play.phase("settled", 1)
    assert whats(play.number(8, 1)) == ["round.result"]


def test_a_launch_without_open_bets_is_reported(play: Play) -> None:
    play.spin(8, 1)
    events = play.phase("ball_in_rim", 2)
    assert whats(events) == ["round.opened", "phase_skipped"]
    play.phase("no_more_bets", 2)
    assert whats(play.number(9, 2)) == ["round.result"]


def test_a_wheel_that_falls_back_within_a_spin_makes_no_round_of_it(play: Play) -> None:
    play.spin(8, 1)
    assert play.phase("no_more_bets", 1) == []
    assert play.phase("settled", 1) == []


def test_a_wheel_that_is_switched_off_before_the_launch_keeps_its_round(play: Play) -> None:
    play.phase("bets_open", 7)
    assert play.phase("closed", 7) == []
    assert play.phase("idle", 1) == []
    assert play.phase("bets_open", 1) == []
    play.phase("ball_in_rim", 1)
    play.phase("no_more_bets", 1)
    result = only(play.number(8, 1), RoundResult)
    assert (result.round, result.spin) == (1, 1)


def test_a_wheel_that_is_switched_off_may_count_the_same_spin_again(play: Play) -> None:
    play.spin(8, 1)
    play.phase("closed", 1)
    play.phase("idle", 1)
    assert only(play.spin(9, 1), RoundResult).round == 2


def test_a_wheel_that_leaps_into_the_next_spin_is_followed(play: Play) -> None:
    play.until_closed(1)
    assert whats(play.phase("no_more_bets", 2)) == [
        "not_definitive",
        "round.unresolved",
        "phase_skipped",
        "bets.closed",
    ]
    assert only(play.number(9, 2), RoundResult).round == 2


def test_a_live_number_of_another_spin_is_not_lost(play: Play) -> None:
    play.until_closed(1)
    events = play.number(9, 2)
    assert whats(events) == [
        "not_definitive",
        "round.unresolved",
        "before_no_more_bets",
        "round.unresolved",
    ]
    assert [
        (event.round, event.spin, event.candidate) for event in of_kind(events, RoundUnresolved)
    ] == [(1, 1, None), (2, 2, 9)]


def test_each_alert_of_the_wheel_has_its_own_end(play: Play) -> None:
    assert whats(play.fault("sensor")) == ["sensor"]
    assert whats(play.fault("self_test")) == ["self_test"]
    assert play.fault("sensor") == []
    assert only(play.fault("sensor", active=False), AlertCleared).alert == "sensor"
    assert whats(play.fault("sensor")) == ["sensor"]
    assert only(play.fault("self_test", active=False), AlertCleared).alert == "self_test"
