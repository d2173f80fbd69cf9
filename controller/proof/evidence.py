"""All that is kept of a journal: the sealed segments and the live file, in the order in which it was written."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from controller.journal.reader import JournalReader
from controller.journal.schema import Entry, JournalUnusable
from controller.proof.checkpoint import Checkpoint
from controller.proof.segment import Broken, Segment, segments


class Source:
    """A segment, or the live file. ``after``: the position before its first entry; ``last``: that of its last; ``previous``: the
    hash before its first entry; ``base``: the position before the first entry of the whole chain.
    """

    def __init__(self, path: Path, *, is_segment: bool, journal: str, base: int, after: int, last: int, previous: bytes) -> None:
        self.path, self.is_segment = path, is_segment
        self.journal, self.base, self.after, self.last, self.previous = journal, base, after, last, previous
        self.sealed: Checkpoint | None = None
        """The checkpoint that ends a segment, once its entries were read."""

    def entries(self, after: int = 0) -> Iterator[Entry]:
        """Its entries past that position. Raises :class:`Broken` where it cannot be read."""
        if self.is_segment:
            with closing(Segment(self.path)) as segment:
                yield from (entry for entry in segment.entries() if entry.position > after)
                self.sealed = segment.checkpoint
            return
        try:
            with closing(JournalReader(self.path)) as reader:
                yield from reader.entries(max(after, self.after))
        except (sqlite3.Error, JournalUnusable) as error:
            raise Broken(f"{self.path}: {error}") from None


class Evidence:
    """The sources of one journal, oldest first. ``unreadable``: what could not be opened at all, and why."""

    def __init__(self, journal: Path) -> None:
        self.journal = journal
        self.sources: list[Source] = []
        self.unreadable: list[str] = []
        live = self._live()
        sealed = []
        for path in segments(journal):
            try:
                with closing(Segment(path)) as segment:
                    header = segment.header
                    source = Source(
                        path,
                        is_segment=True,
                        journal=header.journal,
                        base=header.base,
                        after=header.after,
                        last=header.last,
                        previous=bytes.fromhex(header.previous),
                    )
            except (Broken, ValueError) as error:
                self.unreadable.append(str(error))
                continue
            sealed.append(source)
        # The chains in the order of their first segments, that of the live file last; each chain in its own order.
        ids = [*dict.fromkeys(source.journal for source in sealed if live is None or source.journal != live.journal)]
        order = {each: index for index, each in enumerate([*ids, live.journal if live else ""])}
        self.sources = sorted(sealed, key=lambda source: (order[source.journal], source.after))
        if live is not None:
            self.sources.append(live)
        if not self.sources and not self.unreadable:
            raise JournalUnusable(f"{journal}: no journal, and no segments beside it")

    def entries(self) -> Iterator[tuple[Source, Entry]]:
        """Every entry once, with where it is from. Raises :class:`Broken`."""
        journal, latest = "", 0
        for source in self.sources:
            if source.journal != journal:
                journal, latest = source.journal, 0
            for entry in source.entries(latest):
                latest = entry.position
                yield source, entry

    def size(self) -> int:
        """About how many entries there are, to show progress with."""
        spans: dict[str, tuple[int, int]] = {}
        for source in self.sources:
            first, last = spans.get(source.journal, (source.after, source.after))
            spans[source.journal] = min(first, source.after), max(last, source.last)
        return sum(last - first for first, last in spans.values())

    def damage(self) -> str | None:
        """What is wrong with the live file beside its entries, or None."""
        try:
            with closing(JournalReader(self.journal)) as reader:
                return reader.damage()
        except JournalUnusable:
            return None  # no such file, or one that is said to be unreadable

    def _live(self) -> Source | None:
        if not self.journal.exists():
            return None
        try:
            with closing(JournalReader(self.journal)) as reader:
                begins = reader.beginning()
                return Source(
                    self.journal,
                    is_segment=False,
                    journal=reader.id(),
                    base=reader.base(),
                    after=begins.position,
                    last=reader.head().position,
                    previous=begins.hash,
                )
        except JournalUnusable as error:
            self.unreadable.append(str(error))
        except sqlite3.Error as error:
            self.unreadable.append(f"{self.journal}: {error}")
        return None
