"""Looks from time to time whether another program has opened a port that we read: one look for all
ports of an event loop, in a thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from weakref import WeakKeyDictionary

from devices.blocking import in_thread
from devices.links.holders import Holder, other_holders

SCAN_INTERVAL_SECONDS = 10.0
"""Seconds between two looks."""
CONFIRM_DELAY_SECONDS = 1.0
"""Seconds after which who was seen once must still be there: a program that is just being started
by this process has its files for a moment, and nobody stops a table for a program that is gone.
"""

OnShared = Callable[[tuple[Holder, ...]], None]


class PortWatch:
    """The ports of one event loop. Use it in that loop."""

    def __init__(self) -> None:
        self._ports: dict[str, OnShared] = {}
        self._task: asyncio.Task[None] | None = None

    def begin(self, node: str, found: OnShared) -> None:
        """Look after this port until :meth:`end`; ``found`` is called with those who read it
        too.
        """
        self._ports[node] = found
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())

    def end(self, node: str) -> None:
        """Look after it no more."""
        self._ports.pop(node, None)
        if not self._ports and self._task is not None:
            self._task.cancel()
            self._task = None

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(SCAN_INTERVAL_SECONDS)
            suspects = await self._look([*self._ports])
            if not suspects:
                continue
            await asyncio.sleep(CONFIRM_DELAY_SECONDS)
            for node, seen in (await self._look([*suspects])).items():
                still = tuple(each for each in seen if each in suspects[node])
                if still and node in self._ports:
                    self._ports[node](still)

    async def _look(self, nodes: list[str]) -> dict[str, tuple[Holder, ...]]:
        found = await in_thread(lambda: other_holders(*nodes), "ports: look")
        return {node: holders for node, holders in found.items() if holders}


_watches: WeakKeyDictionary[asyncio.AbstractEventLoop, PortWatch] = WeakKeyDictionary()


def port_watch() -> PortWatch:
    """That of the running event loop."""
    return _watches.setdefault(asyncio.get_running_loop(), PortWatch())
