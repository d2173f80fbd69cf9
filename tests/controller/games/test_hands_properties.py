"""Invariants of any hand of any ranking: its order, its choices, its suits, and the joker."""

from __future__ import annotations

import random
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from controller.games.decks import JOKER, deck
from controller.games.hands.evaluator import RANKINGS, Value, best, value

RANKING = st.sampled_from(sorted(RANKINGS))
SUITS = "cdhs"


@st.composite
def dealt(draw: st.DrawFn) -> tuple[str, list[str]]:
    ranking = draw(RANKING)
    size = RANKINGS[ranking].size
    cards = st.lists(st.sampled_from(deck(ranking)), min_size=size, max_size=9, unique=True)
    return ranking, draw(cards)


@given(dealt(), st.randoms(use_true_random=False))
def test_the_order_of_the_cards_decides_nothing(
    given_cards: tuple[str, list[str]], chance: random.Random
) -> None:
    ranking, cards = given_cards
    assert best(chance.sample(cards, len(cards)), ranking) == best(cards, ranking)


@given(dealt())
def test_the_best_hand_is_one_of_its_choices_and_none_beats_it(
    given_cards: tuple[str, list[str]],
) -> None:
    ranking, cards = given_cards
    found = best(cards, ranking)
    qualified = [
        hand
        for choice in combinations(cards, RANKINGS[ranking].size)
        if (hand := best(choice, ranking))
    ]
    if found is None:
        assert not qualified
        return
    assert set(found.cards) <= set(cards)
    assert found.key == max(hand.key for hand in qualified)
    assert value(found.cards, ranking) == found


@given(dealt(), st.permutations(SUITS))
def test_suits_can_be_exchanged(given_cards: tuple[str, list[str]], suits: list[str]) -> None:
    ranking, cards = given_cards
    exchanged = [card.translate(str.maketrans(SUITS, "".join(suits))) for card in cards]
    assert _known(best(exchanged, ranking)) == _known(best(cards, ranking))


def _known(hand: Value | None) -> tuple[object, ...]:
    return () if hand is None else (hand.key, hand.category)


COMPLETED = {"straight", "flush", "straight_flush", "royal_flush"}


@given(st.lists(st.sampled_from(deck("five-52")), min_size=4, max_size=4, unique=True))
def test_the_joker_is_worth_the_best_card_that_it_may_stand_for(cards: list[str]) -> None:
    others = [value([*cards, card], "five-53") for card in deck("five-52") if card not in cards]
    allowed = [
        hand.key for hand in others if hand.category in COMPLETED or _has_another_ace(cards, hand)
    ]
    five_aces = (
        [value(("Ac", "Ad", "Ah", "As", JOKER), "five-53").key]
        if {card[0] for card in cards} == {"A"}
        else []
    )
    assert value([*cards, JOKER], "five-53").key == max(allowed + five_aces)


def _has_another_ace(cards: list[str], hand: Value) -> bool:
    return next(card for card in hand.cards if card not in cards)[0] == "A"
