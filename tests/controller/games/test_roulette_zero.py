"""Zero and the simple chances."""

from __future__ import annotations

from fractions import Fraction

import pytest

from controller.games.zero import choices, may_leave_prison, worth
from controller.rulebooks.rulebook import rulebook

DECREES = ("BAL05", "ARA02", "EUS96", "GAL07")


def test_each_zero_halves_what_is_left() -> None:
    assert [worth(zeros) for zeros in range(4)] == [1, Fraction(1, 2), Fraction(1, 4), Fraction(1, 8)]


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
