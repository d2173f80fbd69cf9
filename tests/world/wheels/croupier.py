"""The croupier of a wheel that is spun by hand: opens the bets, spins, and closes the bets."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from random import Random
from typing import TYPE_CHECKING

from common.contract.topics import level
from tests.world.bodies import decoded
from tests.world.client import Client
from tests.world.configuration import ROOT
from tests.world.liveness import RECONNECTS_SECONDS
from tests.world.wheels.displays import RUNS_SECONDS, NumberDisplay
from tests.world.wheels.wheel import Wheel

if TYPE_CHECKING:
    from tests.world.world import World

BETS_SECONDS = 35.0, 60.0
"""How long players bet before the ball runs: such a table plays some forty spins an hour."""
RIM_SECONDS = 10.0, 14.0
"""How long after the spin he closes the bets: before the ball falls."""
FALLS_SECONDS = 25.0, 40.0
"""Then the ball has fallen, and he pays."""
NUMBER_SECONDS = (
    BETS_SECONDS[1] + RIM_SECONDS[1] + FALLS_SECONDS[1] + RUNS_SECONDS[1] - RUNS_SECONDS[0]
)
"""The longest time between two numbers of the wheel."""
PLAYS_SECONDS = (
    RECONNECTS_SECONDS
    + NUMBER_SECONDS
    + (RIM_SECONDS[1] + FALLS_SECONDS[1] - RUNS_SECONDS[0])
    + (BETS_SECONDS[1] + RIM_SECONDS[1] + FALLS_SECONDS[1])
    + (BETS_SECONDS[1] + RUNS_SECONDS[1])
)
"""After the last fault his table has a live result within this time: the link is open, and the
wheel has sent a number, since until then its table is stale and nobody opens the session; the next
opening of the bets comes before the session is open, the one after it is accepted, and the ball
falls.
"""


class WheelCroupier:
    """Spins whatever the table shows, and presses the keys that it accepts."""

    def __init__(self, world: World, client: Client, table: str, wheel: Wheel, seed: int) -> None:
        self._world, self._client, self._table, self._wheel = world, client, table, wheel
        self._random = Random(seed)
        self._commands = 0
        self._later(BETS_SECONDS, self._open)

    def _later(self, seconds: tuple[float, float], act: Callable[[], None]) -> None:
        self._world.loop.call_later(self._random.uniform(*seconds), act, context=Context())

    def _open(self) -> None:
        self._press("bets.open")
        self._later(BETS_SECONDS, self._spin)

    def _spin(self) -> None:
        model = self._wheel.model
        assert isinstance(model, NumberDisplay)
        model.spin(self._world.loop.now)
        self._wheel.wake()
        self._later(RIM_SECONDS, self._close)

    def _close(self) -> None:
        self._press("bets.close")
        self._later(FALLS_SECONDS, self._open)

    def _press(self, name: str) -> None:
        """Send a command, if the table accepts it."""
        retained = self._world.broker.retained.get(f"{ROOT}/{self._table}/state")
        if retained is None or name not in decoded(retained.payload)["takes"]:
            return
        self._commands += 1
        body = {
            "by": "A. Soto",
            "role": "croupier",
            "client": self._client.name,
            "id": f"{self._table}-{self._commands}",
        }
        self._client.publish(f"{ROOT}/{self._table}/command/{level(name)}", body)
