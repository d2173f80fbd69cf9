"""The reader of dice of ``simulators/``, which notes what really lies below it."""

from __future__ import annotations

from math import inf

from simulators.board import Scene
from simulators.dice.dice import DiceReader
from tests.world.device import Device
from tests.world.loop import WorldLoop

THROWS_PER_HOUR = 100


class Throw:
    """Dice that came to rest at ``at`` and lay until ``until``. ``faces``: what anyone can read of
    them; None if a die is cocked, missing or one too many, or the reader reports one so.
    """

    __slots__ = ("at", "faces", "until")

    def __init__(self, at: float, faces: tuple[int, ...] | None) -> None:
        self.at, self.until, self.faces = at, inf, faces

    def __repr__(self) -> str:
        return f"{self.faces} from {self.at:.1f} to {self.until:.1f}"


class ThrownOften(DiceReader):
    """Dice that are thrown whatever the table shows. ``throws``: those that came to rest."""

    def __init__(self, seed: int) -> None:
        self.throws: list[Throw] = []
        super().__init__(seed, THROWS_PER_HOUR)

    def round(self) -> Scene:
        """See :class:`DiceReader`. What lay there before does not count any more, even if a throw
        is counted in which the dice do not move.
        """
        self._take_up()
        yield from super().round()
        if not self._seen:
            self._take_up()

    def _take_up(self) -> None:
        if self.throws:
            self.throws[-1].until = min(self.throws[-1].until, self.time)

    def _throw(self) -> Scene:
        yield from super()._throw()
        faces = tuple(int(die[0]) for die in self._seen if die[0].isdigit())
        is_whole = len(faces) == len(self._seen) == self._dice
        self.throws.append(Throw(self.time, faces if is_whole else None))


class ThrownByHand(ThrownOften):
    """Dice that are thrown when :meth:`throw` says so."""

    _is_due = False

    def throw(self, now: float) -> None:
        """Throw the dice, once those of the throw before are taken up."""
        self.time = max(self.time, now)
        self._is_due = True
        if self._wake == inf:
            self._wake = now

    def _rounds(self) -> Scene:
        while True:
            while not self._is_due:
                yield inf
            self._is_due = False
            yield from self.round()
            self.rounds += 1


class Dice(Device):
    """A reader with its line, on an adapter that can be unplugged."""

    def __init__(self, loop: WorldLoop, name: str, model: ThrownOften, seed: int) -> None:
        self.model = model
        super().__init__(loop, name, "dice-board", model, seed)

    def throw(self) -> None:
        """Throw the dice."""
        assert isinstance(self.model, ThrownByHand)
        self.model.throw(self.now)
        self.wake()
