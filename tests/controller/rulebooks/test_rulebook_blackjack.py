"""The rulebooks of black jack: complete, and in the decrees' own words and figures."""

from __future__ import annotations

import pytest

from controller.games.blackjack.settings import LAWS
from controller.rulebooks.blackjack import Blackjack
from tests.support.for_each import for_each
from tests.support.games import decrees
from tests.support.games.blackjack_play import PAIRS
from tests.support.games.decrees import by_decree

every = for_each(("game", "decree"), PAIRS)


def book_of(decree: str, game: str = "blackjack") -> Blackjack:
    return decrees.book_of(Blackjack, game, decree)


@every
def test_has_a_law_for_each_report_of_the_game_and_no_other(game: str, decree: str) -> None:
    book = book_of(decree, game)
    own = {
        "hands_too_few": book.least_hands > 1,
        "even_money": decree != "GAL07",
        "box_bettors": bool(book.bets_per_box),
        "jackpot_not_in_play": bool(book.accumulated_bets),
    }
    assert set(book.laws) == {*LAWS, *(law for law, is_there in own.items() if is_there)}


@every
def test_the_last_round_alone_is_called(game: str, decree: str) -> None:
    closing = {"last_shoe", "last_rounds"} if decree == "EUS96" else set()  # L2923-2925
    assert set(book_of(decree, game).announcements) == {"last_round"} | closing


# In the decrees' own figures


@every
def test_six_decks_half_of_each_colour_five_burned(game: str, decree: str) -> None:
    rules = book_of(decree, game).shoe
    assert (rules.decks, rules.backs, rules.burn) == (6, (3, 3), 5)


@pytest.mark.parametrize("decree", by_decree("BAL05-069", "ARA02-051", "EUS96-059", "GAL07-047"))
def test_at_least_one_deck_behind_the_cut_card(decree: str) -> None:
    assert (book_of(decree).shoe.behind, book_of(decree).shoe.behind_exact) == (52, False)


@pytest.mark.parametrize("decree", by_decree("BAL05-084", "ARA02-069", "EUS96-065", "GAL07-065"))
def test_boxes_and_who_may_bet_on_them(decree: str) -> None:
    book = book_of(decree)
    assert (book.boxes, book.least_hands, book.bets_per_box) == {
        "BAL05": ((7, 9), 1, None),
        "ARA02": ((7,), 2, 3),
        "EUS96": ((9,), 1, 4),
        "GAL07": ((7,), 2, 3),
    }[decree]


@pytest.mark.parametrize("decree", by_decree("BAL05-086", "ARA02-070", "EUS96-087", "GAL07-077"))
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
    assert book_of(decree, game).pays == pays | (
        {"three_sevens": (2, 1)} if decree == "ARA02" else {}
    )


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
    assert book.side_bet_limits == {
        "pairs_least": (1, 2),
        "pairs_most": (10, 20, 30),
        "accumulated_most": (1, 2),
    }


def test_the_triple_game_follows_the_simple_one_except_in_its_own_rules() -> None:
    simple, triple = book_of("EUS96"), book_of("EUS96", "blackjack-triple")
    own = {
        name
        for name in Blackjack.__struct_fields__
        if getattr(simple, name) != getattr(triple, name)
    }
    assert own == {"title", "article", "plays", "dealer_alone"}
