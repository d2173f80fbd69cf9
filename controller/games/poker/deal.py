"""The order in which cards are dealt, as data: to whom each card goes, one after the other.

An order is a tuple of names, one per card: ``("box:1", "box:2", "dealer", "box:1", ...)``. A game
composes it from its decree and the players' decisions, and may append to it during the round
(``("burn", "board", "board", "board")``, a card that is bought). Dealt cards are counted off it, so
that a person may also name the cards of one hand before another's.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Literal

from controller.games.dealt.cards import Table

Dealt = Literal["singly", "packets"]
"""A card to each hand in turn until all are whole; or each hand whole, one after the other."""

Order = tuple[str, ...]


def deal(hands: Sequence[str], size: int, dealt: Dealt = "singly") -> Order:
    """The deal of ``size`` cards to each of these hands, which are in the order of the deal: the
    bank where the game has it.
    """
    return (
        tuple(hands) * size
        if dealt == "singly"
        else tuple(who for who in hands for _ in range(size))
    )


def due(order: Order, table: Table) -> Order:
    """The hands that still get cards, in order."""
    there: dict[str, int] = {}
    for card in table:
        there[card.to] = there.get(card.to, 0) + 1
    left = []
    for who in order:
        if count := there.get(who):
            there[who] = count - 1
        else:
            left.append(who)
    return tuple(left)


def packet(order: Order) -> int:
    """The number of consecutive cards that the next hand gets: the size of its packet."""
    return len(list(takewhile(lambda who: who == order[0], order)))
