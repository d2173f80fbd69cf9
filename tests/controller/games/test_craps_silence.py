"""A table of craps whose dice were not read, or whose device was silent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from common.contract.events import (
    AlertCleared,
    AlertRaised,
    Irregularity,
    RoundResult,
    RoundUnresolved,
    RoundVoid,
)
from common.contract.refusals import RejectedError
from common.readings import LinkGap, LinkGarbage, LinkLost, LinkStale, LinkUp
from tests.support.for_each import for_each
from tests.support.games.craps_play import DECREES, OTHERS, SET, Play, ruled, table
from tests.support.games.outcomes import history, outcome_of
from tests.support.games.play import of_kind, only, whats

every = pytest.mark.parametrize("decree", DECREES)
TROUBLES = [
    ("no_read", "dice_unread"),
    ("cocked", "die_cocked"),
    ("unchanged", "dice_unchanged"),
    ("missing", "dice_count"),
    ("extra", "dice_count"),
]


# Not read


@every
@for_each(("fault", "what"), TROUBLES)
def test_a_throw_that_was_not_read_is_reported_by_the_croupier(
    decree: str, fault: Any, what: str
) -> None:
    play = table(decree)
    play.bets()
    play.move()
    breach = only(play.fault(fault), Irregularity)
    assert (breach.what, breach.asks) == (what, ("dice.tell", "round.confirm", "round.void"))
    assert breach.law.startswith(decree)
    assert play.fault(fault) == []
    assert play.fault(fault, active=False) == []
    result = only(play.send("dice.tell", role="croupier", values=[3, 3]), RoundResult)
    assert (outcome_of(result).total, result.confirmed_by) == (6, "M. Lasa (croupier)")


@every
@for_each(("fault", "what"), TROUBLES)
def test_dice_that_are_read_after_a_fault_wait_for_a_person(
    decree: str, fault: Any, what: str
) -> None:
    play = table(decree)
    play.bets()
    play.move()
    play.fault(fault)
    assert play.lie(3, 3) == []
    with pytest.raises(RejectedError, match="has its dice; answer with"):
        play.send("dice.tell", role="croupier", values=[3, 3])
    assert outcome_of(only(play.send("round.confirm"), RoundResult)).dice == (3, 3)


def test_dice_taken_up_unread_are_requested() -> None:
    play = table()
    play.play(2, 2)
    play.bets()
    breach = only(play.state_said("idle", throw=9), Irregularity)
    assert (breach.what, breach.asks) == (
        "dice_unread",
        ("dice.tell", "round.confirm", "round.void"),
    )
    assert outcome_of(
        only(play.send("dice.tell", role="croupier", values=[3, 3]), RoundResult)
    ).dice == (3, 3)


def test_dice_that_were_not_thrown_yet_are_not_requested() -> None:
    play = table()
    play.play(2, 2)
    play.bets()
    assert play.state_said("idle", throw=play.state.throw) == []


def test_the_stickman_declares_a_cocked_die_null() -> None:
    play = table()
    play.bets()
    play.move()
    play.fault("cocked")
    assert (
        only(play.send("round.void", role="croupier", reason="die_on_chips"), RoundVoid).law
        == "ARA02-126"
    )


def test_a_fault_outside_a_throw_is_ignored() -> None:
    play = table()
    assert play.fault("cocked") == []
    play.send("bets.open")
    assert play.fault("missing") == []


def test_a_reader_that_fails() -> None:
    play = table()
    assert only(play.fault("sensor"), AlertRaised).alert == "sensor"
    assert only(play.fault("sensor", active=False), AlertCleared).alert == "sensor"


@for_each("values", [(), (1,), (0, 3), (1, 7), (1, 2, 3)])
@ruled("BAL05-052", "", "EUS96-105", "GAL07-129")
def test_impossible_totals_are_refused(decree: str, values: tuple[int, ...]) -> None:
    play = table(decree)
    assert only(play.lie(*values), Irregularity).asks == ()
    play.bets()
    play.move()
    breach = only(play.lie(*values), Irregularity)
    assert (breach.what, breach.asks) == (
        "dice_invalid",
        ("dice.tell", "round.confirm", "round.void"),
    )
    assert outcome_of(only(play.send("round.confirm", dice=[1, 1]), RoundResult)).total == 2


def test_dice_thrown_again_before_they_were_read() -> None:
    play = table()
    play.bets()
    play.move()
    play.state_said("settled")
    assert whats(play.move()) == ["dice_unread"]
    assert play.lie(3, 4) == []
    assert play.shown["phase"] == "decision"


def test_throws_that_come_while_one_waits_for_a_person_wait_in_their_order() -> None:
    """Where the dice run the table no decision delays them: each throw is a round, and the point of
    the next is not known.
    """
    play = table(rounds="dice", shooter="unwatched")
    play.throw(2, 2)
    play.move()
    play.fault("no_read")
    play.fault("no_read", active=False)
    first = only(play.move(), RoundUnresolved)
    assert (first.round, first.why, first.dice) == (2, "undecided", None)
    second = only(play.lie(6, 4), RoundUnresolved)
    assert (second.round, second.why, second.dice) == (3, "undecided", (6, 4))
    play.move()
    assert whats(play.fault("cocked")) == ["bets.closed", "die_cocked", "round.unresolved"]
    play.fault("cocked", active=False)
    assert play.shown["unresolved"] == [2, 3, 4]
    play.again()
    assert (
        outcome_of(only(play.send("round.confirm", round=2, dice=[3, 4]), RoundResult)).point == 4
    )
    assert outcome_of(only(play.send("round.confirm", round=3), RoundResult)).point is None
    play.send("round.void", round=4, reason="die_on_chips")
    assert (play.point, play.shown["phase"]) == (10, "relaunch")


def test_a_throw_that_waits_with_its_dice_keeps_them_when_the_next_comes() -> None:
    play = table(rounds="dice")
    play.throw(2, 2)
    assert play.shown["asks"] == ["round.confirm", "round.void"]  # no bet lies on Win
    first = only(play.move(), RoundUnresolved)
    assert (first.round, first.dice) == (1, (2, 2))
    assert only(play.lie(3, 4), RoundUnresolved).dice == (3, 4)


def test_dice_thrown_again_unread_are_reported_where_they_run_the_table() -> None:
    play = table(rounds="dice", shooter="unwatched")
    play.move()
    assert whats(play.move()) == ["dice_unread", "round.unresolved"]
    assert only(play.lie(3, 4), RoundUnresolved).round == 2


def test_repeated_dice_are_no_throw() -> None:
    play = table(rounds="dice", shooter="unwatched")
    play.throw(2, 4)
    assert play.lie(2, 4) == []
    assert only(play.lie(2, 5), Irregularity).what == "dice_reread"
    assert play.point == 6


# Silence


@every
def test_a_throw_after_a_silence_is_a_candidate(decree: str) -> None:
    play = table(decree)
    play.totals(8)
    play.bets()
    play.gap()
    play.throws += 3
    lost = only(play.throw(3, 4), RoundUnresolved)
    assert (lost.why, lost.dice, lost.candidate) == ("silence", (3, 4), None)
    assert play.point == 8
    with pytest.raises(RejectedError, match="round 2 has no result yet"):
        play.send("bets.open")
    assert play.shown["asks"] == ["round.confirm", "round.void"]
    result = only(play.send("round.confirm"), RoundResult)
    assert (outcome_of(result).dice, outcome_of(result).point, result.confirmed_by) == (
        (3, 4),
        8,
        "M. Lasa (table_head)",
    )
    assert play.state.shooter == 2


def brief_silence(play: Play) -> None:
    play.take(LinkStale(at=play.at + 5.0, device="dice", age=5.0))
    play.take(LinkUp(at=play.at + 15.0, device="dice"))


def long_silence(play: Play) -> None:
    play.take(LinkStale(at=play.at + 5.0, device="dice", age=5.0))
    play.take(LinkUp(at=play.at + 21.0, device="dice"))


def test_the_count_of_the_device_shows_that_no_throw_was_missed() -> None:
    play = table(rounds="dice", shooter="unwatched")
    play.throw(2, 4)
    brief_silence(play)
    assert outcome_of(only(play.throw(2, 3), RoundResult)).total == 5
    brief_silence(play)
    play.throws += 1
    assert only(play.throw(2, 3), RoundUnresolved).dice == (2, 3)


def test_dice_that_lie_still_with_the_count_of_before_the_silence() -> None:
    play = table(rounds="dice", shooter="unwatched")
    play.throw(2, 4)
    brief_silence(play)
    play.state_said("idle")
    play.throws += 5
    assert outcome_of(only(play.throw(2, 3), RoundResult)).total == 5


@pytest.mark.parametrize("hide", [Play.gap, long_silence], ids=["link lost", "long silence"])
@pytest.mark.parametrize("rounds", ["dice", "keys"])
@pytest.mark.parametrize("first_report", [None, "idle"])
def test_a_count_that_fits_is_no_proof_after_a_long_silence(
    rounds: str, hide: Callable[[Play], object], first_report: str | None
) -> None:
    """A reader that was switched off counts from the beginning, and may have come as far again."""
    play = table(rounds=rounds, shooter="unwatched")
    if rounds == "keys":
        play.bets()
    play.throw(2, 4)
    if rounds == "keys":
        play.bets()
    hide(play)
    if first_report is not None:
        play.state_said(first_report)
    lost = only(play.throw(2, 3), RoundUnresolved)
    assert (lost.round, lost.why, lost.dice) == (2, "silence", (2, 3))


def test_a_throw_in_the_air_with_the_same_count_after_a_long_silence() -> None:
    play = table(shooter="unwatched")
    play.bets()
    play.move()
    long_silence(play)
    assert only(play.lie(3, 4), RoundUnresolved).dice == (3, 4)


def test_the_first_count_of_a_reader_is_no_proof() -> None:
    """One that is switched on again counts its first throw alike."""
    play = table(shooter="unwatched")
    play.throws = -1
    play.move()
    play.lie(3, 4)
    play.bets()
    play.take(LinkGap(at=play.now(), device="dice", lost=1))
    assert only(play.throw(2, 3), RoundUnresolved).dice == (2, 3)


def test_bets_that_a_person_closes_after_a_long_silence_are_of_the_next_throw() -> None:
    play = table(shooter="unwatched")
    play.play(2, 2)
    play.send("bets.open", role="croupier")
    long_silence(play)
    play.send("bets.close", role="croupier")
    assert outcome_of(only(play.throw(2, 3), RoundResult)).total == 5


@for_each(
    ("rounds", "hide", "outcome"),
    [
        ("dice", brief_silence, "round.unresolved"),
        ("dice", long_silence, "round.unresolved"),
        ("dice", Play.gap, "round.unresolved"),
        ("keys", Play.gap, "round.result"),
    ],
)
def test_the_first_message_of_a_device_after_bets_were_opened(
    rounds: str, hide: Callable[[Play], object], outcome: str
) -> None:
    """Where the dice run the table, a whole throw may have come in the silence, and no earlier
    count shows that none did. Elsewhere the key states it.
    """
    play = table(rounds=rounds, shooter="unwatched")
    if rounds == "keys":
        play.send("bets.open", role="croupier")
    hide(play)
    play.throws = 41
    play.state_said("idle")
    if rounds == "keys":
        play.send("bets.close", role="croupier")
    assert outcome in whats(play.throw(2, 3))


def test_the_count_of_the_session_before_shows_that_the_first_throw_was_not_missed() -> None:
    play = table(rounds="dice", shooter="unwatched")
    play.throw(2, 4)
    play.send("session.close")
    play.open(OTHERS)
    brief_silence(play)
    play.state_said("idle")
    assert outcome_of(only(play.throw(2, 3), RoundResult)).total == 5


def test_a_silence_before_bets_are_opened_hides_no_throw() -> None:
    play = Play(rounds="dice", shooter="unwatched")
    play.send("session.open")
    play.gap()
    play.throws = 41
    play.state_said("idle")
    play.send("dice.set", role="croupier", serials=SET, side=200, same_colour=True)
    play.send("dice.choose", role="croupier", serials=SET[:2])
    assert outcome_of(only(play.throw(2, 3), RoundResult)).total == 5


def test_a_throw_may_be_missed_while_another_waits_for_a_person() -> None:
    """The reader was switched off, and counts as before."""
    play = table(rounds="dice", shooter="unwatched")
    play.throw(2, 4)
    play.move()
    play.lie(3, 3, late=True)
    play.gap()
    play.state_said("idle")
    play.send("round.confirm")
    assert only(play.throw(2, 3), RoundUnresolved).why == "silence"


def test_the_first_throw_of_a_session_in_a_silence() -> None:
    play = table()
    play.bets()
    play.gap()
    play.throws = 1
    play.state_said("settled")
    assert only(play.lie(2, 3), RoundUnresolved).dice == (2, 3)


def test_without_a_count_a_person_decides() -> None:
    play = table(rounds="dice", shooter="unwatched")
    play.move(throw=None)
    play.lie(2, 4, throw=None)
    play.gap()
    play.move(throw=None)
    assert only(play.lie(2, 4, throw=None), RoundUnresolved).dice == (2, 4)


def test_reports_that_are_missing_may_have_hidden_a_throw() -> None:
    play = table(rounds="dice", shooter="unwatched")
    play.lie(2, 2, throw=None)
    play.take(LinkGap(at=play.now(), device="dice", lost=3))
    lost = only(play.lie(3, 3, throw=None), RoundUnresolved)
    assert (lost.why, lost.dice, play.point) == ("silence", (3, 3), 4)


def test_the_count_of_the_device_shows_that_no_throw_was_among_them() -> None:
    play = table(rounds="dice", shooter="unwatched")
    play.throw(2, 2)
    for gap_in_the_air in (False, True):
        if gap_in_the_air:
            play.move()
        play.take(LinkGap(at=play.now(), device="dice", lost=1))
        events = (
            [*play.state_said("settled"), *play.lie(3, 2)] if gap_in_the_air else play.throw(2, 3)
        )
        assert outcome_of(only(events, RoundResult)).total == 5
    play.throws += 1
    play.take(LinkGap(at=play.now(), device="dice", lost=9))
    assert only(play.throw(2, 3), RoundUnresolved).why == "silence"


@pytest.mark.parametrize("rounds", ["dice", "keys"])
def test_damaged_bytes_may_have_been_the_throw(rounds: str) -> None:
    """A camera sends each throw once, without a count and without a report of what is missing."""
    play = table(rounds=rounds, shooter="unwatched")
    if rounds == "keys":
        play.bets()
    play.take(LinkGarbage(at=play.now(), device="dice", bytes=4))
    lost = only(play.lie(3, 4, throw=None), RoundUnresolved)
    assert (lost.round, lost.why, lost.dice) == (1, "silence", (3, 4))


def test_the_count_shows_that_damaged_bytes_were_no_throw() -> None:
    play = table(shooter="unwatched")
    play.play(2, 2)
    play.bets()
    play.take(LinkGarbage(at=play.now(), device="dice", bytes=4))
    assert outcome_of(only(play.throw(2, 3), RoundResult)).total == 5


def test_damaged_bytes_before_a_person_closes_the_bets_hide_no_throw() -> None:
    """The key states that the dice have not been thrown yet."""
    play = table(shooter="unwatched")
    play.send("bets.open", role="croupier")
    play.take(LinkGarbage(at=play.now(), device="dice", bytes=4))
    play.send("bets.close", role="croupier")
    assert outcome_of(only(play.lie(2, 3, throw=None), RoundResult)).total == 5


def test_a_throw_after_a_restart_with_bets_closed_is_a_candidate() -> None:
    """The throw fell while the daemon was away; the next one is reported."""
    play = table(shooter="unwatched")
    play.play(2, 2)
    play.bets()
    play.again()
    play.take(LinkLost(at=play.now(), device="dice", reason="restart"))
    play.throws += 1
    play.take(LinkUp(at=play.now(), device="dice"))
    play.state_said("idle")
    lost = only(play.throw(3, 4), RoundUnresolved)
    assert (lost.round, lost.dice) == (2, (3, 4))


def test_a_restart_with_bets_that_the_dice_opened() -> None:
    """No key states that no throw was missed, and the reader's count does not show it: it may have
    been switched off too, and have come as far again.
    """
    play = table(rounds="dice", shooter="unwatched")
    play.throw(2, 4)
    play.again()
    play.take(LinkLost(at=play.now(), device="dice", reason="restart"))
    play.take(LinkUp(at=play.now(), device="dice"))
    play.state_said("idle")
    assert only(play.throw(2, 3), RoundUnresolved).dice == (2, 3)
    play.send("round.confirm")
    assert outcome_of(only(play.throw(2, 2), RoundResult)).total == 4


def test_dice_that_lie_as_before_after_a_silence() -> None:
    play = table(rounds="dice", shooter="unwatched")
    play.throw(2, 4)
    play.gap()
    assert play.lie(2, 4) == []


@every
def test_late_dice_are_a_candidate(decree: str) -> None:
    play = table(decree)
    play.bets()
    play.move()
    play.take(LinkStale(at=play.now(), device="dice", age=5.0))
    lost = only(play.lie(5, 5, late=True), RoundUnresolved)
    assert (lost.why, lost.dice) == ("silence", (5, 5))
    assert play.lie(5, 5, late=True) == []
    assert outcome_of(only(play.send("round.confirm", dice=[5, 6]), RoundResult)).total == 11


def test_late_dice_of_an_unseen_round() -> None:
    play = table(rounds="dice", shooter="unwatched")
    play.throw(2, 2)
    play.gap()
    first = only(play.lie(3, 3, throw=2, late=True), RoundUnresolved)
    second = only(play.lie(1, 3, throw=3, late=True), RoundUnresolved)
    assert (first.round, second.round) == (2, 3)
    play.throws = 3
    third = only(play.throw(3, 4), RoundUnresolved)
    assert (third.round, third.why) == (4, "undecided")
    with pytest.raises(RejectedError, match="decide round 2 first"):
        play.send("round.confirm", round=4)
    with pytest.raises(RejectedError, match="name one in round: 2, 3, 4"):
        play.send("round.confirm")
    play.send("round.void", round=2, reason="dice_slid")
    assert outcome_of(only(play.send("round.confirm", round=3), RoundResult)).point == 4
    events = play.send("round.confirm", round=4)
    assert (outcome_of(only(events, RoundResult)).point, whats(events)[-1]) == (
        None,
        "round.opened",
    )


def test_late_dice_for_which_no_bets_were_open() -> None:
    play = table()
    assert whats(play.lie(3, 3, late=True)) == ["throw_out_of_round"]
    play.send("bets.open")
    assert not of_kind(play.lie(3, 3, late=True), RoundResult)


def test_late_reports_do_not_move_the_dice() -> None:
    play = table(rounds="dice")
    assert play.move(late=True) == []
    assert play.shown["phase"] == "bets_open"


# Restarts


@every
def test_a_restart_in_the_middle_of_a_series(decree: str) -> None:
    play = table(decree)
    play.totals(9, 4)
    play.bet("hard_8", "seat:2", amount=500)
    play.bets()
    shown, lines = play.shown, play.game.view(play.state).history()
    play.again()
    play.gap()
    assert (play.shown, play.game.view(play.state).history()) == (shown, lines)
    assert only(play.throw(3, 6), RoundUnresolved).dice == (3, 6)
    assert outcome_of(only(play.send("round.confirm"), RoundResult)).point == 9


def test_a_restart_while_the_dice_are_in_the_air() -> None:
    """The reader may have been switched off too: its count does not show that it is this throw."""
    play = table()
    play.totals(9)
    play.bets()
    play.move()
    play.again()
    play.gap()
    assert only(play.lie(3, 4), RoundUnresolved).dice == (3, 4)
    assert outcome_of(only(play.send("round.confirm"), RoundResult)).point == 9


def test_a_restart_with_an_uncounted_throw() -> None:
    play = table()
    play.bets()
    play.move(throw=None)
    play.again()
    play.gap()
    assert only(play.lie(3, 4, throw=None), RoundUnresolved).dice == (3, 4)


def test_impossible_decisions_are_refused() -> None:
    play = table()
    with pytest.raises(RejectedError, match="no round is in progress and none is unresolved"):
        play.send("round.confirm")
    play.bets()
    with pytest.raises(RejectedError, match="round 1 is not waiting for a confirmation"):
        play.send("round.confirm")
    play.throw(3, 3)
    for number, why in ((1, "already has a result"), (7, "not among the remembered rounds")):
        with pytest.raises(RejectedError, match=why):
            play.send("round.void", round=number, reason="dice_slid")
    play.bets()
    play.send("round.void", reason="dice_slid")
    with pytest.raises(RejectedError, match="round 2 is already void"):
        play.send("round.confirm", round=2)
    with pytest.raises(RejectedError, match="role croupier is not allowed to do this"):
        play.send("round.confirm", role="croupier")


def test_an_unresolved_throw_without_dice() -> None:
    play = Play(shooter="unwatched", serials="unwatched")
    play.send("session.open")
    play.bets()
    play.send("session.close")
    with pytest.raises(RejectedError, match="no dice seen; give them in dice"):
        play.send("round.confirm", round=1)
    assert (
        outcome_of(only(play.send("round.confirm", round=1, dice=[1, 2]), RoundResult)).total == 3
    )


def test_an_unresolved_throw_in_the_history() -> None:
    play = table(rounds="dice", shooter="unwatched")
    play.move()
    play.lie(3, 3, late=True)
    assert history(play) == [{"round": 1, "kind": "unresolved", "dice": [3, 3]}]
    with pytest.raises(RejectedError, match="round 1 has no result yet"):
        play.bet("field", "seat:2")


def test_a_throw_is_reported_where_bets_close_by_themselves() -> None:
    play = table(rounds="dice", shooter="unwatched")
    events = play.send("dice.tell", role="croupier", values=[2, 3])
    assert whats(events) == ["bets.closed", "round.result", "point.set", "round.opened"]


def test_a_waiting_throw_is_never_dropped_from_the_history() -> None:
    play = table(rounds="dice", shooter="unwatched")
    play.throw(2, 3)
    play.move()
    play.fault("no_read")
    waits = play.state.remembered_rounds
    play.throw(3, 4)
    for _ in range(2 * waits):
        play.throw(6, 6)
    waiting = [entry.round for entry in play.state.unresolved()]
    assert waiting == list(range(2, waits + 2))
    asked = [event.what for event in of_kind(play.events, Irregularity) if not event.round]
    assert asked == ["throw_out_of_round"]
    assert (
        outcome_of(only(play.send("round.confirm", round=2, dice=[3, 4]), RoundResult)).point == 5
    )
    assert outcome_of(only(play.send("round.confirm", round=3), RoundResult)).point is None
