"""What the rulebooks hold of black jack: whole, and in the decrees' own words and figures."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import msgspec
import pytest

from controller.games.blackjack.settings import LAWS, BlackjackSettings
from controller.rulebooks.blackjack import Blackjack
from controller.rulebooks.rulebook import rulebook
from tests.controller.games.blackjack_play import PAIRS
from tests.controller.seeds import stands_in
from tests.controller.test_rulebooks import of, quotes

every = pytest.mark.parametrize(("game", "decree"), PAIRS)


def book_of(decree: str, game: str = "blackjack") -> Blackjack:
    book = getattr(rulebook(decree), game.replace("-", "_"))
    assert isinstance(book, Blackjack)
    return book


@every
def test_has_a_law_for_whatever_the_game_can_report_and_no_other(game: str, decree: str) -> None:
    book = book_of(decree, game)
    assert set(book.laws) == {*LAWS, *(("hands_too_few",) if book.least_hands > 1 else ())}


@every
def test_cites_its_own_rules(game: str, decree: str) -> None:
    book = book_of(decree, game)
    for law in (*book.laws.values(), *book.void.values()):
        assert law.rule.startswith(f"{decree}-")
        assert law.article.startswith(book_of(decree).article)


@every
def test_words_are_the_decrees(game: str, decree: str, shared: Path) -> None:
    book = book_of(decree, game)
    [language] = rulebook(decree).languages
    assert stands_in(shared, decree, book.title[language], case=False)
    assert set(book.announcements) == {"last_round"}
    for announcement in book.announcements.values():
        [(spoken, phrase)] = announcement.items()
        assert spoken == language
        assert stands_in(shared, decree, phrase), phrase


@every
def test_articles_quote_the_decree(game: str, decree: str, shared: Path) -> None:
    book = book_of(decree, game)
    for law in (*book.laws.values(), *book.void.values()):
        assert quotes(law.article)
        for quote in quotes(law.article):
            assert stands_in(shared, decree, quote), quote


@every
def test_doubts_are_settings_with_the_same_choices(game: str, decree: str) -> None:
    types = {field.name: field.type for field in msgspec.structs.fields(BlackjackSettings)}
    for name, doubt in book_of(decree, game).doubts.items():
        assert doubt.choices == get_args(types[name])
        assert doubt.default in doubt.choices


@every
def test_every_doubt_is_in_the_document(game: str, decree: str) -> None:
    document = (Path(__file__).parents[2] / "docs" / "rules.md").read_text(encoding="utf-8")
    section = document.split("## Black jack")[1].split("\n## ")[0]
    for name, doubt in book_of(decree, game).doubts.items():
        [row] = [line for line in section.splitlines() if line.startswith(f"| `{name}` |")]
        assert f"| {doubt.question} | {', '.join(doubt.choices)} | **{doubt.default}** |" in row
        assert f"{decree} {doubt.lines}" in row


# In the decrees' own figures


@every
def test_six_decks_half_of_each_colour_five_burned(game: str, decree: str) -> None:
    rules = book_of(decree, game).shoe
    assert (rules.decks, rules.backs, rules.burn) == (6, (3, 3), 5)


@pytest.mark.parametrize("decree", of("BAL05-069", "ARA02-051", "EUS96-059", "GAL07-047"))
def test_at_least_one_deck_behind_the_cut_card(decree: str) -> None:
    assert (book_of(decree).shoe.behind, book_of(decree).shoe.behind_exact) == (52, False)


@pytest.mark.parametrize("decree", of("BAL05-084", "ARA02-069", "EUS96-065", "GAL07-065"))
def test_boxes_and_who_may_bet_on_them(decree: str) -> None:
    book = book_of(decree)
    assert (book.boxes, book.least_hands, book.bets_per_box) == {
        "BAL05": ((7, 9), 1, None),
        "ARA02": ((7,), 2, 3),
        "EUS96": ((9,), 1, 4),
        "GAL07": ((7,), 2, 3),
    }[decree]


@pytest.mark.parametrize("decree", of("BAL05-086", "ARA02-070", "EUS96-087", "GAL07-077"))
def test_highest_bets(decree: str) -> None:
    assert (
        book_of(decree).limits
        == {
            "BAL05": (20, 25, 50, 100, 200),
            "ARA02": (50, 100, 200),
            "EUS96": (25, 50, 100, 200),
            "GAL07": (20, 25, 50, 100, 200),
        }[decree]
    )


@every
def test_pays(game: str, decree: str) -> None:
    pays = {"win": (1, 1), "blackjack": (3, 2), "insurance": (2, 1)}
    assert book_of(decree, game).pays == pays | ({"three_sevens": (2, 1)} if decree == "ARA02" else {})


@pytest.mark.rule("EUS96-080", "EUS96-082", "EUS96-083")
def test_side_bets_of_the_basque_game() -> None:
    book = book_of("EUS96")
    assert book.pair_bets == {"pair_perfect": (25, 1), "pair_colour": (12, 1), "pair_mixed": (6, 1)}
    assert book.accumulated_bets == {
        "sevens_1": (2, 1),
        "sevens_2": (10, 1),
        "sevens_2_suited": (10, 1),
        "sevens_3": (200, 1),
        "sevens_3_suited": (2000, 1),
    }
    assert book.side_bet_limits == {"pairs_least": (1, 2), "pairs_most": (10, 20, 30), "accumulated_most": (1, 2)}


def test_the_triple_game_follows_the_simple_one_but_for_what_it_says_itself() -> None:
    simple, triple = book_of("EUS96"), book_of("EUS96", "blackjack-triple")
    own = {name for name in Blackjack.__struct_fields__ if getattr(simple, name) != getattr(triple, name)}
    assert own == {"title", "article", "plays", "dealer_alone"}
