"""State of a roulette table. Everything is here; the game itself remembers nothing."""

from __future__ import annotations

from typing import Self

import msgspec

from common.readings import Direction
from controller.games.wheels.state import WheelEntry as WheelEntry
from controller.games.wheels.state import WheelRound as WheelRound
from controller.games.wheels.state import WheelState
from controller.games.wheels.state import WheelTally as LastNumber


class RouletteLaunch(msgspec.Struct, frozen=True):
    """How the rotor turned when the ball was launched, and for which spin of the wheel's own
    counter.
    """

    direction: Direction
    spin: int | None

    def just_before(self, spin: int | None) -> bool:
        """Whether the wheel's counter shows no spin between that launch and one for ``spin``."""
        return self.spin is not None and spin is not None and spin - self.spin in (0, 1)


class RouletteTally(LastNumber, frozen=True):
    """The last valid number, and the count of consecutive zeros that ends with it."""

    zeros: int = 0

    def after(self, entry: WheelEntry) -> Self:
        """Void and unresolved rounds change nothing."""
        if entry.number is None:
            return self
        return type(self)(entry.number, self.zeros + 1 if entry.number == 0 else 0)


class RouletteState(WheelState, frozen=True, kw_only=True, omit_defaults=True):
    """A roulette table between two inputs.

    ``rotor``: the rotor's direction at the last launch, unless a long silence followed; ``heard``:
    no short silence followed either. ``rotor_before``: its direction at the launch before that of
    the round in progress.
    """

    rotor: RouletteLaunch | None = None
    rotor_before: RouletteLaunch | None = None
    heard: bool = True
    before: RouletteTally = RouletteTally()

    def tally(self, upto: int | None = None) -> RouletteTally:
        """The tally after all remembered rounds, or after round ``upto``. Counts backwards, since
        the first number other than zero ends the count.
        """
        number, zeros = None, 0
        for entry in reversed(self.entries):
            if entry.number is None or (upto is not None and entry.round > upto):
                continue
            number = entry.number if number is None else number
            if entry.number != 0:
                return RouletteTally(number, zeros)
            zeros += 1
        return RouletteTally(
            self.before.number if number is None else number, self.before.zeros + zeros
        )
