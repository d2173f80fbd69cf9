"""Rules shared by all games of baccarat: card values and third cards. The tables are rulebook
data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from controller.games.cards import pips
from controller.rulebooks.cards import ThirdCards

Cell = Literal["T", "P", "O"]
"""``T``: a third card must be drawn; ``P``: none may be drawn; ``O``: the holder chooses."""
CELLS: Mapping[str, Cell] = {"T": "T", "P": "P", "O": "O"}
Side = Literal["player", "banker"]
Winner = Literal["player", "banker", "tie"]
WINNERS: Mapping[str, Winner] = {"player": "player", "banker": "banker", "tie": "tie"}
SIDES: tuple[Side, ...] = ("player", "banker")
DEAL_ORDER: tuple[Side, ...] = ("player", "banker", "player", "banker")
"""The hands that the first four cards go to."""


def value(card: str) -> int:
    """The value of a card: ace 1, ten and figures 0, else its number."""
    return pips(card) % 10


def points(cards: Sequence[str]) -> int:
    """The points of a hand: the last digit of the sum of its values."""
    return sum(map(value, cards)) % 10


def is_natural(cards: Sequence[str]) -> bool:
    """Whether the first two cards make 8 or 9: no further card is drawn then."""
    return len(cards) >= 2 and points(cards[:2]) >= 8


def is_pair(cards: Sequence[str]) -> bool:
    """Whether the first two cards have the same rank."""
    return len(cards) >= 2 and cards[0][0] == cards[1][0]


def player_draws(third: ThirdCards, total: int) -> Cell:
    """The decision required of a player whose first two cards make ``total``, 0 to 7."""
    return CELLS[third.player[total]]


def banker_draws(third: ThirdCards, total: int, player_third: int | None) -> Cell:
    """The decision required of a bank whose first two cards make ``total``, 0 to 7.
    ``player_third``: the value of the player's third card; None if he drew none.
    """
    return CELLS[third.banker[total][10 if player_third is None else player_third]]


def winner(player: Sequence[str], banker: Sequence[str]) -> Side | None:
    """The hand nearer to nine; None for a tie."""
    more = points(player) - points(banker)
    return None if more == 0 else "player" if more > 0 else "banker"


def next_card(third: ThirdCards, player: Sequence[str], banker: Sequence[str]) -> Side | None:
    """The hand that gets the next card of a coup without choices; None if the coup is complete. A
    free cell (``O``) counts as standing.
    """
    dealt = len(player) + len(banker)
    if dealt < len(DEAL_ORDER):
        return DEAL_ORDER[dealt]
    if is_natural(player) or is_natural(banker) or len(banker) == 3:
        return None
    if len(player) == 2 and player_draws(third, points(player)) == "T":
        return "player"
    drawn = value(player[2]) if len(player) == 3 else None
    return "banker" if banker_draws(third, points(banker), drawn) == "T" else None
