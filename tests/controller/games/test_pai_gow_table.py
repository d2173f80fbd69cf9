"""Rules of pai gow without a table: the dice and the place they choose, hands set in two, the nine
cases.
"""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.games.decks import deck
from controller.games.hands.evaluator import value
from controller.games.pai_gow.table import (
    case_of,
    clockwise,
    counted,
    croupier,
    judged,
    order,
    passed,
    positions,
    split,
    who_at,
)
from controller.rulebooks.pai_gow import PaiGow
from controller.rulebooks.rulebook import rulebook
from tests.support.for_each import for_each
from tests.support.games.decrees import by_decree

DECREES = ("BAL09", "EUS96")
every = pytest.mark.parametrize("decree", DECREES)
THROWS = list(product(range(1, 7), repeat=3))


def book_of(decree: str = "BAL09") -> PaiGow:
    book = rulebook(decree).pai_gow
    assert book is not None
    return book


# Dice and places


@pytest.mark.parametrize("decree", by_decree("BAL09-038", "EUS96-177"))
def test_one_eight_and_fifteen_are_the_banks_own_place(decree: str) -> None:
    book = book_of(decree)
    for bank in positions(book):
        assert (
            {total for total in range(1, 19) if counted(book, bank, total) == bank}
            == set(book.bank_counts)
            == {1, 8, 15}
        )


@pytest.mark.parametrize("decree", by_decree("BAL09-036", "EUS96-176"))
def test_three_dice_make_three_to_eighteen_as_often_as_published(decree: str) -> None:
    book = book_of(decree)
    assert book.dice == 3
    ways = Counter(map(sum, THROWS))
    assert [ways[total] for total in range(3, 19)] == [
        1,
        3,
        6,
        10,
        15,
        21,
        25,
        27,
        27,
        25,
        21,
        15,
        10,
        6,
        3,
        1,
    ]
    assert (min(ways), max(ways), ways.total()) == (3, 18, 216)


@every
def test_every_place_is_chosen_by_31_of_216_throws_and_the_one_before_the_bank_by_30(
    decree: str,
) -> None:
    """The whole distribution, wherever the bank is."""
    book = book_of(decree)
    for bank in positions(book):
        chosen = Counter(counted(book, bank, sum(throw)) for throw in THROWS)
        before = clockwise(book, bank, positions(book))[-1]
        assert chosen == {place: 30 if place == before else 31 for place in positions(book)}


def test_places_are_counted_clockwise_from_the_bank() -> None:
    book = book_of()
    assert [counted(book, 7, total) for total in range(3, 10)] == [2, 3, 4, 5, 6, 7, 1]
    assert [counted(book, 3, total) for total in range(3, 10)] == [5, 6, 7, 1, 2, 3, 4]
    assert [who_at(book, place) for place in (1, 6, croupier(book))] == ["box:1", "box:6", "dealer"]


@given(st.integers(1, 7), st.sets(st.integers(1, 7), min_size=1))
def test_hands_are_served_clockwise_from_the_place_chosen(start: int, there: set[int]) -> None:
    served = clockwise(book_of(), start, sorted(there))
    assert sorted(served) == sorted(there)
    steps = [(place - start) % 7 for place in served]
    assert steps == sorted(steps)


def test_the_places_that_the_bank_skips() -> None:
    book = book_of()
    assert passed(book, 7, 3) == (1, 2)
    assert passed(book, 5, 1) == (6, 7)
    assert passed(book, 6, 7) == ()


@pytest.mark.parametrize("decree", by_decree("BAL09-033", "EUS96-178"))
def test_the_number_of_remaining_cards(decree: str) -> None:
    book = book_of(decree)
    left = {hands: len(deck(book.deck)) - book.hand * hands for hands in range(2, 8)}
    assert left == {7: 4, 6: 11, 5: 18, 4: 25, 3: 32, 2: 39}


# Cards


@pytest.mark.parametrize("decree", by_decree("BAL09-005", "EUS96-175"))
def test_fifty_three_cards_one_of_them_a_joker(decree: str) -> None:
    cards = deck(book_of(decree).deck)
    assert (len(cards), len(set(cards)), cards.count("X")) == (53, 53, 1)


@pytest.mark.parametrize("decree", by_decree("BAL09-062", "EUS96-175"))
@for_each(
    ("cards", "made"),
    [
        ("X Kh 9d 5c 2s", "high_card"),
        ("X Ah 9d 5c 2s", "pair"),
        ("X Kh Kd 5c 2s", "pair"),
        ("X Kh Kd 5c 5s", "two_pair"),
        ("X 9h Td Jc Qs", "straight"),
        ("X 2h 9h Jh Kh", "flush"),
        ("X 9h Th Jh Qh", "straight_flush"),
        ("X Ah As Ad Ac", "five_aces"),
    ],
)
def test_the_joker_is_an_ace_or_completes_straight_and_flush(
    decree: str, cards: str, made: str
) -> None:
    assert value(cards.split(), book_of(decree).ranking).category == made


