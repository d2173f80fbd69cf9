"""What the cards of a coup amount to: whether all are known, where the next belongs, the points. No
state changes.
"""

from __future__ import annotations

from collections.abc import Iterable

from controller.contract.events import Hand
from controller.games.baccarat import (
    ORDER,
    SIDES,
    Side,
    Winner,
    is_natural,
    is_pair,
    next_card,
    points,
    winner,
)
from controller.games.cards import is_card
from controller.games.punto_banca.settings import PuntoBancaSettings
from controller.games.punto_banca.state import PuntoBancaCard, PuntoBancaCoup
from controller.rulebooks.cards import ThirdCards


def count(coup: PuntoBancaCoup) -> int:
    """How many cards have come."""
    return len(coup.player) + len(coup.banker)


def all_known(coup: PuntoBancaCoup) -> bool:
    """Whether every card of the round is face up and was read."""
    return all(card.known for card in (*coup.player, *coup.banker))


def announced(coup: PuntoBancaCoup, side: Side) -> tuple[str, ...]:
    """The cards of a hand as the table knows them."""
    return tuple(card.card for card in coup.cards(side) if card.card is not None and card.up)


def next_place(coup: PuntoBancaCoup, third: ThirdCards) -> Side | None:
    """Where the next card belongs by the cards face up; None: none may come now."""
    if count(coup) < len(ORDER):
        return ORDER[count(coup)]
    return (
        next_card(third, announced(coup, "player"), announced(coup, "banker"))
        if all_known(coup)
        else None
    )


def is_complete(coup: PuntoBancaCoup, third: ThirdCards) -> bool:
    """Whether all cards of the coup have come and are face up."""
    return count(coup) >= len(ORDER) and all_known(coup) and next_place(coup, third) is None


def redealt(
    third: ThirdCards, cards: Iterable[PuntoBancaCard]
) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The two hands that these cards make in their order; None unless they are exactly one whole
    coup, and all are known.
    """
    hands: dict[Side, tuple[str, ...]] = {"player": (), "banker": ()}
    for each in cards:
        to = next_card(third, hands["player"], hands["banker"])
        if each.card is None or not is_card(each.card) or to is None:
            return None
        hands[to] = (*hands[to], each.card)
    whole = next_card(third, hands["player"], hands["banker"]) is None
    return (hands["player"], hands["banker"]) if whole else None


def winner_of(player: tuple[str, ...], banker: tuple[str, ...]) -> Winner:
    """``player``, ``banker`` or ``tie``."""
    return winner(player, banker) or "tie"


def hands_of(player: tuple[str, ...], banker: tuple[str, ...]) -> tuple[Hand, ...]:
    """The hands as the result shows them."""
    won = winner(player, banker)
    return tuple(
        Hand(
            who=side,
            cards=cards,
            points=points(cards),
            kind="natural" if is_natural(cards) else None,
            outcome="tie" if won is None else "win" if won == side else "lose",
        )
        for side, cards in zip(SIDES, (player, banker), strict=True)
    )


def marks_of(
    player: tuple[str, ...], banker: tuple[str, ...], settings: PuntoBancaSettings
) -> tuple[str, ...]:
    """What else wins, loses or is deducted from bets."""
    won = winner(player, banker)
    marks = {
        "tie": won is None,
        "natural": is_natural(player) or is_natural(banker),
        "pair_player": is_pair(player),
        "pair_banker": is_pair(banker),
        "banker_six": settings.modality == "half_on_six"
        and won == "banker"
        and points(banker) == 6,
    }
    return tuple(name for name, there in marks.items() if there)
