"""What the rulebooks hold of boule and of the wheel of fortune: whole, and in the decrees' own words and figures."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from controller.games.boule import settings as boule_settings
from controller.games.boule.chances import bets, winning
from controller.games.fortune import settings as fortune_settings
from controller.games.games import make_game, settings_of
from controller.rulebooks.dispositions import dispositions
from controller.rulebooks.rulebook import rulebook
from controller.rulebooks.wheels import Boule, FortuneWheel
from tests.controller.seeds import stands_in
from tests.controller.test_rulebooks import of, quotes

DECREES = ("ARA02", "BAL05", "EUS96", "GAL07")
GAMES = ("boule", "fortune-wheel")
LAWS = {"boule": boule_settings.LAWS, "fortune-wheel": fortune_settings.LAWS}
BREACHES = {"boule": boule_settings.BREACHES, "fortune-wheel": fortune_settings.BREACHES}
every = pytest.mark.parametrize(("decree", "game"), [(decree, game) for decree in DECREES for game in GAMES])


def book_of(decree: str, game: str) -> Any:
    book = getattr(rulebook(decree), game.replace("-", "_"))
    assert isinstance(book, Boule | FortuneWheel)
    return book


def boule(decree: str) -> Boule:
    book = book_of(decree, "boule")
    assert isinstance(book, Boule)
    return book


def fortune(decree: str) -> FortuneWheel:
    book = book_of(decree, "fortune-wheel")
    assert isinstance(book, FortuneWheel)
    return book


# Whole, and in the decree's words


@every
def test_has_a_law_for_whatever_the_game_can_report_and_no_other(decree: str, game: str) -> None:
    assert set(LAWS[game]) == set(book_of(decree, game).laws)
    assert {breach.law for breach in BREACHES[game].values()} <= set(LAWS[game])


@every
def test_cites_its_own_rules(decree: str, game: str) -> None:
    book = book_of(decree, game)
    for law in (*book.laws.values(), *book.void.values()):
        assert law.rule.startswith(f"{decree}-")
        assert law.article.startswith(book.article)


@every
def test_words_are_the_decrees(decree: str, game: str, shared: Path) -> None:
    book = book_of(decree, game)
    [language] = rulebook(decree).languages
    assert stands_in(shared, decree, book.title[language], case=False)
    names = [bet.name for bet in book.bets.values()] + list(getattr(book, "chances", {}).values())
    for announcement in (*book.announcements.values(), *names):
        [(spoken, phrase)] = announcement.items()
        assert spoken == language
        assert stands_in(shared, decree, phrase), phrase


@every
def test_articles_quote_the_decree(decree: str, game: str, shared: Path) -> None:
    book = book_of(decree, game)
    for law in (*book.laws.values(), *book.void.values()):
        assert quotes(law.article)
        for quote in quotes(law.article):
            assert stands_in(shared, decree, quote), quote


@every
def test_no_spin_is_null_but_by_the_word_of_the_person_in_charge(decree: str, game: str) -> None:
    book = book_of(decree, game)
    assert set(book.void) == {"inspector"}
    assert "inspector" in book.void_by


@every
def test_doubts_are_settings_with_the_same_choices(decree: str, game: str) -> None:
    types = {field.name: field.type for field in msgspec.structs.fields(settings_of(game))}
    for name, doubt in book_of(decree, game).doubts.items():
        assert doubt.choices == get_args(types[name])
        assert doubt.default in doubt.choices


@every
def test_every_doubt_is_in_the_document(decree: str, game: str) -> None:
    document = (Path(__file__).parents[2] / "docs" / "rules.md").read_text(encoding="utf-8")
    section = document.split("## Boule and the wheel of fortune")[1].split("\n## ")[0]
    for name, doubt in book_of(decree, game).doubts.items():
        [row] = [line for line in section.splitlines() if line.startswith(f"| `{name}` |")]
        assert f"| {doubt.question} | {', '.join(doubt.choices)} | **{doubt.default}** |" in row
        assert f"{decree} {doubt.lines}" in row


@every
def test_is_made_with_its_own_defaults(decree: str, game: str) -> None:
    assert make_game(game, decree, {}).begin() is not None


# Boule


@pytest.mark.parametrize("decree", of("BAL05-038", "ARA02-028", "EUS96-035", "GAL07-028"))
def test_a_plate_has_two_rows_of_eighteen_holes_and_nine_numbers(decree: str) -> None:
    book = boule(decree)
    assert (book.holes, book.rows, book.numbers) == (18, 2, 9)


@pytest.mark.parametrize("decree", of("BAL05-045", "GAL07-031"))
def test_a_number_pays_seven_and_a_simple_chance_one(decree: str) -> None:
    assert {name: bet.pays for name, bet in boule(decree).bets.items()} == {"number": (7, 1), "simple": (1, 1)}


@pytest.mark.parametrize("decree", of("BAL05-046", "ARA02-033", "GAL07-034"))
def test_the_highest_stakes_are_fixed_between(decree: str) -> None:
    assert {name: bet.limits for name, bet in boule(decree).bets.items()} == {"number": (40, 100), "simple": (200, 500)}


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


@pytest.mark.parametrize("decree", of("BAL05-048", "ARA02-149", "EUS96-041 EUS96-042", "GAL07-036"))
def test_the_cells_add_up(decree: str) -> None:
    book = fortune(decree)
    assert sum(bet.cells for bet in book.bets.values()) == book.cells == (64 if decree == "ARA02" else 54)


@pytest.mark.rule("EUS96-043")
def test_the_basque_wheel_has_six_bets() -> None:
    assert list(fortune("EUS96").bets) == ["24", "15", "7", "4", "2", "joker"]


@pytest.mark.parametrize("decree", of("BAL05-048", "GAL07-036"))
def test_a_wheel_has_as_many_cells_of_a_number_as_it_says(decree: str) -> None:
    cells = {name: bet.cells for name, bet in fortune(decree).bets.items()}
    assert cells == {"24": 24, "15": 15, "7": 7, "4": 4, "2": 2, "joker_red": 1, "joker_black": 1}


def test_in_aragon_the_highest_bet_is_twenty_times_the_lowest() -> None:
    assert fortune("ARA02").highest == 20


@pytest.mark.parametrize("decree", DECREES)
def test_the_last_call_is_made_where_the_decree_words_it(decree: str) -> None:
    assert ("last_call" in fortune(decree).announcements) == (decree == "EUS96")


# Every rule


def test_every_rule_of_both_games_has_an_answer() -> None:
    rules = [f"BAL05-{n:03}" for n in range(38, 52)] + [f"ARA02-{n:03}" for n in (*range(28, 35), 149, 150)]
    rules += [f"EUS96-{n:03}" for n in range(35, 48)] + [f"GAL07-{n:03}" for n in range(28, 40)]
    assert set(rules) <= set(dispositions())
