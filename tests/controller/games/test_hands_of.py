"""The ranking by which a game compares its hands: the table is complete, and states what
it lacks.
"""

from __future__ import annotations

from typing import Any

import pytest

from controller.games.catalogue import catalogue
from controller.games.hands.evaluator import RANKINGS, value
from controller.games.hands.of import CONTESTS, Contest, contest
from controller.games.hands.words import in_words
from controller.rulebooks.rulebook import rulebook
from tests.support.for_each import for_each

ALL = [(decree, game) for decree, games in CONTESTS.items() for game in games]
POKER = {
    "trijoker",
    "pai-gow",
    "omaha",
    "holdem",
    "stud",
    "circle",
    "texas",
    "poker",
    "synthetic",
    "three",
}


def test_every_game_of_poker_of_the_decrees_has_its_ranking_and_no_other_has_one() -> None:
    there = {
        (pair.decree, pair.game) for pair in catalogue() if any(word in pair.game for word in POKER)
    }
    assert set(ALL) == there


@for_each(("decree", "game"), ALL)
def test_a_game_that_has_a_rulebook_has_its_ranking_from_there(decree: str, game: str) -> None:
    book: Any = getattr(rulebook(decree), game.replace("-", "_"), None)
    each = contest(game, decree)
    if book is not None:
        assert book.ranking in each.rankings
        assert getattr(book, "own_exactly", None) == each.own_exactly
        assert getattr(book, "low" if each.low == "low-8" else "ranking_low", None) == each.low


@for_each(
    "each",
    {id(each): each for games in CONTESTS.values() for each in games.values()}.values(),
    ids=str,
)
def test_its_rankings_exist_and_its_hands_can_be_made(each: Contest) -> None:
    for name in (*each.rankings, *([each.low] if each.low else [])):
        size = RANKINGS[name].size
        if each.own_exactly is None:
            assert size <= each.own + each.common
        else:
            assert each.own_exactly <= each.own
            assert size - each.own_exactly <= each.common


@for_each("game", ["circle-draw", "five-card-stud", "synthetic-poker"])
@for_each("decree", ["BAL09", "EUS96"])
@pytest.mark.rule("BAL09-056")
@pytest.mark.rule("EUS96-209")
def test_every_game_with_fewer_than_52_cards_has_the_flush_over_the_full_house(
    game: str, decree: str
) -> None:
    small = RANKINGS[contest(game, decree).rankings[-1]].categories
    assert small.index("flush") < small.index("full_house")


@pytest.mark.rule("BAL09-057")
def test_figures_count_at_covered_poker_alone() -> None:
    found = {
        (game, decree)
        for decree, games in CONTESTS.items()
        for game, each in games.items()
        if any("figures" in RANKINGS[name].categories for name in each.rankings)
    }
    assert found == {("circle-draw", "BAL09"), ("circle-draw", "EUS96")}


@pytest.mark.rule("BAL09-059")
def test_two_own_cards_count_at_omaha_and_synthetic_poker_alone() -> None:
    found = {
        (decree, game)
        for decree, games in CONTESTS.items()
        for game, each in games.items()
        if each.own_exactly is not None
    }
    assert found == {
        *(("EUS96", game) for game in ("omaha", "omaha-five", "omaha-hi-lo", "synthetic-poker")),
        *(("BAL09", game) for game in ("omaha", "synthetic-poker")),
        ("ARA02", "synthetic-poker"),  # in BAL05 any five of the seven (L2474-2476)
    }


@for_each(
    ("cards", "ranking", "words"),
    [
        ("Ac Ad Ah As X", "five-53", "five aces"),
        ("Ah Kh Qh Jh Th", "five-52", "royal flush"),
        ("9h 8h 7h 6h X", "five-53", "straight flush, ten high"),
        ("6c 6d 6h 6s 2c", "five-52", "four sixes, two"),
        ("Kc Kd Kh 4s 4c", "five-52", "full house, kings over fours"),
        ("Kc 9c 7c 4c 2c", "five-52", "flush, king, nine, seven, four, two"),
        ("Ac 2d 3h 4s 5c", "five-52", "straight, five high"),
        ("Jc 8d 9h Ts Ac", "five-28", "straight, jack high"),
        ("Kc Kd Kh 4s 2c", "five-52", "three kings, four, two"),
        ("Kc Kd Kh", "three", "three kings"),
        ("Jc Jd Ah Ks Qc", "five-32-figures", "figures, a pair of jacks, ace, king, queen"),
        ("Kc Kd 4h 4s Ac", "five-52", "two pair, kings and fours, ace"),
        ("Kc Kd 4h 3s Ac", "five-52", "a pair of kings, ace, four, three"),
        ("X Ac", "two-53", "a pair of aces"),
        ("X Kc", "two-53", "high card, ace, king"),
        ("8c 2d 3h 4s Ac", "low-8", "low, eight, four, three, two, ace"),
    ],
)
def test_a_hand_can_be_described_in_words(cards: str, ranking: str, words: str) -> None:
    assert in_words(value(cards.split(), ranking), ranking) == words
