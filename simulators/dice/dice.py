"""A reader above dice that are thrown, come to rest and are picked up."""

from __future__ import annotations

from collections.abc import Sequence

from simulators.board import Scene, SimulatedBoard


class DiceReader(SimulatedBoard):
    """A reader of dice. ``dice``: number of dice; ``throws``: the faces of the first throws."""

    kind = "dice"

    def __init__(
        self,
        seed: int = 0,
        games_per_hour: int = 60,
        dice: int = 2,
        throws: Sequence[Sequence[int]] = (),
    ) -> None:
        if any(len(throw) != dice or not all(1 <= face <= 6 for face in throw) for throw in throws):
            raise ValueError(f"a throw has {dice} faces from 1 to 6")
        self._moving = False
        super().__init__(seed, games_per_hour)
        self._dice = dice
        self._next = [tuple(throw) for throw in throws]
        self._seen: list[str] = []
        self._broken_until = 0.0

    def state(self) -> tuple[object, ...]:
        """See :class:`simulators.board.SimulatedBoard`: whether the dice move, the number of
        throws, the reader's health, and each die with its position.
        """
        health = "reader" if self.time < self._broken_until else "ok"
        return "dice", int(self._moving), self.counted, health, *self._seen

    def round(self) -> Scene:
        """Throw and read the dice; then pick them up, unless they are not thrown next."""
        if (seconds := self.take_fault("reader")) is not None:
            self._broken_until = self.time + seconds
        self.counted += 1
        if self._seen and self.take_fault("unmoved") is not None:
            self.report_state()
        else:
            yield from self._throw()
        yield 6.0
        if not self._armed["unmoved"]:
            self._seen = []
            self.report_state()

    def initial_count(self) -> int:
        """Dice that move when the board starts count as thrown."""
        return int(self._moving)

    def _throw(self) -> Scene:
        faces = (
            self._next.pop(0)
            if self._next
            else tuple(self.random.randint(1, 6) for _ in range(self._dice))
        )
        self._moving = True
        for _ in range(self.random.randint(3, 6)):
            self._seen = [self._lying("?") for _ in faces]
            self.report_state()
            yield self.random.uniform(0.2, 0.6)
        self._moving = False
        self._seen = [self._lying(str(face)) for face in faces]
        for fault, sign in (("unreadable", "?"), ("cocked", "/")):
            if self.take_fault(fault) is not None:
                self._seen[0] = sign + self._seen[0][1:]
        if self.take_fault("die_missing") is not None:
            self._seen.pop()
        if self.take_fault("die_extra") is not None:
            self._seen.append(self._lying("1"))
        self.report_state()

    def _lying(self, face: str) -> str:
        return f"{face}@{self.random.randint(0, 600)}.{self.random.randint(0, 400)}"
