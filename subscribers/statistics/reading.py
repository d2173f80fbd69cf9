"""Reads an archive into statistics, again and again from where it stopped."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from subscribers.statistics.folding import TYPES, Statistics, read
from subscribers.statistics.health import Found
from subscribers.surveillance.archive import Query, RecordArchive


class Reader:
    """Statistics of an archive, or of some of its sites and tables, since a time. The first reading
    takes the events in the order in which they happened, each later one what has come since, in the
    order in which it came. What tables say of themselves is taken before, whatever time it has.
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
        of = Query(sites=tuple(sites), tables=tuple(tables))
        change = msgspec.structs.replace
        self._query = change(of, kinds=("event",), types=TYPES, since=since)
        self._info = change(of, kinds=("info",), types=("info",), order="number")

    def read(self) -> list[Found]:
        """Read on. Returns what was found. Raises :class:`ArchiveError`."""
        for row in self._archive.find(msgspec.structs.replace(self._info, after=self._known)):
            self._known = row.number
            self.statistics.know(row.record)
        query = self._query
        if self._number:
            query = msgspec.structs.replace(query, after=self._number, order="number")
        found: list[Found] = []
        for row in self._archive.find(query):
            self._number = max(self._number, row.number)
            found += read(self.statistics, [row.record])
        return found
