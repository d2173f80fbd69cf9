"""Sessions, last balls and limits; and a table whose wheel does not report when bets open."""

from __future__ import annotations

import pytest

from common.contract.events import (
    Irregularity,
    LastRounds,
    LimitChanged,
    RoundOpened,
    RoundResult,
    RoundUnresolved,
    SessionOpened,
)
from common.contract.refusals import RejectedError
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind, only, whats
from tests.support.games.roulette_play import DECREES, PAIRS, Play


def test_rounds_restart_with_each_session(play: Play) -> None:
    play.spin(8, 1)
    play.send("session.close", locked=True)
    assert only(play.open(), SessionOpened).session == 2
    opened, _, result = play.spin(9, 2)
    assert (opened.session, opened.round, result.round) == (2, 1, 1)
    assert isinstance(opened, RoundOpened)
    assert opened.last_number == 8
    assert len(play.game.view(play.state).history()) == 1


def test_zeros_do_not_run_over_a_session(play: Play) -> None:
    play.spin(0, 1)
    play.send("session.close", locked=True)
    play.open()
    assert outcome_of(only(play.spin(0, 2), RoundResult)).zeros == 1


def test_a_session_that_opens_while_the_wheel_waits_has_a_round_at_once() -> None:
    play = Play("ARA02")
    assert play.phase("bets_open", 1) == []
    assert whats(play.open()) == ["session.opened", "round.opened"]


def test_a_spin_that_began_before_the_session_has_no_result_in_it() -> None:
    play = Play("ARA02")
    play.until_closed(1)
    play.open()
    assert play.phase("settled", 1) == []
    assert play.number(8, 1) == []
    assert whats(play.spin(9, 2))[-1] == "round.result"


@pytest.mark.rule("ARA02-027", "BAL05-037", "EUS96-034", "GAL07-026")
def test_a_wheel_that_moves_after_closing_is_reported(play: Play) -> None:
    play.spin(8, 1)
    play.send("session.close", locked=True)
    assert play.phase("settled", 1, rpm=0.0) == []
    assert play.phase("idle", 2) == []
    assert play.phase("bets_open", 2) == []
    assert whats(play.phase("ball_in_rim", 2)) == ["movement_after_close", "movement_after_close"]
    assert play.phase("no_more_bets", 2) == []
    number = play.number(9, 2)
    assert whats(number) == ["movement_after_close"]
    assert only(number, Irregularity).law == play.game.book.laws["movement_after_close"].rule
    assert outcome_of(of_kind(play.events, RoundResult)[-1]).number == 8
    assert "alert.cleared" in whats(play.open())


@pytest.mark.rule("ARA02-027", "BAL05-037", "GAL07-026")
def test_a_session_closed_without_the_lid_is_reported(play: Play) -> None:
    assert whats(play.send("session.close")) == ["session_closed_unlocked", "session.closed"]
    play.open()
    assert whats(play.send("session.close", locked=True)) == ["session.closed"]


def test_a_session_that_closes_on_a_running_ball_leaves_its_round_unresolved(play: Play) -> None:
    play.until_closed(1)
    events = play.send("session.close", locked=True)
    assert whats(events) == ["round.unresolved", "session.closed"]
    assert only(events, RoundUnresolved).why == "undecided"
    assert only(play.send("round.confirm", number=8), RoundResult).round == 1


def test_a_session_that_closes_on_a_ball_in_the_rim_leaves_its_round_unresolved(play: Play) -> None:
    play.phase("bets_open", 1)
    play.phase("ball_in_rim", 1)
    assert whats(play.send("session.close", locked=True)) == ["round.unresolved", "session.closed"]


def test_a_wheel_first_seen_in_the_middle_of_a_spin_is_accepted_as_it_is(play: Play) -> None:
    assert whats(play.phase("no_more_bets", 1)) == ["bets.closed"]
    assert whats(play.number(8, 1)) == ["round.result"]


def test_a_session_that_closes_on_open_bets_only_closes(play: Play) -> None:
    play.phase("bets_open", 1)
    assert whats(play.send("session.close", locked=True)) == ["session.closed"]


def test_a_session_is_opened_once_and_closed_once(play: Play) -> None:
    with pytest.raises(RejectedError, match="session 1 is already open"):
        play.open()
    play.send("session.close", locked=True)
    with pytest.raises(RejectedError, match="no session is open"):
        play.send("session.close")


