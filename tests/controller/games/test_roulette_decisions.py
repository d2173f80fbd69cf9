"""A person's decisions: about a round that waits, one that is unresolved, and a wrong result."""

from __future__ import annotations

from typing import Any

import pytest

from common.contract.events import ResultCorrected, RoundResult, RoundUnresolved, RoundVoid
from common.contract.refusals import RejectedError
from tests.support.games.outcomes import history, outcome_of
from tests.support.games.play import of_kind, only, whats
from tests.support.games.roulette_play import Play


def waiting(play: Play, spin: int = 1, number: int | None = 8) -> None:
    """A round whose ball was out of sight for a while."""
    play.until_closed(spin)
    assert whats(play.fault("ball_removed")) == ["ball_removed"]
    play.fault("ball_removed", active=False)
    if number is not None:
        assert play.number(number, spin) == []


def unresolved(play: Play, spin: int, number: int = 8) -> None:
    play.until_closed(spin)
    assert of_kind(play.number(number, spin, conflict=9), RoundUnresolved)


def test_a_result_that_waits_is_released_by_a_person(play: Play) -> None:
    waiting(play)
    assert play.shown["asks"] == ["round.confirm", "round.void"]
    result = only(play.send("round.confirm"), RoundResult)
    assert (result.round, outcome_of(result).number, result.confirmed_by) == (
        1,
        8,
        "M. Lasa (table_head)",
    )
    assert [frame.frame for frame in result.frames][-1] == "number 1"


def test_a_person_may_have_seen_another_number(play: Play) -> None:
    waiting(play)
    assert outcome_of(only(play.send("round.confirm", number=26), RoundResult)).number == 26


def test_a_round_may_be_resumed_before_the_ball_falls(play: Play) -> None:
    waiting(play, number=None)
    with pytest.raises(RejectedError, match="the ball of round 1 has not fallen yet"):
        play.send("round.confirm", number=8)
    assert play.send("round.confirm") == []
    assert only(play.number(8, 1), RoundResult).confirmed_by == "M. Lasa (table_head)"


def test_an_undecided_round_is_unresolved_when_the_wheel_continues(play: Play) -> None:
    waiting(play)
    events = play.phase("bets_open", 2)
    assert whats(events) == ["round.unresolved", "round.opened"]
    assert (only(events, RoundUnresolved).why, only(events, RoundUnresolved).candidate) == (
        "undecided",
        8,
    )
    assert only(play.send("round.confirm"), RoundResult).round == 1


def test_a_round_that_waits_may_never_have_its_ball_fall(play: Play) -> None:
    waiting(play, number=None)
    events = play.phase("bets_open", 1)
    assert whats(events) == ["round.unresolved", "round.opened"]
    assert only(events, RoundUnresolved).candidate is None


def test_a_round_that_waits_may_be_null(play: Play) -> None:
    waiting(play)
    assert only(play.send("round.void", reason="ball_out"), RoundVoid).round == 1
    assert play.shown["asks"] == []


def test_a_round_that_waits_for_nothing_is_not_confirmed(play: Play) -> None:
    with pytest.raises(RejectedError, match="no round is in progress and none is unresolved"):
        play.send("round.confirm")
    play.until_closed(1)
    with pytest.raises(RejectedError, match="round 1 is not waiting for a confirmation"):
        play.send("round.confirm")


def test_an_unresolved_round_is_confirmed_with_its_evidence(play: Play) -> None:
    unresolved(play, 1)
    play.phase("bets_open", 2)
    result = only(play.send("round.confirm", round=1), RoundResult)
    assert (result.round, outcome_of(result).number, result.spin) == (1, 8, 1)
    assert [frame.frame for frame in result.frames] == [
        "bets_open 1",
        "ball_in_rim 1",
        "no_more_bets 1",
        "number 1",
    ]


def test_a_round_without_a_candidate_needs_its_number(play: Play) -> None:
    play.until_closed(1)
    play.number("00", 1)
    with pytest.raises(RejectedError, match="round 1 has no number seen; give it in number"):
        play.send("round.confirm")
    with pytest.raises(RejectedError, match="the wheel has no number 37; numbers: 0–36"):
        play.send("round.confirm", number=37)
    assert outcome_of(only(play.send("round.confirm", number=0), RoundResult)).number == 0


