"""Seals days: moves those that are over from the journal to segments. This runs in a separate
thread; the writer never waits for it.

The age of a segment is counted in seconds for which daemons have run since it was sealed, never by
a clock that can be set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from hashlib import file_digest
from itertools import takewhile
from pathlib import Path

import msgspec
from nacl.signing import SigningKey

from common.chain.checkpoint import sign
from common.chain.schema import ChainHead, Entry
from controller.journal.reader import JournalReader
from controller.journal.setup import RemovedDay
from controller.proof.pace import BATCH_ENTRIES, Throttle
from controller.proof.segment import (
    FORMAT,
    BrokenSegmentError,
    Segment,
    SegmentHeader,
    folder,
    header,
    name,
    span,
    write_segment,
)
from controller.proof.segment import segments as sealed_segments

HOT_DAYS = 7
"""Days whose entries stay in the journal after sealing, for recalls and quick searches."""
DAY_SECONDS = 86_400


class SealedDay(msgspec.Struct, frozen=True):
    """The position of the last sealed entry, the position up to which entries may be removed from
    the journal, and the segments that have expired.
    """

    through: int
    cut: int
    due: tuple[RemovedDay, ...] = ()


def seal(
    journal: Path,
    key: SigningKey,
    boot: str,
    now: str,
    counted: int,
    acknowledged: int,
    keep_days: int,
    open_reader: Callable[[], JournalReader] | None = None,
    pace: Throttle | None = None,
) -> SealedDay:
    """Seal every day that is over at ``now``. ``counted``: the seconds for which daemons have run;
    ``acknowledged``: the published position, past which nothing is cut; ``open_reader`` opens a
    reader of the journal. Raises ``OSError``,
    ``sqlite3.Error``, ``JournalUnusableError``, :class:`BrokenSegmentError`, and
    :class:`EndedError` if ``pace`` was ended; a partly sealed day is sealed again.
    """
    pace = pace or Throttle()
    with closing(JournalReader(journal) if open_reader is None else open_reader()) as reader:
        own, begins = reader.id(), reader.beginning().position
        through = _seal_days(journal, reader, key, boot, now, counted, pace)
        chains = _chains(journal)
        hot = [path for path in chains.get(own[:8], []) if span(path)[3] > begins]
        cut = max(
            (span(path)[3] for path in _aged(hot, counted, min(HOT_DAYS, keep_days))),
            default=begins,
        )
        if reader.last_publishable(cut) > acknowledged:
            cut = min(cut, acknowledged)
    in_segments = {
        chain: [path for path in paths if chain != own[:8] or span(path)[3] <= begins]
        for chain, paths in chains.items()
    }
    return SealedDay(
        through,
        cut,
        tuple(
            _removed_day(path, pace)
            for paths in in_segments.values()
            for path in _aged(paths, counted, keep_days)
        ),
    )


def remove(journal: Path, due: Iterable[RemovedDay]) -> None:
    """Remove segments that the journal records as removed. Raises ``OSError``."""
    for each in due:
        (folder(journal) / each.segment).unlink(missing_ok=True)


def counted_until_now(journal: Path) -> int:
    """Return the highest count of seconds in any segment; 0 without segments."""
    most = 0
    for paths in _chains(journal).values():
        for path in reversed(paths):
            try:
                most = max(most, header(path).counted)
                break
            except BrokenSegmentError:  # reported by verify, or when its retention ends
                continue
    return most


def _seal_days(
    journal: Path,
    reader: JournalReader,
    key: SigningKey,
    boot: str,
    now: str,
    counted: int,
    pace: Throttle,
) -> int:
    today = now[:10]
    begins, head = reader.beginning(), reader.head()
    sealed = [
        end for _, chain, _, end in map(span, sealed_segments(journal)) if chain == reader.id()[:8]
    ]
    through = max([begins.position, *sealed])
    while (
        through < head.position and (day := reader.day_after(through)) is not None and day != today
    ):
        if day < today:
            end = end_of_day(reader, through, day, pace.pause)
            end = head.position if end is None else max(min(end, head.position), through + 1)
        elif (end := end_of_future(reader, through, today, pace.pause)) is None:
            break  # written while the clock was ahead, and no later entry yet
        previous = begins.hash if through == begins.position else reader.hash_at(through)
        last = reader.hash_at(end)
        if previous is None or last is None:
            raise BrokenSegmentError(
                f"{journal}: entry {through if previous is None else end} is missing"
            )
        first = SegmentHeader(
            FORMAT,
            reader.id(),
            base=reader.base(),
            day=day,
            after=through,
            last=end,
            previous=previous.hex(),
            counted=counted,
        )
        write_segment(
            folder(journal) / name(first),
            first,
            _up_to(reader, through, end),
            sign(key, reader.id(), boot, now, ChainHead(end, last)),
            pace,
        )
        through = end
    return through


def _up_to(reader: JournalReader, after: int, end: int) -> Iterator[Entry]:
    """Yield entries in batches: a long read would keep the log from being truncated."""
    for at in range(after, end, BATCH_ENTRIES):
        yield from list(reader.entries(at, min(BATCH_ENTRIES, end - at)))


def _chains(journal: Path) -> dict[str, list[Path]]:
    """Return the segments of each chain, in order."""
    chains: dict[str, list[Path]] = {}
    for path in sorted(sealed_segments(journal), key=lambda path: span(path)[2]):
        chains.setdefault(span(path)[1], []).append(path)
    return chains


def _aged(paths: Iterable[Path], counted: int, days: int) -> Iterator[Path]:
    """Yield the segments at the beginning of a chain that are at least this many days old."""
    return takewhile(lambda path: counted - header(path).counted >= days * DAY_SECONDS, paths)


def _removed_day(path: Path, pace: Throttle) -> RemovedDay:
    """Return the journal's record about a segment that is to be removed. Raises
    :class:`BrokenSegmentError` if the segment cannot be read, and :class:`EndedError`.
    """
    with closing(Segment(path)) as segment:
        for _ in pace.paced(segment.entries()):
            pass
        first, point = segment.header, segment.checkpoint
    assert point is not None
    with path.open("rb") as file:
        digest = file_digest(file, "sha256").hexdigest()
    return RemovedDay(
        journal=first.journal,
        day=first.day,
        first=first.after + 1,
        last=first.last,
        hash=point.hash,
        segment=path.name,
        sha256=digest,
    )


def end_of_day(
    reader: JournalReader, position: int, day: str, pause: Callable[[], None] = lambda: None
) -> int | None:
    """Return the position of the last entry, after ``position``, before the first entry of a
    day later than ``day``. None if there is no such entry yet.
    """
    return reader.end_before("time >= ?", position, day, pause)


def end_of_future(
    reader: JournalReader, position: int, day: str, pause: Callable[[], None] = lambda: None
) -> int | None:
    """Return the position of the last entry, after ``position``, before the first entry of
    ``day`` or an earlier day. None if there is no such entry yet.
    """
    return reader.end_before("time < ?", position, day, pause)
