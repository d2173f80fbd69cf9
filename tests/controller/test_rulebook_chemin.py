"""What the rulebooks hold of chemin de fer and two-cloth baccarat: whole, and in the decrees' own words and figures."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from controller.games.chemin.settings import LAWS, CheminSettings
from controller.rulebooks.chemin import Chemin, Error
from controller.rulebooks.rulebook import rulebook
from tests.controller.seeds import stands_in
from tests.controller.test_rulebooks import of, quotes

DECREES = ("ARA02", "BAL05", "EUS96", "GAL07")
GAMES = ("chemin_de_fer", "baccarat_two_cloths")
every = pytest.mark.parametrize(("decree", "game"), list(product(DECREES, GAMES)))


def book_of(decree: str, game: str = "chemin_de_fer") -> Chemin:
    book = getattr(rulebook(decree), game)
    assert isinstance(book, Chemin)
    return book


@every
def test_has_a_law_for_whatever_the_game_can_report(decree: str, game: str) -> None:
    book = book_of(decree, game)
    assert set(LAWS) | set(book.errors) <= set(book.laws)
    assert set(book.laws) <= set(LAWS) | set(get_args(Error))


@every
def test_cites_its_own_rules(decree: str, game: str) -> None:
    book = book_of(decree, game)
    articles = (book.article, book_of(decree).article)  # two cloths: or those of the section that it follows
    for law in (*book.laws.values(), *book.void.values()):
        assert law.rule.startswith(f"{decree}-")
        assert law.article.startswith(articles)


@every
def test_words_are_the_decrees(decree: str, game: str, shared: Path) -> None:
    book = book_of(decree, game)
    [language] = rulebook(decree).languages
    assert stands_in(shared, decree, book.title[language], case=False)
    assert set(book.announcements) == {"cards_pass", "bank", "bets_closed", "card", "no"}
    for announcement in book.announcements.values():
        assert set(announcement) <= {language}
        for phrase in announcement.values():
            assert stands_in(shared, decree, phrase), phrase


@every
def test_articles_quote_the_decree(decree: str, game: str, shared: Path) -> None:
    book = book_of(decree, game)
    for law in (*book.laws.values(), *book.void.values()):
        assert quotes(law.article)
        for quote in quotes(law.article):
            assert stands_in(shared, decree, quote), quote


@every
def test_doubts_are_settings_with_the_same_choices(decree: str, game: str) -> None:
    types = {field.name: field.type for field in msgspec.structs.fields(CheminSettings)}
    for name, doubt in book_of(decree, game).doubts.items():
        assert doubt.choices == get_args(types[name])
        assert doubt.default in doubt.choices


@every
def test_every_doubt_is_in_the_document(decree: str, game: str) -> None:
    document = (Path(__file__).parents[2] / "docs" / "rules.md").read_text(encoding="utf-8")
    section = document.split("## Chemin de fer and two-cloth baccarat")[1].split("\n## ")[0]
    table = section.split(f"Settings of `{game.replace('_', '-')}`:")[1].split("\n\n")[1]
    for name, doubt in book_of(decree, game).doubts.items():
        rows = [line for line in table.splitlines() if line.startswith(f"| `{name}` |")]
        [row] = [line for line in rows if f"| {doubt.question} | {', '.join(doubt.choices)} | **{doubt.default}** |" in line]
        assert f"{decree} {doubt.lines}" in row


ANNEX_VII = (
    *["T T T T T T T T T T T"] * 3,
    "T T T T T T T T P O T",
    "P P T T T T T T P P T",
    "P P P P O T T T P P T",
    "P P P P P P T T P P P",
    "P P P P P P P P P P P",
)


@pytest.mark.rule("ARA02-097")
def test_annex_vii_is_copied_cell_by_cell(shared: Path) -> None:
    third = book_of("ARA02").third
    assert third.banker == tuple(row.replace(" ", "") for row in ANNEX_VII)
    assert third.repairs == ()
    for total, row in enumerate(ANNEX_VII):
        assert stands_in(shared, "ARA02", f"{total} {row}")


@pytest.mark.parametrize("decree", ["BAL05", "EUS96", "GAL07"])
def test_other_copies_are_repaired_from_it_and_say_where(decree: str) -> None:
    third = book_of(decree).third
    assert third.banker == book_of("ARA02").third.banker
    for repair in third.repairs:
        assert repair.columns == "0123456789P"
        assert repair.read == third.banker[repair.bank]
        assert "ARA02" in repair.lines


def test_what_the_basque_copy_prints(shared: Path) -> None:
    printed = {repair.bank: repair.printed for repair in book_of("EUS96").third.repairs}
    assert sorted(printed) == [3, 4, 5, 6, 7]
    for bank, row in printed.items():
        assert stands_in(shared, "EUS96", f"{bank} {row}")


@pytest.mark.parametrize("decree", of("ARA02-095", "BAL05-113", "EUS96-138", "GAL07-103"))
def test_what_hands_do(decree: str) -> None:
    for game in GAMES:
        assert book_of(decree, game).third.player == "TTTTTOPP"


@pytest.mark.parametrize(
    "decree",
    of(
        "ARA02-086 ARA02-087 ARA02-107 ARA02-108 ARA02-109",
        "BAL05-110 BAL05-124 BAL05-125 BAL05-126",
        "EUS96-131 EUS96-132 EUS96-150 EUS96-151 EUS96-154",
        "GAL07-099 GAL07-111 GAL07-113",
    ),
)
def test_figures_of_chemin_de_fer(decree: str) -> None:
    book = book_of(decree)
    assert (book.shoe.decks, book.shoe.behind, book.shoe.backs) == (6, 7, (3, 3))
    assert (book.shoe.index, book.shoe.new) == (False, False)
    assert (book.players, book.bank_maximum, book.garage) == (4, 100, 50)
    assert set(book.deductions.values()) == {(1, 20)}
    assert (book.banco, book.natural_beats) == ("authorised", False)


@pytest.mark.parametrize(
    "decree",
    of(
        "ARA02-111 ARA02-112 ARA02-115 ARA02-120 ARA02-121",
        "BAL05-110 BAL05-122 BAL05-124 BAL05-125",
        "EUS96-131 EUS96-132 EUS96-150 EUS96-151 EUS96-153",
        "GAL07-099 GAL07-110 GAL07-111",
    ),
)
def test_figures_of_two_cloths(decree: str) -> None:
    book = book_of(decree, "baccarat_two_cloths")
    assert (book.shoe.decks, book.shoe.behind, book.shoe.backs) == (6, 10, (3, 3))
    assert (book.shoe.index, book.shoe.new) == (False, True)
    assert (book.players, book.bank_maximum, book.garage) == (2, 0, 0)
    assert book.deductions == {"limited": (1, 50), "free": (1, 80)}  # two in a hundred, and one and a quarter
    assert (book.banco, book.natural_beats) == ("always", True)


@pytest.mark.parametrize("decree", DECREES)
def test_only_aragon_says_nothing_of_cards_thrown_away_at_two_cloths(decree: str) -> None:
    assert ("basket_zero" in book_of(decree, "baccarat_two_cloths").errors) == (decree != "ARA02")
