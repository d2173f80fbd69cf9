"""A table to play at in tests, of any game: inputs by short names, events out. Each family adds its
own methods.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar

import msgspec
from msgspec.structs import replace

from common.contract.commands import Command
from common.contract.events import AnyEvent, Irregularity, RoundResult, RoundUnresolved
from common.contract.notation import Input, read_input
from common.contract.refusals import RejectedError
from common.readings import CardCut, CardDrawn, LinkLost, LinkUp, Reading, ShufflerPacket
from controller.games.game import Game
from controller.games.games import make_game
from controller.tables.card_secrecy import is_counted
from tests.support.games.outcomes import shown

G = TypeVar("G", bound=Game)
S = TypeVar("S")
E = TypeVar("E")


def make_command(command: str, at: float = 1.0, role: str = "table_head", **fields: Any) -> Input:
    """A command by its name."""
    given = read_input(
        msgspec.json.encode({"at": at, "type": command, "by": "M. Lasa", "role": role, **fields})
    )
    assert isinstance(given, Command)
    return given


def confidential(game: Game, state: Any, given: Input) -> bool:
    """True if this input, stepped in this state, is for surveillance alone."""
    try:
        _, events = game.step(state, given)
    except RejectedError:
        events = ()
    return game.confidential(state, given, events)


class AnyPlay(Generic[G, S]):
    """A table in play.

    ``events``: all published events; ``sealed``: the cards that only surveillance received. Each
    method returns the events that it caused.
    """

    in_charge: ClassVar[str] = "table_head"
    """The default sender of commands."""
    device: ClassVar[str] = "shoe"
    """The device of readings."""
    frame: ClassVar[str] = "frame {at:g}"
    """The shoe's frame of a card."""

    def __init__(self, kind: type[G], game: str, decree: str, settings: Mapping[str, Any]) -> None:
        made = make_game(game, decree, settings)
        assert isinstance(made, kind)
        self.game: G = made
        self.state: S = made.begin()
        self.events: list[AnyEvent] = []
        self.sealed: list[str | None] = []
        self.at = 0.0
        self.readings: list[Reading] = []

    def take(self, *given: Input) -> list[AnyEvent]:
        told: list[AnyEvent] = []
        for each in given:
            if self.game.face_down and is_counted(each):  # as its table does
                each = replace(each, reading=len(self.readings) + 1)
                self.readings.append(each)
            state, events = self.game.step(self.state, each)
            if self.game.confidential(self.state, each, events):
                self.sealed.append(getattr(each, "card", None))
            self.state = state
            told += events
        self.events += told
        return told

    def evidence(self, event: RoundResult | RoundUnresolved | Irregularity) -> list[str | None]:
        """The frames of the readings that an event of dealt cards names; it has none itself."""
        assert event.frames == ()
        return [self.readings[number - 1].frame for number in event.readings]

    def send(self, command: str, role: str = "", **fields: Any) -> list[AnyEvent]:
        return self.take(make_command(command, self.now(), role or self.in_charge, **fields))

    def decide(self, action: str, **fields: Any) -> list[AnyEvent]:
        return self.send("card.decide", action=action, **fields)

    def bets(self) -> list[AnyEvent]:
        """Bets open, and close."""
        return [*self.send("bets.open", "croupier"), *self.send("bets.close", "croupier")]

    def card(self, card: str | None, **fields: Any) -> list[AnyEvent]:
        at = self.now()
        return self.take(
            CardDrawn(
                at=at, device="shoe", frame=self.frame.format(at=at, card=card), card=card, **fields
            )
        )

    def cards(self, cards: str, **fields: Any) -> list[AnyEvent]:
        """Cards come one after the other; ``-`` is one that the reader could not read."""
        return [
            event
            for card in cards.split()
            for event in self.card(None if card == "-" else card, **fields)
        ]

    def packet(self, size: int, **fields: Any) -> list[AnyEvent]:
        """A packet comes out of the shuffler."""
        return self.take(ShufflerPacket(at=self.now(), device="shuffler", size=size, **fields))

    def cut(self) -> list[AnyEvent]:
        """The cut card comes."""
        return self.take(CardCut(at=self.now(), device="shoe"))

    def gap(self, device: str = "") -> list[AnyEvent]:
        """The device is silent for a while."""
        lost = LinkLost(at=self.now(), device=device or self.device, reason="unplugged")
        return self.take(lost, LinkUp(at=self.now(), device=device or self.device))

    @property
    def shown(self) -> dict[str, Any]:
        """The retained state of the game, as JSON."""
        return shown(self.game, self.state)

    def again(self) -> None:
        """Save and restore, as after a restart."""
        self.state = msgspec.json.decode(msgspec.json.encode(self.state), type=self.game.state_type)

    def now(self) -> float:
        self.at += 1.0
        return self.at


def of_kind(events: Sequence[AnyEvent], kind: type[E]) -> list[E]:
    """The events of one kind."""
    return [event for event in events if isinstance(event, kind)]


def only(events: Sequence[AnyEvent], kind: type[E]) -> E:
    """The one event of its kind."""
    (event,) = of_kind(events, kind)
    return event


def whats(events: Sequence[AnyEvent]) -> list[str]:
    """Each event in short: its type, or the subject of an irregularity."""
    return [str(getattr(event, "what", type(event).__struct_config__.tag)) for event in events]
