"""Null spins: who declares them, why, and the ball until it is launched again."""

from __future__ import annotations

import pytest

from common.contract.commands import Role, VoidReason
from common.contract.events import (
    BetsClosed,
    Irregularity,
    RoundOpened,
    RoundResult,
    RoundUnresolved,
    RoundVoid,
)
from common.contract.refusals import RejectedError
from common.readings import LinkStale, LinkUp
from tests.support.games.outcomes import history, outcome_of
from tests.support.games.play import of_kind, only, whats
from tests.support.games.roulette_play import DECREES, PAIRS, Play

CALLS = {
    "BAL05": "tirada nul·la",
    "ARA02": "bola nula",
    "EUS96": "jaurtialdi baliogabea",
    "GAL07": "Tirada nula",
}


@pytest.mark.rule("ARA02-013", "ARA02-014", "ARA02-015")
@pytest.mark.rule("EUS96-013", "EUS96-014", "EUS96-015")
@pytest.mark.rule("GAL07-011", "GAL07-012", "GAL07-013")
@pytest.mark.rule("BAL05-020")
@pytest.mark.parametrize("reason", ["foreign_object", "ball_out", "bad_launch"])
def test_the_causes_of_a_null_spin_in_the_decree(play: Play, reason: VoidReason) -> None:
    play.until_closed(1)
    void = only(play.send("round.void", reason=reason), RoundVoid)
    law = play.game.book.void[reason]
    assert (void.reason, void.law, void.article) == (reason, law.rule, law.article)
    assert (void.by, void.role) == ("M. Lasa", "table_head")


@pytest.mark.rule("BAL05-021", "EUS96-016", "GAL07-014", "ARA02-017")
@pytest.mark.parametrize("decree", DECREES)
def test_a_null_spin_is_announced_at_once_and_has_no_number(decree: str) -> None:
    play = Play(decree)
    play.open()
    play.until_closed(1)
    void = only(play.send("round.void", reason="ball_out"), RoundVoid)
    assert list((void.announcement or {}).values()) == [CALLS[decree]]
    assert not hasattr(void, "number")
    play.phase("settled", 1)
    assert play.number(8, 1) == []


@pytest.mark.rule("ARA02-017", "BAL05-023", "EUS96-020")
def test_a_null_spin_leaves_the_last_number_and_the_zeros(play: Play) -> None:
    play.spin(0, 1)
    play.until_closed(2)
    assert only(play.send("round.void", reason="ball_out"), RoundVoid).last_number == 0
    assert (play.state.tally().number, play.state.tally().zeros) == (0, 1)
    assert [line["kind"] for line in history(play)] == ["result", "void"]
    assert outcome_of(only(play.spin(0, 2), RoundResult)).zeros == 2


@pytest.mark.rule("ARA02-018", "EUS96-019")
def test_after_a_null_spin_comes_a_relaunch_a_round_of_its_own(play: Play) -> None:
    play.spin(17, 1)
    play.until_closed(2)
    play.send("round.void", reason="ball_out")
    assert play.shown["phase"] == "relaunch"
    opened = only(play.phase("bets_open", 2), RoundOpened)
    assert (opened.round, opened.relaunch, opened.last_number) == (3, True, 17)
    play.phase("ball_in_rim", 2)
    play.phase("no_more_bets", 2)
    assert only(play.number(9, 2), RoundResult).round == 3
    assert not only(play.phase("bets_open", 3), RoundOpened).relaunch


@pytest.mark.rule("EUS96-019")
def test_after_a_null_spin_bets_may_be_changed_and_it_is_announced() -> None:
    play = Play("EUS96")
    play.open()
    play.until_closed(1)
    play.send("round.void", reason="ball_out")
    assert only(play.phase("bets_open", 1), RoundOpened).announcement == {
        "eu": "Joko egin jaunak, zuen apustuak alda ditzakezue"
    }


@pytest.mark.rule("ARA02-017", "BAL05-022", "EUS96-017", "GAL07-015")
def test_the_ball_put_back_is_no_result(play: Play) -> None:
    play.spin(17, 1)
    play.until_closed(2)
    play.send("round.void", reason="ball_out")
    assert play.number(17, 2) == []  # before the wheel starts over
    assert play.number(17, 3) == []  # even if it counts the ball put back as a spin
    play.phase("bets_open", 2)
    assert play.number(17, 2) == []  # and after
    play.phase("ball_in_rim", 2)
    play.phase("no_more_bets", 2)
    assert (
        outcome_of(only(play.number(17, 2), RoundResult)).number == 17
    )  # it may be launched into the same pocket


