"""Numbers hidden by a silence of the wheel are never invented: each becomes a candidate that a
person may confirm.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from common.contract.events import BetsClosed, RoundOpened, RoundResult, RoundUnresolved
from common.readings import LinkGarbage, LinkLate, LinkLost, LinkOpen, LinkStale, LinkUp
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind, only, whats
from tests.support.games.roulette_play import Play


def silence(play: Play) -> None:
    play.take(LinkStale(at=play.at, device="wheel", age=5.0), LinkUp(at=play.at, device="wheel"))


def silence_of(play: Play, seconds: float) -> None:
    play.take(LinkStale(at=play.at + 5.0, device="wheel", age=5.0))
    play.take(LinkUp(at=play.at + seconds, device="wheel"))


def late(play: Play, seconds: float) -> None:
    """Reports of the wheel come late, after a silence of so many seconds."""
    play.take(LinkLate(at=play.at, device="wheel", frames=3, silence=seconds))


def unplugged(play: Play) -> None:
    play.take(
        LinkLost(at=play.at, device="wheel", reason="unplugged"), LinkUp(at=play.at, device="wheel")
    )


def test_a_number_known_only_after_a_silence_is_a_candidate(play: Play) -> None:
    play.phase("bets_open", 1)
    silence(play)
    unresolved = only(play.number(8, 1, late=True), RoundUnresolved)
    assert (unresolved.round, unresolved.why, unresolved.candidate) == (1, "silence", 8)
    assert [frame.frame for frame in unresolved.frames] == ["bets_open 1", "number 1"]
    assert only(play.phase("bets_open", 2), RoundOpened).round == 2


def test_a_round_that_was_never_seen_has_its_number_still(play: Play) -> None:
    play.spin(8, 1)
    silence(play)
    assert only(play.number(9, 2, late=True), RoundUnresolved).round == 2
    assert only(play.spin(10, 3), RoundResult).round == 3


def test_a_round_that_was_never_seen_to_end_has_no_candidate(play: Play) -> None:
    play.until_closed(1)
    silence(play)
    events = play.phase("bets_open", 4)
    assert whats(events) == ["round.unresolved", "round.opened"]
    assert (only(events, RoundUnresolved).why, only(events, RoundUnresolved).candidate) == (
        "silence",
        None,
    )
    assert only(events, RoundOpened).round == 2


def test_a_candidate_may_come_after_the_round_was_given_up(play: Play) -> None:
    play.until_closed(1)
    silence(play)
    play.phase("bets_open", 2)
    again = only(play.number(8, 1, late=True), RoundUnresolved)
    assert (again.round, again.candidate) == (1, 8)
    assert play.number(8, 1, late=True) == []


def test_a_late_number_of_an_earlier_spin_leaves_the_current_one_alone(play: Play) -> None:
    play.spin(8, 1)
    silence(play)
    play.phase("bets_open", 3)
    unresolved = only(play.number(9, 2, late=True), RoundUnresolved)
    assert (unresolved.round, unresolved.spin, unresolved.candidate) == (3, 2, 9)
    play.phase("ball_in_rim", 3)
    play.phase("no_more_bets", 3)
    assert only(play.number(10, 3), RoundResult).round == 2


def test_a_late_number_of_a_later_spin_gives_up_the_current_one(play: Play) -> None:
    play.until_closed(1)
    silence(play)
    events = play.number(9, 2, late=True)
    assert [(event.round, event.candidate) for event in of_kind(events, RoundUnresolved)] == [
        (1, None),
        (2, 9),
    ]


def test_no_more_bets_may_be_known_only_by_what_followed(play: Play) -> None:
    play.phase("bets_open", 1)
    play.phase("ball_in_rim", 1)
    silence(play)
    play.phase("settled", 1)
    events = play.number(8, 1)
    assert whats(events) == ["bets.closed", "round.result"]
    assert only(events, BetsClosed).unobserved


def test_a_spin_whose_opening_fell_into_a_silence_has_its_result(play: Play) -> None:
    play.spin(8, 1)
    silence(play)
    assert whats(play.phase("no_more_bets", 2)) == ["bets.closed"]
    assert only(play.number(9, 2), RoundResult).round == 2


def test_a_silence_in_which_nothing_happened_changes_nothing(play: Play) -> None:
    play.phase("bets_open", 1)
    silence(play)
    assert play.phase("bets_open", 1) == []
    play.phase("ball_in_rim", 1)
    play.phase("no_more_bets", 1)
    late(play, 0.8)
    assert only(play.number(8, 1), RoundResult).round == 1


def test_late_phases_only_show_that_there_was_a_silence(play: Play) -> None:
    play.phase("bets_open", 1)
    assert play.phase("ball_in_rim", 1, late=True) == []
    assert play.phase("no_more_bets", 1, late=True) == []
    assert play.shown["phase"] == "bets_open"
    assert outcome_of(only(play.number(8, 1), RoundResult)).number == 8
    assert only(play.events, BetsClosed).unobserved


def test_a_late_number_that_the_wheel_does_not_have_is_no_candidate(play: Play) -> None:
    play.until_closed(1)
    events = play.number("00", 1, late=True)
    assert whats(events) == ["number_invalid", "number_unknown", "round.unresolved"]
    assert only(events, RoundUnresolved).candidate is None


def test_a_late_number_does_not_touch_a_result(play: Play) -> None:
    play.spin(8, 1)
    assert play.number(8, 1, late=True) == []
    unresolved = only(
        play.number(9, 1, late=True), RoundUnresolved
    )  # a wheel that was restarted counts from the same number again
    assert (unresolved.round, unresolved.candidate) == (2, 9)
    assert [entry.number for entry in play.state.entries] == [8, None]


def test_a_lost_number_of_a_relaunch_is_a_candidate(play: Play) -> None:
    play.until_closed(1)
    play.send("round.void", reason="ball_out")
    silence(play)
    unresolved = only(play.number(8, 1, late=True), RoundUnresolved)
    assert (unresolved.round, unresolved.candidate) == (2, 8)


def test_a_wheel_without_a_spin_counter_continues_after_a_silence(play: Play) -> None:
    play.phase("bets_open")
    silence(play)
    assert only(play.number(8, late=True), RoundUnresolved).candidate == 8
    assert only(play.phase("bets_open"), RoundOpened).round == 2


def test_a_spin_of_which_only_late_phases_were_received_is_unresolved(play: Play) -> None:
    play.spin(8, 1)
    silence(play)
    for spin in (2, 3):
        play.phase("ball_in_rim", spin, late=True)
        play.phase("no_more_bets", spin, late=True)
    play.take(
        LinkLost(at=play.at, device="wheel", reason="unplugged"), LinkUp(at=play.at, device="wheel")
    )
    play.phase("bets_open", 7)
    told = of_kind(play.events, RoundUnresolved)
    assert [(event.round, event.spin, event.why, event.candidate) for event in told] == [
        (2, 2, "silence", None),
        (3, 3, "silence", None),
    ]
    assert [frame.frame for frame in told[0].frames] == ["ball_in_rim 2"]
    assert play.events[-1] == only(play.events[-1:], RoundOpened)
    assert only(play.send("round.confirm", round=3, number=5), RoundResult).spin == 3


def test_the_number_of_a_spin_that_was_received_late_may_come_live(play: Play) -> None:
    play.spin(8, 1)
    silence(play)
    play.phase("no_more_bets", 2, late=True)
    play.phase("settled", 2)
    assert only(play.number(9, 2), RoundResult).round == 2
    assert of_kind(play.events, RoundUnresolved) == []


def test_late_phases_of_a_spin_that_is_over_are_no_round(play: Play) -> None:
    play.spin(8, 1)
    silence(play)
    play.phase("settled", 1, late=True)
    assert whats(play.phase("bets_open", 2)) == ["round.opened"]
    assert play.state.round == 2


def test_open_bets_that_were_received_late_are_no_round(play: Play) -> None:
    play.spin(8, 1)
    silence(play)
    for phase in ("bets_open", "closed", "idle"):
        play.phase(phase, 2, late=True)
    assert whats(play.phase("bets_open", 3)) == ["round.opened"]
    assert play.state.round == 2


def by_hand() -> Play:
    """A table whose croupier opens and closes the bets of a wheel that sends only the number."""
    play = Play("GAL07", phases="person")
    play.open(minimum=500, currency="EUR")
    play.send("bets.open")
    return play


def reopened(play: Play) -> None:
    """As after a restart of the daemon."""
    play.again()
    play.take(LinkLost(at=play.at, device="wheel", reason="restart"))
    play.take(LinkOpen(at=play.at, device="wheel"))


def test_a_number_after_closed_bets_and_a_restart_may_be_of_another_spin() -> None:
    play = by_hand()
    play.send("bets.close")
    reopened(play)
    play.take(LinkUp(at=play.at, device="wheel"))
    events = play.number(8)
    assert of_kind(events, RoundResult) == []
    unresolved = only(events, RoundUnresolved)
    assert (unresolved.round, unresolved.why, unresolved.candidate) == (1, "silence", 8)


def test_a_damaged_report_after_closed_bets_may_have_been_the_number() -> None:
    play = by_hand()
    play.send("bets.close")
    play.take(LinkGarbage(at=play.at, device="wheel", frame="?", bytes=4))
    assert only(play.number(8), RoundUnresolved).candidate == 8


def test_bets_that_a_person_closes_after_a_restart_are_of_the_next_number() -> None:
    """The key states that the ball has not fallen yet."""
    play = by_hand()
    reopened(play)
    play.send("bets.close")
    play.take(LinkUp(at=play.at, device="wheel"))
    assert only(play.number(8), RoundResult).round == 1


def test_a_number_with_the_count_of_the_round_is_its_result_after_a_moment(play: Play) -> None:
    """No wheel ends a spin and lets the next ball fall within twenty seconds."""
    play.until_closed(1)
    silence_of(play, 15.5)
    late(play, 15.5)
    play.take(LinkGarbage(at=play.at, device="wheel", frame="?", bytes=4))
    assert only(play.number(8, 1), RoundResult).round == 1


@pytest.mark.parametrize(
    "hide",
    [lambda play: silence_of(play, 21.0), unplugged, reopened, lambda play: late(play, 21.0)],
    ids=["silent", "unplugged", "restarted", "late"],
)
def test_the_count_of_the_round_is_no_proof_after_a_silence(
    play: Play, hide: Callable[[Play], None]
) -> None:
    """A wheel that was switched off meanwhile counts from the beginning, one that gave up a spin
    repeats its count, and a driver that counts itself begins with 1 at each start.
    """
    play.until_closed(1)
    hide(play)
    late(play, 1.2)  # what follows proves nothing of the silence before
    unresolved = only(play.number(8, 1), RoundUnresolved)
    assert (unresolved.round, unresolved.why, unresolved.candidate) == (1, "silence", 8)
    assert only(play.spin(9, 2), RoundResult).round == 2
