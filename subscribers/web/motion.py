"""What moves at the tables, for the streams of browsers: the last message of each table, as long as
it is fresh.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import msgspec

from common import clock
from subscribers.feed.floor import Floor
from subscribers.feed.motion import FRESH_SECONDS, read_motion

WAKE_INTERVAL_SECONDS = 0.2
"""Interval at which the streams are woken for what moves, however many tables there are."""


class Motions:
    """The last motion of each table of a floor, whose streams it wakes."""

    def __init__(self, floor: Floor) -> None:
        self._floor = floor
        self._latest: dict[str, tuple[float, bytes]] = {}
        """By table, when its last message came, on the monotonic clock, and its line of JSON."""
        self._waking: asyncio.TimerHandle | None = None

    def on_message(self, table: str, simulated: bool, body: bytes) -> None:
        """Handle a message on a table's topic ``motion``."""
        known = self._floor.known.get(table)
        if known is None or known.simulated != simulated:
            return
        motion = read_motion(table, body)
        if motion is None:
            return
        self._latest[table] = clock.monotonic(), msgspec.json.encode(motion)
        if self._waking is None:
            loop = asyncio.get_running_loop()
            self._waking = loop.call_later(WAKE_INTERVAL_SECONDS, self._wake)

    def since(self, after: float, tables: Iterable[str]) -> list[bytes]:
        """Return the motion of those of these tables of which it came after this moment of the
        monotonic clock and is fresh, each as a line of JSON.
        """
        after = max(after, clock.monotonic() - FRESH_SECONDS)
        found = (self._latest.get(table, (0.0, b"")) for table in tables)
        return [line for came, line in found if came > after]

    def _wake(self) -> None:
        self._waking = None
        self._floor.wake()