@pytest.mark.rule("EUS96-030", "ARA02-020", "BAL05-028", "EUS96-025", "GAL07-020")
def test_the_last_three_balls_are_counted_down_and_the_last_is_marked(play: Play) -> None:
    announced = only(play.send("last_rounds.announce", "croupier"), LastRounds)
    assert (announced.purpose, announced.left, announced.by) == ("close", 3, "M. Lasa")
    assert announced.announcement == play.game.book.announcements.get("last_rounds")
    first, second = play.spin(8, 1), play.spin(9, 2)
    play.until_closed(3)
    play.send("round.void", reason="ball_out")
    unresolved = [*play.until_closed(3), *play.number(10, 3, conflict=11)]
    last = play.spin(0, 4)
    assert [event.left for event in of_kind([*first, *second, *unresolved, *last], LastRounds)] == [
        2,
        1,
        0,
    ]
    assert [event.last_of_session for event in of_kind([*first, *second, *last], RoundOpened)] == [
        False,
        False,
        True,
    ]
    assert [
        outcome_of(event).last_of_session
        for event in of_kind([*first, *second, *last], RoundResult)
    ] == [
        False,
        False,
        True,
    ]
    assert play.shown["last_rounds"] == 0


def test_null_spins_may_count_among_the_last_ones() -> None:
    play = Play("GAL07", last_rounds_count="all")
    play.open()
    play.send("last_rounds.announce")
    play.until_closed(1)
    assert only(play.send("round.void", reason="ball_out"), LastRounds).left == 2


def test_a_confirmed_round_counts_among_the_last_ones(play: Play) -> None:
    play.until_closed(1)
    play.number(8, 1, conflict=9)
    play.send("last_rounds.announce")
    play.until_closed(2)
    play.number(8, 2, conflict=9)
    assert (
        of_kind(play.send("round.confirm", round=1), LastRounds) == []
    )  # played before the announcement
    assert only(play.send("round.confirm", round=2), LastRounds).left == 2


def test_a_round_confirmed_late_is_not_the_last_of_the_session(play: Play) -> None:
    play.send("last_rounds.announce")
    play.until_closed(1)
    play.number(8, 1, conflict=9)
    play.spin(9, 2)
    play.spin(10, 3)
    play.until_closed(4)
    assert not outcome_of(only(play.send("round.confirm", round=1), RoundResult)).last_of_session
    assert outcome_of(only(play.number(11, 4), RoundResult)).last_of_session


def test_a_round_that_turns_out_to_be_the_last_is_marked_as_such(play: Play) -> None:
    play.send("last_rounds.announce")
    play.until_closed(1)
    play.number(8, 1, conflict=9)
    play.spin(9, 2)
    assert not only(play.until_closed(3), RoundOpened).last_of_session
    play.send("round.confirm", round=1)
    assert outcome_of(only(play.number(10, 3), RoundResult)).last_of_session


def test_the_last_balls_are_announced_once(play: Play) -> None:
    play.send("last_rounds.announce")
    with pytest.raises(RejectedError, match="the last rounds are already announced"):
        play.send("last_rounds.announce")


@pytest.mark.rule("ARA02-024", "BAL05-032", "EUS96-031")
@pytest.mark.parametrize("decree", ["BAL05", "ARA02", "EUS96"])
def test_a_new_minimum_applies_after_three_balls_at_the_old_one(decree: str) -> None:
    play = Play(decree)
    play.open(minimum=500, currency="EUR")
    assert announced_minimum(play) == (None, None)
    assert only(play.send("limit.announce", "director", minimum=1000), LastRounds).left == 3
    assert announced_minimum(play) == (1000, 3)
    events = [*play.spin(8, 1), *play.spin(9, 2)]
    assert play.state.minimum == 500
    assert announced_minimum(play) == (1000, 1)
    play.until_closed(3)
    play.send("round.void", reason="ball_out")
    events += play.spin(10, 3)
    assert [event.left for event in of_kind(events, LastRounds)] == [2, 1, 0]
    changed = only(events, LimitChanged)
    assert (changed.minimum, changed.was, changed.currency) == (1000, 500, "EUR")
    assert play.state.minimum == 1000
    assert announced_minimum(play) == (None, None)


