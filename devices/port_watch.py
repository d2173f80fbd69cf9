"""Checks whether another program has one of our ports open: around the opening, and periodically.
One scan in a thread covers all ports of an event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from weakref import WeakKeyDictionary

from common import clock
from common.blocking import in_thread
from devices.links.holders import Holder, in_use_reason, other_holders
from devices.links.link import LinkFailedError

SCAN_INTERVAL_SECONDS = 10.0
"""Time between two scans."""
CONFIRM_DELAY_SECONDS = 1.0
"""Time after which a program that was found must still have the port open. A child that this
process is just starting holds our files for a moment, and a table must not stop for a program that
has ended.
"""

OnShared = Callable[[tuple[Holder, ...]], None]


class _Search:
    """One scan for the ports that wait for it. ``found``: None until it has ended."""

    def __init__(self) -> None:
        self.nodes: list[str] = []
        self.found: dict[str, tuple[Holder, ...]] | None = None


class PortWatch:
    """Watches the ports of one event loop. Use it in that loop only."""

    def __init__(self) -> None:
        self._ports: dict[str, OnShared] = {}
        self._task: asyncio.Task[None] | None = None
        self._scanning = asyncio.Lock()
        self._next = _Search()

    async def refuse_other_readers(self, node: str) -> None:
        """Raise :class:`LinkFailedError` if another program has this port open. All ports that wait
        share the next scan, so a thousand ports that are opened at once cost two.
        """
        search = self._next
        search.nodes.append(node)
        async with self._scanning:
            if search is self._next:  # a scan that has begun finds nothing for later callers
                self._next = _Search()
            if search.found is None:
                search.found = await self._scan(search.nodes)
        if users := search.found.get(node):
            raise LinkFailedError(in_use_reason(node, users))

    def begin(self, node: str, found: OnShared) -> None:
        """Watch a port until :meth:`end`. ``found`` is called with the other programs that have it
        open.
        """
        self._ports[node] = found
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())

    def end(self, node: str) -> None:
        """Stop watching a port."""
        self._ports.pop(node, None)
        if not self._ports and self._task is not None:
            self._task.cancel()
            self._task = None

    async def _run(self) -> None:
        while True:
            await clock.sleep(SCAN_INTERVAL_SECONDS)
            suspects = await self._scan([*self._ports])
            if not suspects:
                continue
            await clock.sleep(CONFIRM_DELAY_SECONDS)
            for node, users in (await self._scan([*suspects])).items():
                still = tuple(holder for holder in users if holder in suspects[node])
                if still and node in self._ports:
                    self._ports[node](still)

    async def _scan(self, nodes: list[str]) -> dict[str, tuple[Holder, ...]]:
        found = await in_thread(lambda: other_holders(*nodes), "ports: look")
        return {node: holders for node, holders in found.items() if holders}


_watches: WeakKeyDictionary[asyncio.AbstractEventLoop, PortWatch] = WeakKeyDictionary()


def port_watch() -> PortWatch:
    """Return the watch of the running event loop."""
    return _watches.setdefault(asyncio.get_running_loop(), PortWatch())
