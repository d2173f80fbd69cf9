"""The task beside the recorder that processes new records, and stores findings on wheels and shoes
in the archive. Findings are advice: no result is changed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

import msgspec

from common import clock
from subscribers.statistics.health import HealthFinding
from subscribers.statistics.reading import StatisticsReader
from subscribers.surveillance.archive import ArchiveRecord, RecordArchive
from subscribers.surveillance.open_archive import open_archive

READ_INTERVAL_SECONDS = 5.0
"""Minimum interval between two readings."""


class ArchiveGrowth(Protocol):
    """Reports when the archive has grown."""

    @property
    def number(self) -> int:
        """Largest record number."""

    async def beyond(self, number: int) -> None:
        """Wait until there is, or may be, a record with a larger number."""


def watch(where: str) -> Callable[[ArchiveGrowth], Coroutine[Any, Any, None]]:
    """Return the task for the archive at ``where``. It may raise :class:`ArchiveError`."""

    async def watching(growth: ArchiveGrowth) -> None:
        archive = await asyncio.to_thread(open_archive, where)
        try:
            reader = StatisticsReader(archive)
            while True:
                number = growth.number
                await asyncio.to_thread(keep_findings, archive, reader)
                await clock.sleep(READ_INTERVAL_SECONDS)
                await growth.beyond(number)
        finally:
            await asyncio.to_thread(archive.close)

    return watching


def keep_findings(archive: RecordArchive, reader: StatisticsReader) -> None:
    """Process new records and store the findings. A finding that was stored before is stored once.
    Raises :class:`ArchiveError`.
    """
    findings = reader.read()
    if findings:
        archive.store([finding_of(finding) for finding in findings])


def finding_of(finding: HealthFinding) -> ArchiveRecord:
    """Return a finding as a record of the archive."""
    evidence = {"since": finding.since, "spins": finding.spins}
    body = {"what": finding.what, "detail": finding.detail, "evidence": evidence}
    return ArchiveRecord(
        site=finding.site,
        kind="finding",
        key=f"{finding.what}:{finding.table}:{finding.since}",
        time=finding.time,
        received=finding.time,
        body=msgspec.json.encode(body),
        table=finding.table,
        type=finding.what,
        words=(finding.table,),
    )
