"""Exchanges the statements of the daemons of a pair through the store, next to their lease."""

from __future__ import annotations

from collections.abc import Callable

from common import clock
from common.standby.errors import OvertakenError, StoreUnreachableError, StoreUnusableError
from common.standby.lease import RENEWALS_PER_LEASE
from common.standby.seal import StructSigner
from common.standby.statements import (
    Board,
    DaemonStatement,
    Peer,
    find_rival,
    observe_peers,
    without_silent,
)
from common.standby.store import RecordStore

MAX_TRIES = 4
"""Maximum immediate attempts to write a statement when another daemon writes at the same time."""


class StatementExchange:
    """Publishes this daemon's statement periodically and reads those of the others.

    ``state(beat)`` returns the statement. An unreachable store is not reported here, since the
    holder of the lease and the candidate report it.
    """

    def __init__(
        self,
        store: RecordStore[Board],
        journal: str,
        lease: float,
        state: Callable[[int], DaemonStatement],
        seal: StructSigner,
    ) -> None:
        self._seal = seal
        self._store, self._journal, self._lease, self._state = store, journal, lease, state
        self._beat = 0
        self.peers: dict[str, Peer] = {}
        """The other daemons, by the id of their journal."""
        self.previous: DaemonStatement | None = None
        """The last statement of this daemon's previous run."""
        self._first = True

    def rival(self) -> DaemonStatement | None:
        """Return the statement of another daemon that runs and could serve, or None."""
        return find_rival(self.peers, clock.boottime(), self._lease)

    def running_peers(self) -> list[DaemonStatement]:
        """Return the statements of the other daemons that run."""
        now = clock.boottime()
        return [p.statement for p in self.peers.values() if p.is_fresh(now, self._lease)]

    async def run(self) -> None:
        """Publish the statement periodically until cancelled."""
        while True:
            await self.publish()
            await clock.sleep(self._lease / RENEWALS_PER_LEASE)

    async def publish(self) -> None:
        """Read the statements, and write this daemon's."""
        for _ in range(MAX_TRIES):
            try:
                await self._publish_state()
            except OvertakenError:
                continue
            except (StoreUnreachableError, StoreUnusableError):
                pass
            return

    async def _publish_state(self) -> None:
        entry = await self._store.read()
        board, now = entry.record or {}, clock.boottime()
        if self._first:
            self._first, self.previous = False, board.get(self._journal)
        self.peers = observe_peers(self.peers, board, self._journal, now)
        self._beat += 1
        mine = {self._journal: self._seal.sign(self._state(self._beat))}
        await self._store.write(
            without_silent(board, self.peers, now, self._lease) | mine, entry.revision
        )

    async def close(self) -> None:
        """Close the connection."""
        await self._store.close()
