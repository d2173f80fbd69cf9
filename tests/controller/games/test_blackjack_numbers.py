"""The dealer's final hands, counted through the game's own rule and dealt through the game itself,
against published figures.

Published for six decks, the dealer standing on every 17 and always drawing: beatingbonuses.com,
«Blackjack Statistics», «Dealer (Hand Continues)», in hundredths of a percent. For one deck by first
card: wizardofodds.com, Blackjack Appendix 2B, six digits.
"""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from functools import cache
from math import sqrt

import pytest

from common.contract.events import RoundResult
from controller.games.blackjack.course import dealer_hand
from controller.games.blackjack.hands import dealer_draws
from controller.games.cards import composition
from tests.support.for_each import for_each
from tests.support.games.blackjack_play import Play
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind

SIX_DECKS = {
    "17": 14.52,
    "18": 13.93,
    "19": 13.37,
    "20": 17.95,
    "21": 7.29,
    "blackjack": 4.75,
    "bust": 28.19,
}
ONE_DECK = {
    "A": (0.126128, 0.131003, 0.129486, 0.131553, 0.0515646, 0.313726, 0.11654),
    "2": (0.138976, 0.131762, 0.131815, 0.123948, 0.120526, 0, 0.352973),
    "3": (0.130313, 0.130946, 0.123761, 0.123345, 0.116047, 0, 0.375588),
    "4": (0.130973, 0.114163, 0.120679, 0.116286, 0.115096, 0, 0.402803),
    "5": (0.119687, 0.123483, 0.116909, 0.104694, 0.106321, 0, 0.428905),
    "6": (0.166948, 0.106454, 0.107192, 0.100705, 0.0978785, 0, 0.420823),
    "7": (0.372345, 0.138583, 0.0773344, 0.0788967, 0.072987, 0, 0.259854),
    "8": (0.130857, 0.362989, 0.129445, 0.0682898, 0.0697914, 0, 0.238627),
}
RANKS = "A23456789T"
Left = tuple[int, ...]
"""Cards left of each value; tens and figures are one value."""


def final(cards: tuple[str, ...]) -> str:
    hand = dealer_hand(cards)
    return hand.kind or str(hand.points)


@cache
def chances(hand: tuple[str, ...], left: Left) -> dict[str, Fraction]:
    """The exact chance of each final hand, by every card that may come."""
    if hand and not dealer_draws(hand):
        return {final(hand): Fraction(1)}
    found: dict[str, Fraction] = {}
    for index, count in enumerate(left):
        if count:
            rest = tuple(each - (at == index) for at, each in enumerate(left))
            for what, chance in chances(tuple(sorted((*hand, f"{RANKS[index]}s"))), rest).items():
                found[what] = found.get(what, Fraction(0)) + chance * Fraction(count, sum(left))
    return found


def decks(number: int, without: str = "") -> Left:
    return tuple((16 if rank == "T" else 4) * number - (rank == without) for rank in RANKS)


def test_six_decks_exactly() -> None:
    found = chances((), decks(6))
    assert sum(found.values()) == 1
    assert {what: round(float(chance) * 100, 2) for what, chance in found.items()} == SIX_DECKS


@for_each("first", ONE_DECK)
def test_one_deck_by_the_first_card(first: str) -> None:
    found = chances((f"{first}s",), decks(1, first))
    assert [float(found.get(what, 0)) for what in SIX_DECKS] == pytest.approx(
        ONE_DECK[first], abs=1e-6
    )


def test_six_decks_dealt_by_the_game() -> None:
    """Shuffled shoes, one box that always stands: each share within three standard deviations of
    its published chance.
    """
    dice, play, rounds = random.Random(20061996), Play("EUS96"), 2000
    play.send("session.open")
    results: Counter[str] = Counter()
    while results.total() < rounds:
        shoe = [*composition(6).elements()]
        dice.shuffle(shoe)
        play.send("shoe.start", shoe="7")
        for _ in range(5):
            play.card(shoe.pop())
        while len(shoe) > 52:
            play.boxes(1)
            while play.state.current is not None:
                events = (
                    play.card(shoe.pop()) if play.state.expected is not None else play.key("stand")
                )
                for result in of_kind(events, RoundResult):
                    results[final(outcome_of(result).hands[-1].cards)] += 1
        play.send("shoe.end")
    total = results.total()
    for what, percent in SIX_DECKS.items():
        chance = percent / 100
        assert results[what] / total == pytest.approx(
            chance, abs=3 * sqrt(chance * (1 - chance) / total)
        ), what
