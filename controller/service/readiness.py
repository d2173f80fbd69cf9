"""Readiness of a waiting daemon of a pair: its journal's disk, the broker, and the devices that the
other daemon cannot reach.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from urllib.parse import urlsplit

from common import clock
from common.standby.statements import BROKER, JOURNAL, Missing
from controller.configuration.settings import Configuration
from controller.journal.journal import Journal
from controller.mqtt.reachable import NOT_TRIED_YET, BrokerProbe

PROBE_INTERVAL_LEASES = 0.5
"""Interval between two probes of the journal, and the time limit of each, as a share of the
lease.
"""
MAX_WAIT_SECONDS = 10.0
"""Maximum seconds to wait for the disk or the broker, because the watchdog waits too."""
MIN_FREE_BYTES = 4 << 20
"""Bytes that must be free on the journal's disk. With less, a probe may succeed, but the first
entries of a day would not fit.
"""
CONNECT_TIMEOUT_SECONDS = 2.0
"""Seconds to connect to a device, and to receive something from a silent one."""


def client_id(configuration: Configuration) -> str:
    """Return the daemon's client id at the broker, which is the same on both machines of a pair."""
    site = configuration.site
    return configuration.broker.client_id or f"novamas-{site.id}-{site.node}"


class Readiness:
    """``configured`` returns the configuration in force; ``lease``: its duration in seconds.
    ``troubles``: by kind, why this daemon could not serve; ``reached``: devices that the other
    daemon cannot reach but this one can.
    """

    def __init__(
        self, configured: Callable[[], Configuration], journal: Journal, lease: float
    ) -> None:
        self._configured, self._journal, self._lease = configured, journal, lease
        configuration = configured()
        name = f"{client_id(configuration)}-standby-{journal.id[:8]}"  # both daemons may wait
        self._within = min(max(1.0, PROBE_INTERVAL_LEASES * lease), MAX_WAIT_SECONDS)
        self._broker = BrokerProbe(configuration.broker, name, max(2.0, self._within))
        self._disk: str | None = NOT_TRIED_YET
        self._probe: asyncio.Future[int] | None = None
        """A write that did not complete in time."""
        self.reached: tuple[str, ...] = ()

    @property
    def troubles(self) -> dict[str, str]:
        """Reasons why this daemon could not serve, by kind; empty if it could."""
        reasons = {
            JOURNAL: f"the journal cannot be written: {self._disk}" if self._disk else None,
            BROKER: f"the broker cannot be reached: {self._broker.trouble}"
            if self._broker.trouble
            else None,
        }
        return {kind: what for kind, what in reasons.items() if what}

    @property
    def is_known(self) -> bool:
        """True once the disk and the broker have been tried."""
        return NOT_TRIED_YET not in (self._disk, self._broker.trouble)

    async def run(self) -> None:
        """Check until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._broker.run())
            group.create_task(self._try_journal())

    async def try_journal(self) -> bool:
        """Return True if the journal's disk accepts a write now."""
        within = self._within
        try:
            self._probe = self._probe or self._journal.probe()
            async with asyncio.timeout(within):
                await asyncio.shield(self._probe)
            self._probe = None
            free = await asyncio.to_thread(shutil.disk_usage, self._journal.path.parent)
        except TimeoutError:
            self._disk = self._journal.failed or f"no write was done within {within:g} s"
        except OSError as error:
            self._disk = str(error)
        else:
            short = f"less than {MIN_FREE_BYTES >> 20} MiB are free on {self._journal.path.parent}"
            self._disk = short if free.free < MIN_FREE_BYTES else None
        return self._disk is None

    async def _try_journal(self) -> None:
        while True:
            await self.try_journal()
            await clock.sleep(PROBE_INTERVAL_LEASES * self._lease)

    async def try_devices(self, missing: Mapping[str, Missing]) -> None:
        """Try to connect to these devices. Nothing is sent; received data is discarded."""
        links = {
            name: device.link
            for table in self._configured().table
            for device in table.device
            if (name := f"{table.id}/{device.id}") in missing
        }
        tries = (_is_reachable(link, data=missing[name] == "stale") for name, link in links.items())
        results = await asyncio.gather(*tries)
        self.reached = tuple(
            name for name, is_reached in zip(links, results, strict=True) if is_reached
        )


async def _is_reachable(link: str, *, data: bool) -> bool:
    """Return True if the device can be reached; with ``data``, it must also send something."""
    address = urlsplit(link)
    with suppress(OSError, TimeoutError, ValueError):
        async with asyncio.timeout(CONNECT_TIMEOUT_SECONDS):
            reader, writer = await asyncio.open_connection(address.hostname, address.port)
            try:
                return not data or bool(await reader.read(1))
            finally:
                writer.transport.abort()
    return False
