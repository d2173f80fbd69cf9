"""Points, naturals and the third card; and the game's own drawing function against the published
odds of six decks.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations_with_replacement
from typing import Any

import pytest

from controller.games.baccarat import (
    CELLS,
    Side,
    banker_draws,
    is_natural,
    is_pair,
    next_card,
    player_draws,
    points,
    value,
    winner,
)
from controller.games.cards import DECK
from controller.rulebooks.cards import ThirdCards
from controller.rulebooks.rulebook import rulebook
from tests.support.games.decrees import by_decree

DECREES = ("BAL05", "ARA02", "EUS96", "GAL07")


def third_of(decree: str) -> ThirdCards:
    book = rulebook(decree).punto_banca
    assert book is not None
    return book.third


@pytest.mark.parametrize("decree", by_decree("BAL05-098", "ARA02-076", "EUS96-125", "GAL07-090"))
def test_points_are_the_units_of_the_sum(decree: str) -> None:
    worth = dict(zip("A23456789TJQK", [*range(1, 10), 0, 0, 0, 0], strict=True))
    assert {card: value(card) for card in DECK} == {card: worth[card[0]] for card in DECK}
    assert points(["9c", "9d", "9h"]) == 7
    assert points(["Kc", "Qd"]) == 0
    assert points([]) == 0


def test_naturals_and_pairs() -> None:
    assert is_natural(["9c", "9h"])
    assert is_natural(["4c", "5h"])
    assert not is_natural(["4c", "3h", "Ac"])
    assert not is_natural(["9c"])
    assert is_pair(["Kc", "Kh"])
    assert not is_pair(["Kc", "Qc"])
    assert winner(["9c"], ["8c"]) == "player"
    assert winner(["Tc"], ["8c"]) == "banker"
    assert winner(["8c"], ["8d"]) is None


def test_a_cell_is_drawing_standing_or_a_choice() -> None:
    third = ThirdCards(
        player="TTTTTOPP", banker=("T" * 11,) * 3 + ("TTTTTTTTTOT",) + ("P" * 11,) * 4
    )
    assert [player_draws(third, total) for total in range(8)] == [*"TTTTTOPP"]
    assert banker_draws(third, 3, 9) == "O"
    assert banker_draws(third, 3, None) == "T"
    assert set(CELLS) == {*"TPO"}


# Every deal of six decks, by points


def outcomes(third: ThirdCards, decks: int = 6) -> tuple[Counter[Any], int]:
    """Number of deals of six cards in their order that give each (winner, cards, natural), over all
    deals.

    A card is known by its points: 0 is there sixteen times in a deck, each other four times. The
    two cards of a hand may come in either order, so a pair of unequal ones represents two deals.
    """
    there = [16 * decks] + [4 * decks] * 9
    names = ["T", "A", *"23456789"]
    found: Counter[Any] = Counter()

    def take(n: int) -> int:
        there[n] -= 1
        return there[n] + 1

    def third_cards(player: list[str], banker: list[str], weight: int, left: int) -> None:
        to: Side | None = next_card(third, player, banker)
        if to is None:
            spare = 1  # cards of the six that are not drawn may be any of those left
            for n in range(6 - len(player) - len(banker)):
                spare *= left - n
            natural = is_natural(player) or is_natural(banker)
            found[winner(player, banker), len(player) + len(banker), natural] += weight * spare
            return
        for n in range(10):
            ways = take(n)
            own = [names[n]]
            third_cards(
                player + own * (to == "player"),
                banker + own * (to == "banker"),
                weight * ways,
                left - 1,
            )
            there[n] += 1

    pairs = list(combinations_with_replacement(range(10), 2))
    for a, b in pairs:
        own = take(a) * take(b) * (1 if a == b else 2)
        for c, d in pairs:
            weight = own * take(c) * take(d) * (1 if c == d else 2)
            third_cards([names[a], names[b]], [names[c], names[d]], weight, 52 * decks - 4)
            there[c] += 1
            there[d] += 1
        there[a] += 1
        there[b] += 1
    total = 1
    for n in range(6):
        total *= 52 * decks - n
    return found, total


def test_every_deal_of_six_decks_comes_to_the_published_odds() -> None:
    """The three counts are the published ones for six decks, to the last deal; they print as
    45.8653, 44.6279 and 9.5069 % (Edward O. Thorp, «The Mathematics of Gambling»; the counts on
    Wizard of Odds, «Baccarat»). The shares of coups with four, five and six cards are published to
    a tenth of a per cent, which is the tolerance; that of naturals is held within it against
    endless cards, where a hand is none in 137 of 169 cases (34.28 %).
    """
    found, total = outcomes(third_of("ARA02"))
    counts = {
        who: sum(n for (won, _, _), n in found.items() if won == who)
        for who in ("banker", "player", None)
    }
    assert counts == {
        "banker": 403_095_751_234_560,
        "player": 392_220_492_728_832,
        None: 83_552_962_932_288,
    }
    assert sum(counts.values()) == total
    endless = 1 - (137 / 169) ** 2
    cards = {
        count: sum(n for (_, drawn, _), n in found.items() if drawn == count) / total
        for count in (4, 5, 6)
    }
    assert cards == pytest.approx({4: 0.379, 5: 0.303, 6: 0.318}, abs=6e-4)
    assert sum(n for (_, _, natural), n in found.items() if natural) / total == pytest.approx(
        endless, abs=6e-4
    )


@pytest.mark.parametrize("decree", DECREES)
def test_every_decree_has_the_same_odds(decree: str) -> None:
    assert third_of(decree) == ThirdCards(
        player=third_of("ARA02").player,
        banker=third_of("ARA02").banker,
        repairs=third_of(decree).repairs,
    )
