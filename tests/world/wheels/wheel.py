"""A wheel of the world: a model of ``simulators/`` or of this folder, and what it has shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tests.world.device import Device
from tests.world.loop import WorldLoop
from tests.world.wheels.kinds import KINDS, Number, Spin


class Shown(NamedTuple):
    """A number that the wheel has shown, and when. ``unsent``: the line swallowed it without a
    trace, and the wheel sends it once.
    """

    at: float
    spin: Spin
    unsent: bool = False

    def is_of(self, spin: int | None, number: Number) -> bool:
        """Return whether an event may mean it: one that names the spin, if both count it."""
        return number == self.spin.number and (
            spin == self.spin.spin or None in (spin, self.spin.spin)
        )


class Wheel(Device):
    """A wheel with its line, on an adapter that can be unplugged."""

    def __init__(
        self, loop: WorldLoop, name: str, seed: int, kind: str = "cammegh-ss2", pace: float = 1.0
    ) -> None:
        self.kind = KINDS[kind]
        self.model = self.kind.make(seed, pace)
        self.played: list[Shown] = []
        """What it has shown, in order."""
        self.shown_at = 0.0
        """When it last showed its last number as a result."""
        self.mistaken: set[Number] = set()
        """What its sensors took for a number, right or wrong: candidates, if anything."""
        self.on_shown: list[Callable[[Shown], None]] = []
        """Called with each number that it shows."""
        self._shows = False
        self._ordinal = -1
        super().__init__(loop, name, kind, self.model, seed)

    def sent(self) -> None:
        """Note what it shows."""
        spin, showed = self.kind.shows(self.model), self._shows
        self._shows = spin is not None
        if (number := self.kind.mistaken(self.model)) is not None:
            self.mistaken.add(number)
        if spin is not None:
            self.shown_at = self.now
            # it may flicker, and a model may count on while the wheel rests
            if not showed and spin.ordinal != self._ordinal:
                self._ordinal = spin.ordinal
                unsent = self.kind.by_hand and self.now < self.line._silent_until
                self.played.append(Shown(self.now, spin, unsent))
                for notify in self.on_shown:
                    notify(self.played[-1])

    def received(self) -> None:
        """Answer at once."""
        if self.kind.answers:
            self.wake()