@pytest.mark.rule("ARA02-018", "BAL05-022", "EUS96-017", "GAL07-015")
def test_another_number_without_a_launch_is_an_irregularity(play: Play) -> None:
    play.spin(17, 1)
    play.until_closed(2)
    play.send("round.void", reason="ball_out")
    play.phase("bets_open", 2)
    events = play.number(34, 2)
    assert whats(events) == ["no_launch", "round.unresolved"]
    assert only(events, RoundUnresolved).candidate == 34


def test_a_relaunch_hidden_by_a_silence_is_unresolved(play: Play) -> None:
    play.spin(17, 1)
    play.until_closed(2)
    play.send("round.void", reason="ball_out")
    play.take(LinkStale(at=90, device="wheel", age=5.0), LinkUp(at=120, device="wheel"))
    play.phase("settled", 2)
    unresolved = only(play.number(17, 2), RoundUnresolved)
    assert (unresolved.round, unresolved.why, unresolved.candidate) == (3, "silence", 17)


def test_a_null_spin_while_bets_are_open_opens_the_relaunch_at_once(play: Play) -> None:
    play.phase("bets_open", 1)
    assert whats(play.send("round.void", reason="bad_launch")) == ["round.void", "round.opened"]
    play.phase("ball_in_rim", 1)
    play.phase("no_more_bets", 1)
    assert only(play.number(8, 1), RoundResult).round == 2


def test_a_round_that_the_wheel_gave_up_may_be_declared_null_afterwards(play: Play) -> None:
    play.spin(17, 1)
    play.until_closed(2)
    play.phase("bets_open", 2)
    assert play.shown["unresolved"] == [2]
    assert only(play.send("round.void", reason="ball_out", round=2), RoundVoid).round == 2
    assert play.number(17, 2) == []  # the current round is its relaunch: the ball was put back
    assert play.shown["relaunch"]


def unforeseen(play: Play) -> Role:
    """The role that decides what the decree does not foresee."""
    cell = play.game.deciders.get("round.void inspector")
    return cell.roles[0] if cell else play.game.book.void_by[0]


def test_a_null_spin_before_the_current_one_leaves_that_alone(play: Play) -> None:
    play.until_closed(1)
    play.number(8, 1, conflict=9)
    play.until_closed(2)
    assert (
        only(
            play.send("round.void", role=unforeseen(play), reason="inspector", round=1), RoundVoid
        ).round
        == 1
    )
    assert not play.shown["relaunch"]
    assert only(play.number(7, 2), RoundResult).round == 2


def test_a_null_spin_before_the_last_result_asks_for_no_relaunch(play: Play) -> None:
    play.until_closed(1)
    play.number(8, 1, conflict=9)
    play.spin(7, 2)
    play.send("round.void", role=unforeseen(play), reason="inspector", round=1)
    assert play.shown["phase"] == "waiting"
    assert not only(play.phase("bets_open", 3), RoundOpened).relaunch


def test_a_null_spin_two_rounds_before_makes_the_current_one_no_relaunch(play: Play) -> None:
    play.until_closed(1)
    play.number(8, 1, conflict=9)
    play.spin(7, 2)
    play.phase("bets_open", 3)
    play.send("round.void", role=unforeseen(play), reason="inspector", round=1)
    assert not play.shown["relaunch"]


@pytest.mark.parametrize(("game", "decree"), PAIRS)
@pytest.mark.rule("BAL05-021", "GAL07-014")
def test_only_who_the_decree_names_may_declare_it(game: str, decree: str) -> None:
    roles: tuple[Role, ...] = ("croupier", "table_head", "inspector", "director", "technician")
    for role in roles:
        play = Play(decree, game)
        play.open()
        play.until_closed(1)
        if role in play.game.book.void_alone:
            with pytest.raises(
                RejectedError,
                match="only while none of these is at the table: table_head, inspector",
            ):
                play.send("round.void", role, reason="ball_out")
            event = only(play.send("round.void", role, reason="ball_out", alone=True), RoundVoid)
            assert (event.role, event.alone) == (role, True)
        elif role in play.game.book.void_by:
            assert only(play.send("round.void", role, reason="ball_out"), RoundVoid).role == role
        else:
            with pytest.raises(RejectedError, match=f"role {role} is not allowed to do this"):
                play.send("round.void", role, reason="ball_out")


