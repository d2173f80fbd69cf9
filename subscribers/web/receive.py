"""What the web server receives from the broker, and does beside answering requests."""

from __future__ import annotations

import contextlib
from collections.abc import Coroutine, Iterator
from typing import Any

from common import clock
from common.contract.topics import Topics
from common.log import structlog
from subscribers.feed.floor import Floor
from subscribers.feed.tables import MOTION, ConnectionChange, FeedMessage, table_feed
from subscribers.web.app import WebApplication
from subscribers.web.pit import Pit

JACKPOT_CHECK_INTERVAL_SECONDS = 0.2
"""Interval for checking the jackpots."""
SILENCE_CHECK_INTERVAL_SECONDS = 5.0
"""Interval for checking which daemons are silent."""


def receivers(web: WebApplication) -> Iterator[tuple[str, Coroutine[Any, Any, None]]]:
    """Return the receiving tasks by name. They run until the server shuts down."""
    for simulated in web.floor.worlds:
        yield f"{'simulated' if simulated else 'real'} tables", _listen(web, simulated)
    yield "silent daemons", _check_silence(web.floor)
    yield "jackpots", _check_jackpots(web.floor)
    if isinstance(web.pit, Pit):
        yield "commands", web.pit.run()
    if web.keypads is not None and web.settings.keypads:
        yield "keypads", web.keypads.run()


async def _listen(web: WebApplication, simulated: bool) -> None:
    """Receive messages of the real or the simulated tables until the server shuts down."""
    log, logged_reason = structlog.get_logger(), ""
    topics = Topics(web.settings.site, simulated)
    tables = [table.id for table in web.settings.tables if table.simulated == simulated]
    jackpots = [jackpot.id for jackpot in web.settings.jackpots if jackpot.simulated == simulated]
    messages = table_feed(web.settings.broker, topics, tables, jackpots, motion=True)
    async with contextlib.aclosing(messages) as feed:
        async for message in feed:
            if isinstance(message, ConnectionChange) and message.reason != logged_reason:
                logged_reason = message.reason
                if logged_reason:
                    log.warning("no connection to the broker", reason=logged_reason)
            if isinstance(message, FeedMessage) and message.path == MOTION:
                if message.table is not None:
                    web.motions.on_message(message.table, simulated, message.body)
            else:
                web.floor.on_message(simulated, message)


async def _check_silence(floor: Floor) -> None:
    """Announce tables whose messages have stopped."""
    while True:
        floor.check_silence()
        await clock.sleep(SILENCE_CHECK_INTERVAL_SECONDS)


async def _check_jackpots(floor: Floor) -> None:
    """Announce changes of the jackpots to the streams, including lost connections."""
    while True:
        floor.check_jackpots()
        await clock.sleep(JACKPOT_CHECK_INTERVAL_SECONDS)


def now() -> str:
    """Return the time as UTC, ISO 8601."""
    return clock.now().isoformat().replace("+00:00", "Z")
