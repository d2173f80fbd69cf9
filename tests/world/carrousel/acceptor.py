"""The coin acceptors of a table's boxes: a board that reports each coin, at the end of its line."""

from __future__ import annotations

from simulators.board import Scene
from simulators.slot.slot import Slots
from tests.world.device import Device
from tests.world.loop import WorldLoop

PAUSE_SECONDS = 3600.0


class _Board(Slots):
    """Reports the coins that people of the world insert, and none of its own."""

    def round(self) -> Scene:
        """See :class:`simulators.board.SimulatedBoard`."""
        yield PAUSE_SECONDS

    def insert(self, box: int, amount: int, now: float) -> None:
        """A coin falls."""
        self.time = max(self.time, now)
        self.counted += 1
        self.report("coin", self.counted, box, amount)


class Acceptor(Device):
    """The acceptors of a table."""

    def __init__(self, loop: WorldLoop, name: str, seed: int) -> None:
        self._board = _Board(seed)
        super().__init__(loop, name, "slot-board", self._board, seed)

    def insert(self, box: int, amount: int) -> None:
        """Insert a coin."""
        self._board.insert(box, amount, self.now)
        self.wake()
