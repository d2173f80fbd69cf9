"""A table of boule or of the wheel of fortune to play at in tests: inputs by short names, events
out.
"""

from __future__ import annotations

from typing import Any

from common.contract.events import AnyEvent
from common.readings import (
    Number,
    Phase,
    WheelCell,
    WheelFault,
    WheelFaultName,
    WheelNumber,
    WheelPhase,
)
from controller.games.boule.game import BouleGame
from controller.games.cells.state import CellsState
from controller.games.fortune.game import FortuneGame
from controller.games.machine import AnyMachine
from tests.support.games.play import AnyPlay

DECREES = ("BAL05", "ARA02", "EUS96", "GAL07")


WHEELS: dict[str, type[AnyMachine]] = {"boule": BouleGame, "fortune-wheel": FortuneGame}


class Play(AnyPlay[AnyMachine, CellsState]):
    """A table in play."""

    device = "wheel"

    def __init__(self, game: str = "boule", decree: str = "ARA02", **settings: Any) -> None:
        super().__init__(WHEELS[game], game, decree, settings)

    def phase(
        self, phase: Phase, spin: int | None = None, device: str = "wheel", **fields: Any
    ) -> list[AnyEvent]:
        at = self.now()
        return self.take(
            WheelPhase(
                at=at, device=device, frame=f"{phase} {spin}", phase=phase, spin=spin, **fields
            )
        )

    def cell(self, cell: int, spin: int | None = None, **fields: Any) -> list[AnyEvent]:
        at = self.now()
        return self.take(
            WheelCell(at=at, device="wheel", frame=f"cell {cell}", cell=cell, spin=spin, **fields)
        )

    def number(
        self, number: Number, spin: int | None = None, device: str = "wheel", **fields: Any
    ) -> list[AnyEvent]:
        at = self.now()
        return self.take(
            WheelNumber(
                at=at, device=device, frame=f"number {number}", number=number, spin=spin, **fields
            )
        )

    def fault(
        self, fault: WheelFaultName, active: bool = True, spin: int | None = None
    ) -> list[AnyEvent]:
        return self.take(
            WheelFault(at=self.now(), device="wheel", fault=fault, active=active, spin=spin)
        )

    def until_closed(self, spin: int | None = None) -> list[AnyEvent]:
        """Bets open, the ball or wheel is launched and about to settle, bets close."""
        return [
            *self.send("bets.open"),
            *self.phase("launched", spin),
            *self.phase("settling", spin),
            *self.send("bets.close", "croupier"),
        ]

    def spin(self, cell: int, spin: int | None = None, **fields: Any) -> list[AnyEvent]:
        """A whole round at a table with keys."""
        return [
            *self.until_closed(spin),
            *self.phase("settled", spin),
            *self.cell(cell, spin, **fields),
        ]

    def alone(self, cell: int, spin: int | None = None, **fields: Any) -> list[AnyEvent]:
        """A whole round at a table that the wheel runs by itself."""
        return [
            *self.phase("launched", spin),
            *self.phase("settling", spin),
            *self.phase("settled", spin),
            *self.cell(cell, spin, **fields),
        ]


def table(game: str = "boule", decree: str = "ARA02", **settings: Any) -> Play:
    """A table with an open session."""
    play = Play(game, decree, **settings)
    play.send("session.open", minimum=500, currency="EUR")
    return play
