"""Black jack hands: points, winners, and what a box's first cards make. Pure functions over
cards.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from controller.games.cards import is_red, pips

Outcome = Literal["win", "lose", "tie"]


def points(cards: tuple[str, ...], low: int = 0) -> int:
    """The points of the cards: one ace counts 11 if that keeps within 21. An ace among the first
    ``low`` cards counts 1.
    """
    hard = sum(map(pips, cards))
    return hard + 10 if hard <= 11 and any(card[0] == "A" for card in cards[low:]) else hard


def both(cards: tuple[str, ...]) -> frozenset[int]:
    """The values that the cards may have: with every ace as 1, and with one of them as 11."""
    return frozenset({sum(map(pips, cards)), points(cards)})


def is_blackjack(cards: tuple[str, ...]) -> bool:
    """21 with two cards. The caller knows whether they are the first two."""
    return len(cards) == 2 and points(cards) == 21


def is_pair(cards: tuple[str, ...]) -> bool:
    """Two cards of the same value; tens and figures are."""
    return len(cards) == 2 and pips(cards[0]) == pips(cards[1])


def three_sevens(cards: tuple[str, ...]) -> bool:
    """Whether these are three sevens."""
    return [card[0] for card in cards] == ["7"] * 3


def dealer_draws(cards: tuple[str, ...]) -> bool:
    """Whether the dealer draws: below 17, counting an ace as 11 if that makes 17 to 21."""
    return points(cards) < 17


def dealer_hands(first: str, rest: tuple[str, ...], *, alone: bool) -> tuple[tuple[str, ...], ...]:
    """Every possible hand of a dealer with ``first``, where ``rest`` are all cards after the second
    round of the deal, not assigned to hands. The dealer's are the last ones, and the rule says
    where the dealer stops. ``alone``: every hand may have lost before, and the dealer has not
    drawn.
    """
    found: list[tuple[str, ...]] = [(first,)] if alone else []
    for start in range(len(rest)):
        hand = (first, *rest[start:])
        if not dealer_draws(hand) and dealer_draws(hand[:-1]):
            found.append(hand)
    return tuple(found)


def compare(mine: int, blackjack: bool, dealer: tuple[str, ...]) -> Outcome:
    """The outcome of a hand of at most 21 against the dealer's cards. Black jack beats any other
    21.
    """
    theirs = points(dealer)
    if theirs > 21:
        return "win"
    ours, his = (mine, blackjack), (theirs, is_blackjack(dealer))
    return "tie" if ours == his else "win" if ours > his else "lose"


def pair_mark(cards: tuple[str, ...]) -> str | None:
    """The outcome of the bet on pairs for a box's first two cards: the same rank, and colour, and
    suit.
    """
    if len(cards) < 2 or cards[0][0] != cards[1][0]:
        return None
    if cards[0][1] == cards[1][1]:
        return "pair_perfect"
    return "pair_colour" if is_red(cards[0]) == is_red(cards[1]) else "pair_mixed"


def sevens_mark(cards: tuple[str, ...]) -> str | None:
    """The highest prize of the accumulated bet in a box's first cards, three at most.

    Three sevens of which only two are of one suit are not named by the decree: three sevens still.
    """
    count = len(list(_sevens(cards[:3])))
    if count == 0:
        return None
    suited = count > 1 and len({card[1] for card in cards[:count]}) == 1
    return f"sevens_{count}{'_suited' if suited else ''}"


def _sevens(cards: tuple[str, ...]) -> Iterator[str]:
    for card in cards:
        if card[0] != "7":
            return
        yield card
