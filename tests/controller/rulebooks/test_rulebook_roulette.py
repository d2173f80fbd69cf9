"""The rulebooks of roulette: complete, and in the decrees' own words and figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from common.contract.commands import Role
from controller.games.roulette.chances import colour
from controller.games.roulette.settings import LAWS
from controller.games.roulette.wheel import EUROPEAN, faults, neighbours
from controller.rulebooks.rulebook import Roulette, rulebook
from tests.support.for_each import for_each
from tests.support.games import decrees
from tests.support.games.decrees import by_decree
from tests.support.games.seeds import stands_in

DECREES = ("ARA02", "BAL05", "EUS96", "GAL07")
GAMES = ("roulette-french", "roulette-american")
BETS = {
    "straight",
    "split",
    "street",
    "corner",
    "six_line",
    "column",
    "dozen",
    "double_column",
    "double_dozen",
    "simple",
}
CHANCES = {"red", "black", "even", "odd", "pasa", "falta"}
rule = pytest.mark.rule


def roulette(decree: str, game: str = "roulette-french") -> Roulette:
    return decrees.book_of(Roulette, game, decree)


every = for_each(("decree", "game"), [(decree, game) for decree in DECREES for game in GAMES])


# Completeness


@every
def test_names_every_bet_and_chance(decree: str, game: str) -> None:
    book = roulette(decree, game)
    assert set(book.bets) == BETS
    assert set(book.chances) == CHANCES
    assert sorted(book.settlement) == sorted(BETS - {"simple"} | CHANCES)


@every
def test_has_a_law_for_each_report_of_the_game(decree: str, game: str) -> None:
    assert set(LAWS) <= set(roulette(decree, game).laws)


@every
def test_a_role_may_declare_a_spin_null(decree: str, game: str) -> None:
    by: tuple[Role, ...] = roulette(decree, game).void_by
    assert "table_head" in by


@pytest.mark.parametrize("decree", DECREES)
def test_the_american_game_follows_the_french_except_in_its_own_rules(decree: str) -> None:
    french, american = roulette(decree), roulette(decree, "roulette-american")
    own = {
        name
        for name in Roulette.__struct_fields__
        if getattr(french, name) != getattr(american, name)
    }
    assert own == {"title", "article", "zero", "settlement"} | (
        {"sectors"} if decree == "BAL05" else set()
    )


def test_the_order_of_2009_has_no_roulette() -> None:
    book = rulebook("BAL09")
    assert (book.roulette_french, book.roulette_american) == (None, None)


# In the decree's own figures


BANDS = {
    "straight": (10, 20, 30, 50),
    "split": (20, 40, 60, 100),
    "street": (30, 60, 90, 150),
    "corner": (40, 80, 120, 200),
    "six_line": (60, 120, 180, 300),
    "column": (120, 240, 360, 600),
    "dozen": (120, 240, 360, 600),
    "double_column": (240, 480, 720, 1200),
    "double_dozen": (240, 480, 720, 1200),
    "simple": (180, 360, 540, 900),
}


@pytest.mark.parametrize("decree", by_decree("ARA02-022", "BAL05-030", "EUS96-033", "GAL07-023"))
def test_highest_stakes_by_bands(decree: str) -> None:
    bands = 4 if decree == "EUS96" else 3
    for game in GAMES:
        assert {name: bet.limits for name, bet in roulette(decree, game).bets.items()} == {
            name: limits[:bands] for name, limits in BANDS.items()
        }


@pytest.mark.parametrize("decree", DECREES)
def test_every_bet_may_win_the_same_but_on_simple_chances(decree: str) -> None:
    """The bands are made so that stake times win is the same for every bet but the simple
    chances.
    """
    bets = roulette(decree).bets
    for band in range(len(bets["straight"].limits)):
        wins = {
            bet.limits[band] * (bet.pays[0] + bet.pays[1]) // bet.pays[1]
            for n, bet in bets.items()
            if n != "simple"
        }
        assert wins == {36 * bets["straight"].limits[band]}


PAYS = {
    "straight": (35, 1),
    "split": (17, 1),
    "street": (11, 1),
    "corner": (8, 1),
    "six_line": (5, 1),
    "column": (2, 1),
    "dozen": (2, 1),
    "double_column": (1, 2),
    "double_dozen": (1, 2),
    "simple": (1, 1),
}


@pytest.mark.parametrize("decree", [*by_decree("BAL05-025", "GAL07-025"), "ARA02", "EUS96"])
def test_pays(decree: str) -> None:
    book = roulette(decree)
    assert {name: bet.pays for name, bet in book.bets.items()} == PAYS
    assert book.zero_streets[:2] == ((0, 1, 2), (0, 2, 3))
    assert ((0, 1, 2, 3) in book.zero_streets) == (decree != "ARA02")


SIMPLE = ("red", "black", "even", "odd", "pasa", "falta")
AMERICAN = (
    *("double_column", "column", "pasa", "odd", "black", "red", "even", "falta"),
    *("double_dozen", "dozen", "six_line", "street", "corner", "split", "straight"),
)
FRENCH = {
    "EUS96": (
        *("double_column", "column", "double_dozen", "dozen", *SIMPLE),
        *("six_line", "street", "corner", "split", "straight"),
    )
}
COMMON = (
    *("column", "dozen", "double_column", "double_dozen", *SIMPLE),
    *("street", "six_line", "corner", "split", "straight"),
)


@pytest.mark.parametrize("decree", by_decree("ARA02-025", "BAL05-024", "EUS96-026", "GAL07-016"))
def test_order_of_payment_french(decree: str) -> None:
    assert roulette(decree).settlement == FRENCH.get(decree, COMMON)


@pytest.mark.parametrize("decree", by_decree("ARA02-025", "BAL05-024", "EUS96-027", "GAL07-017"))
def test_order_of_payment_american(decree: str) -> None:
    assert roulette(decree, "roulette-american").settlement == AMERICAN


@pytest.mark.parametrize("decree", by_decree("ARA02-021", "BAL05-029", "EUS96-023", "GAL07-018"))
def test_zero_leaves_half_or_prison_and_at_the_american_table_half(decree: str) -> None:
    assert roulette(decree).zero == "half_or_prison"
    assert roulette(decree, "roulette-american").zero == "half"


@pytest.mark.parametrize("decree", [*by_decree("BAL05-031", "GAL07-024"), "EUS96"])
def test_minimum_on_simple_chances(decree: str) -> None:
    assert roulette(decree).simple_minimum_factor == 5


def test_aragon_has_no_rule_for_a_minimum_on_simple_chances() -> None:
    assert roulette("ARA02").simple_minimum_factor is None


BIG_SERIES: list[tuple[int, ...]] = [
    (0, 2, 3),
    (4, 7),
    (12, 15),
    (18, 21),
    (19, 22),
    (25, 26, 28, 29),
    (32, 35),
]
THIRD: list[tuple[int, ...]] = [(5, 8), (10, 11), (13, 16), (23, 24), (27, 30), (33, 36)]
ORPHANS: list[tuple[int, ...]] = [(1,), (6, 9), (14, 17), (17, 20), (31, 34)]


@pytest.mark.parametrize("decree", by_decree("BAL05-036", "EUS96-029"))
def test_series_are_what_their_chips_cover(decree: str) -> None:
    sectors = roulette(decree, "roulette-american").sectors
    chips = {"big_series": BIG_SERIES, "third": THIRD, "orphans": ORPHANS}
    assert {name: set(numbers) for name, numbers in sectors.items()} == {
        name: {number for bet in bets for number in bet} for name, bets in chips.items()
    }
    assert sorted(number for numbers in sectors.values() for number in numbers) == list(range(37))


def test_in_the_balearics_series_are_played_at_the_american_table_only() -> None:
    assert roulette("BAL05").sectors == {}


# The wheel


@every
def test_the_usual_order_of_pockets_satisfies_the_decree(decree: str, game: str) -> None:
    assert faults(EUROPEAN, roulette(decree, game)) == []


@pytest.mark.parametrize("decree", by_decree("ARA02-003", "BAL05-013", "EUS96-004", "GAL07-003"))
def test_colours_by_the_sum_of_the_digits(decree: str) -> None:
    black = {number for number in range(1, 37) if colour(number, roulette(decree)) == "black"}
    assert black == {2, 4, 6, 8, 10, 11, 13, 15, 17, 20, 22, 24, 26, 28, 29, 31, 33, 35}


@pytest.mark.parametrize("decree", by_decree("BAL05-035", "EUS96-028"))
def test_neighbours_that_the_decree_names(decree: str) -> None:
    named = {int(number): set(around) for number, around in roulette(decree).neighbours.items()}
    assert named == {0: {3, 15, 26, 32}, 17: {2, 6, 25, 34}}
    for number, around in named.items():
        assert set(neighbours(number, EUROPEAN)) == around


# In the decree's own words


@pytest.mark.parametrize("decree", [*by_decree("BAL05-021", "EUS96-016", "GAL07-014"), "ARA02"])
def test_announcements_are_the_decrees_words(decree: str, shared: Path) -> None:
    announcements = roulette(decree).announcements
    assert {"bets_closed", "void"} <= set(announcements)
    for announcement in announcements.values():
        for phrase in announcement.values():
            assert stands_in(shared, decree, phrase), phrase
