"""Boule: what a silence may have hidden is a candidate that a person decides; a place reported
while the ball moved is not.
"""

from __future__ import annotations

import pytest

from common.contract.events import (
    BetsClosed,
    BetsLastCall,
    Irregularity,
    RoundResult,
    RoundUnresolved,
    RoundVoid,
)
from common.readings import LinkGarbage, LinkLost, LinkOpen, LinkUp, Phase, WheelFaultName
from tests.support.games.cells_play import table
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind, only, whats

DECISIONS = ("round.confirm", "round.void")
FAULTS: tuple[WheelFaultName, ...] = ("ball_out", "between", "too_few_turns")


@pytest.mark.parametrize("phases", ["person", "device"])
def test_what_a_silence_hid_is_a_candidate_until_a_person_confirms_it(phases: str) -> None:
    play = table(phases=phases)
    if phases == "person":
        play.until_closed(1)
    else:
        play.phase("launched", 1)
        play.phase("settling", 1)
    play.gap()
    events = [*play.phase("settled", 1, late=True), *play.cell(4, 1, late=True)]
    assert [event.candidate for event in of_kind(events, RoundUnresolved)] == [4]
    assert of_kind(events, RoundResult) == []
    assert play.shown["unresolved"] == [1]
    play.again()
    assert outcome_of(only(play.send("round.confirm", round=1), RoundResult)).number == 4


@pytest.mark.parametrize("game", ["boule", "fortune-wheel"])
@pytest.mark.parametrize("hidden", ["silent", "damaged", "opened again"])
@pytest.mark.parametrize("spins", [(None, None), (1, 2)])
def test_a_place_after_closed_bets_and_a_silence_may_be_of_the_next_spin(
    game: str, hidden: str, spins: tuple[int | None, int | None]
) -> None:
    """A person opened and closed the bets; the spin of the round ended unseen."""
    play = table(game, phases="person")
    play.until_closed(spins[0])
    if hidden == "silent":
        play.gap()
    elif hidden == "damaged":
        play.take(LinkGarbage(at=play.now(), device="wheel", bytes=4))
    else:
        play.again()
        play.take(LinkLost(at=play.now(), device="wheel", reason="restart"))
        play.take(LinkOpen(at=play.now(), device="wheel"))
        play.take(LinkUp(at=play.now(), device="wheel"))
    play.phase("launched", spins[1])
    play.phase("settling", spins[1])
    play.phase("settled", spins[1])
    play.cell(4, spins[1])
    assert of_kind(play.events, RoundResult) == []
    while play.shown["asks"]:
        play.send("round.confirm")
    (unresolved,) = of_kind(play.events, RoundUnresolved)
    assert (unresolved.round, unresolved.why) == (1, "silence")
    assert unresolved.candidate is not None


@pytest.mark.parametrize(
    ("game", "fault"), [("boule", "ball_out"), ("boule", "between"), ("fortune-wheel", "between")]
)
def test_a_spin_of_which_only_a_fault_is_received_is_unresolved(
    game: str, fault: WheelFaultName
) -> None:
    """A silence hid the launch, and the ball was taken out before its hole was known: the round was
    played.
    """
    play = table(game, phases="device")
    play.alone(1, 1)
    play.gap()
    said = play.fault(fault, spin=2)
    assert whats(said)[:2] == [fault, "round.unresolved"]
    assert only(said, Irregularity).asks == DECISIONS
    assert (only(said, RoundUnresolved).round, only(said, RoundUnresolved).spin) == (2, 2)
    play.fault(fault, active=False, spin=2)
    play.alone(3, 3)
    assert [(result.round, result.spin) for result in of_kind(play.events, RoundResult)] == [
        (1, 1),
        (3, 3),
    ]
    assert (
        only(play.send("round.void", "inspector", round=2, reason="inspector"), RoundVoid).round
        == 2
    )


