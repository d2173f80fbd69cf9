"""Sealing: the days that are over leave the journal for segments. Done in a thread of its own; the writer never waits for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path

import msgspec
from nacl.signing import SigningKey

from controller.journal.reader import JournalReader
from controller.journal.schema import Entry, Head
from controller.proof.checkpoint import sign
from controller.proof.segment import FORMAT, Broken, Header, folder, name, span, write_segment
from controller.proof.segment import segments as sealed_segments

HOT_DAYS = 7
"""Days whose entries stay in the journal too, though they are sealed: for recalls, and to find them quickly."""


class Sealed(msgspec.Struct, frozen=True):
    """How far the sealed entries go, and up to where they may be removed from the journal."""

    through: int
    cut: int


def seal(journal: Path, key: SigningKey, boot: str, now: str, acknowledged: int, keep_days: int) -> Sealed:
    """Seal every day before that of ``now``; drop segments older than ``keep_days``. ``acknowledged``: what is published.

    Nothing is dropped that is not past both. Raises ``OSError``, ``sqlite3.Error``, ``JournalUnusable`` and :class:`Broken`.
    """
    today = now[:10]
    with closing(JournalReader(journal)) as reader:
        through = _seal_days(journal, reader, key, boot, now)
        hot = _earlier(today, min(HOT_DAYS, keep_days))
        cold = [end for day, chain, _, end in map(span, sealed_segments(journal)) if chain == reader.id()[:8] and day < hot]
        cut = max(cold, default=0)
        if reader.last_event(cut) > acknowledged:
            cut = min(cut, acknowledged)
        begins = reader.beginning().position
        for path in sealed_segments(journal):
            day, chain, _, end = span(path)
            if day < _earlier(today, keep_days) and (chain != reader.id()[:8] or end <= begins):
                path.unlink()
    return Sealed(through, cut)


def _seal_days(journal: Path, reader: JournalReader, key: SigningKey, boot: str, now: str) -> int:
    begins, head = reader.beginning(), reader.head()
    sealed = [end for _, chain, _, end in map(span, sealed_segments(journal)) if chain == reader.id()[:8]]
    through = max([begins.position, *sealed])
    while (day := reader.day_after(through)) is not None and day < now[:10]:
        end = reader.end_of_day(through, day)
        end = head.position if end is None else max(end, through + 1)
        previous = begins.hash if through == begins.position else reader.hash_at(through)
        last = reader.hash_at(end)
        if previous is None or last is None:
            raise Broken(f"{journal}: entry {through if previous is None else end} is missing")
        header = Header(FORMAT, journal=reader.id(), base=reader.base(), day=day, after=through, last=end, previous=previous.hex())
        write_segment(
            folder(journal) / name(header), header, _up_to(reader, through, end), sign(key, reader.id(), boot, now, Head(end, last))
        )
        through = end
    return through


def _up_to(reader: JournalReader, after: int, end: int) -> Iterator[Entry]:
    return reader.entries(after, end - after)


def _earlier(day: str, days: int) -> str:
    return (date.fromisoformat(day) - timedelta(days)).isoformat()
