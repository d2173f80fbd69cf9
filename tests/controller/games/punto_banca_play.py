"""A table of punto y banca to play at in tests: inputs by short names, events out."""

from __future__ import annotations

import random
from typing import Any

import msgspec

from controller.commands import AnyCommand
from controller.events import AnyEvent, CardExpected
from controller.games.baccarat import next_card
from controller.games.cards import DECK
from controller.games.games import make_game
from controller.games.punto_banca.game import PuntoBancaGame
from controller.games.punto_banca.state import State
from controller.notation import read_input
from devices.readings import AnyReading, CardCut, CardDrawn, LinkLost, LinkUp, ShoeResult

DECREES = ("BAL05", "ARA02", "EUS96", "GAL07")


class Play:
    """A table in play. ``events``: all that was said; each method gives what it made the table say."""

    def __init__(self, decree: str = "ARA02", **settings: Any) -> None:
        made = make_game("punto-banca", decree, settings)
        assert isinstance(made, PuntoBancaGame)
        self.game = made
        self.state: State = made.begin()
        self.events: list[AnyEvent] = []
        self.sealed: list[str | None] = []
        self.at = 0.0

    def take(self, *given: AnyReading | AnyCommand) -> list[AnyEvent]:
        said: list[AnyEvent] = []
        for each in given:
            if self.game.confidential(self.state, each):
                self.sealed.append(getattr(each, "card", None))
            self.state, events = self.game.step(self.state, each)
            said += events
        self.events += said
        return said

    def say(self, command: str, role: str = "table_head", **fields: Any) -> list[AnyEvent]:
        line = {"at": self.now(), "type": command, "by": "M. Lasa", "role": role, **fields}
        return self.take(read_input(msgspec.json.encode(line)))

    def cards(self, cards: str, **fields: Any) -> list[AnyEvent]:
        """Cards leave the shoe one after the other; ``-`` is one that the shoe could not read."""
        said: list[AnyEvent] = []
        for card in cards.split():
            at = self.now()
            name = None if card == "-" else card
            said += self.take(CardDrawn(at=at, device="shoe", frame=f"frame {at:g}", card=name, **fields))
        return said

    def cut(self) -> list[AnyEvent]:
        return self.take(CardCut(at=self.now(), device="shoe"))

    def verdict(self, winner: Any, **fields: Any) -> list[AnyEvent]:
        return self.take(ShoeResult(at=self.now(), device="shoe", frame="verdict", winner=winner, **fields))

    def gap(self) -> list[AnyEvent]:
        """The device is not heard for a while."""
        return self.take(LinkLost(at=self.now(), device="shoe", reason="unplugged"), LinkUp(at=self.now(), device="shoe"))

    def open(self, burn: str = "Ac 2c", shoe: str = "S1", **fields: Any) -> list[AnyEvent]:
        """A session, a shoe and its burn."""
        return [
            *self.say("session.open", minimum=500, currency="EUR"),
            *self.say("shoe.start", shoe=shoe, **fields),
            *self.cards(burn),
        ]

    def bets(self) -> list[AnyEvent]:
        """Bets open, and close."""
        return [*self.say("bets.open", role="croupier"), *self.say("bets.close", role="croupier")]

    def coup(self, cards: str) -> list[AnyEvent]:
        """A whole coup at a table with keys: bets, cards, turned when they are to be."""
        said = self.bets()
        for card in cards.split():
            said += self.cards(card)
            if self.state.hand is not None and len(self.state.hand.dealt) >= 4 and not self.state.asks:
                said += self.say("cards.turn", role="croupier")
        return said

    def shuffled(self, seed: int) -> list[str]:
        """The cards of a shoe in some order."""
        cards = list(DECK) * self.game.book.shoe.decks
        random.Random(seed).shuffle(cards)
        return cards

    def again(self) -> None:
        """Written down and taken up again."""
        self.state = msgspec.json.decode(msgspec.json.encode(self.state), type=State)

    def now(self) -> float:
        self.at += 1.0
        return self.at


def expected(events: list[AnyEvent]) -> list[str | None]:
    """Where the next card was said to belong."""
    return [event.to for event in events if isinstance(event, CardExpected)]


def coups(third: Any, cards: list[str]) -> list[list[str]]:
    """The cards parted into whole coups, by the same table; the rest is left out."""
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
