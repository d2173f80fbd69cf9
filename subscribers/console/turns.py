"""In which order PINs are judged, one after the other: those come first from where least was
guessed, so that a flood of guesses waits, and not who signs in.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import count

MAX_OF_ONE = 16
"""Sign-ins at once from one place; more are asked to come again."""
MAX_WAITING = 64
"""Sign-ins that wait for their turn; for one more, the last in the order is asked to come again."""
MAX_PLACES = 4096
"""Places whose guesses are remembered, the latest."""


class BusyError(Exception):
    """There are too many: come again."""


class Guesses:
    """How many wrong PINs came from a place, until none has come for ``forgotten`` seconds.
    ``elapsed``: seconds by a clock that only goes forward.
    """

    def __init__(self, elapsed: Callable[[], float], forgotten: float) -> None:
        self._elapsed, self._forgotten = elapsed, forgotten
        self._places: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def of(self, place: str) -> int:
        """How many."""
        guesses, last = self._places.get(place, (0, 0.0))
        return guesses if self._elapsed() - last < self._forgotten else 0

    def wrong(self, place: str) -> None:
        """One more."""
        self._places[place] = self.of(place) + 1, self._elapsed()
        self._places.move_to_end(place)
        if len(self._places) > MAX_PLACES:
            self._places.popitem(last=False)


Rank = tuple[int, int]


class Turns:
    """One after the other, in the order of their rank, the lowest first."""

    def __init__(self) -> None:
        self._at: Counter[str] = Counter()
        self._order = count()
        self._waiting: dict[tuple[Rank, int], asyncio.Future[None]] = {}
        self._is_taken = False

    @asynccontextmanager
    async def visit(self, place: str) -> AsyncIterator[int]:
        """Be one of those from this place who are here; how many others there are. Raises
        :class:`BusyError`.
        """
        others = self._at[place]
        if others >= MAX_OF_ONE:
            raise BusyError
        self._at[place] += 1
        try:
            yield others
        finally:
            self._at[place] -= 1
            if not self._at[place]:
                del self._at[place]

    @asynccontextmanager
    async def turn(self, rank: Rank) -> AsyncIterator[None]:
        """Wait for a turn, and have it. Raises :class:`BusyError`."""
        if self._is_taken:
            await self._wait(rank)
        self._is_taken = True
        try:
            yield
        finally:
            self._pass_on()

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
                self._pass_on()  # it was given just now
            raise

    def _pass_on(self) -> None:
        if self._waiting:
            self._waiting.pop(min(self._waiting)).set_result(None)
        else:
            self._is_taken = False
