"""Zero and the simple chances."""

from __future__ import annotations

from fractions import Fraction

import pytest

from common.contract.events import ResultCorrected
from controller.games.zero import choices, may_leave_prison, worth
from controller.rulebooks.rulebook import rulebook
from tests.support.games.decrees import by_decree
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind
from tests.support.games.roulette_play import Play

DECREES = ("BAL05", "ARA02", "EUS96", "GAL07")


def test_each_zero_halves_the_remaining_stake() -> None:
    assert [worth(zeros) for zeros in range(4)] == [
        1,
        Fraction(1, 2),
        Fraction(1, 4),
        Fraction(1, 8),
    ]


@pytest.mark.rule("ARA02-021")
@pytest.mark.rule("BAL05-029")
@pytest.mark.rule("EUS96-023")
@pytest.mark.rule("GAL07-018")
@pytest.mark.parametrize("decree", DECREES)
def test_the_french_player_chooses_the_american_does_not(decree: str) -> None:
    book = rulebook(decree)
    assert book.roulette_french is not None
    assert book.roulette_american is not None
    assert choices(book.roulette_french.zero, last_of_session=False) == ("half", "prison")
    assert choices(book.roulette_american.zero, last_of_session=False) == ("half",)


@pytest.mark.rule("BAL05-028")
@pytest.mark.rule("EUS96-025")
@pytest.mark.rule("GAL07-020")
@pytest.mark.parametrize("decree", DECREES)
def test_the_last_spin_leaves_no_choice(decree: str) -> None:
    book = rulebook(decree).roulette_french
    assert book is not None
    assert choices(book.zero, last_of_session=True) == ("refund",)


def test_below_the_minimum_a_stake_stays_in_prison() -> None:
    assert may_leave_prison(1000, 1, minimum=500)
    assert not may_leave_prison(1000, 2, minimum=500)


@pytest.mark.parametrize("decree", by_decree("BAL05-027", "ARA02-019", "EUS96-024", "GAL07-019"))
def test_a_correction_counts_the_zeros_in_a_row_and_recounts_later_ones(decree: str) -> None:
    play = Play(decree)
    play.open()
    for spin, number in enumerate((0, 17, 0, 0), 1):
        play.spin(number, spin)
    events = of_kind(play.send("result.correct", round=2, number=0), ResultCorrected)
    assert [
        (event.round, outcome_of(event).number, event.was, outcome_of(event).zeros)
        for event in events
    ] == [
        (2, 0, 17, 2),
        (3, 0, 0, 3),
        (4, 0, 0, 4),
    ]
    assert {outcome_of(event).last_of_session for event in events} == {False}
    events = of_kind(play.send("result.correct", round=1, number=5), ResultCorrected)
    assert [(event.round, outcome_of(event).zeros) for event in events] == [
        (1, 0),
        (2, 1),
        (3, 2),
        (4, 3),
    ]
    events = of_kind(play.send("result.correct", round=4, number=5), ResultCorrected)
    assert [(event.round, outcome_of(event).zeros) for event in events] == [(4, 0)]


@pytest.mark.parametrize("decree", by_decree("BAL05-028", "ARA02-020", "EUS96-025", "GAL07-020"))
def test_a_correction_of_the_last_spin_is_marked_as_last(decree: str) -> None:
    play = Play(decree)
    play.open()
    play.send("last_rounds.announce")
    for spin in (1, 2, 3):
        play.spin(7, spin)
    events = of_kind(play.send("result.correct", round=3, number=0), ResultCorrected)
    assert [(outcome_of(event).zeros, outcome_of(event).last_of_session) for event in events] == [
        (1, True)
    ]
