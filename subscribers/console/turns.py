"""Order in which PINs are checked, one at a time: sign-ins from places with the fewest guesses
first, so that a flood of guesses waits, and not the staff.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import count

MAX_OF_ONE = 16
"""Maximum number of simultaneous sign-ins from one place; more are refused as busy."""
MAX_WAITING = 64
"""Maximum number of queued sign-ins; with one more, the last in the order is refused as busy."""
MAX_PLACES = 4096
"""Number of places whose guesses are remembered, latest first."""


class BusyError(Exception):
    """Too many sign-ins: try again."""


class Guesses:
    """Counts wrong PINs by place, until none has come for ``forgotten`` seconds. ``elapsed``:
    monotonic seconds.
    """

    def __init__(self, elapsed: Callable[[], float], forgotten: float) -> None:
        self._elapsed, self._forgotten = elapsed, forgotten
        self._places: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def count(self, place: str) -> int:
        """Return the number of wrong PINs."""
        guesses, last = self._places.get(place, (0, 0.0))
        return guesses if self._elapsed() - last < self._forgotten else 0

    def add(self, place: str) -> None:
        """Count a wrong PIN."""
        self._places[place] = self.count(place) + 1, self._elapsed()
        self._places.move_to_end(place)
        if len(self._places) > MAX_PLACES:
            self._places.popitem(last=False)


Rank = tuple[int, int]


class Turns:
    """Grants one turn at a time, lowest rank first."""

    def __init__(self) -> None:
        self._visitors: Counter[str] = Counter()
        self._order = count()
        self._waiting: dict[tuple[Rank, int], asyncio.Future[None]] = {}
        self._is_busy = False

    @asynccontextmanager
    async def visit(self, place: str) -> AsyncIterator[int]:
        """Enter as a visitor from this place; yield the number of others from there. Raise
        :class:`BusyError`.
        """
        others = self._visitors[place]
        if others >= MAX_OF_ONE:
            raise BusyError
        self._visitors[place] += 1
        try:
            yield others
        finally:
            self._visitors[place] -= 1
            if not self._visitors[place]:
                del self._visitors[place]

    @asynccontextmanager
    async def turn(self, rank: Rank) -> AsyncIterator[None]:
        """Wait for a turn and hold it. Raise :class:`BusyError`."""
        if self._is_busy:
            await self._wait(rank)
        self._is_busy = True
        try:
            yield
        finally:
            self._release()

    async def _wait(self, rank: Rank) -> None:
        key = rank, next(self._order)
        turn = self._waiting[key] = asyncio.get_running_loop().create_future()
        if len(self._waiting) > MAX_WAITING:
            self._waiting.pop(max(self._waiting)).set_exception(BusyError())
        try:
            await turn
        except asyncio.CancelledError:
            self._waiting.pop(key, None)
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self._release()  # the turn was granted just now
            raise

    def _release(self) -> None:
        if self._waiting:
            self._waiting.pop(min(self._waiting)).set_result(None)
        else:
            self._is_busy = False
