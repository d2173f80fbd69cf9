"""The rulebooks of poker against the dealer: complete, and in the decrees' own words and
figures.
"""

from __future__ import annotations

import pytest

from controller.games.games import make_game
from controller.games.hands.evaluator import RANKINGS
from controller.games.house_poker.settings import LAWS, OWN_LAWS
from controller.rulebooks.house_poker import HousePoker
from tests.support.for_each import for_each
from tests.support.games import decrees
from tests.support.games.poker_play import PAIRS

every = for_each(("game", "decree"), PAIRS)
FIVE = {
    "royal_flush": 100,
    "straight_flush": 25,
    "four": 20,
    "full_house": 7,
    "flush": 5,
    "straight": 4,
    "trips": 3,
    "two_pair": 2,
    "pair": 1,
    "high_card": 1,
}


def book_of(game: str, decree: str) -> HousePoker:
    return decrees.book_of(HousePoker, game, decree)


def to_one(pays: dict[str, tuple[int, int]]) -> dict[str, int]:
    """Pays that are whole numbers to 1."""
    assert {low for _, low in pays.values()} == {1}
    return {category: high for category, (high, _) in pays.items()}


@every
def test_has_a_law_for_each_report_of_the_game_and_no_other(game: str, decree: str) -> None:
    book = book_of(game, decree)
    own = {
        "bet_without_ante": bool(book.sides),
        "bet_late": bool(book.sides),
        "stake_limit": any(side.least or side.most for side in book.sides.values()),
        "jackpot_stake": bool(book.jackpot and book.jackpot.decided),
        "jackpot_not_in_play": book.jackpot is not None,
        "hand_told": "hand_told" in book.laws,
        "box_bettors": book.others_optional,
    }
    assert set(book.laws) == {*LAWS, *(law for law in OWN_LAWS if own[law])}


@every
def test_last_rounds_are_called_where_there_are_any_and_two_questions_are_always_open(
    game: str, decree: str
) -> None:
    book = book_of(game, decree)
    assert ("last_rounds" in book.announcements) == (book.last_rounds is not None)
    assert {"misdeal", "folded_bets"} <= set(book.doubts)


@every
def test_paid_hands_are_hands_of_the_ranking(game: str, decree: str) -> None:
    book = book_of(game, decree)
    categories = set(RANKINGS[book.ranking].categories)
    tables = [
        book.pays,
        book.bonus,
        *(table for side in book.sides.values() for table in side.tables),
    ]
    tables += [book.jackpot.shares, book.jackpot.discarded] if book.jackpot else []
    for table in tables:
        assert set(table) <= categories
    lowest = {"high_card"} if game == "poker-draw-house" else set()
    assert set(book.pays) == categories - lowest, "every hand that beats the bank is paid"


# Figures


@pytest.mark.parametrize(
    "decree",
    [
        pytest.param("BAL05", marks=pytest.mark.rule("BAL05-134", "BAL05-133")),
        pytest.param("ARA02", marks=pytest.mark.rule("ARA02-138", "ARA02-139")),
        pytest.param("EUS96", marks=pytest.mark.rule("EUS96-172")),
    ],
)
def test_the_pay_table_without_discards(decree: str) -> None:
    book = book_of("poker-no-draw", decree)
    assert to_one(book.pays) == FIVE
    assert book.second == 2


@pytest.mark.rule("EUS96-172")
def test_the_pay_table_with_discards() -> None:
    book = book_of("poker-draw-house", "EUS96")
    assert to_one(book.pays) == {
        "royal_flush": 100,
        "straight_flush": 25,
        "four": 20,
        "full_house": 7,
        "flush": 5,
        "straight": 3,
        "trips": 2,
        "two_pair": 1,
        "pair": 1,
    }
    assert (book.second, book.discards, book.boxes) == (2, 2, 6)


@pytest.mark.rule("BAL09-068", "EUS96-172")
@pytest.mark.parametrize("decree", ["BAL09", "EUS96"])
def test_the_bonus_on_the_ante(decree: str) -> None:
    book = book_of("three-card-poker", decree)
    assert to_one(book.bonus) == {"royal_flush": 5, "straight_flush": 5, "trips": 4, "straight": 1}
    assert set(to_one(book.pays).values()) == {1}
    assert book.second == 1


@pytest.mark.rule("BAL09-069")
def test_three_tables_of_the_bet_on_a_pair() -> None:
    sides = book_of("three-card-poker", "BAL09").sides["pair_plus"].tables
    assert [to_one(table) for table in sides] == [
        {
            "royal_flush": 50,
            "straight_flush": 40,
            "trips": 30,
            "straight": 6,
            "flush": 3,
            "pair": 1,
        },
        {
            "royal_flush": 40,
            "straight_flush": 40,
            "trips": 30,
            "straight": 6,
            "flush": 4,
            "pair": 1,
        },
        {
            "royal_flush": 35,
            "straight_flush": 35,
            "trips": 33,
            "straight": 6,
            "flush": 4,
            "pair": 1,
        },
    ]


