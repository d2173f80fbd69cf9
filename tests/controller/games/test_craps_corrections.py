"""Effects of a corrected throw at a table of craps."""

from __future__ import annotations

import pytest

from common.contract.events import PointSet, ResultCorrected, ShooterChanged
from common.contract.refusals import RejectedError
from tests.support.games.craps_play import table
from tests.support.games.outcomes import history, outcome_of
from tests.support.games.play import of_kind, only, whats


def test_a_corrected_throw_takes_the_later_ones_with_it() -> None:
    play = table()
    play.totals(4, 9, 8)
    events = play.send("result.correct", round=1, dice=[4, 5])
    corrected = of_kind(events, ResultCorrected)
    assert [
        (event.round, outcome_of(event).dice, outcome_of(event).point) for event in corrected
    ] == [
        (1, (4, 5), None),
        (2, (3, 6), 9),
        (3, (2, 6), None),
    ]
    assert isinstance(corrected[1].bets, tuple)
    assert [own.outcome for own in corrected[1].bets if own.bet == "win"] == ["win", "win"]
    assert only(events, PointSet).point == 8
    assert [line["outcome"]["point"] for line in history(play)] == [None, 9, None]


def test_a_corrected_seven_gives_the_dice_back() -> None:
    play = table()
    play.totals(4)
    lost = play.totals(7)
    assert only(lost, ShooterChanged).seat == 2
    assert play.shown["bets"] == []
    events = play.send("result.correct", round=2, dice=[2, 6])
    assert whats(events) == ["result.corrected", "point.set", "shooter.changed"]
    assert (only(events, ShooterChanged).seat, only(events, ShooterChanged).why) == (1, "corrected")
    assert (play.point, [each.bet for each in play.state.bets]) == (4, ["win"])


def test_a_throw_corrected_into_a_seven_passes_the_dice() -> None:
    play = table()
    play.totals(4, 8)
    events = play.send("result.correct", round=2, dice=[1, 6])
    assert (only(events, ShooterChanged).seat, play.point, play.state.bets) == (2, None, ())


def test_invalid_corrections_are_refused() -> None:
    play = table()
    play.play(2, 2)
    play.bets()
    play.send("round.void", reason="dice_slid")
    for fields, why in (
        ({"round": 9, "dice": [1, 1]}, "not among the remembered rounds"),
        ({"round": 2, "dice": [1, 1]}, "has no result to correct"),
        ({"round": 1}, "give the right dice"),
        ({"round": 1, "dice": [2, 2]}, "already recorded"),
        ({"round": 1, "dice": [2, 7]}, "values must name 2 dice"),
    ):
        with pytest.raises(RejectedError, match=why):
            play.send("result.correct", **fields)
