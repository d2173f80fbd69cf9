"""The part of a journal that a page shows: some days of each chain, with the checkpoints that cover
them.

After the last entry of the days come those up to the next signed checkpoint, which alone proves
that nothing was cut off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import msgspec

from common.chain.checkpoint import last_checkpoint, signature_problem
from common.chain.schema import Entry
from common.contract.node import Checkpoint
from controller.proof.evidence import Evidence, JournalSource
from controller.proof.segment import BrokenSegmentError


class ExcerptChain(msgspec.Struct, kw_only=True):
    """The entries ``after`` a position, up to ``last``, of one chain. ``previous``: the hash at
    ``after``; ``end``: the last entry of the wanted days, the later ones prove that nothing was cut
    off; ``head``: the last entry of the chain; ``setup``: the latest ``boot`` entry before them.
    """

    journal: str
    after: int
    last: int
    end: int
    head: int
    previous: bytes
    setup: Entry | None = None
    checkpoints: list[Checkpoint] = []


class Excerpt(msgspec.Struct):
    """The chains of some days. ``left_out``: parts of the journal that could not be read, and
    why.
    """

    chains: list[ExcerptChain]
    left_out: list[str]


class _Seen(msgspec.Struct):
    """A chain as the first reading finds it."""

    head: int = 0
    end: int = 0
    boot: Entry | None = None
    found: ExcerptChain | None = None


def find(
    evidence: Evidence,
    days: str,
    witnessed: Iterable[Checkpoint] = (),
    each: Callable[[], None] = lambda: None,
) -> Excerpt:
    """Find the entries of these days, such as ``2026-11-19`` or ``2026-11``. ``witnessed``: the
    checkpoints in a subscriber's archive; ``each`` is called for each entry.
    """
    left_out, seen = [*evidence.unreadable, *evidence.broken], dict[str, _Seen]()
    for source, entry in readable(evidence, left_out):
        each()
        chain = seen.setdefault(source.journal, _Seen())
        chain.head = entry.position
        if entry.time.startswith(days):
            chain.end = entry.position
            if chain.found is None:
                chain.found = ExcerptChain(
                    journal=source.journal,
                    after=entry.position - 1,
                    last=0,
                    end=0,
                    head=0,
                    previous=entry.previous,
                    setup=chain.boot,
                )
        if entry.kind == "boot":
            chain.boot = entry
    points = [source.sealed for source in evidence.sources]
    points += [last_checkpoint(evidence.journal), *witnessed]
    known = {msgspec.json.encode(point): point for point in points if point is not None}
    return Excerpt(
        [
            _with_checkpoints(chain.found, chain, list(known.values()))
            for chain in seen.values()
            if chain.found is not None
        ],
        left_out,
    )


def entries(evidence: Evidence, chain: ExcerptChain) -> Iterator[Entry]:
    """Yield the entries of a chain of the excerpt."""
    for source, entry in readable(evidence, []):
        if source.journal == chain.journal and chain.after < entry.position <= chain.last:
            yield entry


def readable(evidence: Evidence, left_out: list[str]) -> Iterator[tuple[JournalSource, Entry]]:
    """Yield every entry that can be read; add to ``left_out`` why one cannot."""
    try:
        yield from evidence.entries()
    except BrokenSegmentError as error:
        left_out.append(str(error))


def _with_checkpoints(chain: ExcerptChain, seen: _Seen, known: list[Checkpoint]) -> ExcerptChain:
    """Add the checkpoints of a chain, and the entries up to the first one that covers the days."""
    own = [point for point in known if point.journal == chain.journal]
    covering = [
        point.position
        for point in own
        if seen.end <= point.position <= seen.head
        and signature_problem(point, frozenset({point.key or ""})) is None
    ]
    chain.end, chain.head = seen.end, seen.head
    chain.last = min(covering, default=seen.end)
    chain.checkpoints = sorted(
        (
            point
            for point in own
            if chain.after <= point.position <= chain.last
            or (chain.last == chain.head < point.position)
        ),
        key=lambda point: point.position,
    )
    return chain
