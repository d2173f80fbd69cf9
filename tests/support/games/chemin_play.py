"""A table of chemin de fer or two-cloth baccarat to play at in tests: inputs by short names, events
out.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from msgspec import UnsetType

from common.contract.events import AnyEvent, RoundResult
from controller.games.chemin.game import CheminGame
from controller.games.chemin.state import CheminState
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import AnyPlay, only

DECREES = ("BAL05", "ARA02", "EUS96", "GAL07")
GAMES = ("chemin-de-fer", "baccarat-two-cloths")
PAIRS = tuple(product(GAMES, DECREES))
"""Both games under every decree that has them."""


class Play(AnyPlay[CheminGame, CheminState]):
    """A table in play."""

    in_charge = "inspector"

    def __init__(self, decree: str = "ARA02", game: str = "chemin-de-fer", **settings: Any) -> None:
        super().__init__(CheminGame, game, decree, settings)
        self.book = self.game.book

    def open(self) -> list[AnyEvent]:
        """A session with a shoe."""
        events = self.send("session.open", minimum=1000, currency="EUR")
        return events + self.send("shoe.start", shoe="7")

    def bets(self, **fields: Any) -> list[AnyEvent]:
        """The bank is called, and the bets are closed."""
        return self.send("bets.open", role="croupier") + self.send(
            "bets.close", role="croupier", **fields
        )

    def draw(self, who: str | None = None) -> list[AnyEvent]:
        return self.send("hand.draw", role="croupier", **({"who": who} if who else {}))

    def stand(self, who: str | None = None) -> list[AnyEvent]:
        return self.send("hand.stand", role="croupier", **({"who": who} if who else {}))

    def turn(self, who: str | None = None, **fields: Any) -> list[AnyEvent]:
        return self.send("cards.turn", role="croupier", **({"who": who} if who else {}), **fields)

    def dealt(self, text: str, **fields: Any) -> list[AnyEvent]:
        """A round up to the last card of its deal."""
        return self.bets(**fields) + self.cards(text)


def rules(*ids: str) -> pytest.MarkDecorator:
    """One case per rule's decree, as the argument ``decree``; several rules of one decree are
    separated by a space.
    """
    cases = [
        pytest.param(each.split("-")[0], marks=pytest.mark.rule(*each.split()), id=each)
        for each in ids
    ]
    return pytest.mark.parametrize("decree", cases)


def at_table(decree: str, game: str = "chemin-de-fer", **settings: Any) -> Play:
    """A table with an open session and a shoe."""
    play = Play(decree, game, **settings)
    play.open()
    return play


def result_of(
    events: list[AnyEvent],
) -> dict[str, tuple[tuple[str, ...], int | UnsetType, str | None, str | None]]:
    """The hands of the one result: cards, points, kind and outcome, by hand."""
    hands = outcome_of(only(events, RoundResult)).hands
    assert isinstance(hands, tuple)
    return {hand.who: (hand.cards, hand.points, hand.kind, hand.outcome) for hand in hands}


def points(events: list[AnyEvent]) -> dict[str, tuple[int | UnsetType, str | None]]:
    """Points and outcome of each hand."""
    return {who: (made, outcome) for who, (_, made, _, outcome) in result_of(events).items()}