def announced_minimum(play: Play) -> tuple[int | None, int | None]:
    """The announced minimum of the state, and the rounds until it holds."""
    return play.shown["next_minimum"], play.shown["rounds_at_this_minimum"]


@pytest.mark.rule("ARA02-023", "GAL07-022")
@pytest.mark.parametrize(
    ("decree", "minimum", "why"),
    [
        ("ARA02", 400, "the minimum of an open table may only rise; it is 500: ARA02-023"),
        ("GAL07", 1000, "the minimum of an open table may not change: GAL07-022"),
        ("BAL05", 500, "the minimum is already 500"),
    ],
)
def test_a_limit_that_the_decree_does_not_allow_is_refused(
    decree: str, minimum: int, why: str
) -> None:
    play = Play(decree)
    play.open(minimum=500)
    with pytest.raises(RejectedError, match=why):
        play.send("limit.announce", minimum=minimum)


def test_a_minimum_is_above_zero() -> None:
    play = Play("EUS96")
    with pytest.raises(RejectedError, match="minimum must be above 0, not 0"):
        play.open(minimum=0)
    play.open(minimum=500)
    with pytest.raises(RejectedError, match="minimum must be above 0, not -1"):
        play.send("limit.announce", "director", minimum=-1)


def test_a_limit_may_fall_where_the_decree_does_not_forbid_it() -> None:
    play = Play("EUS96")
    play.open(minimum=500)
    assert only(play.send("limit.announce", "director", minimum=200), LastRounds).purpose == "limit"


def test_an_unknown_minimum_cannot_rise() -> None:
    play = Play("ARA02")
    play.open()
    with pytest.raises(RejectedError, match="the session was opened without one"):
        play.send("limit.announce", minimum=200)


@pytest.mark.rule("ARA02-008", "BAL05-017", "EUS96-011", "GAL07-007")
@pytest.mark.parametrize(("game", "decree"), PAIRS)
def test_a_person_opens_and_closes_bets_where_the_wheel_does_not(game: str, decree: str) -> None:
    play = Play(decree, game, phases="person")
    play.open()
    opened = only(play.send("bets.open", "croupier"), RoundOpened)
    assert (opened.round, opened.by) == (1, "M. Lasa")
    assert whats(play.send("bets.close", "croupier")) == ["bets.closed"]
    result = only(play.number(8, 41), RoundResult)
    assert (result.round, outcome_of(result).number, result.spin) == (1, 8, 41)


@pytest.mark.rule("ARA02-010", "EUS96-012")
@pytest.mark.parametrize("decree", DECREES)
def test_a_number_before_the_croupiers_call_is_no_result(decree: str) -> None:
    play = Play(decree, phases="person")
    play.open()
    assert whats(play.number(8)) == ["before_no_more_bets", "round.unresolved"]
    play.send("bets.open")
    assert whats(play.number(8)) == ["before_no_more_bets", "round.unresolved"]
    play.send("bets.open")
    play.send("bets.close")
    assert whats(play.number(8)) == ["round.result"]
    assert whats(play.number(8)) == ["before_no_more_bets", "round.unresolved"]


@pytest.mark.rule("ARA02-017", "BAL05-022", "EUS96-017", "GAL07-015")
@pytest.mark.parametrize("decree", DECREES)
def test_the_ball_put_back_by_hand_is_no_result_either(decree: str) -> None:
    play = Play(decree, phases="person")
    play.open()
    play.send("bets.open")
    play.send("bets.close")
    play.number(17, 1)
    play.send("bets.open")
    play.send("bets.close")
    play.send("round.void", reason="ball_out")
    assert play.number(17, 2) == []
    assert only(play.send("bets.open"), RoundOpened).relaunch
    assert play.number(17, 3) == []
    play.send("bets.close")
    assert only(play.number(17, 4), RoundResult).round == 3


def test_bets_are_opened_and_closed_by_permitted_roles() -> None:
    with_wheel, by_hand = Play("ARA02"), Play("ARA02", phases="person")
    for play in (with_wheel, by_hand):
        play.open()
    with pytest.raises(RejectedError, match="the wheel reports when bets open and close"):
        with_wheel.send("bets.open")
    with pytest.raises(RejectedError, match="no bets are open"):
        by_hand.send("bets.close")
    by_hand.send("bets.open")
    with pytest.raises(RejectedError, match="round 1 is in progress and has no result yet"):
        by_hand.send("bets.open")