@pytest.mark.rule("ARA02-016")
@pytest.mark.parametrize("decree", DECREES)
def test_a_stopped_cylinder_is_a_cause_in_aragon_alone(decree: str) -> None:
    play = Play(decree)
    play.open()
    play.until_closed(1)
    events = play.phase("no_more_bets", 1, rpm=0.0)
    if decree == "ARA02":
        assert whats(events) == ["cylinder_stopped"]
        assert (
            only(play.send("round.void", reason="cylinder_stopped"), RoundVoid).law == "ARA02-016"
        )
    else:
        assert events == []
        with pytest.raises(RejectedError, match="cylinder_stopped is not a reason to void a round"):
            play.send("round.void", reason="cylinder_stopped")


def test_a_published_result_is_not_made_null(play: Play) -> None:
    play.spin(8, 1)
    with pytest.raises(
        RejectedError, match=r"round 1 already has a result; send result-correct to replace it"
    ):
        play.send("round.void", reason="ball_out", round=1)
    with pytest.raises(RejectedError, match="no round is in progress and none is unresolved"):
        play.send("round.void", reason="ball_out")


def test_a_spin_is_null_once(play: Play) -> None:
    play.until_closed(1)
    play.send("round.void", reason="ball_out")
    with pytest.raises(RejectedError, match="round 1 is already void"):
        play.send("round.void", reason="ball_out", round=1)


@pytest.mark.rule("ARA02-007", "BAL05-016", "EUS96-010", "GAL07-006")
def test_a_ball_that_runs_with_the_rotor_waits_for_a_person(play: Play) -> None:
    play.phase("bets_open", 1)
    play.phase("ball_in_rim", 1)
    irregularity = only(play.fault("ball_with_rotor"), Irregularity)
    assert (irregularity.what, irregularity.asks) == (
        "ball_with_rotor",
        ("round.confirm", "round.void"),
    )
    assert irregularity.law == play.game.book.laws["ball_with_rotor"].rule
    assert whats(play.phase("no_more_bets", 1)) == ["bets.closed"]
    assert play.number(8, 1) == []
    assert only(play.send("round.void", reason="bad_launch"), RoundVoid).reason == "bad_launch"


@pytest.mark.parametrize("decree", DECREES)
def test_a_ball_that_runs_with_the_rotor_may_make_the_spin_null(decree: str) -> None:
    play = Play(decree, ball_with_rotor="void")
    play.open()
    play.phase("bets_open", 1)
    assert play.fault("ball_with_rotor") == []  # not before it runs
    assert whats(play.phase("ball_in_rim", 1)) == ["ball_with_rotor", "round.void"]
    void = only(play.events, RoundVoid)
    assert (void.by, void.law) == (None, play.game.book.void["ball_with_rotor"].rule)
    assert play.phase("no_more_bets", 1) == []
    assert play.number(8, 1) == []
    assert only(play.phase("bets_open", 1), RoundOpened).relaunch


def test_a_ball_that_ran_with_the_rotor_before_the_launch_is_forgotten(play: Play) -> None:
    play.phase("bets_open", 1)
    play.fault("ball_with_rotor")
    play.fault("ball_with_rotor", active=False)
    assert play.phase("ball_in_rim", 1) == []


def test_unforeseen_cases_are_for_the_person_in_charge(play: Play) -> None:
    play.until_closed(1)
    void = only(play.send("round.void", role=unforeseen(play), reason="inspector"), RoundVoid)
    assert void.reason == "inspector"
    assert void.article


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("warn", ["failed_launch"]),
        ("ask", ["failed_launch"]),
        ("void", ["failed_launch", "round.void", "round.opened"]),
    ],
)
def test_a_failed_launch_is_treated_as_the_settings_say(policy: str, said: list[str]) -> None:
    play = Play("ARA02", failed_launch=policy)
    play.open()
    play.phase("bets_open", 1)
    assert whats(play.fault("failed_launch")) == said
    assert bool(play.shown["asks"]) == (policy == "ask")


def test_repeated_failed_launches_are_reported_once_a_round(play: Play) -> None:
    assert play.fault("failed_launch") == []  # no round is in hand
    play.phase("bets_open", 1)
    assert whats(play.fault("failed_launch")) == ["failed_launch"]
    play.fault("failed_launch", active=False)
    assert play.fault("failed_launch") == []


def test_bets_close_once_for_each_launch(play: Play) -> None:
    play.until_closed(1)
    play.send("round.void", reason="ball_out")
    events = play.until_closed(1)
    assert [event.round for event in of_kind(events, BetsClosed)] == [2]
