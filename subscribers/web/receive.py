"""What the web server receives from the broker, and does beside answering requests."""

from __future__ import annotations

from collections.abc import Coroutine, Iterator
from typing import Any

from common import clock
from subscribers.feed import worlds
from subscribers.feed.floor import Floor
from subscribers.web.app import WebApplication
from subscribers.web.pit import Pit

JACKPOT_CHECK_INTERVAL_SECONDS = 0.2
"""Interval for checking the jackpots."""


def receivers(web: WebApplication) -> Iterator[tuple[str, Coroutine[Any, Any, None]]]:
    """Return the receiving tasks by name. They run until the server shuts down."""
    settings = web.settings
    yield from worlds.receivers(web.floor, settings.site, settings.broker, web.motions.on_message)
    yield "jackpots", _check_jackpots(web.floor)
    if web.api is not None and web.api.events is not None:
        yield "events", web.api.run()
    if isinstance(web.pit, Pit):
        yield "commands", web.pit.run()
    if web.keypads is not None and web.settings.keypads:
        yield "keypads", web.keypads.run()


async def _check_jackpots(floor: Floor) -> None:
    """Announce changes of the jackpots to the streams, including lost connections."""
    while True:
        floor.check_jackpots()
        await clock.sleep(JACKPOT_CHECK_INTERVAL_SECONDS)
