"""A table of black jack to play at in tests: inputs by short names, events out."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UnsetType

from controller.commands import COMMANDS, AnyCommand
from controller.events import AnyEvent, RoundResult
from controller.games.blackjack.game import BlackjackGame
from controller.games.blackjack.state import State
from controller.games.games import make_game
from controller.notation import read_input
from devices.readings import AnyReading, CardCut, CardDrawn

DECREES = ("BAL05", "ARA02", "EUS96", "GAL07")
PAIRS = (*(("blackjack", decree) for decree in DECREES), ("blackjack-triple", "EUS96"))
"""Every game of black jack under every decree that has it."""
_TYPES = {command.__struct_config__.tag for command in COMMANDS}


class Play:
    """A table in play. ``events``: all that was said; each method gives what it made the table say."""

    def __init__(self, decree: str = "EUS96", game: str = "blackjack", **settings: Any) -> None:
        made = make_game(game, decree, settings)
        assert isinstance(made, BlackjackGame)
        self.game = made
        self.state: State = made.begin()
        self.events: list[AnyEvent] = []
        self.at = 0.0

    def take(self, *given: AnyReading | AnyCommand) -> list[AnyEvent]:
        said: list[AnyEvent] = []
        for each in given:
            self.state, events = self.game.step(self.state, each)
            said += events
        self.events += said
        return said

    def command(self, name: str, role: str = "table_head", **fields: Any) -> list[AnyEvent]:
        assert name in _TYPES
        line = msgspec.json.encode({"at": self.now(), "type": name, "by": "M. Lasa", "role": role, **fields})
        return self.take(read_input(line))

    def key(self, name: str, who: str | None = None) -> list[AnyEvent]:
        """What a hand does: ``stand``, ``draw``, ``double``, ``split``, ``surrender``."""
        return self.command(f"hand.{name}", role="croupier", **({} if who is None else {"who": who}))

    def open(self, *, burned: bool = True, **fields: Any) -> list[AnyEvent]:
        """A session and a shoe; its first five cards are burned."""
        said = self.command("session.open", minimum=500, currency="EUR")
        said += self.command("shoe.start", shoe="7", **fields)
        return [*said, *(self.cards("2c 3c 4c 5c 6c") if burned else [])]

    def boxes(self, *boxes: int) -> list[AnyEvent]:
        return self.command("boxes.set", role="croupier", boxes=boxes)

    def card(self, card: str | None, **fields: Any) -> list[AnyEvent]:
        at = self.now()
        return self.take(CardDrawn(at=at, device="shoe", frame=f"{at:g} {card}", card=card, **fields))

    def cards(self, cards: str) -> list[AnyEvent]:
        """Cards in the order in which they leave the shoe."""
        return [event for card in cards.split() for event in self.card(card)]

    def cut(self) -> list[AnyEvent]:
        return self.take(CardCut(at=self.now(), device="shoe"))

    def decide(self, action: str, **fields: Any) -> list[AnyEvent]:
        return self.command("card.decide", action=action, **fields)

    def deal(self, boxes: tuple[int, ...], cards: str) -> list[AnyEvent]:
        """A round begins with these boxes and cards."""
        return [*self.boxes(*boxes), *self.cards(cards)]

    def now(self) -> float:
        self.at += 1.0
        return self.at


def outcomes(result: RoundResult) -> dict[str, tuple[int | UnsetType, str | None, str | None]]:
    """Hand -> points, what it makes, what becomes of it."""
    assert isinstance(result.hands, tuple)
    return {hand.who: (hand.points, hand.kind, hand.outcome) for hand in result.hands}
