"""The rulebooks of stud and of covered poker with discards: complete, and in the decrees' own words
and figures.
"""

from __future__ import annotations

import pytest

from controller.games.circle.draw import DrawTurn
from controller.games.circle.errors import REMEDIES
from controller.games.circle.first_to_act import FIRST_TO_ACT
from controller.games.circle.settings import LAWS, CircleSettings
from controller.games.circle.streets import needed, pack, ranking
from controller.games.circle.stud import StudTurn
from controller.games.hands.of import contest
from controller.rulebooks.circle import Circle
from tests.support.for_each import for_each
from tests.support.games import decrees

DECREES = ("BAL09", "EUS96")
PAIRS = tuple(
    (decree, game)
    for decree in DECREES
    for game in ("five-card-stud", "seven-card-stud", "circle-draw")
)
OWN = {
    "seven-card-stud": {
        "deal_both_exposed",
        "deal_last_card",
        "deal_last_of_two",
        "deal_shown_by_player",
        "deal_skipped",
    },
    "circle-draw": {"deck_short", "deal_deck_removed", "deal_false_opening", "opening_unproven"},
}
"""The laws of a game's own, in the order of 2009."""
every = for_each(("decree", "game"), PAIRS)
rule = pytest.mark.rule


def book_of(decree: str, game: str) -> Circle:
    return decrees.book_of(Circle, game, decree)


@every
def test_has_a_law_for_each_report_of_the_game_and_no_other(decree: str, game: str) -> None:
    book = book_of(decree, game)
    own = (
        OWN.get(game, set())
        if decree == "BAL09"
        else {"deck_short", "deal_deck_removed"}
        if game == "circle-draw"
        else set()
    )
    assert set(book.laws) == {*LAWS, *own}
    assert set(book.errors.values()) <= {
        *REMEDIES,
        *StudTurn.variant.remedies,
        *DrawTurn.variant.remedies,
    }
    assert set(book.first_to_act) <= set(FIRST_TO_ACT)


@every
def test_hands_are_ranked_as_in_the_list_of_contests(decree: str, game: str) -> None:
    book, listed = book_of(decree, game), contest(game, decree)
    assert {ranking(book, 4), ranking(book, 8)} == set(listed.rankings)


# Figures


@rule("BAL09-001", "BAL09-002", "BAL09-003", "EUS96-209")
@for_each(
    ("game", "few", "many"),
    [("five-card-stud", 32, 32), ("seven-card-stud", 52, 52), ("circle-draw", 32, 52)],
)
@for_each("decree", DECREES)
def test_the_pack(decree: str, game: str, few: int, many: int) -> None:
    book = book_of(decree, game)
    assert [len(pack(book, players)) for players in (4, 5, 6, 8)] == [few, few, many, many]
    assert {card[0] for card in pack(book, 5)} == set("AKQJT987" if few == 32 else "AKQJT98765432")


@rule("BAL09-012", "BAL09-011", "EUS96-200")
@every
def test_the_number_of_players(decree: str, game: str) -> None:
    book = book_of(decree, game)
    assert book.fewest == 4
    assert book.most == (8 if (decree, game) == ("BAL09", "circle-draw") else None)


@rule("BAL09-072")
@every
def test_three_raises_at_seven_cards(decree: str, game: str) -> None:
    assert book_of(decree, game).raises == (3 if game == "seven-card-stud" else None)


@rule("BAL09-060", "EUS96-212")
def test_the_draw() -> None:
    first, second = book_of("BAL09", "circle-draw").draw, book_of("EUS96", "circle-draw").draw
    assert first is not None
    assert second is not None
    assert (first.opening, first.most, first.last_apart, first.short) == (
        ("J", "Q", "K", "A"),
        5,
        None,
        "penultimate",
    )
    assert (second.opening, second.most, second.last_apart, second.short) == ((), 4, 4, "empty")


@pytest.mark.parametrize(
    ("game", "most"), [("five-card-stud", 6), ("seven-card-stud", 8), ("circle-draw", 10)]
)
def test_the_pack_has_cards_for_all_players(game: str, most: int) -> None:
    book, settings = book_of("BAL09", game), CircleSettings()
    assert needed(book, settings, most) <= len(pack(book, most)) < needed(book, settings, most + 1)
