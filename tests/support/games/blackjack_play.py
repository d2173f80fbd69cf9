"""A table of black jack to play at in tests: inputs by short names, events out."""

from __future__ import annotations

from typing import Any

from msgspec import UnsetType

from common.contract.events import AnyEvent, RoundResult
from controller.games.blackjack.game import BlackjackGame
from controller.games.blackjack.state import BlackjackState
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import AnyPlay

DECREES = ("BAL05", "ARA02", "EUS96", "GAL07")
PAIRS = (*(("blackjack", decree) for decree in DECREES), ("blackjack-triple", "EUS96"))
"""Every game of black jack under every decree that has it."""


class Play(AnyPlay[BlackjackGame, BlackjackState]):
    """A table in play."""

    frame = "{at:g} {card}"

    def __init__(self, decree: str = "EUS96", game: str = "blackjack", **settings: Any) -> None:
        super().__init__(BlackjackGame, game, decree, settings)

    def key(self, name: str, who: str | None = None) -> list[AnyEvent]:
        """Send a hand's decision: ``stand``, ``draw``, ``double``, ``split``, ``surrender``."""
        return self.send(f"hand.{name}", role="croupier", **({} if who is None else {"who": who}))

    def open(self, *, burned: bool = True, **fields: Any) -> list[AnyEvent]:
        """A session and a shoe; its first five cards are burned."""
        events = self.send("session.open", minimum=500, currency="EUR")
        events += self.send("shoe.start", shoe="7", **fields)
        return [*events, *(self.cards("2c 3c 4c 5c 6c") if burned else [])]

    def boxes(self, *boxes: int) -> list[AnyEvent]:
        return self.send("boxes.set", role="croupier", boxes=boxes)

    def deal(self, boxes: tuple[int, ...], cards: str) -> list[AnyEvent]:
        """A round begins with these boxes and cards."""
        return [*self.boxes(*boxes), *self.cards(cards)]


def dealing(play: Play) -> Play:
    """Boxes 1 and 3 are dealt to: 12, 18, and the dealer's king; box 1 is to speak."""
    play.open()
    play.deal((1, 3), "8h 9s Kd 4d 9c")
    return play


def outcomes(result: RoundResult) -> dict[str, tuple[int | UnsetType, str | None, str | None]]:
    """Hand -> points, total, outcome."""
    return {hand.who: (hand.points, hand.kind, hand.outcome) for hand in outcome_of(result).hands}
