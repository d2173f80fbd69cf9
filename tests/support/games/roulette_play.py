"""A roulette table to play at in tests: inputs by short names, events out."""

from __future__ import annotations

from itertools import product
from typing import Any

from common.contract.events import AnyEvent
from common.readings import Number, Phase, WheelFault, WheelFaultName, WheelNumber, WheelPhase
from controller.games.roulette.game import RouletteGame
from controller.games.roulette.state import RouletteState
from tests.support.games.play import AnyPlay

DECREES = ("BAL05", "ARA02", "EUS96", "GAL07")
GAMES = ("roulette-french", "roulette-american")
PAIRS = tuple(product(GAMES, DECREES))
"""Every game of roulette under every decree that has it."""


class Play(AnyPlay[RouletteGame, RouletteState]):
    """A table in play."""

    device = "wheel"

    def __init__(
        self, decree: str = "EUS96", game: str = "roulette-french", **settings: Any
    ) -> None:
        super().__init__(RouletteGame, game, decree, settings)

    def open(self, **fields: Any) -> list[AnyEvent]:
        return self.send("session.open", **fields)

    def phase(self, phase: Phase, spin: int | None = None, **fields: Any) -> list[AnyEvent]:
        at = self.now()
        return self.take(
            WheelPhase(
                at=at, device="wheel", frame=f"{phase} {spin}", phase=phase, spin=spin, **fields
            )
        )

    def number(self, number: Number, spin: int | None = None, **fields: Any) -> list[AnyEvent]:
        at = self.now()
        return self.take(
            WheelNumber(
                at=at, device="wheel", frame=f"number {spin}", number=number, spin=spin, **fields
            )
        )

    def fault(self, fault: WheelFaultName, active: bool = True) -> list[AnyEvent]:
        return self.take(WheelFault(at=self.now(), device="wheel", fault=fault, active=active))

    def until_closed(self, spin: int | None = None, **fields: Any) -> list[AnyEvent]:
        """The wheel opens its bets, launches and closes them."""
        phases: tuple[Phase, ...] = ("bets_open", "ball_in_rim", "no_more_bets")
        return [event for phase in phases for event in self.phase(phase, spin, **fields)]

    def spin(self, number: Number, spin: int | None = None, **fields: Any) -> list[AnyEvent]:
        """A whole spin."""
        return [
            *self.until_closed(spin, **fields),
            *self.phase("settled", spin, **fields),
            *self.number(number, spin),
        ]
