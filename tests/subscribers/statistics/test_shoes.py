"""Shoes that were not shuffled."""

from __future__ import annotations

from itertools import permutations
from math import exp
from random import Random

import pytest

from subscribers.statistics import shoes as room
from subscribers.statistics.shoes import (
    DECK,
    DealtShoe,
    ShoeEvidence,
    after,
    neighbours,
    order_bets,
    rank_bets,
    rising_sequences,
)


def riffled(cards: list[str], random: Random, times: int = 1) -> list[str]:
    """Cut by chance and let fall together, by the model of Gilbert, Shannon and Reeds."""
    for _ in range(times):
        cut = sum(random.random() < 0.5 for _ in cards)
        packets, cards = [cards[:cut], cards[cut:]], []
        while any(packets):
            first = random.random() * (len(packets[0]) + len(packets[1])) < len(packets[0])
            cards.append(packets[0 if first else 1].pop(0))
    return cards


def shuffled(random: Random, decks: int = 8) -> list[str]:
    cards = [*DECK] * decks
    random.shuffle(cards)
    return cards


def of(cards: list[str], decks: int = 8, name: str = "") -> DealtShoe:
    """Return the visible cards: all but the last seventh, and without the burned ones."""
    return DealtShoe(name, decks, (*[None] * 5, *cards[5 : len(cards) * 6 // 7]))


def test_bets_on_a_perfect_shuffle_are_fair(monkeypatch: pytest.MonkeyPatch) -> None:
    """All orders of a deck of four: the mean of what each gambler has is 1, whatever is unseen."""
    deck = ("2c", "2d", "3c", "3d")
    monkeypatch.setattr(room, "DECK", deck)
    monkeypatch.setattr(room, "RANKS", "23")
    monkeypatch.setattr(room, "SUITS", "cd")
    before = DealtShoe("", 1, ("3c", "2d", None, "2c"))
    for hidden in (None, 0, 2):
        orders = [
            DealtShoe("", 1, tuple(None if at == hidden else card for at, card in enumerate(order)))
            for order in permutations(deck)
        ]
        each = zip(*(order_bets(before, order) for order in orders), strict=True)
        assert [sum(map(exp, bet)) / 24 for bet in each] == pytest.approx([1] * 7)


def test_a_rank_that_comes_as_it_should_gathers_nothing() -> None:
    random = Random(1)
    values = [[exp(bet) for bet in rank_bets(of(shuffled(random, 1), 1))] for _ in range(300)]
    for bet in zip(*values, strict=True):
        mean = sum(bet) / len(bet)
        error = (sum((each - mean) ** 2 for each in bet) / len(bet) ** 2) ** 0.5
        assert abs(mean - 1) < 6 * error


def test_shuffled_shoes_stay_quiet() -> None:
    random, evidence, before = Random(3), ShoeEvidence(), None
    for _ in range(12):
        shoe = of(shuffled(random))
        evidence, before = after(evidence, before, shoe), shoe
    assert evidence.alarms == {}
    assert evidence.shoes == 12
    assert abs(evidence.kept - evidence.expected) < 6 * evidence.expected**0.5


@pytest.mark.parametrize(("riffles", "most"), [(0, 2), (1, 2), (3, 3)])
def test_a_shuffler_that_hardly_shuffles_is_reported(riffles: int, most: int) -> None:
    random, evidence, before = Random(riffles), ShoeEvidence(), None
    cards = shuffled(random)
    for _ in range(most):
        shoe = of(cards)
        evidence, before = after(evidence, before, shoe), shoe
        cards = riffled(cards, random, riffles)
    assert evidence.alarms == {"order": evidence.alarms["order"]}
    assert evidence.alarms["order"] <= most
    assert evidence.kept > 1.5 * evidence.expected


def test_one_repeated_order_is_reported_after_many_good_ones() -> None:
    random, evidence, before = Random(8), ShoeEvidence(), None
    orders = [shuffled(random, 1) for _ in range(30)]
    for cards in (*orders, orders[-1]):
        shoe = of(cards, 1)
        evidence, before = after(evidence, before, shoe), shoe
    assert evidence.alarms == {"order": 31}


def test_tens_that_stay_behind_the_cut_card_are_reported() -> None:
    random, evidence = Random(9), ShoeEvidence()
    for _ in range(10):
        cards = shuffled(random)
        late = [card for card in cards if card[0] in "TJQK"][:20]
        cards = [card for card in cards if card[0] not in "TJQK" or random.random() > 0.3] + late
        evidence = after(evidence, None, of(cards))
    assert set(evidence.alarms) == {"ranks"}


def test_rising_sequences() -> None:
    deck = [*DECK]
    assert rising_sequences(deck, deck) == 1
    assert rising_sequences(deck, riffled(deck, Random(1))) == 2
    assert rising_sequences(deck, [*reversed(deck)]) == 52


def test_neighbours_of_a_repeated_order() -> None:
    cards = shuffled(Random(2), 1)
    kept, expected = neighbours(of(cards, 1), of(cards, 1))
    assert kept == 52 * 6 // 7 - 5 - 1
    assert 0.5 < expected < 1
