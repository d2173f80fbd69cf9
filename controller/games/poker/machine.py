"""What every game of poker is, whoever holds the bank: what names a card there, and what the
history tells.
"""

from __future__ import annotations

from typing import Any, TypeVar

from controller.contract.commands import AnyCommand, CardsDeal, CardsShow, ResultCorrect
from controller.contract.history import AnyLine
from controller.games.dealt.state import SHOWN
from controller.games.machine import Decree, Machine
from controller.games.poker.moves import PokerMoves
from controller.games.poker.state import PokerState
from controller.games.rounds import line
from devices.readings import AnyReading

B = TypeVar("B", bound=Decree)
S = TypeVar("S")
T = TypeVar("T", bound=PokerState)
M = TypeVar("M", bound=PokerMoves[Any, Any, Any])


class PokerGame(Machine[B, S, T, M]):
    """A game of poker under one decree with one table's settings."""

    def named(self, given: AnyReading | AnyCommand) -> set[str]:
        """The cards that an input names."""
        return named(given) or super().named(given)

    def history(self, state: T) -> list[AnyLine]:
        """The latest rounds of the session, oldest first."""
        turn = self.turn(state)
        return [
            line(
                entry,
                turn.outcome_of(entry) if entry.kind == "result" else None,
                corrected=entry.corrected,
            )
            for entry in state.entries[-SHOWN:]
        ]


def named(given: AnyReading | AnyCommand) -> set[str]:
    """The cards that a command of poker names."""
    match given:
        case CardsShow(cards=cards, low=low):
            return {*cards, *low}
        case CardsDeal(cards=cards):
            return {*cards}
        case ResultCorrect(hands=hands):
            return {card for cards in (hands or {}).values() for card in cards}
    return set()
