"""Cards for drawing and for screen readers."""

from __future__ import annotations

import msgspec

from common.contract.messages.messages import text, word
from subscribers.cards import JOKER


class CardPicture(msgspec.Struct, frozen=True):
    """A card. Face down it has no rank and no suit."""

    rank: str | None
    suit: str | None
    """``c``, ``d``, ``h`` or ``s``; None for the joker."""
    label: str
    """The card in words."""


def card(name: str | None, language: str) -> CardPicture:
    """Return a card from its wire name: ``Th``, ``X`` for the joker, None if face down."""
    if name is None:
        return CardPicture(None, None, text("card.face_down", language))
    if name == JOKER:
        return CardPicture("★", None, text("card.joker", language))
    rank, suit = name[:-1].replace("T", "10"), name[-1:]
    spoken = rank if rank.isdecimal() else word("card", rank.lower(), language)
    label = text("card.of", language, rank=spoken, suit=word("card", suit, language))
    return CardPicture(rank, suit, label)
