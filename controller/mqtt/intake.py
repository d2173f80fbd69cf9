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

from common import clock

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
        self.rate_limit = RateLimit(*CLIENT_RATE)
        self.is_working = False


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
        self._queues: dict[tuple[str, bool], dict[str | None, _ClientQueue[_Message]]] = {}
        self._table_rates: dict[str, RateLimit] = {}
        self._recall_rate = RateLimit(*RECALL_RATE)

    def put(self, table: str, client: str | None, message: _Message, *, recall: bool) -> bool:
        """Queue a message. Returns False if too many are waiting and the message is discarded."""
        queues = self._queues.setdefault((table, recall), {})
        if client not in queues and len(queues) >= MAX_QUEUES_PER_TABLE:
            now = clock.monotonic()
            for name in [
                name
                for name, queue in queues.items()
                if not queue.is_working and queue.rate_limit.is_rested(now)
            ]:
                del queues[name]
            if len(queues) >= MAX_QUEUES_PER_TABLE:
                client = None
        queue = queues.setdefault(client, _ClientQueue())
        if len(queue.waiting) >= MAX_QUEUED or self._waiting >= MAX_TOTAL_QUEUED:
            return False
        queue.waiting.append(message)
        self._waiting += 1
        if not queue.is_working:
            queue.is_working = True
            rate_limit = (
                self._recall_rate
                if recall
                else self._table_rates.setdefault(table, RateLimit(*TABLE_RATE))
            )
            self._group.create_task(self._work(queue, rate_limit))
        return True

    async def _work(self, queue: _ClientQueue[_Message], rate_limit: RateLimit) -> None:
        while queue.waiting:
            await clock.sleep(queue.rate_limit.wait(clock.monotonic()))
            await clock.sleep(rate_limit.wait(clock.monotonic()))
            self._waiting -= 1
            await self._answer(queue.waiting.popleft())
        queue.is_working = False
