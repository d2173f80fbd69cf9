"""The daemons of a pair exchange their statements through the store, each beside its lease."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from controller.standby.errors import OvertakenError, StoreUnreachableError, StoreUnusableError
from controller.standby.fence import boottime
from controller.standby.lease import RENEWALS
from controller.standby.seal import Seal
from controller.standby.statements import Board, Peer, Statement, left, rival, saw
from controller.standby.store import Store

TRIES = 4
"""How often a statement is written anew at once where another daemon wrote meanwhile."""


class Exchange:
    """``state(beat)``: what this daemon states. Whether the store answers is known to whoever has
    the lease or waits for it, and is not told here.
    """

    def __init__(
        self,
        store: Store[Board],
        journal: str,
        lease: float,
        state: Callable[[int], Statement],
        seal: Seal,
    ) -> None:
        self._seal = seal
        self._store, self._journal, self._lease, self._state = store, journal, lease, state
        self._beat = 0
        self.peers: dict[str, Peer] = {}
        """The other daemons, by their journal."""
        self.before: Statement | None = None
        """What the run of this daemon before this one stated last."""
        self._first = True

    def rival(self) -> Statement | None:
        """Another daemon that runs and says that it could serve."""
        return rival(self.peers, boottime(), self._lease)

    def fresh(self) -> list[Statement]:
        """The other daemons that run."""
        now = boottime()
        return [p.statement for p in self.peers.values() if p.is_fresh(now, self._lease)]

    async def run(self) -> None:
        """State what there is to state until cancelled."""
        while True:
            await self.tell()
            await asyncio.sleep(self._lease / RENEWALS)

    async def tell(self) -> None:
        """Read the statements, and write this daemon's."""
        for _ in range(TRIES):
            try:
                await self._tell()
            except OvertakenError:
                continue
            except (StoreUnreachableError, StoreUnusableError):
                pass
            return

    async def _tell(self) -> None:
        entry = await self._store.read()
        board, now = entry.record or {}, boottime()
        if self._first:
            self._first, self.before = False, board.get(self._journal)
        self.peers = saw(self.peers, board, self._journal, now)
        self._beat += 1
        mine = {self._journal: self._seal.sign(self._state(self._beat))}
        await self._store.write(left(board, self.peers, now, self._lease) | mine, entry.revision)

    async def close(self) -> None:
        """End the connection."""
        await self._store.close()
