"""Cards as they are drawn, and as they are said."""

from __future__ import annotations

import msgspec

from controller.contract.messages.messages import text, word
from subscribers.cards import JOKER


class Card(msgspec.Struct, frozen=True):
    """One card. Face down it has no rank and no suit: nothing tells which it is."""

    rank: str | None
    suit: str | None
    """``c``, ``d``, ``h`` or ``s``; the joker has none."""
    label: str
    """The same in words."""


def card(name: str | None, language: str) -> Card:
    """A card as it is named on the wire: ``Th``, ``X`` for the joker, None face down."""
    if name is None:
        return Card(None, None, text("card.face_down", language))
    if name == JOKER:
        return Card("★", None, text("card.joker", language))
    rank, suit = name[:-1].replace("T", "10"), name[-1:]
    spoken = rank if rank.isdecimal() else word("card", rank.lower(), language)
    label = text("card.of", language, rank=spoken, suit=word("card", suit, language))
    return Card(rank, suit, label)
