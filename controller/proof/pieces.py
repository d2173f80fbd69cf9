"""A journal cut into pieces, so that several processes can prove it at once.

A piece lies within one source. It can be proved without the pieces before it if it begins at a
seam: where a day began, a ``boot`` entry states that the run continues, and the state of every
table was stored.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import islice, takewhile

import msgspec

from common.chain.schema import Entry
from controller.journal.setup import Boot
from controller.proof.evidence import Evidence, JournalSource
from controller.proof.live import LiveFile
from controller.proof.segment import DECODE_ERRORS, BrokenSegmentError

BOOT_SEARCH_ENTRIES = 5000
"""Entries at the beginning of a sealed day that are searched for its ``boot`` entry, which is
written within a minute.
"""
LEAD_ENTRIES_PER_TABLE = 300
"""Entries per table before a piece that the decoders receive first. A few rounds suffice, since
devices repeat themselves.
"""


class Piece(msgspec.Struct, frozen=True):
    """The entries after the position ``after`` of the source with this index, up to ``through``;
    None for its end. ``seam``: it begins at a seam; ``previous``: the hash of the entry before it.
    """

    source: int
    after: int
    through: int | None = None
    seam: bool = False
    previous: bytes = b""


class Lead(msgspec.Struct, frozen=True):
    """The lead of a piece, needed to begin with it: the last entries ``before`` it, the first
    entries ``of`` it, and the ``fragments``: runs whose beginning is not stored.
    """

    before: list[Entry]
    of: list[Entry]
    fragments: frozenset[str]


def whole(evidence: Evidence) -> list[Piece]:
    """Return one piece for each source."""
    return [Piece(index, source.after) for index, source in enumerate(evidence.sources)]


def cut(evidence: Evidence) -> list[Piece]:
    """Cut each source at its seams."""
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
    """Return the index of the first piece of each process, so that all have similar work."""
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
    """Read the lead of a piece. Raises :class:`BrokenSegmentError` and ``ValueError``."""
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
    """Yield the positions after which a day begins, each with the hash of its entry."""
    if source.is_segment:
        yield from islice(_days(islice(source.entries(), BOOT_SEARCH_ENTRIES)), 1)
        return
    with closing(LiveFile(source.path)) as live:
        boots = live.boots(after + 1)
    for position in boots:
        yield from _days(islice(source.entries(position - 2), 3))


def _days(entries: Iterable[Entry]) -> Iterator[tuple[int, bytes]]:
    """Yield each position that is followed by a ``boot`` entry of a continuing run and then by a
    table's state. A reload is no seam: only the reloaded tables store their state.
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
    """Return the runs in which a chain begins, without their own beginning."""
    firsts = {source.journal: source for source in reversed(evidence.sources)}.values()
    entries = (entry for source in firsts for entry in islice(source.entries(), 1))
    return frozenset(
        entry.boot for entry in entries if entry.kind != "boot" or _boot(entry).continues
    )


def _boot(entry: Entry) -> Boot:
    return msgspec.json.decode(entry.body, type=Boot)


def _up_to(entries: Iterator[Entry], last: int) -> Iterator[Entry]:
    return takewhile(lambda entry: entry.position <= last, entries)
