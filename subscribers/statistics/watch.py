"""The task beside the recorder that reads on whenever something new is kept, and keeps what it
finds of wheels and shoes as findings. They are advice: no result is touched.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

import msgspec

from subscribers.statistics.health import Found
from subscribers.statistics.reading import Reader
from subscribers.surveillance.archive import ArchiveRecord, RecordArchive
from subscribers.surveillance.open_archive import open_archive

PAUSE = 5.0
"""Seconds between two readings at the least."""


class Grown(Protocol):
    """Says when the archive has grown."""

    @property
    def number(self) -> int:
        """The largest number that a record has."""

    async def beyond(self, number: int) -> None:
        """Wait until there is, or may be, a record of a larger number."""


def watch(where: str) -> Callable[[Grown], Coroutine[Any, Any, None]]:
    """The task, for the archive at ``where``. It may raise :class:`ArchiveError`."""

    async def watching(grown: Grown) -> None:
        archive = await asyncio.to_thread(open_archive, where)
        try:
            reader = Reader(archive)
            while True:
                number = grown.number
                await asyncio.to_thread(keep_findings, archive, reader)
                await asyncio.sleep(PAUSE)
                await grown.beyond(number)
        finally:
            await asyncio.to_thread(archive.close)

    return watching


def keep_findings(archive: RecordArchive, reader: Reader) -> None:
    """Read on, and keep what is found. What was found before is the same finding and is kept once.
    Raises :class:`ArchiveError`.
    """
    found = reader.read()
    if found:
        archive.store([finding_of(each) for each in found])


def finding_of(found: Found) -> ArchiveRecord:
    """It as a record of the archive."""
    evidence = {"since": found.since, "spins": found.spins}
    body = {"what": found.what, "detail": found.detail, "evidence": evidence}
    return ArchiveRecord(
        site=found.site,
        kind="finding",
        key=f"{found.what}:{found.table}:{found.since}",
        time=found.time,
        heard=found.time,
        body=msgspec.json.encode(body),
        table=found.table,
        type=found.what,
        words=(found.table,),
    )
