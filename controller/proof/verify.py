"""Verification: whether what is kept of a journal is what was written, from the first entry to the
last.

The hash chain shows what was changed, inserted, removed or moved; the signed checkpoints show what
was cut off at the end or rewritten as a whole; the archive of a subscriber is a witness that nobody
at the journal can reach.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from controller.contract.node import Checkpoint
from controller.journal.schema import Entry, JournalUnusableError, genesis, holds
from controller.journal.setup import Boot, Removed
from controller.proof.checkpoint import flaw, kept
from controller.proof.evidence import Evidence, Source
from controller.proof.remembered import Remembered
from controller.proof.segment import HOSTILE, BrokenSegmentError, UnreadableSegmentError, span
from controller.proof.verdict import Span, Verdict

Progress = Callable[[int, int], None]


class _Chain:
    """The chain of one file. ``after``: the position before its first kept entry; ``head``: its
    last; ``sound``: up to which all entries are present and as written; ``signed``: up to which a
    checkpoint vouches.
    """

    def __init__(self, source: Source) -> None:
        self.journal, self.base, self.after = source.journal, source.base, source.after
        self.head = self.sound = self.signed = source.after
        self.flawed = False
        self.cut_short = False
        """Whether there may be more than could be read."""
        self.tells: bool | None = None
        """Whether the release that wrote its first entries tells what it removes; None: they do not
        say.
        """

    def breaks(self, position: int) -> None:
        """From here on, nothing before is linked with what follows."""
        self.flawed = True
        self.sound = min(self.sound, position - 1)


def verify(
    journal: Path,
    key: str | None = None,
    checkpoints: Iterable[Checkpoint] = (),
    each: Callable[[Entry], None] = lambda _: None,
    progress: Progress = lambda _done, _total: None,
) -> Verdict:
    """Walk the chain. ``key``: the public key to trust; without it, those that the journal names.
    ``checkpoints``: further ones from elsewhere, made by anybody. ``each`` is called with every
    entry once.
    """
    verdict = Verdict(journal=str(journal), trusted=key is not None, keys=[key] if key else [])
    try:
        evidence = Evidence(journal)
    except JournalUnusableError as error:
        verdict.unread.append(str(error))
        return verdict
    damage = evidence.damage()
    verdict.unread += evidence.unreadable
    for broken in evidence.broken:
        verdict.wrong(broken.partition(":")[0], None, broken)
    if damage is not None:
        verdict.wrong(str(journal), None, f"the file is damaged: {damage}")
    if evidence.strays:
        verdict.wrong(
            str(journal),
            None,
            f"{evidence.strays} entries stand before the first entry of the journal",
        )
    _Walk(evidence, verdict, kept(journal), list(checkpoints), each, progress).walk()
    return verdict


class _Walk:
    """One verification."""

    def __init__(
        self,
        evidence: Evidence,
        verdict: Verdict,
        own: Checkpoint | None,
        told: list[Checkpoint],
        each: Callable[[Entry], None],
        progress: Progress,
    ) -> None:
        self._evidence, self._verdict, self._told, self._each, self._progress = (
            evidence,
            verdict,
            told,
            each,
            progress,
        )
        self._own = [own] if own is not None else []
        self._wanted = {(point.journal, point.position) for point in [*told, *self._own]}
        self._wanted |= {(source.journal, source.after) for source in evidence.sources}
        self._found: dict[tuple[str, int], str] = {}
        self._chains: dict[str, _Chain] = {}
        self._stated: list[tuple[_Chain, int, Removed]] = []
        """What was said to be removed: in which chain, and at which position of it."""
        live = (
            evidence.sources[-1]
            if evidence.sources and not evidence.sources[-1].is_segment
            else None
        )
        self._remembered = Remembered(evidence.saved, live)

    def walk(self) -> None:
        verdict, total = self._verdict, self._evidence.size()
        for source in self._evidence.sources:
            self._source(source, total)
        self._progress(total, total)
        verdict.head = max((chain.head for chain in self._chains.values()), default=0)
        self._hold_against_checkpoints()
        whole = {
            chain.journal: chain.head for chain in self._chains.values() if not chain.cut_short
        }
        for position, what in self._remembered.wrong(whole):
            verdict.wrong(str(self._evidence.journal), position, what)
        for chain in self._chains.values():
            self._tell(chain)

    def _source(self, source: Source, total: int) -> None:
        verdict = self._verdict
        chain = self._chains.get(source.journal)
        if chain is None:
            chain = self._chains[source.journal] = _Chain(source)
            self._check_genesis(source)
        else:
            self._check_beginning(source, chain)
        previous, expected = source.previous, source.after + 1
        self._found.setdefault((source.journal, source.after), previous.hex())
        try:
            for entry in source.entries():
                if (wrong := _flaw(entry, previous, expected)) is not None:
                    verdict.wrong(str(source.path), expected, wrong)
                    chain.breaks(expected)
                if (source.journal, entry.position) in self._wanted:
                    self._found[source.journal, entry.position] = entry.hash.hex()
                previous, expected = entry.hash, entry.position + 1
                if entry.position > chain.head:
                    chain.head = entry.position
                    if not chain.flawed:
                        chain.sound = entry.position
                    self._hear(entry, chain)
                    if not verdict.entries % 1000:
                        self._progress(verdict.entries, total)
        except UnreadableSegmentError as unreadable:
            verdict.unread.append(f"from entry {expected} on: {unreadable}")
            chain.cut_short = True
            chain.breaks(expected)
            return
        except BrokenSegmentError as broken:
            verdict.wrong(
                str(source.path), expected, f"it cannot be read from entry {expected} on: {broken}"
            )
            chain.cut_short = True
            chain.breaks(expected)
            return
        if source.is_segment:
            self._check_seal(source, expected - 1, previous)

    def _check_genesis(self, source: Source) -> None:
        if source.after == source.base and source.previous != genesis(source.journal):
            self._verdict.wrong(
                str(source.path),
                source.after + 1,
                "the first entry does not follow from the journal's id",
            )
        if source.base and source.after == source.base:
            self._verdict.notes.append(
                f"entries 1 to {source.base} are in a file that was set aside before: verify that "
                "too"
            )

    def _check_beginning(self, source: Source, chain: _Chain) -> None:
        """Whether a source continues where the previous one ended."""
        verdict, known = self._verdict, chain.head
        if source.after > known:
            chain.breaks(known + 1)
            if not self._is_kept_from_us(source.journal, known + 1, source.after):
                verdict.wrong(
                    str(source.path),
                    known + 1,
                    f"entries {known + 1} to {source.after} are missing",
                )
            return
        before = self._found.get((source.journal, source.after))
        if before is not None and before != source.previous.hex():
            chain.breaks(source.after + 1)
            what = f"entry {source.after + 1} does not follow from the sealed day before it"
            verdict.wrong(str(source.path), source.after + 1, what)

    def _is_kept_from_us(self, journal: str, first: int, last: int) -> bool:
        """Whether those entries are in sealed days that exist and that we may not read."""
        spans = sorted(
            span(path)[2:] for path in self._evidence.withheld if span(path)[1] == journal[:8]
        )
        for begins, ends in spans:
            if begins <= first <= ends:
                first = ends + 1
        return first > last

    def _check_seal(self, source: Source, end: int, last: bytes) -> None:
        sealed, verdict, place = source.sealed, self._verdict, str(source.path)
        verdict.segments += 1
        if sealed is None:
            return  # its entries could not be read to the end, which is said
        self._found[source.journal, end] = last.hex()
        if (sealed.journal, sealed.position) != (source.journal, end):
            verdict.wrong(place, end, "the checkpoint that ends it is not that of its last entry")
        elif sealed.signature is None:
            verdict.unsigned += 1
            verdict.checkpoints += 1
            verdict.wrong(
                place,
                end,
                "the checkpoint that ends it is not signed, and no daemon seals a day without a "
                "signature",
            )
        else:
            self._own.append(sealed)

    def _hear(self, entry: Entry, chain: _Chain) -> None:
        verdict = self._verdict
        verdict.entries += 1
        verdict.first = verdict.first or entry.time
        verdict.last = entry.time
        if entry.kind == "boot":
            self._hear_boot(entry, chain)
        self._remembered.hear(entry, chain.journal)
        self._each(entry)

    def _hear_boot(self, entry: Entry, chain: _Chain) -> None:
        try:
            boot = msgspec.json.decode(entry.body, type=Boot)
        except HOSTILE:
            return  # its hash tells whether it was written so
        if chain.tells is None:
            chain.tells = boot.clock is not None
        self._stated += ((chain, entry.position, removal) for removal in boot.removed)
        verdict = self._verdict
        verdict.site, verdict.simulated = (
            boot.site,
            bool(boot.tables) and all(table.simulated for table in boot.tables),
        )
        if not verdict.trusted and boot.key is not None and boot.key not in verdict.keys:
            verdict.keys.append(boot.key)

    # The checkpoints

    def _hold_against_checkpoints(self) -> None:
        verdict, keys = self._verdict, frozenset(self._verdict.keys)
        own = {msgspec.json.encode(point): point for point in self._own}
        told = {msgspec.json.encode(point): point for point in self._told}
        for point in own.values():
            verdict.checkpoints += 1
            wrong = flaw(point, keys)
            if point.journal not in self._chains:
                verdict.elsewhere += 1
            elif point.signature is None:
                verdict.unsigned += 1
                verdict.notes.append(f"{_named(point)}, is not signed: it proves nothing")
                self._hold(point, signed=False)
            elif not keys:
                verdict.notes.append(
                    f"{_named(point)}, is signed with the key {point.key}, and the journal names "
                    "none"
                )
            elif wrong is not None:
                verdict.wrong(
                    str(self._evidence.journal), point.position, f"{_named(point)}: {wrong}"
                )
            else:
                self._hold(point, signed=True)
        for body, point in told.items():
            if body in own:
                continue
            verdict.checkpoints += 1
            wrong = flaw(point, keys)
            if point.journal not in self._chains:
                verdict.elsewhere += 1
            elif wrong is None:
                self._hold(point, signed=True)
            else:
                self._disbelieve(point, wrong)

    def _disbelieve(self, point: Checkpoint, why: str) -> None:
        """Anybody may have sent it. Where no key was given, one that is signed by nobody we know
        may yet be the true one.
        """
        verdict = self._verdict
        verdict.disbelieved += 1
        verdict.unsigned += point.signature is None
        if verdict.disbelieved == 1:
            verdict.notes.append(f"{_named(point)}, of the archive is not believed: {why}")
        if verdict.trusted or point.key is None or flaw(point, frozenset({point.key})) is not None:
            return
        if self._contradiction(point) is not None and not any(
            "--key" in each for each in verdict.unread
        ):
            verdict.unread.append(
                f"{_named(point)}, of the archive contradicts the journal, and is signed with the "
                f"key {point.key}, which the"
                " journal does not name: say with --key which key is to be trusted"
            )

    def _hold(self, point: Checkpoint, *, signed: bool) -> None:
        chain = self._chains[point.journal]
        if (wrong := self._contradiction(point)) is not None:
            self._verdict.wrong(str(self._evidence.journal), *wrong)
        elif (
            signed
            and self._found.get((point.journal, point.position)) == point.hash
            and point.position <= chain.sound
        ):
            chain.signed = max(chain.signed, point.position)
            self._verdict.through = max(self._verdict.through, point.position)

    def _contradiction(self, point: Checkpoint) -> tuple[int, str] | None:
        """Where, and how, the journal differs from the one this checkpoint was made of."""
        chain, here = self._chains[point.journal], self._found.get((point.journal, point.position))
        if point.position > chain.head:
            if chain.cut_short:
                return None  # it could not be read so far, which is said
            return (
                chain.head + 1,
                f"cut off after entry {chain.head}: {_named(point)}, was signed for",
            )
        if here is not None and here != point.hash:
            return (
                point.position,
                f"{_named(point)}: the journal has another entry there; it was written anew",
            )
        return None

    # What is covered

    def _tell(self, chain: _Chain) -> None:
        verdict = self._verdict
        verdict.proved += chain.signed - chain.after
        if chain.head > chain.signed:
            verdict.unproved.append(Span(chain.journal, chain.signed + 1, chain.head))
        stated = min(
            chain.after, max((removal.last for removal in self._removals(chain)), default=0)
        )
        if stated > chain.base:
            verdict.removed.append(Span(chain.journal, chain.base + 1, stated))
        if chain.after > max(stated, chain.base):
            gone = Span(chain.journal, max(stated, chain.base) + 1, chain.after)
            verdict.missing.append(gone)
            if chain.tells and not any(
                each.journal == chain.journal and each.last >= chain.after
                for _, _, each in self._stated
            ):
                what = (
                    f"entries {gone.first} to {gone.last} are gone, and no entry says that "
                    "their days were removed in their time"
                )
                verdict.wrong(str(self._evidence.journal), gone.first, what)

    def _removals(self, chain: _Chain) -> list[Removed]:
        """What is said to be removed of this chain, by entries that may be believed as far as any.

        The oldest day goes first, and what was told of it goes with the day in which it was told:
        the latest one counts for all.
        """
        said = [
            (where, at, removal)
            for where, at, removal in self._stated
            if removal.journal == chain.journal
        ]
        believed = [
            removal
            for where, at, removal in said
            if at <= (where.signed if self._verdict.trusted else where.sound)
        ]
        before = self._found.get((chain.journal, chain.after))
        for removal in believed:
            if removal.last == chain.after and removal.hash != before:
                what = (
                    f"what is kept does not follow from entry {removal.last} as it was when "
                    "its day was removed"
                )
                self._verdict.wrong(str(self._evidence.journal), chain.after + 1, what)
        return believed


def _flaw(entry: Entry, previous: bytes, expected: int) -> str | None:
    """What is wrong with the entry found at the position ``expected``."""
    if entry.position != expected:
        gone = (
            f"entry {expected}"
            if entry.position == expected + 1
            else f"entries {expected} to {entry.position - 1}"
        )
        return (
            f"{gone} missing"
            if entry.position > expected
            else f"entry {entry.position} comes twice"
        )
    what = f"entry {expected} ({entry.kind} of {entry.table or 'the daemon'}, {entry.time})"
    if entry.previous != previous:
        return f"{what} does not follow from the entry before it"
    return None if holds(entry) else f"{what} is not what was written: its hash does not hold"


def _named(point: Checkpoint) -> str:
    return f"the checkpoint of {point.time[:40]}, entry {point.position}"
