"""Commands that wait for their answer, queued per client so that no flood delays anybody else.

MQTT does not say who published a message. A client is whoever the body names as ``client``, at one
table; those who name nobody share one queue. Anybody may use any name: only the broker can keep
strangers out. So a table has few queues, each is short, and all of them together are paced. Recalls
have queues of their own, and one pace for all tables, because each reads a hundred events from the
disk.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

LINES = 8
"""Clients of a table with a queue of their own at a time; the others share the queue of those
without a name.
"""
WAITING = 16
"""Messages that may wait in one queue."""
ALL_WAITING = 2000
"""Messages that may wait in all queues together: 32 MB at most."""
CLIENT, TABLE, RECALLS = (25.0, 100), (100.0, 200), (50.0, 100)
"""Answers per second to one client, at one table, and to all recalls; and how many at once before
that.
"""

_Message = TypeVar("_Message")


class Pace:
    """So many at once, then so many per second."""

    def __init__(self, rate: float, burst: int) -> None:
        self._step = 1.0 / rate
        self._credit = (burst - 1) * self._step
        self._next = 0.0
        """When the next would come if all came at the rate."""

    def wait(self, now: float) -> float:
        """Take a turn. Returns the seconds until then."""
        due = max(self._next, now - self._credit)
        self._next = due + self._step
        return max(0.0, due - now)

    def rested(self, now: float) -> bool:
        """Whether it is in the state of a new one."""
        return self._next <= now - self._credit


class _Line(Generic[_Message]):
    def __init__(self) -> None:
        self.waiting: deque[_Message] = deque()
        self.pace = Pace(*CLIENT)
        self.at_work = False


class Intake(Generic[_Message]):
    """Answers messages with ``answer``, in tasks of ``group``. The messages of one client at one
    table are answered in order.
    """

    def __init__(
        self, group: asyncio.TaskGroup, answer: Callable[[_Message], Awaitable[None]]
    ) -> None:
        self._group = group
        self._answer = answer
        self._waiting = 0
        self._lines: dict[tuple[str, bool], dict[str | None, _Line[_Message]]] = {}
        self._paces: dict[str, Pace] = {}
        self._recalls = Pace(*RECALLS)

    def put(self, table: str, client: str | None, message: _Message, *, recall: bool) -> bool:
        """Queue a message. False: too many are waiting, and it is discarded."""
        lines = self._lines.setdefault((table, recall), {})
        if client not in lines and len(lines) >= LINES:
            now = time.monotonic()
            for name in [
                name for name, line in lines.items() if not line.at_work and line.pace.rested(now)
            ]:
                del lines[name]
            if len(lines) >= LINES:
                client = None
        line = lines.setdefault(client, _Line())
        if len(line.waiting) >= WAITING or self._waiting >= ALL_WAITING:
            return False
        line.waiting.append(message)
        self._waiting += 1
        if not line.at_work:
            line.at_work = True
            pace = self._recalls if recall else self._paces.setdefault(table, Pace(*TABLE))
            self._group.create_task(self._work(line, pace))
        return True

    async def _work(self, line: _Line[_Message], pace: Pace) -> None:
        while line.waiting:
            await asyncio.sleep(line.pace.wait(time.monotonic()))
            await asyncio.sleep(pace.wait(time.monotonic()))
            self._waiting -= 1
            await self._answer(line.waiting.popleft())
        line.at_work = False
