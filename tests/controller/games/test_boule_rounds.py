"""Boule: rounds in the decrees' order, what each number wins, and reports of rounds out
of order.
"""

from __future__ import annotations

from typing import Any

import pytest

from common.contract.events import (
    AlertRaised,
    BetPlaced,
    BetsClosed,
    BetsLastCall,
    Irregularity,
    RoundOpened,
    RoundResult,
    RoundUnresolved,
)
from common.contract.refusals import RejectedError
from controller.games.boule.chances import bets, chances, winning
from controller.rulebooks.rulebook import rulebook
from controller.rulebooks.wheels import Boule
from tests.support.for_each import for_each
from tests.support.games.cells_play import DECREES, Play, table
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind, only, whats

every = pytest.mark.parametrize("decree", DECREES)


def cases(*rules: str) -> list[Any]:
    return [
        pytest.param(ids.split("-")[0], marks=pytest.mark.rule(*ids.split()), id=ids)
        for ids in rules
    ]


def book_of(decree: str) -> Boule:
    book = rulebook(decree).boule
    assert book is not None
    return book


# The course


CALLS = {
    "BAL05": ("Facin joc", "Han fet les apostes?", "Prou apostes"),
    "ARA02": ("hagan sus apuestas", "¿están hechas las apuestas?", "no va más"),
    "EUS96": ("egin itzazue apustuak", "egin dituzue apustuak?", "besterik ez"),
    "GAL07": ("Fagan as súas apostas", "¿Están feitas as apostas?", "Non vai máis"),
}


@for_each("decree", cases("BAL05-042", "ARA02-032", "EUS96-039", "GAL07-032"))
@for_each("phases", ["person", "device"])
def test_the_calls_come_in_their_order(decree: str, phases: str) -> None:
    play = table("boule", decree, phases=phases)
    events = play.spin(14, 1) if phases == "person" else play.alone(14, 1)
    calls = [
        event for event in events[:3] if isinstance(event, RoundOpened | BetsLastCall | BetsClosed)
    ]
    assert [type(event) for event in calls] == [RoundOpened, BetsLastCall, BetsClosed]
    assert [list((event.announcement or {}).values()) for event in calls] == [
        [call] for call in CALLS[decree]
    ]
    assert outcome_of(only(events[3:], RoundResult)).number == 5


@every
def test_where_nobody_opens_bets_the_next_round_begins_with_the_result(decree: str) -> None:
    play = table("boule", decree, phases="device")
    assert whats(play.alone(1, 1)) == [
        "round.opened",
        "bets.last_call",
        "bets.closed",
        "round.result",
        "round.opened",
    ]
    assert whats(play.alone(2, 2)) == [
        "bets.last_call",
        "bets.closed",
        "round.result",
        "round.opened",
    ]
    assert [result.spin for result in of_kind(play.events, RoundResult)] == [1, 2]
    assert of_kind(play.events, Irregularity) == []


def test_a_board_that_only_reports_places_is_enough() -> None:
    play = table()
    play.send("bets.open")
    play.send("bets.close")
    assert outcome_of(only(play.cell(3), RoundResult)).number == 3
    assert of_kind(play.events, Irregularity) == []


def test_a_number_that_the_device_itself_reports_is_accepted() -> None:
    play = table()
    play.until_closed(1)
    play.phase("settled", 1)
    assert outcome_of(only(play.number(9, 1), RoundResult)).colour == "red"


def test_a_repeated_place_is_no_second_result() -> None:
    play = table()
    play.spin(3, 1)
    assert play.cell(3, 1) == []
    play.send("bets.open")
    assert play.cell(3, 1) == []


# Out of order


@pytest.mark.parametrize("decree", cases("BAL05-042", "ARA02-032", "EUS96-039", "GAL07-032"))
def test_a_place_before_no_more_bets_is_reported_and_no_result(decree: str) -> None:
    play = table("boule", decree)
    play.send("bets.open")
    play.phase("launched", 1)
    play.phase("settled", 1)
    events = play.cell(4, 1)
    assert whats(events) == ["before_no_more_bets", "round.unresolved"]
    assert only(events, Irregularity).asks == ("round.confirm", "round.void")
    assert only(events, RoundUnresolved).candidate == 4
    assert only(play.send("round.confirm"), RoundResult).confirmed_by == "M. Lasa (table_head)"


