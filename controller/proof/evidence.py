"""Everything kept of a journal, the sealed segments and the live file, in the order it
was written.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from controller.contract.node import Checkpoint
from controller.journal.schema import Entry, JournalUnusableError
from controller.proof.live import LiveFile, Saved
from controller.proof.segment import (
    BrokenSegmentError,
    Segment,
    UnreadableSegmentError,
    folder,
    segments,
)


class JournalSource:
    """A segment, or the live file. ``after``: the position before its first entry; ``last``: that
    of its last; ``previous``: the hash before its first entry; ``base``: the position before the
    first entry of the whole chain.
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
        """Its entries after that position. Raises :class:`BrokenSegmentError` if it
        cannot be read.
        """
        if self.is_segment:
            with closing(Segment(self.path)) as segment:
                yield from (entry for entry in segment.entries() if entry.position > after)
                self.sealed = segment.checkpoint
            return
        with closing(LiveFile(self.path)) as live:
            yield from live.entries(max(after, self.after))


class Evidence:
    """The sources of one journal, oldest first. Raises ``JournalUnusableError`` without any.

    ``unreadable``: what the disk or its rights keep from us, and why; ``broken``: parts that were
    read and are no longer evidence. ``saved``: what each table knew last, by the live file; None if
    none of it is readable. ``strays``: entries of the live file before the first one. ``withheld``:
    the segments among the unreadable.
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
        # The chains in the order of their first segments, that of the live file last; each chain in
        # its own order.
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
        """Every entry once, with its source. Raises :class:`BrokenSegmentError`."""
        journal, latest = "", 0
        for source in self.sources:
            if source.journal != journal:
                journal, latest = source.journal, 0
            for entry in source.entries(latest):
                latest = entry.position
                yield source, entry

    def size(self) -> int:
        """The approximate number of entries, for showing progress."""
        spans: dict[str, tuple[int, int]] = {}
        for source in self.sources:
            first, last = spans.get(source.journal, (source.after, source.after))
            spans[source.journal] = min(first, source.after), max(last, source.last)
        return sum(last - first for first, last in spans.values())

    def damage(self) -> str | None:
        """The mistake in the live file apart from its entries, or None."""
        if not any(not source.is_segment for source in self.sources):
            return None  # no such file, or one that is said to be unreadable
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
                self.saved = (
                    live.saved()
                )  # after the last position: it is never behind it, also while a daemon writes
            except BrokenSegmentError as error:
                self._note(error)
            return source

    def _note(self, error: BrokenSegmentError) -> None:
        (self.unreadable if isinstance(error, UnreadableSegmentError) else self.broken).append(
            str(error)
        )
