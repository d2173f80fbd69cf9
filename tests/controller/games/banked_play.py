"""A table of trijoker, texas against the house or pai gow to play at in tests: inputs by short names, events out."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from controller.commands import AnyCommand
from controller.events import AnyEvent, Irregularity, RoundResult, RoundVoid
from controller.games.banked.game import BankedGame
from controller.games.games import make_game
from controller.notation import read_input
from devices.readings import AnyReading, CardDrawn, DiceRead, LinkLost, LinkUp, ShufflerPacket

E = TypeVar("E")
PAIRS = (
    ("trijoker", "BAL05"),
    ("trijoker", "EUS96"),
    ("texas-house", "EUS96"),
    ("pai-gow", "BAL09"),
    ("pai-gow", "EUS96"),
)


class Play:
    """A table in play. ``events``: all that was said; each method gives what it made the table say."""

    def __init__(self, game: str, decree: str = "EUS96", **settings: Any) -> None:
        made = make_game(game, decree, settings)
        assert isinstance(made, BankedGame)
        self.game = made
        self.state: Any = made.begin()
        self.events: list[AnyEvent] = []
        self.at = 0.0

    def take(self, *given: AnyReading | AnyCommand) -> list[AnyEvent]:
        said: list[AnyEvent] = []
        for each in given:
            self.state, events = self.game.step(self.state, each)
            said += events
        self.events += said
        return said

    def say(self, command: str, role: str = "table_head", **fields: Any) -> list[AnyEvent]:
        line = {"at": self.now(), "type": command, "by": "M. Lasa", "role": role, **fields}
        return self.take(read_input(msgspec.json.encode(line)))

    def cards(self, cards: str, **fields: Any) -> list[AnyEvent]:
        """Cards come one after the other; ``-`` is one that the reader could not read."""
        said: list[AnyEvent] = []
        for card in cards.split():
            at, name = self.now(), None if card == "-" else card
            said += self.take(CardDrawn(at=at, device="shoe", frame=f"frame {at:g}", card=name, **fields))
        return said

    def packet(self, size: int, **fields: Any) -> list[AnyEvent]:
        return self.take(ShufflerPacket(at=self.now(), device="shuffler", size=size, **fields))

    def dice(self, *values: int, **fields: Any) -> list[AnyEvent]:
        return self.take(DiceRead(at=self.now(), device="dice", values=values, **fields))

    def gap(self, device: str = "shoe") -> list[AnyEvent]:
        """The device is not heard for a while."""
        lost = LinkLost(at=self.now(), device=device, reason="unplugged")
        return self.take(lost, LinkUp(at=self.now(), device=device))

    def act(self, who: str, *actions: str) -> list[AnyEvent]:
        return [event for action in actions for event in self.say("hand.act", "croupier", who=who, action=action)]

    def turn(self, *hands: str) -> list[AnyEvent]:
        return [event for who in hands for event in self.say("cards.turn", "croupier", who=who)]

    def open(self, *boxes: int) -> list[AnyEvent]:
        """A session with these boxes."""
        return [*self.say("session.open", minimum=500, currency="EUR"), *self.say("boxes.set", boxes=boxes)]

    def bets(self) -> list[AnyEvent]:
        """Bets open, and close."""
        return [*self.say("bets.open", "croupier"), *self.say("bets.close", "croupier")]

    def shown(self) -> dict[str, Any]:
        """What the retained state tells."""
        told: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self.game.show(self.state)))
        return told

    def result(self) -> RoundResult:
        """The last result."""
        return of_kind(RoundResult, self.events)[-1]

    def again(self) -> None:
        """Written down and taken up again."""
        self.state = msgspec.json.decode(msgspec.json.encode(self.state), type=self.game.state_type)

    def now(self) -> float:
        self.at += 1.0
        return self.at


def of_kind(kind: type[E], events: list[AnyEvent]) -> list[E]:
    """The events of one kind."""
    return [event for event in events if isinstance(event, kind)]


def irregularities(events: list[AnyEvent]) -> list[tuple[str, tuple[str, ...]]]:
    """What is irregular, and what it asks for."""
    return [(event.what, event.asks) for event in of_kind(Irregularity, events)]


def voids(events: list[AnyEvent]) -> list[tuple[str, str]]:
    """What was null, and by which rule."""
    return [(event.reason, event.law) for event in of_kind(RoundVoid, events)]


def bets_of(result: RoundResult, who: str) -> dict[str, tuple[str, tuple[int, int] | None]]:
    """What became of the bets of a hand."""
    [hand] = [hand for hand in result.hands or () if hand.who == who]
    return {bet.bet: (bet.outcome, bet.pays) for bet in hand.settled}
