"""A table of trente et quarante to play at in tests: inputs by short names, events out."""

from __future__ import annotations

import random
from typing import Any

from common.contract.events import AnyEvent
from common.readings import ShoeReset
from controller.games.cards import DECK
from controller.games.trente.game import TrenteGame
from controller.games.trente.rows import is_coup
from controller.games.trente.state import TrenteState
from tests.support.games.play import AnyPlay

DECREES = ("BAL05", "ARA02", "EUS96", "GAL07")

BLACK_WINS = "Ts Jd Qc 2s Kd Th 9d 8c"
"""Black 32, red 37, the first card black: black and colour."""
RED_WINS = "Ks Qd 9c 8h Tc Jc Qh Ad"
"""Black 37, red 31, the first card black: red and inverse."""
REFAIT = "Td Jd Qd Ad Tc Jc Qc Ac"
TIE = "5d Jd Qd Kd 5c Jc Qc Kc"
"""35 each."""


class Play(AnyPlay[TrenteGame, TrenteState]):
    """A table in play."""

    def __init__(self, decree: str = "ARA02", **settings: Any) -> None:
        super().__init__(TrenteGame, "trente-et-quarante", decree, settings)

    def reset(self) -> list[AnyEvent]:
        return self.take(ShoeReset(at=self.now(), device="shoe"))

    def open(self, shoe: str = "S1", **fields: Any) -> list[AnyEvent]:
        """A session and a shoe."""
        return [
            *self.send("session.open", minimum=500, currency="EUR"),
            *self.send("shoe.start", shoe=shoe, **fields),
        ]

    def coup(self, cards: str) -> list[AnyEvent]:
        """A whole coup at a table with keys."""
        return [*self.bets(), *self.cards(cards)]


def table(decree: str = "ARA02", **settings: Any) -> Play:
    """A table with an open session and a shoe."""
    play = Play(decree, **settings)
    play.open()
    return play


def shuffled(seed: int) -> list[str]:
    """The cards of six decks in some order."""
    cards = list(DECK) * 6
    random.Random(seed).shuffle(cards)
    return cards


def coups(cards: list[str]) -> list[list[str]]:
    """The cards divided into whole coups; the rest is left out."""
    found: list[list[str]] = []
    own: list[str] = []
    for card in cards:
        own.append(card)
        if is_coup(own):
            found.append(own)
            own = []
    return found
