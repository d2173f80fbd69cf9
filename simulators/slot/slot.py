"""The slots of the boxes of a table, into which players put a coin before each round, or do not."""

from __future__ import annotations

from simulators.board import Board, Scene


class Slots(Board):
    """``boxes``: that have a slot; ``coin``: what a coin is worth, in minor units."""

    kind = "slot"

    def __init__(
        self, seed: int = 0, games_per_hour: int = 60, boxes: int = 3, coin: int = 500
    ) -> None:
        super().__init__(seed, games_per_hour)
        self._boxes, self._coin = boxes, coin
        self._blocked_until = 0.0

    def state(self) -> tuple[object, ...]:
        """How many coins have gone in, and whether the slots are well."""
        return "coins", self.counted, "blocked" if self.time < self._blocked_until else "ok"

    def round(self) -> Scene:
        """A coin in most boxes."""
        if (seconds := self.strikes("blocked")) is not None:
            self._blocked_until = self.time + seconds
            self.show()
        for box in range(1, self._boxes + 1):
            yield self.random.uniform(0.5, 1.5)
            if self.random.random() < 0.8 and self.time >= self._blocked_until:
                self.counted += 1
                self.say("coin", self.counted, box, self._coin)
        yield 2.0
