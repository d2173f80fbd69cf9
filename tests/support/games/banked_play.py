"""A table of trijoker, texas against the house or pai gow to play at in tests: inputs by short
names, events out.
"""

from __future__ import annotations

from typing import Any

from common.contract.events import AnyEvent, Irregularity, RoundResult, RoundVoid
from common.readings import DiceRead
from controller.games.machine import AnyMachine, Machine
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import AnyPlay, of_kind

PAIRS = (
    ("trijoker", "BAL05"),
    ("trijoker", "EUS96"),
    ("texas-house", "EUS96"),
    ("pai-gow", "BAL09"),
    ("pai-gow", "EUS96"),
)


class Play(AnyPlay[AnyMachine, Any]):
    """A table in play."""

    def __init__(self, game: str, decree: str = "EUS96", **settings: Any) -> None:
        super().__init__(Machine, game, decree, settings)

    def dice(self, *values: int, **fields: Any) -> list[AnyEvent]:
        return self.take(DiceRead(at=self.now(), device="dice", values=values, **fields))

    def act(self, who: str, *actions: str) -> list[AnyEvent]:
        return [
            event
            for action in actions
            for event in self.send("hand.act", "croupier", who=who, action=action)
        ]

    def turn(self, *hands: str) -> list[AnyEvent]:
        return [event for who in hands for event in self.send("cards.turn", "croupier", who=who)]

    def open(self, *boxes: int) -> list[AnyEvent]:
        """A session with these boxes."""
        return [
            *self.send("session.open", minimum=500, currency="EUR"),
            *self.send("boxes.set", boxes=boxes),
        ]

    def result(self) -> RoundResult:
        """The last result."""
        return of_kind(self.events, RoundResult)[-1]


def irregularities(events: list[AnyEvent]) -> list[tuple[str, tuple[str, ...]]]:
    """The irregularities, with the asked commands."""
    return [(event.what, event.asks) for event in of_kind(events, Irregularity)]


def voids(events: list[AnyEvent]) -> list[tuple[str, str]]:
    """The null rounds, with their rules."""
    return [(event.reason, event.law) for event in of_kind(events, RoundVoid)]


def bets_of(result: RoundResult, who: str) -> dict[str, tuple[str, tuple[int, int] | None]]:
    """The outcome of a hand's bets."""
    [hand] = [hand for hand in outcome_of(result).hands if hand.who == who]
    return {bet.bet: (bet.outcome, bet.pays) for bet in hand.settled}
