"""Draw: with which hand a pot is opened, and whether who opened it has proved his. All pure."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from controller.games.circle.showdown import cards_of
from controller.games.circle.state import CircleRound
from controller.games.circle.streets import ranking
from controller.games.hands.evaluator import RANKINGS, showing
from controller.rulebooks.circle import Circle, DrawRules

DISCARD_PILE = "discards"
"""Where the opener's discards are kept, to be shown at the end."""
FIRST_DEAL_CARDS = 5
"""Cards of a player's first deal."""


def lowest(draw: DrawRules, blanks: int) -> str | None:
    """The rank of the lowest pair that opens after this number of blank hands; None where no hand
    is needed.
    """
    return draw.opening[min(blanks, len(draw.opening) - 1)] if draw.opening else None


def opens(cards: Iterable[str], rank: str, name: str) -> bool:
    """Whether these cards, or all hands that they may be of, open the pot: a pair of ``rank`` or
    more.
    """
    cards = tuple(cards)
    if not cards:
        return False
    whole = len(cards) == RANKINGS[name].size
    worth = showing(
        cards, name if whole else name.removesuffix("-figures")
    )  # fewer cards have only equal ranks
    ranks = RANKINGS[name].ranks
    if worth.category == "pair":
        return ranks.index(worth.cards[0][0]) >= ranks.index(rank)
    return worth.category != "high_card"


def proved(book: Circle, hand: CircleRound, rank: str) -> bool | None:
    """Whether the face-up cards of the opener, his discards among them, show that he might open;
    None: not all of them are face up.

    If the cards that he kept are unknown, it is enough that he may have kept the right ones.
    """
    seat = next(seat for seat in hand.seats if seat.number == hand.opener)
    if not seat.shown:
        return None
    name = ranking(book, hand.players)
    pile = hand.cards_of(DISCARD_PILE)
    own = cards_of(hand, seat.who)
    if seat.drawn:
        candidates = list(combinations(own, max(len(own) - len(pile), 0)))
    else:
        candidates = [
            tuple(
                card.face
                for index, card in hand.by_index(seat.who).items()
                if index <= FIRST_DEAL_CARDS and card.face is not None
            )
        ]
    if all(opens(cards, rank, name) for cards in candidates):
        return True
    shown = cards_of(hand, DISCARD_PILE)
    if len(shown) < len(pile):
        return None
    return any(opens((*cards, *shown), rank, name) for cards in candidates)
