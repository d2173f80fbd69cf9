"""The croupier of a table of craps: does what the table waits for, and has the dice thrown; now and
then too early.
"""

from __future__ import annotations

from contextvars import Context
from random import Random
from typing import TYPE_CHECKING, Any

from common.contract.topics import level
from tests.world.bodies import decoded
from tests.world.client import Client
from tests.world.configuration import ROOT
from tests.world.dice.thrown import Dice, ThrownByHand

if TYPE_CHECKING:
    from tests.world.world import World

LOOK_SECONDS = 1.0, 3.0
"""The shortest and the longest pause between two looks at the table."""
EARLY = 0.02
"""How often the shooter throws before the bets are closed."""
TOLD = 0.5
"""How often the croupier says what lies there, where he may; otherwise the throw is void."""
WAIT_SECONDS = 20.0
"""For so long he waits for the result of a throw before it is void."""
MINIMUM = 500
DICE = 6


class DiceCroupier:
    """Looks at what the table shows, and presses what it waits for. ``decider``: the role that
    declares a throw void.
    """

    def __init__(
        self, world: World, client: Client, table: str, dice: Dice, decider: str, random: Random
    ) -> None:
        self._world, self._client, self._table = world, client, table
        self._dice, self._decider, self._random = dice, decider, random
        self._by_hand = isinstance(dice.model, ThrownByHand)
        self._commands = 0
        self._thrown_at = 0.0
        self._thrown: tuple[int, int] | None = None
        """Session and round of the last throw."""
        self._look_later()

    def _look_later(self) -> None:
        pause = self._random.uniform(*LOOK_SECONDS)
        self._world.loop.call_later(pause, self._look, context=Context())

    def _look(self) -> None:
        self._look_later()
        retained = self._world.broker.retained.get(f"{ROOT}/{self._table}/state")
        if retained is None or not self._client.online:
            return
        state = decoded(retained.payload)
        takes = state["takes"]
        if "session.open" in takes:
            self._send("session.open", minimum=MINIMUM, currency="EUR")
        elif state["fault"] is None:
            self._act(state["shown"], takes)

    def _act(self, shown: dict[str, Any], takes: list[str]) -> None:
        asks = [name for name in shown["asks"] if name in takes]
        if shown["unresolved"]:
            self._void(round=shown["unresolved"][0])
        elif "dice.set" in asks:
            serials = [f"{shown['session']}-{self._commands}-{die}" for die in range(DICE)]
            self._send("dice.set", serials=serials, side=200, same_colour=True)
        elif "dice.choose" in asks:
            self._send("dice.choose", serials=shown["dice"]["reserve"][:2])
        elif asks:
            self._decide(asks)
        elif self._by_hand:
            self._play(shown, takes)

    def _decide(self, asks: list[str]) -> None:
        """Say what lies there, if he can read it; or the throw is void."""
        last = self._dice.model.throws[-1:]
        lies = last and last[0].until > self._world.loop.now
        if "dice.tell" in asks and lies and last[0].faces and self._random.random() < TOLD:
            self._send("dice.tell", values=list(last[0].faces))
        else:
            self._void()

    def _play(self, shown: dict[str, Any], takes: list[str]) -> None:
        """Play a round by keys."""
        if shown["shooter"] is None and "shooter.set" in takes:
            self._send("shooter.set", seat=1)
        elif shown["phase"] in {"waiting", "relaunch"}:
            self._send("bets.open")
        elif shown["phase"] == "bets_open":
            shooter = f"seat:{shown['shooter']}"
            if shown["point"] is None and not any(bet["who"] == shooter for bet in shown["bets"]):
                self._send("bet.place", who=shooter, bet="win", amount=MINIMUM)
            else:
                self._send("bets.close")
                if self._random.random() < EARLY:
                    self._throw(shown)
        elif shown["phase"] == "bets_closed":
            if self._thrown != (shown["session"], shown["round"]):
                self._throw(shown)
            elif self._world.loop.now - self._thrown_at > WAIT_SECONDS:
                self._void()

    def _throw(self, shown: dict[str, Any]) -> None:
        self._thrown = shown["session"], shown["round"]
        self._thrown_at = self._world.loop.now
        self._dice.throw()

    def _void(self, **which: int) -> None:
        self._send("round.void", reason="inspector", role=self._decider, **which)

    def _send(self, name: str, **fields: Any) -> None:
        self._world.note(f"croupier   {self._table} {name} {fields}")
        self._commands += 1
        body = {
            "by": "M. Lasa",
            "role": "table_head",
            "client": self._client.name,
            "id": f"{self._table}-{self._commands}",
            **fields,
        }
        self._client.publish(f"{ROOT}/{self._table}/command/{level(name)}", body)
