"""The rotor is reversed for every spin, as far as its direction at the previous launch is known."""

from __future__ import annotations

import pytest

from common.contract.events import Irregularity, RoundResult
from common.readings import Direction, LinkLate, LinkStale, LinkUp
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind, only, whats
from tests.support.games.roulette_play import Play

CW: Direction = "clockwise"
ACW: Direction = "anticlockwise"


@pytest.mark.rule("ARA02-006", "BAL05-015", "EUS96-009", "GAL07-005")
def test_a_rotor_that_was_not_reversed_is_reported_once(play: Play) -> None:
    assert of_kind(play.spin(8, 1, direction=CW), Irregularity) == []
    assert of_kind(play.spin(9, 2, direction=ACW), Irregularity) == []
    events = play.spin(10, 3, direction=ACW)
    irregularity = only(events, Irregularity)
    assert irregularity.what == "rotor_not_reversed"
    assert irregularity.law == play.game.book.laws["rotor_not_reversed"].rule
    assert outcome_of(only(events, RoundResult)).number == 10
    assert of_kind(play.spin(11, 4, direction=CW), Irregularity) == []


def test_nothing_is_claimed_across_a_silence(play: Play) -> None:
    play.spin(8, 1, direction=CW)
    play.take(LinkStale(at=90, device="wheel", age=5.0), LinkUp(at=120, device="wheel"))
    assert of_kind(play.spin(9, 2, direction=CW), Irregularity) == []


@pytest.mark.parametrize(("spin", "told"), [(2, True), (3, False), (None, False)])
def test_after_a_short_silence_only_the_wheels_counter_decides(
    play: Play, spin: int | None, told: bool
) -> None:
    play.spin(8, 1, direction=CW)
    play.take(LinkLate(at=90, device="wheel", frames=4, silence=2.4))
    assert ("rotor_not_reversed" in whats(play.spin(9, spin, direction=CW))) == told


def test_nothing_is_claimed_of_a_wheel_that_does_not_report_its_direction(play: Play) -> None:
    assert (
        of_kind([*play.spin(8, 1), *play.spin(9, 2), *play.spin(9, 3, direction=CW)], Irregularity)
        == []
    )


@pytest.mark.parametrize(("setting", "told"), [("counts", False), ("ignored", True)])
def test_whether_a_null_spin_is_the_one_before_is_a_setting(setting: str, told: bool) -> None:
    play = Play("GAL07", rotor_after_void=setting)
    play.open()
    play.spin(8, 1, direction=CW)
    play.phase("bets_open", 2)
    play.phase("ball_in_rim", 2, direction=ACW)
    play.send("round.void", reason="ball_out")
    assert ("rotor_not_reversed" in whats(play.spin(9, 2, direction=CW))) == told


def test_the_result_may_wait_for_a_person() -> None:
    play = Play("EUS96", rotor_not_reversed="ask")
    play.open()
    play.spin(8, 1, direction=CW)
    events = play.spin(9, 2, direction=CW)
    assert whats(events) == ["round.opened", "rotor_not_reversed", "bets.closed"]
    assert play.shown["phase"] == "decision"
    result = only(play.send("round.confirm", "inspector"), RoundResult)
    assert (outcome_of(result).number, result.confirmed_by) == (9, "M. Lasa (inspector)")


def test_the_spin_may_be_null() -> None:
    play = Play("EUS96", rotor_not_reversed="void")
    play.open()
    play.spin(8, 1, direction=CW)
    assert whats(play.spin(9, 2, direction=CW)) == [
        "round.opened",
        "rotor_not_reversed",
        "round.void",
    ]


def test_the_rotor_is_watched_where_a_person_calls_the_bets() -> None:
    play = Play("EUS96", phases="person")
    play.open()
    for number, said in ((8, []), (9, ["rotor_not_reversed"])):
        play.phase("ball_in_rim", direction=CW)  # no bets are open: no round
        play.send("bets.open")
        assert play.phase("bets_open") == []
        assert whats(play.phase("ball_in_rim", direction=CW)) == said
        assert play.phase("no_more_bets", direction=CW) == []
        play.send("bets.close")
        assert whats(play.number(number)) == ["round.result"]
