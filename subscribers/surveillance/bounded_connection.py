"""A connection with a server of PostgreSQL that waits for an answer only so long.

A server that hangs keeps its connections, and its machine acknowledges what comes on them: only the
time tells it from one that is slow.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.waiting import Ready, Wait

ANSWER = 10.0
"""Seconds for which a server may say nothing while it has something to do that is never much."""
SLOW = 300.0
"""The same, while it may have to go through a large part of the archive."""
LOOK = 0.1
"""Seconds between two looks at the time."""
T = TypeVar("T")


class BoundedConnection(psycopg.Connection[tuple[Any, ...]]):
    """``patience``: seconds without a word of the server after which a statement raises
    ``psycopg.OperationalError``, and the connection is closed.
    """

    patience = ANSWER

    @contextmanager
    def within(self, patience: float) -> Iterator[None]:
        """With another patience."""
        before, self.patience = self.patience, patience
        try:
            yield
        finally:
            self.patience = before

    def wait(self, gen: PQGen[T], interval: float = LOOK, timeout: float | None = None) -> T:
        """What ``gen`` returns, which talks with the server. ``timeout``: seconds for all of it."""
        patience = self.patience if timeout is None else min(timeout, self.patience)
        return super().wait(self._bounded(gen, patience), interval)

    def _bounded(self, gen: PQGen[T], patience: float) -> Generator[Wait, Ready | int, T]:
        until = time.monotonic() + patience
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                now = time.monotonic()
                if ready:
                    until = now + patience
                elif now >= until:
                    self.pgconn.finish()  # a word to the server would be waited for again
                    raise psycopg.OperationalError(
                        f"the server has not answered for {patience:g} s: it hangs, or its disk "
                        "does"
                    )
                wanted = gen.send(Ready(ready))
        except StopIteration as end:
            result: T = end.value
            return result
