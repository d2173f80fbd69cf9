"""The stored parts of a journal, its sealed segments and its live file, in the order in which they
were written.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from common.chain.schema import Entry, JournalUnusableError
from common.contract.node import Checkpoint
from controller.proof.live import LiveFile, Saved
from controller.proof.segment import (
    BrokenSegmentError,
    Segment,
    UnreadableSegmentError,
    folder,
    segments,
)


class JournalSource:
    """A segment, or the live file. ``after``: the position before its first entry; ``last``: the
    position of its last one; ``previous``: the hash before its first entry; ``base``: the position
    before the first entry of the whole chain.
    """

    def __init__(
        self,
        path: Path,
        *,
        is_segment: bool,
        journal: str,
        base: int,
        after: int,
        last: int,
        previous: bytes,
    ) -> None:
        self.path, self.is_segment = path, is_segment
        self.journal, self.base, self.after, self.last, self.previous = (
            journal,
            base,
            after,
            last,
            previous,
        )
        self.sealed: Checkpoint | None = None
        """The checkpoint that ends a segment, once its entries are read."""

    def entries(self, after: int = 0) -> Iterator[Entry]:
        """Yield its entries after that position. Raises :class:`BrokenSegmentError` if it cannot be
        read.
        """
        if self.is_segment:
            with closing(Segment(self.path)) as segment:
                yield from (entry for entry in segment.entries() if entry.position > after)
                self.sealed = segment.checkpoint
            return
        with closing(LiveFile(self.path)) as live:
            yield from live.entries(max(after, self.after))


class Evidence:
    """The sources of one journal, oldest first. Raises ``JournalUnusableError`` if there are none.

    ``unreadable``: parts that could not be read, because of the disk or of permissions, each with
    the reason; ``broken``: parts that were read and are invalid. ``saved``: the latest state of
    each table in the live file; None if they could not be read. ``strays``: the number of entries
    of the live file before its first position. ``withheld``: the segments among the unreadable
    parts.
    """

    def __init__(self, journal: Path) -> None:
        self.journal = journal
        self.sources: list[JournalSource] = []
        self.unreadable: list[str] = []
        self.broken: list[str] = []
        self.saved: list[Saved] | None = None
        self.strays = 0
        self.withheld: list[Path] = []
        live: JournalSource | None = None
        try:
            live = self._live() if journal.exists() else None
        except BrokenSegmentError as error:
            self._note(error)
        except OSError as error:
            self.unreadable.append(
                f"{error.filename or journal}: {error.strerror}; run this as a user who may read it"
            )
        sealed = []
        for path in self._segments():
            try:
                with closing(Segment(path)) as segment:
                    header = segment.header
                    source = JournalSource(
                        path,
                        is_segment=True,
                        journal=header.journal,
                        base=header.base,
                        after=header.after,
                        last=header.last,
                        previous=segment.previous,
                    )
            except BrokenSegmentError as error:
                self._note(error)
                if isinstance(error, UnreadableSegmentError):
                    self.withheld.append(path)
                continue
            sealed.append(source)
        # the chains in the order of their first segments, the chain of the live file last
        ids = [
            *dict.fromkeys(
                source.journal
                for source in sealed
                if live is None or source.journal != live.journal
            )
        ]
        order = {each: index for index, each in enumerate([*ids, live.journal if live else ""])}
        self.sources = sorted(sealed, key=lambda source: (order[source.journal], source.after))
        if live is not None:
            self.sources.append(live)
        if not self.sources and not self.unreadable and not self.broken:
            raise JournalUnusableError(
                f"{journal}: no journal, and no sealed days beside it; name the SQLite file of a "
                "daemon"
            )

    def entries(self) -> Iterator[tuple[JournalSource, Entry]]:
        """Yield every entry once, with its source. Raises :class:`BrokenSegmentError`."""
        journal, latest = "", 0
        for source in self.sources:
            if source.journal != journal:
                journal, latest = source.journal, 0
            for entry in source.entries(latest):
                latest = entry.position
                yield source, entry

    def size(self) -> int:
        """Return the approximate number of entries, to show the progress."""
        spans: dict[str, tuple[int, int]] = {}
        for source in self.sources:
            first, last = spans.get(source.journal, (source.after, source.after))
            spans[source.journal] = min(first, source.after), max(last, source.last)
        return sum(last - first for first, last in spans.values())

    def damage(self) -> str | None:
        """Return the damage that SQLite finds in the live file, or None."""
        if not any(not source.is_segment for source in self.sources):
            return None  # there is no file, or it is reported as unreadable
        try:
            with closing(LiveFile(self.journal)) as live:
                return live.damage()
        except UnreadableSegmentError as error:
            self.unreadable.append(str(error))
            return None
        except BrokenSegmentError as error:
            return str(error)

    def _segments(self) -> list[Path]:
        try:
            if folder(self.journal).is_dir():
                os.listdir(folder(self.journal))  # noqa: PTH208 - glob hides a missing permission
            return segments(self.journal)
        except OSError as error:
            self.unreadable.append(
                f"{error.filename or self.journal}: {error.strerror}; run this as a user who may "
                "read it"
            )
            return []

    def _live(self) -> JournalSource:
        if not self.journal.is_file():
            raise UnreadableSegmentError(
                f"{self.journal}: not a file; name the SQLite file of a daemon (journal.path in "
                "its configuration)"
            )
        with closing(LiveFile(self.journal)) as live:
            begins = live.beginning()
            source = JournalSource(
                self.journal,
                is_segment=False,
                journal=live.id(),
                base=live.base(),
                after=begins.position,
                last=max(live.last(), begins.position),
                previous=begins.hash,
            )
            self.strays = live.strays(begins.position)
            try:
                # read after the last position, so that it is not older while a daemon writes
                self.saved = live.saved()
            except BrokenSegmentError as error:
                self._note(error)
            return source

    def _note(self, error: BrokenSegmentError) -> None:
        (self.unreadable if isinstance(error, UnreadableSegmentError) else self.broken).append(
            str(error)
        )