def test_a_counted_launch_is_not_the_uncounted_one_before() -> None:
    """A board that was restarted has no count for a spin that would have that of the one before;
    then a silence hid its end.
    """
    play = table(phases="device")
    play.alone(1, 1)
    play.phase("launched")
    play.phase("settling")
    play.gap()
    events = play.phase("launched", 12)
    assert (only(events, RoundUnresolved).round, only(events, RoundUnresolved).why) == (
        2,
        "silence",
    )
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
def test_bets_are_not_reported_as_closed_in_time_if_a_silence_may_have_hidden_it(
    phase: Phase, launched_live: bool
) -> None:
    """The plate comes back with a burst, and by then the ball has almost stopped. If it still runs,
    the calls are in time.
    """
    play = table(phases="device")
    play.alone(1, 1)
    play.gap()
    play.phase("launched", 2, late=True)
    if launched_live:
        play.phase("launched", 2)
    else:
        play.phase(phase, 2, late=True)
    events = play.phase(phase, 2)
    assert only(events, BetsClosed).unobserved is not launched_live
    assert bool(of_kind(events, BetsLastCall)) == (launched_live and phase == "settling")
    play.phase("settled", 2)
    assert outcome_of(only(play.cell(4, 2), RoundResult)).number == 4


@pytest.mark.parametrize("phases", ["person", "device"])
def test_reports_of_a_finished_spin_affect_no_other_round(phases: str) -> None:
    play = table(phases=phases)
    if phases == "person":
        play.until_closed(1)
    else:
        play.phase("launched", 1)
        play.phase("settling", 1)
    play.send("round.void", "inspector", reason="inspector")
    if phases == "person":
        assert whats(play.send("bets.open")) == ["round.opened"]
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


def test_a_table_that_runs_by_itself_continues_when_the_wheel_reports_live_that_it_stopped() -> (
    None
):
    play = table(phases="device")
    play.alone(1, 1)
    play.phase("launched", 2)
    play.gap()
    play.phase("settled", 2, late=True)
    assert whats(play.cell(4, 2, late=True)) == ["round.unresolved"]
    assert whats(play.phase("settled", 2)) == ["round.opened"]


def test_a_wheel_that_continued_in_a_silence_leaves_its_round_unresolved() -> None:
    play = table(phases="device")
    play.alone(1, 1)
    play.phase("launched", 2)
    play.phase("settling", 2)
    play.gap()
    events = play.phase("launched", 4)
    assert only(events, RoundUnresolved).why == "silence"
    assert of_kind(events, Irregularity) == []


@pytest.mark.parametrize("fault", ["between", "ball_out"])
def test_a_table_that_runs_by_itself_continues_after_a_fault_is_decided(
    fault: WheelFaultName,
) -> None:
    play = table(phases="device")
    play.alone(1, 1)
    play.phase("launched", 2)
    play.phase("settling", 2)
    play.fault(fault)
    assert whats(play.send("round.void", "inspector", reason="inspector")) == [
        "round.void",
        "round.opened",
    ]
    play.fault(fault, active=False)
    assert whats(play.alone(3, 3)) == [
        "bets.last_call",
        "bets.closed",
        "round.result",
        "round.opened",
    ]


@pytest.mark.parametrize("phases", ["device", "person"])
@pytest.mark.parametrize("spin", [None, 7])
def test_a_person_decides_a_place_reported_while_moving_before_a_silence(
    phases: str, spin: int | None
) -> None:
    play = table("boule", phases=phases)
    if phases == "person":
        play.until_closed(spin)
    else:
        play.phase("launched", spin)
        play.phase("settling", spin)
    assert play.cell(4, spin) == []
    play.gap()
    said = play.phase("settled", spin)
    assert (only(said, RoundUnresolved).why, only(said, RoundUnresolved).candidate) == (
        "silence",
        play.game.settings.holes[0][3],
    )
    assert not of_kind(play.events, RoundResult)


def test_a_place_reported_while_moving_is_never_that_of_a_later_round() -> None:
    play = table("boule", phases="device")
    play.phase("launched", 7)
    play.cell(4, 7)
    play.gap()
    assert only(play.fault("number_unknown", spin=9), RoundUnresolved).candidate is None
    play.phase("settled", 9)
    assert not of_kind(play.events, RoundResult)
    assert play.state.held is None


def test_a_place_reported_while_moving_is_not_final_where_another_spin_settles() -> None:
    play = table("boule", phases="person")
    play.until_closed(7)
    assert play.cell(4, 7) == []
    events = play.phase("settled", 8)
    assert only(events, Irregularity).what == "not_definitive"
    assert only(events, RoundUnresolved).candidate == play.game.settings.holes[0][3]