def test_of_several_unresolved_rounds_one_is_named(play: Play) -> None:
    unresolved(play, 1)
    unresolved(play, 2)
    with pytest.raises(RejectedError, match="name one in round: 1, 2"):
        play.send("round.confirm")
    assert only(play.send("round.confirm", round=2), RoundResult).round == 2
    assert only(play.send("round.confirm"), RoundResult).round == 1


def test_a_confirmed_round_counts_in_its_place(play: Play) -> None:
    play.spin(0, 1)
    unresolved(play, 2, number=5)
    assert outcome_of(only(play.spin(0, 3), RoundResult)).zeros == 2
    assert outcome_of(only(play.send("round.confirm", round=2), RoundResult)).zeros == 0
    assert play.state.tally().zeros == 1
    assert outcome_of(only(play.spin(0, 4), RoundResult)).zeros == 2


@pytest.mark.parametrize("role", ["croupier", "technician"])
def test_decisions_are_for_the_person_in_charge(play: Play, role: Any) -> None:
    waiting(play)
    with pytest.raises(
        RejectedError,
        match=f"role {role} is not allowed to do this; allowed: table_head, inspector, director",
    ):
        play.send("round.confirm", role)


def test_a_result_that_was_wrong_is_replaced(play: Play) -> None:
    play.spin(0, 1)
    play.spin(0, 2)
    corrected, later = of_kind(play.send("result.correct", round=1, number=26), ResultCorrected)
    assert (
        corrected.round,
        corrected.was,
        outcome_of(corrected).number,
        outcome_of(corrected).colour,
    ) == (
        1,
        0,
        26,
        "black",
    )
    assert (later.round, later.was, outcome_of(later).number, outcome_of(later).zeros) == (
        2,
        0,
        0,
        1,
    )
    assert (play.state.tally().number, play.state.tally().zeros) == (0, 1)
    first = history(play)[0]
    assert (first["round"], first["kind"], first["spin"], first["corrected"]) == (
        1,
        "result",
        1,
        True,
    )
    assert (first["outcome"]["number"], first["outcome"]["colour"]) == (26, "black")


@pytest.mark.parametrize(
    ("round_", "number", "why"),
    [
        (1, 8, "the result of round 1 is already 8"),
        (1, "00", "the wheel has no number 00"),
        (1, None, "give the right number"),
        (2, 8, "round 2 has no result to correct"),
        (3, 8, "round 3 has no result to correct"),
        (9, 8, "round 9 is not among the remembered rounds of this session"),
    ],
)
def test_invalid_corrections_are_refused(
    play: Play, round_: int, number: int | str | None, why: str
) -> None:
    play.spin(8, 1)
    play.until_closed(2)
    play.send("round.void", reason="ball_out")
    unresolved(play, 2)
    before = play.state
    with pytest.raises(RejectedError, match=why):
        play.send("result.correct", round=round_, number=number)
    assert play.state == before


def test_a_round_is_forgotten_after_an_hour(play: Play) -> None:
    for spin in range(1, 63):
        play.spin(0, spin)
    assert play.state.tally().zeros == 62
    with pytest.raises(
        RejectedError, match="round 2 is not among the remembered rounds of this session"
    ):
        play.send("result.correct", round=2, number=5)
    play.send("result.correct", round=3, number=5)
    assert play.state.tally().zeros == 59


@pytest.mark.rule("ARA02-019")
def test_zeros_running_are_counted(play: Play) -> None:
    zeros = [
        outcome_of(only(play.spin(number, spin), RoundResult)).zeros
        for spin, number in enumerate((0, 0, 0, 5, 0), 1)
    ]
    assert zeros == [1, 2, 3, 0, 1]


@pytest.mark.rule("ARA02-019")
def test_a_number_that_is_forgotten_has_ended_the_zeros_before_it(play: Play) -> None:
    for spin, number in enumerate((0, 0, 5, *[0] * 60), 1):
        play.spin(number, spin)
    assert play.state.entries[0].round == 4
    assert play.state.tally().zeros == 60
