"""Counts how long an archive is recorded, and removes once a day what its policy says."""

from __future__ import annotations

import asyncio
import time
from contextlib import closing
from typing import Protocol

import msgspec

from controller.contract.times import utc
from devices.log import structlog
from subscribers.surveillance.archive import Archive
from subscribers.surveillance.errors import ArchiveError
from subscribers.surveillance.open_archive import open_archive
from subscribers.surveillance.retention import (
    DAY,
    STATE,
    Count,
    Due,
    Policy,
    counted,
    due,
    read,
    removed,
)
from subscribers.surveillance.settings import SurveillanceSettings

EVERY = 3600.0
"""Seconds between two looks; at most so many are not counted if the recorder is killed."""
AGAIN = 60.0
"""Seconds until the next attempt where the archive cannot be used."""


class Upkeep:
    """The upkeep of an archive by its recorder. ``began``: now, on the clock that nobody can set,
    in seconds. Raises :class:`ArchiveError`, as its method.
    """

    def __init__(
        self, archive: Archive, policy: Policy, site: str, node: str, began: float
    ) -> None:
        self._archive, self._policy, self._site, self._node = archive, policy, site, node
        self._count = read(archive.recall(STATE))
        self._seen = began
        self._pruned: int | None = None

    def look(self, now: float, time: str) -> list[Due]:
        """Count on until ``now``, on the same clock; remove what is due, once a day. ``time``: the
        same moment, UTC as the wire has it. Returns what was removed.
        """
        seconds = int(now - self._seen)
        count = counted(self._count, seconds, self._archive.newest(), time)
        self._archive.remember(STATE, msgspec.json.encode(count))
        self._count, self._seen = count, self._seen + seconds
        if self._pruned is not None and count.counted - self._pruned < DAY:
            return []
        done = prune(self._archive, self._policy, count, self._site, self._node, time)
        self._pruned = count.counted
        return done


def prune(
    archive: Archive, policy: Policy, count: Count, site: str, node: str, time: str
) -> list[Due]:
    """Remove what is due; each removal is recorded first. Returns what was removed. Raises
    :class:`ArchiveError`.
    """
    found = due(archive, policy, count)
    for each in found:
        archive.keep([removed(each, site, node, time)])
        archive.drop(each.removal)
    return found


class Recorded(Protocol):
    """Lets wait until something was recorded."""

    async def beyond(self, number: int) -> None:
        """Wait for a record of a larger number."""


async def look_after(settings: SurveillanceSettings, recorded: Recorded) -> None:
    """Look after the archive of a recorder, beside the recording, from its first record on."""
    log, began = structlog.get_logger(), time.monotonic()
    await recorded.beyond(0)
    reason = ""
    place, policy, site = settings.archive, settings.keep_days, settings.sites[0].id
    while True:
        try:
            with closing(await asyncio.to_thread(open_archive, place)) as archive:
                upkeep = Upkeep(archive, policy, site, settings.node, began)
                while True:
                    began, now = time.monotonic(), utc(time.time())
                    removals = await asyncio.to_thread(upkeep.look, began, now)
                    reason = ""
                    for done in removals:
                        log.info(
                            "records were removed, their time is over",
                            kind=done.removal.kind,
                            records=done.count,
                            until=done.mark.time,
                        )
                    await asyncio.sleep(EVERY)
        except ArchiveError as error:
            if str(error) != reason:
                reason = str(error)
                log.warning("the archive cannot be looked after", reason=reason)
            await asyncio.sleep(AGAIN)
