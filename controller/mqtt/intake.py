"""Queues commands per client, so that a flood by one client does not delay the others.

MQTT does not say who published a message, so a client is the name in the body's ``client``, or the
key that a signed command names, at one table; messages without a name share one queue. Any client
can use any name, and only the broker can keep unknown clients out. So each table has few queues,
each queue is short, and all together are limited in rate. Recalls have their own queues and one
rate for all tables, because each reads a hundred events from disk.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from devices import clock

MAX_QUEUES_PER_TABLE = 8
"""Maximum queues per table; further clients share the queue for messages without a name."""
MAX_QUEUED = 16
"""Maximum messages in one queue."""
MAX_TOTAL_QUEUED = 2000
"""Maximum messages in all queues together: up to 32 MB."""
CLIENT_RATE, TABLE_RATE, RECALL_RATE = (25.0, 100), (100.0, 200), (50.0, 100)
"""Replies per second and initial burst: for one client, for one table, and for all recalls."""

_Message = TypeVar("_Message")


class RateLimit:
    """A rate limit: ``burst`` turns at once, then ``rate`` turns per second."""

    def __init__(self, rate: float, burst: int) -> None:
        self._step = 1.0 / rate
        self._credit = (burst - 1) * self._step
        self._next = 0.0
        """The time of the next turn if all turns kept to the rate."""

    def wait(self, now: float) -> float:
        """Take a turn, and return the seconds until it begins."""
        due = max(self._next, now - self._credit)
        self._next = due + self._step
        return max(0.0, due - now)

    def is_rested(self, now: float) -> bool:
        """Return True if the full burst is available again."""
        return self._next <= now - self._credit


class _ClientQueue(Generic[_Message]):
    def __init__(self) -> None:
        self.waiting: deque[_Message] = deque()
        self.pace = RateLimit(*CLIENT_RATE)
        self.at_work = False


class CommandQueues(Generic[_Message]):
    """Passes messages to ``answer``, in tasks of ``group``. One client's messages at one table are
    answered in order.
    """

    def __init__(
        self, group: asyncio.TaskGroup, answer: Callable[[_Message], Awaitable[None]]
    ) -> None:
        self._group = group
        self._answer = answer
        self._waiting = 0
        self._lines: dict[tuple[str, bool], dict[str | None, _ClientQueue[_Message]]] = {}
        self._paces: dict[str, RateLimit] = {}
        self._recalls = RateLimit(*RECALL_RATE)

    def put(self, table: str, client: str | None, message: _Message, *, recall: bool) -> bool:
        """Queue a message. Returns False if too many are waiting and the message is discarded."""
        lines = self._lines.setdefault((table, recall), {})
        if client not in lines and len(lines) >= MAX_QUEUES_PER_TABLE:
            now = clock.monotonic()
            for name in [
                name
                for name, line in lines.items()
                if not line.at_work and line.pace.is_rested(now)
            ]:
                del lines[name]
            if len(lines) >= MAX_QUEUES_PER_TABLE:
                client = None
        line = lines.setdefault(client, _ClientQueue())
        if len(line.waiting) >= MAX_QUEUED or self._waiting >= MAX_TOTAL_QUEUED:
            return False
        line.waiting.append(message)
        self._waiting += 1
        if not line.at_work:
            line.at_work = True
            pace = (
                self._recalls if recall else self._paces.setdefault(table, RateLimit(*TABLE_RATE))
            )
            self._group.create_task(self._work(line, pace))
        return True

    async def _work(self, line: _ClientQueue[_Message], pace: RateLimit) -> None:
        while line.waiting:
            await clock.sleep(line.pace.wait(clock.monotonic()))
            await clock.sleep(pace.wait(clock.monotonic()))
            self._waiting -= 1
            await self._answer(line.waiting.popleft())
        line.at_work = False
