"""The rulebooks of boule and of the wheel of fortune: complete, and in the decrees' own words and
figures.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from controller.games.boule import settings as boule_settings
from controller.games.boule.chances import bets, winning
from controller.games.fortune import settings as fortune_settings
from controller.rulebooks.dispositions import dispositions
from controller.rulebooks.wheels import Boule, FortuneWheelBook
from tests.support.for_each import for_each
from tests.support.games import decrees
from tests.support.games.decrees import by_decree

DECREES = ("ARA02", "BAL05", "EUS96", "GAL07")
GAMES = ("boule", "fortune-wheel")
LAWS = {"boule": boule_settings.LAWS, "fortune-wheel": fortune_settings.LAWS}
BREACHES = {"boule": boule_settings.BREACHES, "fortune-wheel": fortune_settings.BREACHES}
every = for_each(("decree", "game"), [(decree, game) for decree in DECREES for game in GAMES])


def boule(decree: str) -> Boule:
    return decrees.book_of(Boule, "boule", decree)


def fortune(decree: str) -> FortuneWheelBook:
    return decrees.book_of(FortuneWheelBook, "fortune-wheel", decree)


def book_of(decree: str, game: str) -> Any:
    return {"boule": boule, "fortune-wheel": fortune}[game](decree)


# Completeness and the decree's words


@every
def test_has_a_law_for_each_report_of_the_game_and_no_other(decree: str, game: str) -> None:
    assert set(LAWS[game]) == set(book_of(decree, game).laws)
    assert {breach.law for breach in BREACHES[game].values()} <= set(LAWS[game])


@every
def test_only_the_person_in_charge_declares_a_spin_null(decree: str, game: str) -> None:
    book = book_of(decree, game)
    assert set(book.void) == {"inspector"}
    assert "inspector" in book.void_by


# Boule


@pytest.mark.parametrize("decree", by_decree("BAL05-038", "ARA02-028", "EUS96-035", "GAL07-028"))
def test_a_plate_has_two_rows_of_eighteen_holes_and_nine_numbers(decree: str) -> None:
    book = boule(decree)
    assert (book.holes, book.rows, book.numbers) == (18, 2, 9)


@pytest.mark.parametrize("decree", by_decree("BAL05-045", "GAL07-031"))
def test_a_number_pays_seven_and_a_simple_chance_one(decree: str) -> None:
    assert {name: bet.pays for name, bet in boule(decree).bets.items()} == {
        "number": (7, 1),
        "simple": (1, 1),
    }


@pytest.mark.parametrize("decree", by_decree("BAL05-046", "ARA02-033", "GAL07-034"))
def test_the_highest_stakes_are_fixed_between(decree: str) -> None:
    assert {name: bet.limits for name, bet in boule(decree).bets.items()} == {
        "number": (40, 100),
        "simple": (200, 500),
    }


@pytest.mark.parametrize("decree", DECREES)
def test_the_house_keeps_a_ninth_of_every_bet(decree: str) -> None:
    book = boule(decree)
    for bet in bets(book):
        pays = Fraction(*book.bets["number" if bet.isdigit() else "simple"].pays)
        wins = sum(bet in winning(number, book) for number in range(1, 10))
        assert Fraction(9 - wins, 9) - Fraction(wins, 9) * pays == Fraction(1, 9)


@pytest.mark.parametrize("decree", DECREES)
def test_the_calls_are_all_three_in_the_book(decree: str) -> None:
    assert set(boule(decree).announcements) == {"bets_open", "last_call", "bets_closed"}


# The wheel of fortune


@pytest.mark.parametrize(
    "decree", by_decree("BAL05-048", "ARA02-149", "EUS96-041 EUS96-042", "GAL07-036")
)
def test_the_cells_add_up(decree: str) -> None:
    book = fortune(decree)
    assert (
        sum(bet.cells for bet in book.bets.values())
        == book.cells
        == (64 if decree == "ARA02" else 54)
    )


@pytest.mark.rule("EUS96-043")
def test_the_basque_wheel_has_six_bets() -> None:
    assert list(fortune("EUS96").bets) == ["24", "15", "7", "4", "2", "joker"]


@pytest.mark.parametrize("decree", by_decree("BAL05-048", "GAL07-036"))
def test_a_wheel_has_the_stated_number_of_cells_of_each_number(decree: str) -> None:
    cells = {name: bet.cells for name, bet in fortune(decree).bets.items()}
    assert cells == {"24": 24, "15": 15, "7": 7, "4": 4, "2": 2, "joker_red": 1, "joker_black": 1}


def test_in_aragon_the_highest_bet_is_twenty_times_the_lowest() -> None:
    assert fortune("ARA02").highest == 20


@pytest.mark.parametrize("decree", DECREES)
def test_the_last_call_is_made_where_the_decree_words_it(decree: str) -> None:
    assert ("last_call" in fortune(decree).announcements) == (decree == "EUS96")


# Every rule


def test_every_rule_of_both_games_has_an_answer() -> None:
    rules = [f"BAL05-{n:03}" for n in range(38, 52)] + [
        f"ARA02-{n:03}" for n in (*range(28, 35), 149, 150)
    ]
    rules += [f"EUS96-{n:03}" for n in range(35, 48)] + [f"GAL07-{n:03}" for n in range(28, 40)]
    assert set(rules) <= set(dispositions())
