"""Scripts in which every card comes once, so that it can be found again in what is said."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from controller.contract.commands import CardDecide
from controller.contract.notation import Input
from controller.games.cards import DECK
from devices.readings import CardDrawn

CARD = "card"
"""In the place of the next card of the shoe."""


def own(given: Input, card: str) -> Input:
    """The input about another card; of one that is drawn, in its bytes too."""
    if isinstance(given, CardDrawn):
        return msgspec.structs.replace(given, card=card, frame=f"<{card}>")
    assert isinstance(given, CardDecide)
    return msgspec.structs.replace(given, card=card)


def with_cards(script: Iterable[Input], cards: Iterable[str]) -> list[Input]:
    """The script with a card of its own wherever one is drawn or read, until there are no more."""
    left = iter(cards)
    found: list[Input] = []
    for each in script:
        if getattr(each, "card", None) == CARD:
            card = next(left, None)
            if card is None:
                break
            each = own(each, card)
        found.append(each)
    return found


def named(text: bytes) -> set[str]:
    """The cards that stand in a text, as a word of JSON or in a frame."""
    return {card for card in DECK if f'"{card}"'.encode() in text or f"<{card}>".encode() in text}
