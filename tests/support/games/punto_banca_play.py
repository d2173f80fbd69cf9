"""A table of punto y banca to play at in tests: inputs by short names, events out."""

from __future__ import annotations

import random
from typing import Any

from common.contract.events import AnyEvent, CardExpected
from common.readings import ShoeResult
from controller.games.baccarat import next_card
from controller.games.cards import DECK
from controller.games.punto_banca.game import PuntoBancaGame
from controller.games.punto_banca.state import PuntoBancaState
from tests.support.games.play import AnyPlay

DECREES = ("BAL05", "ARA02", "EUS96", "GAL07")


class Play(AnyPlay[PuntoBancaGame, PuntoBancaState]):
    """A table in play."""

    def __init__(self, decree: str = "ARA02", **settings: Any) -> None:
        super().__init__(PuntoBancaGame, "punto-banca", decree, settings)

    def verdict(self, winner: Any, **fields: Any) -> list[AnyEvent]:
        return self.take(
            ShoeResult(at=self.now(), device="shoe", frame="verdict", winner=winner, **fields)
        )

    def open(self, burn: str = "Ac 2c", shoe: str = "S1", **fields: Any) -> list[AnyEvent]:
        """A session, a shoe and its burn."""
        return [
            *self.send("session.open", minimum=500, currency="EUR"),
            *self.send("shoe.start", shoe=shoe, **fields),
            *self.cards(burn),
        ]

    def coup(self, cards: str) -> list[AnyEvent]:
        """A whole coup at a table with keys: bets, cards, turned when they are to be."""
        events = self.bets()
        for card in cards.split():
            events += self.cards(card)
            if (
                self.state.current is not None
                and len(self.state.current.cards) >= 4
                and not self.state.asks
            ):
                events += self.send("cards.turn", role="croupier")
        return events

    def shuffled(self, seed: int) -> list[str]:
        """The cards of a shoe in some order."""
        cards = list(DECK) * self.game.book.shoe.decks
        random.Random(seed).shuffle(cards)
        return cards


def expected(events: list[AnyEvent]) -> list[str | None]:
    """The published place of the next card."""
    return [event.to for event in events if isinstance(event, CardExpected)]


def coups(third: Any, cards: list[str]) -> list[list[str]]:
    """The cards divided into whole coups, by the same table; the rest is left out."""
    found: list[list[str]] = []
    rest = iter(cards)
    while True:
        hands: dict[str, list[str]] = {"player": [], "banker": []}
        own: list[str] = []
        while (to := next_card(third, hands["player"], hands["banker"])) is not None:
            card = next(rest, None)
            if card is None:
                return found
            hands[to].append(card)
            own.append(card)
        found.append(own)
