"""Inputs that name a card at every game of poker, for any holder of the bank."""

from __future__ import annotations

from common.contract.commands import AnyCommand, CardsDeal, CardsShow, ResultCorrect
from common.readings import AnyReading


def named(received: AnyReading | AnyCommand) -> set[str]:
    """The cards that a command of poker names."""
    match received:
        case CardsShow(cards=cards, low=low):
            return {*cards, *low}
        case CardsDeal(cards=cards):
            return {*cards}
        case ResultCorrect(hands=hands):
            return {card for cards in (hands or {}).values() for card in cards}
    return set()
