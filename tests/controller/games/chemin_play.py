"""A table of chemin de fer or two-cloth baccarat to play at in tests: inputs by short names, events out."""

from __future__ import annotations

from itertools import product
from typing import Any, TypeVar

import msgspec
import pytest
from msgspec import UnsetType

from controller.commands import AnyCommand
from controller.events import AnyEvent, Event, RoundResult
from controller.games.chemin.game import CheminGame
from controller.games.chemin.settings import CheminSettings
from controller.games.chemin.state import State
from controller.notation import read_input
from controller.rulebooks.chemin import Chemin
from controller.rulebooks.rulebook import rulebook
from devices.readings import AnyReading, CardCut, CardDrawn

DECREES = ("BAL05", "ARA02", "EUS96", "GAL07")
GAMES = ("chemin-de-fer", "baccarat-two-cloths")
PAIRS = tuple(product(GAMES, DECREES))
"""Both games under every decree that has them."""

E = TypeVar("E", bound=Event)


class Play:
    """A table in play. ``events``: all that was said; each method gives what it made the table say."""

    def __init__(self, decree: str = "ARA02", game: str = "chemin-de-fer", **settings: Any) -> None:
        book: Chemin = getattr(rulebook(decree), game.replace("-", "_"))
        defaults = {name: doubt.default for name, doubt in book.doubts.items()}
        self.game = CheminGame(book, msgspec.convert(defaults | settings, CheminSettings))
        self.book = book
        self.state: State = self.game.begin()
        self.events: list[AnyEvent] = []
        self.at = 0.0

    def take(self, *given: AnyReading | AnyCommand) -> list[AnyEvent]:
        said: list[AnyEvent] = []
        for each in given:
            self.state, events = self.game.step(self.state, each)
            said += events
        self.events += said
        return said

    def say(self, name: str, role: str = "inspector", **fields: Any) -> list[AnyEvent]:
        line = msgspec.json.encode({"at": self._now(), "type": name, "by": "M. Lasa", "role": role, **fields})
        return self.take(read_input(line))

    def open(self) -> list[AnyEvent]:
        """A session with a shoe."""
        said = self.say("session.open", minimum=1000, currency="EUR")
        return said + self.say("shoe.start", shoe="7")

    def bets(self, **fields: Any) -> list[AnyEvent]:
        """The bank is called, and the bets are closed."""
        return self.say("bets.open", role="croupier") + self.say("bets.close", role="croupier", **fields)

    def cards(self, text: str, **fields: Any) -> list[AnyEvent]:
        """Cards come out of the shoe: ``"7h 9c"``; a dot is one that was not read."""
        said = []
        for card in text.split():
            now = self._now()
            known = None if card == "." else card
            said += self.take(CardDrawn(at=now, device="shoe", card=known, frame=f"card {card}", **fields))
        return said

    def cut(self) -> list[AnyEvent]:
        return self.take(CardCut(at=self._now(), device="shoe"))

    def draw(self, who: str | None = None) -> list[AnyEvent]:
        return self.say("hand.draw", role="croupier", **({"who": who} if who else {}))

    def stand(self, who: str | None = None) -> list[AnyEvent]:
        return self.say("hand.stand", role="croupier", **({"who": who} if who else {}))

    def turn(self, who: str | None = None, **fields: Any) -> list[AnyEvent]:
        return self.say("cards.turn", role="croupier", **({"who": who} if who else {}), **fields)

    def decide(self, action: str, **fields: Any) -> list[AnyEvent]:
        return self.say("card.decide", action=action, **fields)

    def dealt(self, text: str, **fields: Any) -> list[AnyEvent]:
        """A round up to the last card of its deal."""
        return self.bets(**fields) + self.cards(text)

    def _now(self) -> float:
        self.at += 1.0
        return self.at


def of(events: list[AnyEvent], kind: type[E]) -> list[E]:
    """Those events that are of one kind."""
    return [event for event in events if isinstance(event, kind)]


def only(events: list[AnyEvent], kind: type[E]) -> E:
    """The one event of its kind."""
    (event,) = of(events, kind)
    return event


def whats(events: list[AnyEvent]) -> list[str]:
    """What each event says, in short: its type, and what an irregularity is about."""
    return [str(getattr(event, "what", type(event).__struct_config__.tag)) for event in events]


def rules(*ids: str) -> pytest.MarkDecorator:
    """One case per rule's decree, as the argument ``decree``; several rules of one decree are parted by a space."""
    cases = [pytest.param(each.split("-")[0], marks=pytest.mark.rule(*each.split()), id=each) for each in ids]
    return pytest.mark.parametrize("decree", cases)


def at_table(decree: str, game: str = "chemin-de-fer", **settings: Any) -> Play:
    """A table with an open session and a shoe."""
    play = Play(decree, game, **settings)
    play.open()
    return play


def result_of(events: list[AnyEvent]) -> dict[str, tuple[tuple[str, ...], int | UnsetType, str | None, str | None]]:
    """The hands of the one result: cards, points, kind and outcome, by hand."""
    hands = only(events, RoundResult).hands
    assert isinstance(hands, tuple)
    return {hand.who: (hand.cards, hand.points, hand.kind, hand.outcome) for hand in hands}


def points(events: list[AnyEvent]) -> dict[str, tuple[int | UnsetType, str | None]]:
    """The same, points and outcome only."""
    return {who: (made, outcome) for who, (_, made, _, outcome) in result_of(events).items()}