@pytest.mark.parametrize("decree", [*by_decree("BAL09-064"), "EUS96"])
def test_five_aces_and_two_aces_are_the_highest(decree: str) -> None:
    book = book_of(decree)
    aces = ("Ah", "As", "Ad", "Ac", "X")
    assert value(aces, book.ranking).key > value(("Ah", "Kh", "Qh", "Jh", "Th"), book.ranking).key
    pairs = [(one, other) for one in deck(book.deck) for other in deck(book.deck) if one < other]
    assert max(pairs, key=lambda pair: value(pair, book.ranking_low).key)[0][0] in "AX"
    assert {value(pair, book.ranking_low).category for pair in pairs} == {"pair", "high_card"}


@pytest.mark.parametrize("decree", by_decree("EUS96-181"))
def test_ace_to_five_is_the_second_straight(decree: str) -> None:
    straights = ("Ah Kd Qs Jc Th", "Ah 2d 3s 4c 5h", "Kh Qd Js Tc 9h", "6h 5d 4s 3c 2h")
    keys = [value(cards.split(), book_of(decree).ranking).key for cards in straights]
    assert keys == sorted(keys, reverse=True)
    assert len(set(keys)) == len(keys)


# Hands set in two


@pytest.mark.parametrize("decree", by_decree("BAL09-052", "EUS96-179"))
@for_each(
    ("cards", "low", "right"),
    [
        ("Ah As Kd Kc 7h 5d 2c", "Kd Kc", True),
        ("Ah As Kd Kc 7h 5d 2c", "Ah As", False),
        ("Ah Kd Qc 9h 7s 5d 2c", "Kd Qc", True),
        ("Ah Kd Qc 9h 7s 5d 2c", "Ah Kd", False),
        ("Ah As Ad Ac 9h 7s 5d", "Ah As", True),
        ("Ah Kd Qc 9h 7s 5d 2c", "Kd Qc 9h", False),
        ("Ah Kd Qc 9h 7s 5d 2c", "Kd", False),
        ("2h 3s 3d 3c 4h 5d 6c", "3d 3c", True),
        ("2h 2s 3d 3c 8h 5d Kc", "3d 3c", False),
    ],
)
def test_the_high_hand_is_worth_more_than_the_low_one(
    decree: str, cards: str, low: str, right: bool
) -> None:
    assert (judged(book_of(decree), cards.split(), low.split()) is not None) is right


HANDS = st.permutations(deck("deck_53")).map(lambda cards: (cards[:7], cards[7:14]))


@given(HANDS)
def test_every_hand_can_be_set_rightly(hands: tuple[list[str], list[str]]) -> None:
    """Some two of the seven cards make a low hand that is worth less than the rest."""
    cards, _ = hands
    assert any(
        judged(book_of(), cards, (one, other)) for one in cards for other in cards if one < other
    )
    assert len(split(cards, cards[:2])) == 5


# The cases


TABLE = {
    ("higher", "higher"): "win",
    ("higher", "lower"): "void",
    ("lower", "higher"): "void",
    ("higher", "equal"): "void",
    ("equal", "higher"): "void",
    ("lower", "equal"): "lose",
    ("equal", "lower"): "lose",
    ("equal", "equal"): "lose",
    ("lower", "lower"): "lose",
}


@pytest.mark.parametrize("decree", by_decree("BAL09-063", "EUS96-180"))
def test_the_nine_cases(decree: str) -> None:
    book = book_of(decree)
    assert {(case.high, case.low): case.outcome for case in book.cases} == TABLE
    assert len(book.cases) == 9
    assert [case.case[0] for case in book.cases] == list("122334456")


@given(HANDS)
def test_the_bank_wins_equal_cases(hands: tuple[list[str], list[str]]) -> None:
    """From both sides: never do both win, and of equal hands the client loses."""
    book = book_of()
    mine, theirs = (
        next(
            made
            for one in cards
            for other in cards
            if one < other and (made := judged(book, cards, (one, other)))
        )
        for cards in hands
    )
    one, other = case_of(book, mine, theirs).outcome, case_of(book, theirs, mine).outcome
    assert (one, other) != ("win", "win")
    assert case_of(book, mine, mine).outcome == "lose"
    assert (order(mine[0], theirs[0]) == "higher") == (order(theirs[0], mine[0]) == "lower")
