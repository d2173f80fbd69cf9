"""A table of trente et quarante to play at in tests: inputs by short names, events out."""

from __future__ import annotations

import random
from typing import Any, TypeVar

import msgspec

from controller.commands import AnyCommand
from controller.events import AnyEvent
from controller.games.cards import DECK
from controller.games.games import make_game
from controller.games.trente.game import TrenteGame
from controller.games.trente.rows import is_coup
from controller.games.trente.state import State
from controller.notation import read_input
from devices.readings import AnyReading, CardCut, CardDrawn, LinkLost, LinkUp, ShoeReset

E = TypeVar("E")
DECREES = ("BAL05", "ARA02", "EUS96", "GAL07")

BLACK_WINS = "Ts Jd Qc 2s Kd Th 9d 8c"
"""Black 32, red 37, the first card black: black and colour."""
RED_WINS = "Ks Qd 9c 8h Tc Jc Qh Ad"
"""Black 37, red 31, the first card black: red and inverse."""
REFAIT = "Td Jd Qd Ad Tc Jc Qc Ac"
TIE = "5d Jd Qd Kd 5c Jc Qc Kc"
"""35 each."""


class Play:
    """A table in play. ``events``: all that was said; each method gives what it made the table say."""

    def __init__(self, decree: str = "ARA02", **settings: Any) -> None:
        made = make_game("trente-et-quarante", decree, settings)
        assert isinstance(made, TrenteGame)
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

    def reset(self) -> list[AnyEvent]:
        return self.take(ShoeReset(at=self.now(), device="shoe"))

    def gap(self) -> list[AnyEvent]:
        """The device is not heard for a while."""
        return self.take(LinkLost(at=self.now(), device="shoe", reason="unplugged"), LinkUp(at=self.now(), device="shoe"))

    def open(self, shoe: str = "S1", **fields: Any) -> list[AnyEvent]:
        """A session and a shoe."""
        return [*self.say("session.open", minimum=500, currency="EUR"), *self.say("shoe.start", shoe=shoe, **fields)]

    def bets(self) -> list[AnyEvent]:
        """Bets open, and close."""
        return [*self.say("bets.open", role="croupier"), *self.say("bets.close", role="croupier")]

    def coup(self, cards: str) -> list[AnyEvent]:
        """A whole coup at a table with keys."""
        return [*self.bets(), *self.cards(cards)]

    def again(self) -> None:
        """Written down and taken up again."""
        self.state = msgspec.json.decode(msgspec.json.encode(self.state), type=State)

    def now(self) -> float:
        self.at += 1.0
        return self.at


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
    """The cards parted into whole coups; the rest is left out."""
    found: list[list[str]] = []
    own: list[str] = []
    for card in cards:
        own.append(card)
        if is_coup(own):
            found.append(own)
            own = []
    return found


def of_kind(kind: type[E], events: list[AnyEvent]) -> list[E]:
    """The events of one kind."""
    return [event for event in events if isinstance(event, kind)]
