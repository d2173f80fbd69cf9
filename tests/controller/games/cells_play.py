"""A table of boule or of the wheel of fortune to play at in tests: inputs by short names, events out."""

from __future__ import annotations

from typing import Any

import msgspec

from controller.commands import AnyCommand
from controller.events import AnyEvent
from controller.games.cells.game import CellsGame
from controller.games.cells.state import CellsState
from controller.games.games import make_game
from controller.notation import read_input
from devices.readings import (
    AnyReading,
    LinkLost,
    LinkUp,
    Number,
    Phase,
    WheelCell,
    WheelFault,
    WheelFaultName,
    WheelNumber,
    WheelPhase,
)

DECREES = ("BAL05", "ARA02", "EUS96", "GAL07")


class Play:
    """A table in play. ``events``: all that was said; each method gives what it made the table say."""

    def __init__(self, game: str = "boule", decree: str = "ARA02", **settings: Any) -> None:
        made = make_game(game, decree, settings)
        assert isinstance(made, CellsGame)
        self.game = made
        self.state: CellsState = made.begin()
        self.events: list[AnyEvent] = []
        self.at = 0.0

    def take(self, *given: AnyReading | AnyCommand) -> list[AnyEvent]:
        said: list[AnyEvent] = []
        for each in given:
            self.state, events = self.game.step(self.state, each)
            said += events
        self.events += said
        return said

    def say(self, command: str, role: str = "table_head", by: str = "M. Lasa", **fields: Any) -> list[AnyEvent]:
        return self.take(read_input(msgspec.json.encode({"at": self.now(), "type": command, "by": by, "role": role, **fields})))

    def phase(self, phase: Phase, spin: int | None = None, device: str = "wheel", **fields: Any) -> list[AnyEvent]:
        at = self.now()
        return self.take(WheelPhase(at=at, device=device, frame=f"{phase} {spin}", phase=phase, spin=spin, **fields))

    def cell(self, cell: int, spin: int | None = None, **fields: Any) -> list[AnyEvent]:
        at = self.now()
        return self.take(WheelCell(at=at, device="wheel", frame=f"cell {cell}", cell=cell, spin=spin, **fields))

    def number(self, number: Number, spin: int | None = None, device: str = "wheel", **fields: Any) -> list[AnyEvent]:
        at = self.now()
        return self.take(WheelNumber(at=at, device=device, frame=f"number {number}", number=number, spin=spin, **fields))

    def fault(self, fault: WheelFaultName, active: bool = True, spin: int | None = None) -> list[AnyEvent]:
        return self.take(WheelFault(at=self.now(), device="wheel", fault=fault, active=active, spin=spin))

    def gap(self) -> list[AnyEvent]:
        """The device is not heard for a while."""
        return self.take(LinkLost(at=self.now(), device="wheel", reason="unplugged"), LinkUp(at=self.now(), device="wheel"))

    def until_closed(self, spin: int | None = None) -> list[AnyEvent]:
        """Bets open, it is set going, it is about to settle, bets close."""
        return [
            *self.say("bets.open"),
            *self.phase("launched", spin),
            *self.phase("settling", spin),
            *self.say("bets.close", "croupier"),
        ]

    def spin(self, cell: int, spin: int | None = None, **fields: Any) -> list[AnyEvent]:
        """A whole round at a table with keys."""
        return [*self.until_closed(spin), *self.phase("settled", spin), *self.cell(cell, spin, **fields)]

    def alone(self, cell: int, spin: int | None = None, **fields: Any) -> list[AnyEvent]:
        """A whole round at a table that the wheel runs by itself."""
        return [
            *self.phase("launched", spin),
            *self.phase("settling", spin),
            *self.phase("settled", spin),
            *self.cell(cell, spin, **fields),
        ]

    def again(self) -> None:
        """Written down and taken up again."""
        self.state = msgspec.json.decode(msgspec.json.encode(self.state), type=self.game.state_type)

    def show(self) -> dict[str, Any]:
        return self.game.show(self.state)

    def now(self) -> float:
        self.at += 1.0
        return self.at


def table(game: str = "boule", decree: str = "ARA02", **settings: Any) -> Play:
    """A table with an open session."""
    play = Play(game, decree, **settings)
    play.say("session.open", minimum=500, currency="EUR")
    return play