@pytest.mark.parametrize("decree", cases("BAL05-042", "ARA02-032", "EUS96-039", "GAL07-032"))
def test_bets_closed_before_the_launch_are_reported(decree: str) -> None:
    play = table("boule", decree)
    play.spin(1, 1)
    play.send("bets.open")
    play.send("bets.close")
    events = play.phase("launched", 2)
    assert whats(events) == ["out_of_order"]
    assert only(events, Irregularity).detail == "bets closed before the launch"
    play.phase("settled", 2)
    assert whats(play.cell(4, 2)) == ["round.result"]


def test_a_launch_that_a_silence_may_have_hidden_is_not_called_late() -> None:
    play = table()
    play.spin(1, 1)
    play.send("bets.open")
    play.gap()
    play.send("bets.close")
    assert play.phase("launched", 2) == []


def test_bets_opened_after_the_launch_are_reported() -> None:
    play = table()
    play.phase("launched", 1)
    events = play.send("bets.open")
    assert whats(events) == ["round.opened", "out_of_order"]
    assert only(events, Irregularity).detail == "bets opened after the launch"


@pytest.mark.parametrize("decree", cases("BAL05-043", "GAL07-032"))
@pytest.mark.parametrize("phases", ["person", "device"])
def test_a_place_reported_while_the_ball_moves_waits_until_it_lies(
    decree: str, phases: str
) -> None:
    play = table("boule", decree, phases=phases)
    if phases == "person":
        play.until_closed(1)
    else:
        play.phase("launched", 1)
        play.phase("settling", 1)
    assert play.cell(4, 1) == []
    play.again()
    assert play.cell(6, 1) == []
    assert outcome_of(only(play.phase("settled", 1), RoundResult)).number == 6


def test_bets_that_were_not_seen_open_are_reported() -> None:
    play = table(phases="device")
    play.alone(1, 1)
    play.phase("launched", 2)
    events = play.phase("launched", 3)
    assert whats(events) == ["phase_skipped", "round.unresolved", "round.opened", "phase_skipped"]


@pytest.mark.parametrize("decree", cases("BAL05-044", "EUS96-040", "GAL07-033"))
def test_a_bet_after_no_more_bets_is_refused(decree: str) -> None:
    play = table("boule", decree)
    with pytest.raises(RejectedError, match="no bets are open"):
        play.send("bet.place", who="seat:1", bet="5")
    play.send("bets.open")
    placed = only(
        play.send("bet.place", "croupier", who="seat:1", bet="red", amount=500), BetPlaced
    )
    assert (placed.round, placed.bet, placed.withdrawn) == (1, "red", False)
    play.send("bets.close")
    with pytest.raises(RejectedError, match=f"return the chips: {decree}-0"):
        play.send("bet.place", who="seat:1", bet="5")
    with pytest.raises(RejectedError, match=r"no bet 0 here; bets are: 1, 2, .*falta"):
        play.send("bet.place", who="seat:1", bet="0")


# What a number wins


@every
def test_each_hole_has_its_number(decree: str) -> None:
    play = table("boule", decree)
    numbers = [outcome_of(only(play.spin(hole, hole), RoundResult)).number for hole in range(1, 19)]
    assert numbers == [*range(1, 10), *range(1, 10)]
    assert play.shown["counts"] == {str(number): 2 for number in range(1, 10)}
    assert len(play.game.view(play.state).history()) == 18


@for_each("decree", cases("BAL05-038", "ARA02-028", "EUS96-035", "GAL07-028"))
@for_each("hole", [0, 19])
def test_a_place_that_is_no_hole_is_no_result(decree: str, hole: int) -> None:
    play = table("boule", decree)
    play.until_closed(1)
    play.phase("settled", 1)
    events = play.cell(hole, 1)
    assert whats(events) == ["number_invalid", "number_unknown", "round.unresolved"]
    assert only(events, RoundUnresolved).candidate is None
    with pytest.raises(RejectedError, match=r"round 1 has no number seen; give it in number"):
        play.send("round.confirm")
    with pytest.raises(
        RejectedError, match=r"the wheel has no number 10; numbers: 1, 2, 3, 4, 5, 6, 7, 8, 9"
    ):
        play.send("round.confirm", number=10)
    assert outcome_of(only(play.send("round.confirm", number=7), RoundResult)).number == 7


