"""The recorder as a separate process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from subscribers.surveillance.archive import ArchiveRecord, RecordArchive
from subscribers.surveillance.archive import Query as Query
from subscribers.surveillance.errors import ArchiveError
from subscribers.surveillance.open_archive import open_archive
from tests.support.daemon.process import Daemon


class Recorder(Daemon):
    """``novamas surveillance`` with the configuration of a folder, to which it adds `[archive]` if
    it has none. ``where``: its archive.
    """

    def __init__(self, file: Path, where: str | None = None) -> None:
        text = file.read_text()
        super().__init__(file.parent, text if "[archive]" in text else f"{text}\n[archive]\n")
        self.where = where or str(file.parent / "archive.sqlite3")

    def start(self, **environment: str) -> None:
        self._since = len(self._lines)
        self.start_program(*self.program, "surveillance", str(self.file), **environment)

    @contextmanager
    def archive(self) -> Iterator[RecordArchive]:
        """Its archive, to read."""
        opened = open_archive(self.where, read_only=True)
        yield opened
        opened.close()

    def found(self, **query: Any) -> list[ArchiveRecord]:
        """Its records, as stored; empty before there is an archive."""
        try:
            with self.archive() as archive:
                return [row.record for row in archive.find(Query(**{"order": "number", **query}))]
        except ArchiveError:
            return []

    def events(self) -> dict[tuple[str, str, int], bytes]:
        """The events that it has kept, by table, run and number."""
        return {
            (each.table, each.boot, each.seq): each.body for each in self.found(kinds=("event",))
        }

    def findings(self) -> list[str]:
        """Its findings."""
        return [each.type for each in self.found(kinds=("finding",))]
