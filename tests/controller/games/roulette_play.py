"""A roulette table to play at in tests: inputs by short names, events out."""

from __future__ import annotations

from itertools import product
from typing import Any, TypeVar

import msgspec

from controller.commands import COMMANDS, AnyCommand
from controller.events import AnyEvent, Event
from controller.games.games import make_game
from controller.games.roulette.game import RouletteGame
from controller.games.roulette.state import State
from controller.notation import read_input
from devices.readings import AnyReading, Number, Phase, WheelFault, WheelFaultName, WheelNumber, WheelPhase

DECREES = ("BAL05", "ARA02", "EUS96", "GAL07")
GAMES = ("roulette-french", "roulette-american")
PAIRS = tuple(product(GAMES, DECREES))
"""Every game of roulette under every decree that has it."""

E = TypeVar("E", bound=Event)
_TYPES = {command.__struct_config__.tag for command in COMMANDS}


class Play:
    """A table in play. ``events``: all that was said; each method gives what it made the table say."""

    def __init__(self, decree: str = "EUS96", game: str = "roulette-french", **settings: Any) -> None:
        made = make_game(game, decree, settings)
        assert isinstance(made, RouletteGame)
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
        line = msgspec.json.encode({"at": self._now(), "type": name, "by": "M. Lasa", "role": role, **fields})
        return self.take(read_input(line))

    def open(self, **fields: Any) -> list[AnyEvent]:
        return self.command("session.open", **fields)

    def phase(self, phase: Phase, spin: int | None = None, **fields: Any) -> list[AnyEvent]:
        at = self._now()
        return self.take(WheelPhase(at=at, device="wheel", frame=f"{phase} {spin}", phase=phase, spin=spin, **fields))

    def number(self, number: Number, spin: int | None = None, **fields: Any) -> list[AnyEvent]:
        at = self._now()
        return self.take(WheelNumber(at=at, device="wheel", frame=f"number {spin}", number=number, spin=spin, **fields))

    def fault(self, fault: WheelFaultName, active: bool = True) -> list[AnyEvent]:
        return self.take(WheelFault(at=self._now(), device="wheel", fault=fault, active=active))

    def until_closed(self, spin: int | None = None, **fields: Any) -> list[AnyEvent]:
        """The wheel opens its bets, launches and closes them."""
        phases: tuple[Phase, ...] = ("bets_open", "ball_in_rim", "no_more_bets")
        return [event for phase in phases for event in self.phase(phase, spin, **fields)]

    def spin(self, number: Number, spin: int | None = None, **fields: Any) -> list[AnyEvent]:
        """A whole spin."""
        return [*self.until_closed(spin, **fields), *self.phase("settled", spin, **fields), *self.number(number, spin)]

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