@pytest.mark.parametrize("decree", cases("BAL05-039", "ARA02-029", "EUS96-036", "GAL07-029"))
def test_colours(decree: str) -> None:
    book = book_of(decree)
    assert {number for number in range(1, 10) if chances(number, book).colour == "black"} == {
        1,
        3,
        6,
        8,
    }
    assert {number for number in range(1, 10) if chances(number, book).colour == "red"} == {
        2,
        4,
        7,
        9,
    }
    assert chances(5, book).colour is None


@pytest.mark.parametrize("decree", cases("BAL05-041", "ARA02-031", "EUS96-038"))
def test_falta_is_below_five_and_pasa_above(decree: str) -> None:
    book = book_of(decree)
    assert {number for number in range(1, 10) if chances(number, book).half == "falta"} == {
        1,
        2,
        3,
        4,
    }
    assert {number for number in range(1, 10) if chances(number, book).half == "pasa"} == {
        6,
        7,
        8,
        9,
    }


@pytest.mark.parametrize(
    "decree", cases("BAL05-040", "ARA02-030", "EUS96-037", "GAL07-028 GAL07-030")
)
def test_five_belongs_to_no_simple_chance(decree: str) -> None:
    book = book_of(decree)
    result = only(table("boule", decree).spin(5, 1), RoundResult)
    assert (
        outcome_of(result).number,
        outcome_of(result).colour,
        outcome_of(result).parity,
        outcome_of(result).half,
    ) == (5, None, None, None)
    assert winning(5, book) == ("5",)


@pytest.mark.parametrize("decree", cases("BAL05-040", "ARA02-030", "EUS96-037", "GAL07-030"))
def test_every_other_number_wins_three_simple_chances(decree: str) -> None:
    book = book_of(decree)
    for number in {*range(1, 10)} - {5}:
        assert len(winning(number, book)) == 4
    assert set(bets(book)) == {
        chance for number in range(1, 10) for chance in winning(number, book)
    }


WINS = {
    1: ("black", "odd", "falta"),
    2: ("red", "even", "falta"),
    3: ("black", "odd", "falta"),
    4: ("red", "even", "falta"),
    6: ("black", "even", "pasa"),
    7: ("red", "odd", "pasa"),
    8: ("black", "even", "pasa"),
    9: ("red", "odd", "pasa"),
}


@pytest.mark.parametrize(
    "decree",
    cases("BAL05-040 BAL05-041", "ARA02-030 ARA02-031", "EUS96-037 EUS96-038", "GAL07-030"),
)
def test_the_result_has_the_simple_chances(decree: str) -> None:
    """In another row of the same plate the number is the same."""
    play = table("boule", decree)
    for spin, (number, chances_of_it) in enumerate(WINS.items(), 1):
        result = only(play.spin(number + 9 * (spin % 2), spin), RoundResult)
        assert (
            outcome_of(result).number,
            (outcome_of(result).colour, outcome_of(result).parity, outcome_of(result).half),
        ) == (
            number,
            chances_of_it,
        )


# Who throws


@pytest.mark.rule("GAL07-035")
def test_the_thrower_is_published_with_his_throws_in_a_row() -> None:
    play = table("boule", "GAL07")
    running = []
    for number, by in enumerate(("Ana", "Ana", "Brais", "Ana"), 1):
        play.send("bets.open")
        assert only(play.send("bets.close", "croupier", by=by), BetsClosed).by == by
        play.cell(1, number)
        running.append((play.shown["thrower"], play.shown["throws"]))
    assert running == [("Ana", 1), ("Ana", 2), ("Brais", 1), ("Ana", 1)]
    play.send("session.close")
    play.send("session.open")
    assert play.shown["thrower"] is None


# Messages of another wheel


def test_messages_of_a_roulette_wheel_are_reported_and_disturb_nothing() -> None:
    play = table()
    play.until_closed(1)
    events = play.phase("ball_in_rim", 2, device="rota")
    assert only(events, AlertRaised).alert == "wrong_device"
    assert play.phase("ball_in_rim", 2, device="rota") == []
    assert [*play.phase("settled", 2, device="rota"), *play.number(7, 2, device="rota")] == []
    play.phase("settled", 1)
    assert outcome_of(only(play.cell(2, 1), RoundResult)).number == 2


def test_without_a_session_nothing_is_published() -> None:
    play = Play()
    assert [*play.phase("launched", 1), *play.phase("settled", 1), *play.cell(4, 1)] == []
