"""A table of circle poker to play at in tests: inputs by short names, events out."""

from __future__ import annotations

import random
from typing import Any, TypeVar

import msgspec

from controller.commands import AnyCommand
from controller.events import AnyEvent, Irregularity, RoundVoid
from controller.games.circle.game import CircleGame
from controller.games.circle.state import Round, State
from controller.games.circle.streets import pack
from controller.games.games import make_game
from controller.notation import read_input
from devices.readings import AnyReading, CardDrawn, LinkLost, LinkUp, ShufflerPacket

E = TypeVar("E")
PAIRS = (
    *(("EUS96", game) for game in ("texas-holdem", "omaha", "omaha-five", "omaha-hi-lo", "holdem-double", "synthetic-poker")),
    *(("BAL09", game) for game in ("texas-holdem", "omaha", "synthetic-poker")),
    ("ARA02", "synthetic-poker"),
    ("BAL05", "synthetic-poker"),
)
SYNTHETIC = tuple(decree for decree, game in PAIRS if game == "synthetic-poker")
HOLES = "Ah Kh Qh Jh As Ks Qs Js"
"""Two cards for each of four players, in the order of the deal: the seat with the hand first."""


class Play:
    """A table in play. ``events``: all that was said; each method gives what it made the table say."""

    def __init__(self, decree: str = "EUS96", game: str = "texas-holdem", **settings: Any) -> None:
        made = make_game(game, decree, settings)
        assert isinstance(made, CircleGame)
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

    def draw(self, cards: str, **fields: Any) -> list[AnyEvent]:
        """Cards are read one after the other; ``-`` is one that could not be."""
        said: list[AnyEvent] = []
        for card in cards.split():
            at = self.now()
            name = None if card == "-" else card
            said += self.take(CardDrawn(at=at, device="shoe", frame=f"frame {card}", card=name, **fields))
        return said

    def packet(self, size: int, **fields: Any) -> list[AnyEvent]:
        return self.take(ShufflerPacket(at=self.now(), device="shuffler", size=size, **fields))

    def gap(self) -> list[AnyEvent]:
        """The device is not heard for a while."""
        return self.take(LinkLost(at=self.now(), device="shoe", reason="unplugged"), LinkUp(at=self.now(), device="shoe"))

    # Short names

    def open(self, seats: tuple[int, ...] = (1, 2, 3, 4), button: int = 4) -> list[AnyEvent]:
        """A session with players, the hand and a pack that was looked at."""
        said = self.say("session.open", minimum=500, currency="EUR")
        said += self.say("boxes.set", boxes=seats)
        said += self.say("button.set", seat=button)
        return said + self.say("deck.check", cards=len(pack(self.game.book, len(seats))))

    def antes(self) -> list[AnyEvent]:
        return [*self.say("bets.open", role="croupier"), *self.say("bets.close", role="croupier")]

    def act(self, seat: int, action: str) -> list[AnyEvent]:
        return self.say("hand.act", role="croupier", who=f"seat:{seat}", action=action)

    def close(self, winner: int | None = None) -> list[AnyEvent]:
        return self.say("betting.close", role="croupier", winner=None if winner is None else f"seat:{winner}")

    def show(self, who: str | int, cards: str, **fields: Any) -> list[AnyEvent]:
        name = f"seat:{who}" if isinstance(who, int) else who
        return self.say("cards.show", role="croupier", who=name, cards=cards.split(), **fields)

    def turn(self, who: str | int | None = None) -> list[AnyEvent]:
        return self.say("cards.turn", role="croupier", who=f"seat:{who}" if isinstance(who, int) else who)

    def error(self, error: str, who: str | int | None = None, **fields: Any) -> list[AnyEvent]:
        name = f"seat:{who}" if isinstance(who, int) else who
        return self.say("deal.error", role="croupier", error=error, who=name, **fields)

    def accept(self) -> list[AnyEvent]:
        return self.say("card.decide", action="accept")

    def street(self, cards: str) -> list[AnyEvent]:
        """The bets are equal, and these cards come."""
        return [*self.close(), *self.draw(cards)]

    @property
    def hand(self) -> Round:
        assert self.state.hand is not None
        return self.state.hand

    def again(self) -> None:
        """Written down and taken up again."""
        self.state = msgspec.json.decode(msgspec.json.encode(self.state), type=State)

    def now(self) -> float:
        self.at += 1.0
        return self.at


def table(decree: str = "EUS96", game: str = "texas-holdem", seats: tuple[int, ...] = (1, 2, 3, 4), **settings: Any) -> Play:
    """A table with an open session, four players, the hand at the last of them."""
    play = Play(decree, game, **settings)
    play.open(seats, button=seats[-1])
    return play


def shuffled(play: Play, seed: int) -> list[str]:
    """The game's pack in some order."""
    cards = list(pack(play.game.book, len(play.state.seated)))
    random.Random(seed).shuffle(cards)
    return cards


def holdem(decree: str = "EUS96", **settings: Any) -> Play:
    """Hold'em, dealt, the first interval open. Clockwise from the hand at 4: 4, 3, 2, 1; against the clock: 4, 1, 2, 3."""
    play = table(decree, **settings)
    play.antes()
    play.draw(HOLES)
    return play


def deal_out(play: Play, seed: int = 1) -> list[str]:
    """Cards as they are due, bets closed at once, until the showdown. Gives where each card of the pack went."""
    went: list[str] = []
    cards = iter(shuffled(play, seed))
    while not play.hand.showdown:
        if play.hand.open:
            play.close()
            went.append("|")
        elif play.hand.due[0].turn:
            play.turn("board")
            went.append("turn")
        else:
            went.append(play.hand.due[0].to)
            play.draw(next(cards))
    return went


def of_kind(kind: type[E], events: list[AnyEvent]) -> list[E]:
    """The events of one kind."""
    return [event for event in events if isinstance(event, kind)]


def half_dealt(decree: str, game: str = "texas-holdem", **settings: Any) -> Play:
    """The first five cards lie."""
    play = table(decree, game, **settings)
    play.antes()
    play.draw("Ah Kh Qh Jh As")
    return play


def laid(decree: str) -> Play:
    """Synthetic poker, the first common card open, in its first interval: Td, and 9d, 8d, Tc, 9c covered."""
    play = table(decree, "synthetic-poker")
    play.antes()
    play.draw(f"{HOLES} Td 9d 8d Tc 9c")
    return play


def whats(events: list[AnyEvent]) -> list[str]:
    return [event.what for event in of_kind(Irregularity, events)]


def void(events: list[AnyEvent]) -> RoundVoid:
    [event] = of_kind(RoundVoid, events)
    return event
