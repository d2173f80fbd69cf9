"""Whether a daemon of a pair that waits could serve: its journal's disk, the broker, and the
devices that the other daemon misses.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from urllib.parse import urlsplit

from controller.configuration.settings import Configuration
from controller.journal.journal import Journal
from controller.mqtt.reachable import UNTRIED, Reachable
from controller.standby.statements import BROKER, JOURNAL, Missing

PROBED = 0.5
"""The part of a lease between two probes of the journal, within which each must succeed."""
LONGEST = 10.0
"""Seconds for which an answer of the disk or the broker is waited for at the longest: the watchdog
waits too.
"""
ROOM = 4 << 20
"""Bytes that must be free on the journal's disk: less may hold a probe, and not a day's start."""
CONNECTS = 2.0
"""Seconds in which a device must be reached, and a silent one must send something."""


def client_id(configuration: Configuration) -> str:
    """The daemon's client id at the broker, which is the same on both machines of a pair."""
    site = configuration.site
    return configuration.broker.client_id or f"novamas-{site.id}-{site.node}"


class Readiness:
    """``configured``: gives the configuration in force; ``lease``: its seconds. ``troubles``: by
    kind, why this daemon could not serve; ``reached``: the devices that the other daemon misses and
    this one can reach.
    """

    def __init__(
        self, configured: Callable[[], Configuration], journal: Journal, lease: float
    ) -> None:
        self._configured, self._journal, self._lease = configured, journal, lease
        configuration = configured()
        name = f"{client_id(configuration)}-standby-{journal.id[:8]}"  # both may wait
        self._within = min(max(1.0, PROBED * lease), LONGEST)
        self._broker = Reachable(configuration.broker, name, max(2.0, self._within))
        self._disk: str | None = UNTRIED
        self._probe: asyncio.Future[int] | None = None
        """The write that was not done in time."""
        self.reached: tuple[str, ...] = ()

    @property
    def troubles(self) -> dict[str, str]:
        """By kind; empty: it could serve."""
        found = {
            JOURNAL: f"the journal cannot be written: {self._disk}" if self._disk else None,
            BROKER: f"the broker cannot be reached: {self._broker.trouble}"
            if self._broker.trouble
            else None,
        }
        return {kind: what for kind, what in found.items() if what}

    @property
    def is_known(self) -> bool:
        """Whether the disk and the broker have been tried."""
        return UNTRIED not in (self._disk, self._broker.trouble)

    async def run(self) -> None:
        """Look until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._broker.run())
            group.create_task(self._try_journal())

    async def try_journal(self) -> bool:
        """Whether the journal's disk takes a write now."""
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
            short = f"less than {ROOM >> 20} MiB are free on {self._journal.path.parent}"
            self._disk = short if free.free < ROOM else None
        return self._disk is None

    async def _try_journal(self) -> None:
        while True:
            await self.try_journal()
            await asyncio.sleep(PROBED * self._lease)

    async def try_devices(self, missing: Mapping[str, Missing]) -> None:
        """Try to reach those devices. Nothing is sent to them; what they send is not used."""
        links = {
            name: device.link
            for table in self._configured().table
            for device in table.device
            if (name := f"{table.id}/{device.id}") in missing
        }
        tries = (_reaches(link, data=missing[name] == "stale") for name, link in links.items())
        found = await asyncio.gather(*tries)
        self.reached = tuple(name for name, there in zip(links, found, strict=True) if there)


async def _reaches(link: str, *, data: bool) -> bool:
    """``data``: it must send something, too."""
    address = urlsplit(link)
    with suppress(OSError, TimeoutError, ValueError):
        async with asyncio.timeout(CONNECTS):
            reader, writer = await asyncio.open_connection(address.hostname, address.port)
            try:
                return not data or bool(await reader.read(1))
            finally:
                writer.transport.abort()
    return False
