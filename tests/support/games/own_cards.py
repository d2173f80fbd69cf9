"""Scripts with unique cards, so that each can be found again in the output."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from common.contract.commands import CardDecide
from common.contract.notation import Input
from common.readings import CardDrawn
from controller.games.cards import DECK

CARD = "card"
"""Placeholder of the next card of the shoe."""


def own(given: Input, card: str) -> Input:
    """The input with another card; for a drawn card, in its bytes too."""
    if isinstance(given, CardDrawn):
        return msgspec.structs.replace(given, card=card, frame=f"<{card}>")
    assert isinstance(given, CardDecide)
    return msgspec.structs.replace(given, card=card)


def with_cards(script: Iterable[Input], cards: Iterable[str]) -> list[Input]:
    """The script with a unique card wherever one is drawn or read, until there are no more."""
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
    """The cards in a text, as a word of JSON or in a frame."""
    return {card for card in DECK if f'"{card}"'.encode() in text or f"<{card}>".encode() in text}
