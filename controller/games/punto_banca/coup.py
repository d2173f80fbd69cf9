"""The rules for the cards of a coup: where the next belongs, the points, the marks. No state
changes.
"""

from __future__ import annotations

from collections.abc import Sequence

from common.contract.events import Hand
from controller.games.baccarat import (
    SIDES,
    Side,
    Winner,
    is_natural,
    is_pair,
    next_card,
    points,
    winner,
)
from controller.games.punto_banca.settings import PuntoBancaSettings
from controller.rulebooks.cards import ThirdCards


def dealt_again(
    third: ThirdCards, cards: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The two hands that these cards make in their order; None unless they are exactly one whole
    coup.
    """
    hands: dict[Side, tuple[str, ...]] = {"player": (), "banker": ()}
    for card in cards:
        to = next_card(third, hands["player"], hands["banker"])
        if to is None:
            return None
        hands[to] = (*hands[to], card)
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
