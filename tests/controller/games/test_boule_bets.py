"""Outcomes of the bets reported to a table of boule, or of the wheel of fortune."""

from __future__ import annotations

from typing import Any

import pytest

from common.contract.events import ResultCorrected, RoundResult, RoundVoid, Settled
from common.contract.refusals import RejectedError
from tests.support.games.cells_play import DECREES, Play, table
from tests.support.games.decrees import by_decree
from tests.support.games.play import only

every = pytest.mark.parametrize("decree", DECREES)
BETS = ("5", "1", "red", "black", "even", "odd", "pasa", "falta")


def placed_bets(play: Play, *bets: str) -> None:
    """Bets are open, and these are placed, each by another player."""
    play.send("bets.open")
    for seat, bet in enumerate(bets, 1):
        play.send("bet.place", "croupier", who=f"seat:{seat}", bet=bet, amount=500)


def closed(play: Play) -> None:
    """The ball or wheel is launched, and bets close."""
    play.phase("launched")
    play.phase("settling")
    play.send("bets.close", "croupier")


def outcomes(
    event: RoundResult | ResultCorrected,
) -> dict[tuple[str | None, str], tuple[str, tuple[int, int] | None]]:
    """The outcome and pay by player and bet."""
    assert isinstance(event.bets, tuple)
    return {(each.who, each.bet): (each.outcome, each.pays) for each in event.bets}


@pytest.mark.parametrize("decree", by_decree("BAL05-045", "ARA02-030", "EUS96-037", "GAL07-031"))
def test_each_reported_bet_is_settled(decree: str) -> None:
    for number, wins in (
        (5, {"5"}),
        (1, {"1", "black", "odd", "falta"}),
        (8, {"black", "even", "pasa"}),
        (2, {"red", "even", "falta"}),
    ):
        play = table("boule", decree)
        placed_bets(play, *BETS)
        closed(play)
        play.phase("settled")
        found = outcomes(only(play.number(number), RoundResult))
        assert set(found) == {(f"seat:{seat}", bet) for seat, bet in enumerate(BETS, 1)}
        for (_, bet), outcome in found.items():
            assert outcome == (
                ("win", (7, 1) if bet.isdecimal() else (1, 1)) if bet in wins else ("lose", None)
            )


@every
def test_a_round_without_bets_settles_none(decree: str) -> None:
    assert only(table("boule", decree).spin(1), RoundResult).bets == ()


@every
def test_a_withdrawn_bet_is_not_settled_and_of_two_amounts_the_last_counts(
    decree: str,
) -> None:
    play = table("boule", decree)
    placed_bets(play, "1", "1")
    play.send("bet.place", "croupier", who="seat:1", bet="1", amount=1000)
    play.send("bet.withdraw", "croupier", who="seat:2", bet="1")
    closed(play)
    play.phase("settled")
    assert set(outcomes(only(play.number(1), RoundResult))) == {("seat:1", "1")}


@every
def test_a_correction_settles_bets_again(decree: str) -> None:
    play = table("boule", decree)
    placed_bets(play, "1", "red")
    closed(play)
    play.phase("settled")
    play.number(1)
    event = only(play.send("result.correct", round=1, number=2), ResultCorrected)
    assert outcomes(event) == {("seat:1", "1"): ("lose", None), ("seat:2", "red"): ("win", (1, 1))}


@every
def test_after_a_null_spin_bets_stay_and_a_player_may_change_them(decree: str) -> None:
    play = table("boule", decree)
    placed_bets(play, "1", "2")
    closed(play)
    only(play.send("round.void", "inspector", reason="inspector"), RoundVoid)
    play.send("bets.open")
    assert [each["bet"] for each in play.shown["bets"]] == ["1", "2"]
    play.send("bet.withdraw", "croupier", who="seat:2", bet="2")
    closed(play)
    play.phase("settled")
    assert set(outcomes(only(play.number(1), RoundResult))) == {("seat:1", "1")}
    play.send("bets.open")
    assert play.shown["bets"] == []


@every
def test_bets_of_an_unresolved_round_are_settled_when_a_person_confirms_its_result(
    decree: str,
) -> None:
    play = table("boule", decree)
    placed_bets(play, "1")
    closed(play)
    play.send("session.close", locked=True)
    assert outcomes(
        only(play.send("round.confirm", "inspector", round=1, number=1), RoundResult)
    ) == {("seat:1", "1"): ("win", (7, 1))}


@every
def test_at_the_wheel_of_fortune_bets_follow_the_pay_of_each_symbol(decree: str) -> None:
    play = table("fortune-wheel", decree)
    [low, *_] = play.shown["cells"][1:]
    bet = str(low)
    placed_bets(play, bet)
    closed(play)
    play.phase("settled")
    result = only(play.number(low), RoundResult)
    assert isinstance(result.bets, tuple)
    [general] = [each for each in result.bets if each.bet == bet and each.who is None]
    assert result.bets[-1] == Settled(bet=bet, outcome="win", pays=general.pays, who="seat:1")


@every
def test_no_bet_is_placed_after_the_wheel_closed_them(decree: str) -> None:
    settings: dict[str, Any] = {"phases": "device"}
    play = table("boule", decree, **settings)
    play.phase("idle")
    play.send("bet.place", "croupier", who="seat:1", bet="1")
    play.phase("launched")
    play.phase("settling")
    with pytest.raises(RejectedError, match="no bets are open; return the chips"):
        play.send("bet.place", "croupier", who="seat:1", bet="2")
