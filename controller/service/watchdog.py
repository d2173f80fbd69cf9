"""Feeds the watchdog of the service manager while every part of the daemon makes progress."""

from __future__ import annotations

from collections.abc import Mapping

from common import clock
from common.log import structlog
from controller.journal.journal import Journal
from controller.mqtt.served_table import ServedTable
from controller.service.systemd_notify import KEEP_ALIVE, notify

STUCK_SECONDS = 15.0
"""Seconds without progress after which a part counts as stuck."""


class Watchdog:
    """Feeds the watchdog every ``interval`` seconds."""

    def __init__(
        self, *, journal: Journal, places: Mapping[str, ServedTable], interval: float
    ) -> None:
        self._journal = journal
        self._places = places
        self._interval = interval
        self._log = structlog.get_logger()

    async def run(self) -> None:
        """Feed the watchdog until cancelled, unless something is stuck."""
        while True:
            stuck = self.stuck()
            if stuck is None:
                notify(KEEP_ALIVE)
            else:
                self._log.error("no progress", what=stuck)
            await clock.sleep(self._interval)

    def stuck(self) -> str | None:
        """Return what makes no progress, or None. A journal that retries and a disconnected device
        count as progress.
        """
        for table, place in self._places.items():
            pending = place.runner.oldest_pending_seconds
            if pending > STUCK_SECONDS and self._journal.failed is None:
                return f"the journal has stored nothing from table {table} for {pending:.0f} s"
            for name, device in place.devices.items():
                # a working reader reports "stale" in time; one that hangs leaves it "up"
                health = device.health()
                if health.state == "up" and health.age is not None and health.age > place.silence:
                    return (
                        f"device {name} of table {table} has not been read for {health.age:.0f} s"
                    )
        return None
