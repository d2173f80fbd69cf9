"""What moves at the tables, for the streams of browsers: the last message of each table, as long as
it is fresh. It is decoration: anything that is not as expected is ignored.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Annotated

import msgspec

from common import clock
from common.contract.motion import Motion
from common.contract.times import parse_utc
from common.readings import Direction, Phase
from subscribers.feed.floor import Floor

FRESH_SECONDS = 2.0
"""Age at which a message says nothing any more: the next one is a second overdue."""
WAKE_INTERVAL_SECONDS = 0.2
"""Interval at which the streams are woken for what moves, however many tables there are."""
MAX_BYTES = 1024
"""Maximum size of a message; a daemon's has some 300 bytes."""

Rpm = Annotated[float, msgspec.Meta(ge=0, le=300)]
Age = Annotated[float, msgspec.Meta(ge=0, le=600)]


class BrowserMotion(msgspec.Struct, frozen=True):
    """What a browser receives of a table's motion, with ages in place of times: its clock may be
    wrong. ``since`` and ``launched``: seconds before the message.
    """

    table: str
    phase: Phase
    since: Age
    rpm: Rpm | None
    direction: Direction | None
    launched: Age | None


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
        if known is None or known.simulated != simulated or len(body) > MAX_BYTES:
            return
        try:
            motion = msgspec.json.decode(body, type=Motion)
            line = msgspec.json.encode(for_browser(motion))
        except (ValueError, RecursionError):
            return
        if motion.table != table:
            return
        self._latest[table] = clock.monotonic(), line
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


def for_browser(motion: Motion) -> BrowserMotion:
    """Return what a browser receives. Raises ``ValueError`` where a value is not credible."""
    now = parse_utc(motion.time)
    return msgspec.convert(
        {
            "table": motion.table,
            "phase": motion.phase,
            "since": now - parse_utc(motion.since),
            "rpm": motion.rpm,
            "direction": motion.direction,
            "launched": None if motion.launched_at is None else now - parse_utc(motion.launched_at),
        },
        BrowserMotion,
    )
