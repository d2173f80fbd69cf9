"""Verification: whether what is kept of a journal is what was written, from the first entry to the last.

The hash chain shows what was changed, put in, taken out or moved; the signed checkpoints show what was cut off at the end or
written anew as a whole; the archive of a subscriber is a witness that nobody at the journal can reach.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from controller.boot import Boot
from controller.journal.schema import Entry, chained, genesis
from controller.proof.checkpoint import Checkpoint, flaw, kept
from controller.proof.evidence import Evidence, Source
from controller.proof.segment import Broken

MOST = 20
"""Problems that are listed; the rest is counted."""

Progress = Callable[[int, int], None]


class Problem(msgspec.Struct, frozen=True):
    """Something that is wrong. ``position``: of the entry, if it is one entry; ``source``: the file."""

    source: str
    position: int | None
    what: str


class Verdict(msgspec.Struct, kw_only=True):
    """What was found. ``keys``: the public keys that checkpoints were held against; ``trusted``: they were given, and are not
    the journal's own word. ``through``: the time of the last entry that a signed checkpoint vouches for.
    """

    journal: str
    entries: int = 0
    segments: int = 0
    first: str = ""
    last: str = ""
    head: int = 0
    checkpoints: int = 0
    unsigned: int = 0
    through: int = 0
    keys: list[str] = []
    trusted: bool = False
    witnessed: int = 0
    notes: list[str] = []
    problems: list[Problem] = []
    more: int = 0

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def wrong(self, source: str, position: int | None, what: str) -> None:
        """Note a problem."""
        if len(self.problems) < MOST:
            self.problems.append(Problem(source, position, what))
        else:
            self.more += 1


def verify(
    journal: Path,
    key: str | None = None,
    checkpoints: Iterable[Checkpoint] = (),
    each: Callable[[Entry], None] = lambda _: None,
    progress: Progress = lambda _done, _total: None,
) -> Verdict:
    """Walk the chain. ``key``: the public key to trust; without it those that the journal names. ``checkpoints``: more of them,
    from elsewhere. ``each`` is given every entry once. Raises ``JournalUnusable`` where there is nothing to verify.
    """
    evidence = Evidence(journal)
    verdict = Verdict(journal=str(journal), trusted=key is not None, keys=[key] if key else [])
    for unreadable in evidence.unreadable:
        verdict.wrong(unreadable.partition(":")[0], None, unreadable)
    if (damage := evidence.damage()) is not None:
        verdict.wrong(str(journal), None, f"the file is damaged: {damage}")
    own = kept(journal)
    vouched = [*checkpoints, *([own] if own is not None else [])]
    wanted = {(point.journal, point.position) for point in vouched}
    wanted |= {(source.journal, source.after) for source in evidence.sources}
    found: dict[tuple[str, int], str] = {}
    heads: dict[str, int] = {}
    total, seen = evidence.size(), 0
    for source in evidence.sources:
        known = heads.get(source.journal)
        _check_beginning(source, known, found, verdict)
        previous, expected = source.previous, source.after + 1
        found.setdefault((source.journal, source.after), previous.hex())
        try:
            for entry in source.entries():
                _check_entry(source, entry, previous, expected, verdict)
                if (source.journal, entry.position) in wanted:
                    found[source.journal, entry.position] = entry.hash.hex()
                previous, expected = entry.hash, entry.position + 1
                if entry.position > heads.get(source.journal, 0):
                    heads[source.journal] = entry.position
                    _count(entry, verdict, named=key is None)
                    each(entry)
                    seen += 1
                    if not seen % 1000:
                        progress(seen, total)
        except Broken as broken:
            verdict.wrong(str(source.path), expected, f"it cannot be read from entry {expected} on: {broken}")
            continue
        if source.is_segment:
            verdict.segments += 1
            if source.sealed is not None:
                found[source.journal, expected - 1] = previous.hex()
                vouched.append(source.sealed)
                if source.sealed.position != expected - 1:
                    verdict.wrong(str(source.path), expected - 1, "its checkpoint is not that of its last entry")
    progress(total, total)
    verdict.head = max(heads.values(), default=0)
    _check_points(vouched, found, heads, verdict, journal)
    return verdict


def _check_beginning(source: Source, known: int | None, found: dict[tuple[str, int], str], verdict: Verdict) -> None:
    """Whether a source goes on where the one before it ended."""
    if known is None:
        if source.after == source.base:
            if source.previous != genesis(source.journal):
                verdict.wrong(str(source.path), source.after + 1, "the first entry does not follow from the journal's id")
        else:
            verdict.notes.append(f"entries {source.base + 1} to {source.after} are not kept any more")
        return
    if source.after > known:
        verdict.wrong(str(source.path), known + 1, f"entries {known + 1} to {source.after} are missing")
        return
    before = found.get((source.journal, source.after))
    if before is not None and before != source.previous.hex():
        verdict.wrong(str(source.path), source.after + 1, f"entry {source.after + 1} does not follow from the segment before it")


def _check_entry(source: Source, entry: Entry, previous: bytes, expected: int, verdict: Verdict) -> None:
    place = str(source.path)
    if entry.position != expected:
        gone = f"entry {expected}" if entry.position == expected + 1 else f"entries {expected} to {entry.position - 1}"
        verdict.wrong(place, expected, f"{gone} missing" if entry.position > expected else f"entry {entry.position} comes twice")
        return
    digest = chained(entry.previous, entry.table, entry.boot, entry.kind, entry.seq, entry.time, entry.mono_ns, entry.body)
    what = f"entry {expected} ({entry.kind} of {entry.table or 'the daemon'}, {entry.time})"
    if entry.previous != previous:
        verdict.wrong(place, expected, f"{what} does not follow from the entry before it")
    elif entry.hash != digest:
        verdict.wrong(place, expected, f"{what} is not what was written: its hash does not hold")


def _count(entry: Entry, verdict: Verdict, *, named: bool) -> None:
    verdict.entries += 1
    verdict.first = verdict.first or entry.time
    verdict.last = entry.time
    if named and entry.kind == "boot":
        try:
            key = msgspec.json.decode(entry.body, type=Boot).key
        except ValueError:
            return  # its hash tells whether it was written so
        if key is not None and key not in verdict.keys:
            verdict.keys.append(key)


def _check_points(
    vouched: list[Checkpoint], found: dict[tuple[str, int], str], heads: dict[str, int], verdict: Verdict, journal: Path
) -> None:
    keys = frozenset(verdict.keys)
    for point in {msgspec.json.encode(point): point for point in vouched}.values():
        verdict.checkpoints += 1
        name = f"the checkpoint of {point.time}, entry {point.position}"
        if point.signature is None:
            verdict.unsigned += 1
        elif (wrong := flaw(point, keys)) is not None:
            verdict.wrong(str(journal), point.position, f"{name}: {wrong}")
            continue
        if point.journal not in heads:
            verdict.notes.append(f"{name} is of another file, {point.journal[:8]}..., which is not here")
            continue
        here = found.get((point.journal, point.position))
        if point.position > heads[point.journal]:
            verdict.wrong(
                str(journal), heads[point.journal] + 1, f"cut off after entry {heads[point.journal]}: {name} was signed for"
            )
        elif here is not None and here != point.hash:
            verdict.wrong(str(journal), point.position, f"{name}: the journal has another entry there; it was written anew")
        elif here is not None and point.signature is not None:
            verdict.through = max(verdict.through, point.position)
