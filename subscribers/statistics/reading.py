"""Reads an archive into statistics, each time from where it stopped."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from subscribers.statistics.folding import EVENT_TYPES, Statistics, read_records
from subscribers.statistics.health import HealthFinding
from subscribers.statistics.witnesses import WITNESS_EVENT_TYPES, WitnessStatistics
from subscribers.surveillance.archive import Query, RecordArchive


class StatisticsReader:
    """Statistics of an archive, or of some of its sites and tables, since a time. The first reading
    processes the events in the order in which they happened, each later one the new events in the
    order in which they arrived. Table infos are processed first, regardless of their time.
    """

    def __init__(
        self,
        archive: RecordArchive,
        tables: Sequence[str] = (),
        since: str | None = None,
        sites: Sequence[str] = (),
    ) -> None:
        self.statistics = Statistics()
        self._archive, self._number, self._known = archive, 0, 0
        query = Query(sites=tuple(sites), tables=tuple(tables))
        with_fields = msgspec.structs.replace
        self._query = with_fields(query, kinds=("event",), types=EVENT_TYPES, since=since)
        self._info = with_fields(query, kinds=("info",), types=("info",), order="number")

    def read(self) -> list[HealthFinding]:
        """Process new records. Return the findings. Raises :class:`ArchiveError`."""
        for row in self._archive.find(msgspec.structs.replace(self._info, after=self._known)):
            self._known = row.number
            self.statistics.on_info(row.record)
        query = self._query
        if self._number:
            query = msgspec.structs.replace(query, after=self._number, order="number")
        findings: list[HealthFinding] = []
        for row in self._archive.find(query):
            self._number = max(self._number, row.number)
            findings += read_records(self.statistics, [row.record])
        return findings


def read_witnesses(
    archive: RecordArchive, tables: Sequence[str] = (), since: str | None = None
) -> WitnessStatistics:
    """Return the statistics of second witnesses, of an archive or of some of its tables, since a
    time. Raises :class:`ArchiveError`.
    """
    statistics = WitnessStatistics()
    query = Query(tables=tuple(tables), kinds=("event",), types=WITNESS_EVENT_TYPES, since=since)
    for row in archive.find(query):
        statistics.on_event(row.record)
    return statistics
