"""A PostgreSQL connection with a reply timeout.

A hung server keeps its connections open, and its host acknowledges what arrives on them: only a
timeout distinguishes it from a slow one.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.waiting import Ready, Wait

from common import clock

REPLY_TIMEOUT_SECONDS = 10.0
"""Maximum time without a reply to a statement that is never expensive."""
SCAN_TIMEOUT_SECONDS = 300.0
"""Maximum time without a reply to a statement that may scan much of the archive."""
POLL_INTERVAL_SECONDS = 0.1
"""Interval at which the timeout is checked."""
T = TypeVar("T")


class BoundedConnection(psycopg.Connection[tuple[Any, ...]]):
    """``reply_timeout`` is the maximum time in seconds without a reply. After that a statement
    raises ``psycopg.OperationalError``, and the connection is closed.
    """

    reply_timeout = REPLY_TIMEOUT_SECONDS

    @contextmanager
    def with_timeout(self, seconds: float) -> Iterator[None]:
        """Use another reply timeout in the context."""
        previous, self.reply_timeout = self.reply_timeout, seconds
        try:
            yield
        finally:
            self.reply_timeout = previous

    def wait(
        self, gen: PQGen[T], interval: float = POLL_INTERVAL_SECONDS, timeout: float | None = None
    ) -> T:
        """Return the result of ``gen``, which talks to the server. ``timeout`` limits the whole, in
        seconds.
        """
        reply_timeout = self.reply_timeout if timeout is None else min(timeout, self.reply_timeout)
        return super().wait(self._with_timeout(gen, reply_timeout), interval)

    def _with_timeout(self, gen: PQGen[T], timeout: float) -> Generator[Wait, Ready | int, T]:
        deadline = clock.monotonic() + timeout
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                now = clock.monotonic()
                if ready:
                    deadline = now + timeout
                elif now >= deadline:
                    self.pgconn.finish()  # a proper close would wait for the server again
                    raise psycopg.OperationalError(
                        f"the server has not answered for {timeout:g} s: it or its disk hangs"
                    )
                wanted = gen.send(Ready(ready))
        except StopIteration as end:
            result: T = end.value
            return result
