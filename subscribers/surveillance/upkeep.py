"""Counts the archive's recording time, and applies its retention policy once a day."""

from __future__ import annotations

import asyncio
from contextlib import closing
from typing import Protocol

import msgspec

from common import clock
from common.contract.times import format_utc
from common.log import structlog
from subscribers.surveillance.archive import RecordArchive
from subscribers.surveillance.errors import ArchiveError
from subscribers.surveillance.open_archive import open_archive
from subscribers.surveillance.retention import (
    DAY_SECONDS,
    STATE_NAME,
    DueRemoval,
    Policy,
    RecordingAge,
    advance_age,
    decode_age,
    due_removals,
    removal_record,
)
from subscribers.surveillance.settings import SurveillanceSettings

CHECK_INTERVAL_SECONDS = 3600.0
"""Interval for counting; this much may be lost if the recorder is killed."""
RETRY_DELAY_SECONDS = 60.0
"""Delay after which an unusable archive is tried again."""


class Upkeep:
    """Upkeep of an archive by its recorder. ``now``: the current monotonic time in seconds. The
    constructor and the method raise :class:`ArchiveError`.
    """

    def __init__(
        self, archive: RecordArchive, policy: Policy, site: str, node: str, now: float
    ) -> None:
        self._archive, self._policy, self._site, self._node = archive, policy, site, node
        self._age = decode_age(archive.load_value(STATE_NAME))
        self._counted_until = now
        self._pruned_at: int | None = None

    def run_once(self, now: float, time: str) -> list[DueRemoval]:
        """Count the time until ``now``, on the same clock; once a day remove what is due. ``time``:
        the same moment, UTC in wire format. Return the removals.
        """
        seconds = int(now - self._counted_until)
        age = advance_age(self._age, seconds, self._archive.newest_number(), time)
        self._archive.save_value(STATE_NAME, msgspec.json.encode(age))
        self._age, self._counted_until = age, self._counted_until + seconds
        if self._pruned_at is not None and age.counted - self._pruned_at < DAY_SECONDS:
            return []
        removals = prune(self._archive, self._policy, age, self._site, self._node, time)
        self._pruned_at = age.counted
        return removals


def prune(
    archive: RecordArchive, policy: Policy, age: RecordingAge, site: str, node: str, time: str
) -> list[DueRemoval]:
    """Remove what is due; each removal is recorded first. Return the removals. Raise
    :class:`ArchiveError`.
    """
    removals = due_removals(archive, policy, age)
    for removal in removals:
        archive.store([removal_record(removal, site, node, time)])
        archive.remove(removal.removal)
    return removals


class RecordWaiter(Protocol):
    """Lets a task wait for new records."""

    async def beyond(self, number: int) -> None:
        """Wait for a record with a larger number."""


async def run_upkeep(settings: SurveillanceSettings, recorded: RecordWaiter) -> None:
    """Maintain the archive of a recorder, beside the recording, once it has a record."""
    log, counted_until = structlog.get_logger(), clock.monotonic()
    await recorded.beyond(0)
    reason = ""
    location, policy, site = settings.archive, settings.keep_days, settings.sites[0].id
    while True:
        try:
            with closing(await asyncio.to_thread(open_archive, location)) as archive:
                upkeep = Upkeep(archive, policy, site, settings.node, counted_until)
                while True:
                    counted_until, now = clock.monotonic(), format_utc(clock.wall())
                    removals = await asyncio.to_thread(upkeep.run_once, counted_until, now)
                    reason = ""
                    for removal in removals:
                        log.info(
                            "records were removed, their time is over",
                            kind=removal.removal.kind,
                            records=removal.count,
                            until=removal.mark.time,
                        )
                    await clock.sleep(CHECK_INTERVAL_SECONDS)
        except ArchiveError as error:
            if str(error) != reason:
                reason = str(error)
                log.warning("the archive cannot be looked after", reason=reason)
            await clock.sleep(RETRY_DELAY_SECONDS)
