"""The floor of a service that only looks: what it receives of real and of simulated tables."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

from common import clock
from common.contract.topics import Topics
from common.log import structlog
from subscribers.feed.floor import JACKPOT_PREFIX, Floor
from subscribers.feed.tables import MOTION, BrokerLogin, ConnectionChange, FeedMessage, table_feed

SILENCE_CHECK_INTERVAL_SECONDS = 5.0
"""Interval for checking which daemons are silent."""

MotionHandler = Callable[[str, bool, bytes], None]
"""Called with each message on ``motion``: table, whether it is simulated, body."""


def receivers(
    floor: Floor, site: str, broker: BrokerLogin, on_motion: MotionHandler | None = None
) -> Iterator[tuple[str, Coroutine[Any, Any, None]]]:
    """Return the receiving tasks by name. They run for as long as the service. Without
    ``on_motion``, what moves at the tables is not subscribed to.
    """
    for simulated in floor.worlds:
        name = f"{'simulated' if simulated else 'real'} tables"
        yield name, _listen(floor, Topics(site, simulated), broker, on_motion)
    yield "silent daemons", _check_silence(floor)


async def _listen(
    floor: Floor, topics: Topics, broker: BrokerLogin, on_motion: MotionHandler | None
) -> None:
    """Receive messages of the real or the simulated tables."""
    log, logged_reason, simulated = structlog.get_logger(), "", topics.simulated
    tables = [table for table, known in floor.known.items() if known.simulated == simulated]
    jackpots = [
        name.removeprefix(JACKPOT_PREFIX)
        for name, meter in floor.meters.items()
        if meter.simulated == simulated
    ]
    messages = table_feed(broker, topics, tables, jackpots, motion=on_motion is not None)
    async with contextlib.aclosing(messages) as feed:
        async for message in feed:
            if isinstance(message, ConnectionChange) and message.reason != logged_reason:
                logged_reason = message.reason
                if logged_reason:
                    log.warning("no connection to the broker", reason=logged_reason)
            if isinstance(message, FeedMessage) and message.path == MOTION:
                if message.table is not None and on_motion is not None:
                    on_motion(message.table, simulated, message.body)
            else:
                floor.on_message(simulated, message)


async def _check_silence(floor: Floor) -> None:
    """Announce tables whose messages have stopped."""
    while True:
        floor.check_silence()
        await clock.sleep(SILENCE_CHECK_INTERVAL_SECONDS)


def now() -> str:
    """Return the time as UTC, ISO 8601."""
    return clock.now().isoformat().replace("+00:00", "Z")
