"""Keeps Python's garbage collector from holding up the devices: what lives as long as the daemon is
exempted from its collections.
"""

from __future__ import annotations

import asyncio
import gc

SETTLING_SECONDS = 60.0
"""Seconds after a start or a reload until all links and sessions are normally open."""


def exempt_started() -> None:
    """Exempt all present objects, after a collection. Call once all tables are made."""
    gc.collect()
    gc.freeze()
    exempt_when_settled()


def exempt_when_settled() -> None:
    """Exempt the objects of links and sessions too, once they are open. Nothing is collected
    before: that would hold up the event loop.
    """
    asyncio.get_running_loop().call_later(SETTLING_SECONDS, gc.freeze)
