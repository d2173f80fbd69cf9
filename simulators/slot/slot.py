"""Simulated coin slots of a table's boxes: before each round each player may insert a coin."""

from __future__ import annotations

from simulators.board import FIRST_ROUND_SECONDS, Scene, SimulatedBoard


class Slots(SimulatedBoard):
    """Coin slots. ``boxes``: number of boxes with a slot; ``coin``: value of a coin in minor
    units.
    """

    kind = "slot"

    def __init__(
        self, seed: int = 0, games_per_hour: int = 60, boxes: int = 3, coin: int = 500
    ) -> None:
        super().__init__(seed, games_per_hour)
        self._boxes, self._coin = boxes, coin
        self._blocked_until = 0.0

    def state(self) -> tuple[object, ...]:
        """See :class:`simulators.board.SimulatedBoard`: number of inserted coins, and the slots'
        health.
        """
        return "coins", self.counted, "blocked" if self.time < self._blocked_until else "ok"

    def fault(self, name: str, value: float, now: float) -> None:
        """Trigger a fault. ``coins`` begins a round as soon as a host can know the delay of the
        reports.
        """
        if name == "coins":
            self._scene, self._wake = self._rounds(), max(now, self._powered + FIRST_ROUND_SECONDS)
        else:
            super().fault(name, value, now)

    def round(self) -> Scene:
        """Insert a coin in most boxes."""
        if (seconds := self.take_fault("blocked")) is not None:
            self._blocked_until = self.time + seconds
            self.report_state()
        for box in range(1, self._boxes + 1):
            yield self.random.uniform(0.5, 1.5)
            if self.random.random() < 0.8 and self.time >= self._blocked_until:
                self.counted += 1
                self.report("coin", self.counted, box, self._coin)
        yield 2.0
