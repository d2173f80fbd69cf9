"""A journal cut into pieces, so that several processes can prove it at once.

A piece lies within one source. It may be begun without those before it where the daemon stored what
every table knew, as a day began: there the entry ``boot`` says that the run continues.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import islice, takewhile

import msgspec

from controller.journal.schema import Entry
from controller.journal.setup import Boot
from controller.proof.evidence import Evidence, JournalSource
from controller.proof.live import LiveFile
from controller.proof.segment import DECODE_ERRORS, BrokenSegmentError

BOOT_SEARCH_ENTRIES = 5000
"""Entries at the beginning of a sealed day among which its own ``boot`` is looked for: it comes
within a minute.
"""
LEAD_ENTRIES_PER_TABLE = 300
"""Entries for each table that lead up to a piece. A device's repetitions are known after a few
rounds.
"""


class Piece(msgspec.Struct, frozen=True):
    """The entries after the position ``after`` of the source with this index, to ``through``; None:
    to its end. ``seam``: it may be begun without those before it; ``previous``: the hash of the
    entry before it.
    """

    source: int
    after: int
    through: int | None = None
    seam: bool = False
    previous: bytes = b""


class Lead(msgspec.Struct, frozen=True):
    """The start of a piece: the last entries ``before`` it, the first ``of`` it, and the
    ``fragments``, runs whose beginning is not stored.
    """

    before: list[Entry]
    of: list[Entry]
    fragments: frozenset[str]


def whole(evidence: Evidence) -> list[Piece]:
    """Each source in one piece."""
    return [Piece(index, source.after) for index, source in enumerate(evidence.sources)]


def cut(evidence: Evidence) -> list[Piece]:
    """Each source in as many pieces as there are places to begin."""
    pieces: list[Piece] = []
    sealed: dict[str, int] = {}
    for index, source in enumerate(evidence.sources):
        through = sealed.get(source.journal, 0)
        try:
            found = list(_seams(source, max(through, source.after)))
        except (BrokenSegmentError, *DECODE_ERRORS):
            found = []  # the process that reads it reports it
        ends = [*(at for at, _ in found), None]
        pieces.append(Piece(index, source.after, ends[0]))
        pieces += (
            Piece(index, at, end, seam=True, previous=previous)
            for (at, previous), end in zip(found, ends[1:], strict=True)
        )
        sealed[source.journal] = max(through, source.last)
    return pieces


def shares(evidence: Evidence, pieces: list[Piece], jobs: int) -> list[int]:
    """The first pieces of each process, so that all have about as much to do."""
    weights, ends = list[int](), dict[str, int]()
    for piece in pieces:
        source = evidence.sources[piece.source]
        end = source.last if piece.through is None else piece.through
        known = max(ends.get(source.journal, 0), piece.after)
        weights.append(max(0, end - known))
        ends[source.journal] = max(ends.get(source.journal, 0), end)
    total, begins, done = sum(weights), [0], 0
    for index, piece in enumerate(pieces):
        if piece.seam and len(begins) < jobs and done * jobs >= total * len(begins):
            begins.append(index)
        done += weights[index]
    return begins


def lead(evidence: Evidence, piece: Piece) -> Lead:
    """What leads up to a piece. Raises :class:`BrokenSegmentError` and ``ValueError``."""
    source = evidence.sources[piece.source]
    tables = len(_boot(next(source.entries(piece.after))).tables)
    since = piece.after - LEAD_ENTRIES_PER_TABLE * tables
    before = {
        entry.position: entry
        for each in evidence.sources[: piece.source + 1][-2:]
        if each.journal == source.journal
        for entry in _up_to(each.entries(since), min(each.last, piece.after))
    }
    return Lead(
        [entry for _, entry in sorted(before.items())],
        list(islice(source.entries(piece.after), 1 + tables)),
        _fragments(evidence),
    )


def _seams(source: JournalSource, after: int) -> Iterator[tuple[int, bytes]]:
    """The positions after which a day begins, each with the hash of its entry."""
    if source.is_segment:
        yield from islice(_days(islice(source.entries(), BOOT_SEARCH_ENTRIES)), 1)
        return
    with closing(LiveFile(source.path)) as live:
        boots = live.boots(after + 1)
    for position in boots:
        yield from _days(islice(source.entries(position - 2), 3))


def _days(entries: Iterable[Entry]) -> Iterator[tuple[int, bytes]]:
    """Where a boot continues, after another entry and before what a table knew. Where tables were
    reloaded, only those say what they knew.
    """
    before: deque[Entry] = deque(maxlen=2)
    for entry in entries:
        if (
            len(before) == 2
            and entry.kind == "state"
            and before[1].kind == "boot"
            and before[1].position == before[0].position + 1
            and (boot := _boot(before[1])).continues
            and not boot.reloaded
        ):
            yield before[0].position, before[0].hash
        before.append(entry)


def _fragments(evidence: Evidence) -> frozenset[str]:
    """The runs with which a chain begins, but which do not begin there."""
    firsts = {source.journal: source for source in reversed(evidence.sources)}.values()
    entries = (entry for source in firsts for entry in islice(source.entries(), 1))
    return frozenset(
        entry.boot for entry in entries if entry.kind != "boot" or _boot(entry).continues
    )


def _boot(entry: Entry) -> Boot:
    return msgspec.json.decode(entry.body, type=Boot)


def _up_to(entries: Iterator[Entry], last: int) -> Iterator[Entry]:
    return takewhile(lambda entry: entry.position <= last, entries)