def test_two_interpretations_of_the_bet_on_a_pair() -> None:
    printed, restored = book_of("three-card-poker", "EUS96").sides["pair_plus"].tables
    assert to_one(printed)["trips"] == 3
    assert (
        printed | {"trips": (30, 1)}
        == restored
        == book_of("three-card-poker", "BAL09").sides["pair_plus"].tables[0]
    )


@pytest.mark.rule("BAL05-136", "EUS96-198")
@pytest.mark.parametrize("decree", ["BAL05", "EUS96"])
def test_the_insurance(decree: str) -> None:
    side = book_of("poker-no-draw", decree).sides["insurance"]
    assert [to_one(table) for table in side.tables] == [
        {"full_house": 100, "four": 300, "straight_flush": 1000, "royal_flush": 2000}
    ]
    assert (side.least, side.most) == (None, (1, 2))


@pytest.mark.rule("BAL09-076")
def test_the_stake_on_a_pair_is_half_to_ten_times_the_minimum() -> None:
    side = book_of("three-card-poker", "BAL09").sides["pair_plus"]
    assert (side.least, side.most) == ((1, 2), (10, 1))


@pytest.mark.parametrize(
    ("game", "decree", "limits"),
    [
        pytest.param("poker-no-draw", "BAL05", (10, 20, 25), marks=pytest.mark.rule("BAL05-138")),
        pytest.param("poker-no-draw", "ARA02", (25,), marks=pytest.mark.rule("ARA02-139")),
        ("poker-no-draw", "EUS96", (10, 20, 25, 50)),
        ("poker-draw-house", "EUS96", (10, 20, 25, 50)),
        ("three-card-poker", "EUS96", (10, 20, 30, 50)),
        pytest.param(
            "three-card-poker", "BAL09", (10, 20, 25, 50), marks=pytest.mark.rule("BAL09-075")
        ),
    ],
)
def test_the_highest_ante(game: str, decree: str, limits: tuple[int, ...]) -> None:
    assert book_of(game, decree).limits == limits


def test_shares_of_the_meter() -> None:
    jackpots = {pair: book_of(*pair).jackpot for pair in PAIRS}
    catalan, spanish, basque = (
        jackpots["poker-no-draw", decree] for decree in ("BAL05", "ARA02", "EUS96")
    )
    assert catalan
    assert spanish
    assert basque
    assert catalan.shares == spanish.shares == {"royal_flush": (1, 1), "straight_flush": (1, 10)}
    assert basque.shares == catalan.shares | {"four": (1, 20)}
    assert (catalan.rises, spanish.rises, basque.rises) == ((9, 10), (1, 1), None)
    draw = jackpots["poker-draw-house", "EUS96"]
    assert draw is not None
    assert [each.of for each in (catalan, spanish, basque, draw)] == [
        "all_tables",
        "all_tables",
        "all_tables",
        "table",
    ]
    assert [each.decided for each in (catalan, spanish, basque, draw)] == [False, False, True, True]
    assert draw.discarded == {"royal_flush": (1, 10), "straight_flush": (1, 100), "four": (1, 200)}
    assert draw.starts == {"progressive": 1000, "fixed": 2000}


@pytest.mark.parametrize(
    ("game", "decree", "settings", "message"),
    [
        (
            "poker-no-draw",
            "ARA02",
            {"dealt": "packets"},
            "dealt = 'packets': must be one of: singly",
        ),
        ("poker-no-draw", "BAL05", {"boxes": 8}, "boxes = 8: must be 1 to 7"),
        ("poker-no-draw", "BAL05", {"limit": 50}, "limit = 50: must be one of: 10, 20, 25"),
        ("three-card-poker", "BAL09", {"pay_table": 4}, "pay_table = 4: must be 1 to 3"),
        (
            "poker-no-draw",
            "ARA02",
            {"jackpot_stake": 100},
            "jackpot_stake: leave it out; the decree has no decided amount",
        ),
        ("poker-no-draw", "EUS96", {"jackpot_stake": 0}, "jackpot_stake"),
        (
            "poker-no-draw",
            "EUS96",
            {"linked": True},
            "linked: leave it out; the decree has no jackpot of one table",
        ),
        (
            "poker-draw-house",
            "EUS96",
            {"later_prizes": "of_whole"},
            "later_prizes: leave it out; the decree decides it",
        ),
        (
            "three-card-poker",
            "BAL09",
            {"discarded_jackpot": True},
            "discarded_jackpot: leave it out; the decree has no such",
        ),
        (
            "poker-no-draw",
            "BAL05",
            {"exposed": "second"},
            "exposed = 'second': must be one of: 'first', 'last'",
        ),
    ],
)
def test_a_setting_that_the_decree_does_not_allow(
    game: str, decree: str, settings: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        make_game(game, decree, settings)
