"""Which readings a table of circle poker accepts, and the doubts that only a person can resolve."""

from __future__ import annotations

from msgspec.structs import replace

from controller.games.circle.state import (
    DECISIONS,
    CircleDoubt,
)
from controller.games.circle.turn import CircleTurn


def believed(turn: CircleTurn, card: str | None, times: int = 1) -> str | None:
    """The card as read; None if it is impossible: not in the pack, or already in the round.

    ``times`` is 0 for a card that is counted among those known already.
    """
    if card is None:
        return None
    if card not in turn.pack:
        doubt(turn, "card_foreign")
        return None
    if turn.current.known.count(card) + times > 1:
        doubt(turn, "card_duplicate")
        return None
    return card


def disbelieve(turn: CircleTurn) -> None:
    """Forget the reader's reports of face-down cards; they are known once shown."""
    cards = tuple(
        card if card.up and not card.gone else replace(card, card=None, reading=None)
        for card in turn.current.cards
    )
    turn.change_current(cards=cards, blind=True)


def mistrust(turn: CircleTurn) -> None:
    """Forget the reader's reports if a card may have gone unseen: it is unknown which hand has
    which card.
    """
    if turn.current.gap:
        disbelieve(turn)


def doubt(
    turn: CircleTurn,
    what: str,
    *,
    who: str | None = None,
    asks: tuple[str, ...] = DECISIONS,
    detail: str | None = None,
) -> None:
    """Stop the table until a person decides; reported once."""
    if not any((doubt.what, doubt.who) == (what, who) for doubt in turn.state.doubts):
        doubt = CircleDoubt(what=what, who=who, asks=asks)
        turn.change(doubts=(*turn.state.doubts, doubt))
        turn.irregular(what, asks=asks, detail=detail or who)


def resolve(turn: CircleTurn, *doubts: CircleDoubt) -> None:
    """Remove these doubts."""
    turn.change(doubts=tuple(doubt for doubt in turn.state.doubts if doubt not in doubts))
