"""Which table's requests are sent next to one receiver: one request of a table at a time, the
tables in turn, and a pause after a failure. Used by the receiver's threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

from common import clock, randomness

MIN_RETRY_SECONDS, MAX_RETRY_SECONDS = 1.0, 300.0
"""First and maximum delay before a retry; it doubles in between."""
POLL_SECONDS = 1.0
"""Maximum time that :meth:`SendingLanes.take` waits."""


class SendingLanes:
    """The tables of one receiver. ``now`` returns monotonic seconds."""

    def __init__(self, now: Callable[[], float] = clock.monotonic) -> None:
        self._now = now
        self._condition = threading.Condition()
        self._ready: dict[str, None] = {}
        """Tables with requests, in turn."""
        self._busy: set[str] = set()
        self._failures: dict[str, int] = {}
        """Failures in a row of a table; of all under the empty name."""
        self._pauses: dict[str, float] = {}
        """When a table may be tried again; all under the empty name."""
        self._ended = False

    def add(self, places: Iterable[str]) -> None:
        """There are requests of these tables."""
        with self._condition:
            self._ready |= dict.fromkeys(places)
            self._condition.notify_all()

    def end(self) -> None:
        """Return from every :meth:`take`, now and later."""
        with self._condition:
            self._ended = True
            self._condition.notify_all()

    @property
    def is_ended(self) -> bool:
        """Whether :meth:`end` was called."""
        return self._ended

    def take(self) -> str | None:
        """Return a table whose next request is due, and keep it from the other threads until
        :meth:`done`. Return None after a while without one.
        """
        with self._condition:
            deadline = self._now() + POLL_SECONDS
            while not self._ended:
                now = self._now()
                found = self._due(now)
                if found is not None:
                    del self._ready[found]
                    self._busy.add(found)
                    return found
                if now >= deadline:
                    return None
                self._condition.wait(min(deadline - now, self._next_due(now, deadline)))
            return None

    def _due(self, now: float) -> str | None:
        if self._pauses.get("", now) > now:
            return None
        return next(
            (
                place
                for place in self._ready
                if place not in self._busy and self._pauses.get(place, now) <= now
            ),
            None,
        )

    def _next_due(self, now: float, deadline: float) -> float:
        later = [at for at in self._pauses.values() if at > now]
        return max(0.001, min([deadline, *later]) - now)

    def done(self, place: str, *, more: bool) -> None:
        """A request was accepted or refused, or there was none. ``more``: look for another."""
        with self._condition:
            self._busy.discard(place)
            if more:
                self._ready[place] = None
            for name in (place, ""):
                self._failures.pop(name, None)
                self._pauses.pop(name, None)
            self._condition.notify_all()

    def failed(self, place: str, *, everything: bool, wait: float | None) -> float:
        """A request must be sent again: pause its table, or ``everything``. ``wait``: seconds that
        the receiver asked for. Return the seconds.
        """
        with self._condition:
            name = "" if everything else place
            count = self._failures[name] = self._failures.get(name, 0) + 1
            delay = min(MIN_RETRY_SECONDS * 2.0 ** min(count - 1, 20), MAX_RETRY_SECONDS)
            # receivers that failed together must not all be asked again at the same moment
            delay = max(delay * (0.75 + randomness.fraction() / 4), wait or 0.0)
            self._pauses[name] = self._now() + delay
            self._busy.discard(place)
            self._ready[place] = None
            self._condition.notify_all()
            return delay
