"""Verifies that the stored parts of a journal are what was written, from the first entry to the
last.

The hash chain shows what was changed, inserted, removed or moved. The signed checkpoints show what
was cut off at the end or rewritten as a whole. A subscriber's archive is a witness that the
journal's machine cannot alter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec

from common.chain.checkpoint import last_checkpoint, signature_problem
from common.chain.schema import Entry, JournalUnusableError, genesis, has_valid_hash
from common.contract.node import Checkpoint
from controller.journal.setup import Boot, RemovedDay
from controller.proof import hand_overs
from controller.proof.evidence import Evidence, JournalSource
from controller.proof.pieces import Lead, Piece, lead, whole
from controller.proof.processes import walk_together
from controller.proof.saved_states import SavedStateCheck
from controller.proof.segment import DECODE_ERRORS, BrokenSegmentError, UnreadableSegmentError, span
from controller.proof.verdict import PositionRange, Verdict

MIN_PARALLEL_ENTRIES = 50_000
"""Minimum size of a journal that is verified in several processes."""

Progress = Callable[[int, int], None]


class EntryListener:
    """Receives every entry once, in order. This one calls ``each``; a subclass has findings.
    ``sound``: False if its findings may depend on entries before the seam at which it began.
    """

    sound = True

    def __init__(self, each: Callable[[Entry], None] = lambda _: None) -> None:
        self._each = each

    def on_entry(self, entry: Entry) -> None:
        """Handle the next entry."""
        self._each(entry)

    def end(self) -> None:
        """Handle the end of the entries."""

    def begin(self, lead: Lead) -> None:
        """Begin at a seam, with its lead."""

    def state_digest(self) -> bytes:
        """Return a digest of the present state, on which alone the later findings depend."""
        return b""

    def pop_findings(self) -> Any:
        """Return the findings since the last call, for :meth:`add` in another process."""

    def add(self, found: Any) -> None:
        """Add what another process has found in later entries."""


class _Chain(msgspec.Struct):
    """The chain of one file. ``after``: the position before its first stored entry; ``head``: that
    of its last one; ``sound``: that up to which all entries are present and intact; ``signed``:
    that up to which a checkpoint covers them. ``flawed``: a problem was found. ``cut_short``: there
    may be more entries than could be read. ``records_removals``: the release that wrote its first
    entries records removals; None if unknown.
    """

    journal: str
    base: int
    after: int
    head: int
    sound: int
    signed: int
    flawed: bool = False
    cut_short: bool = False
    records_removals: bool | None = None

    def break_at(self, position: int) -> None:
        """Mark the chain as broken at this position."""
        self.flawed = True
        self.sound = min(self.sound, position - 1)


class WalkFindings(msgspec.Struct, kw_only=True):
    """The findings of some pieces. ``found``: hashes of entries, by journal and position;
    ``stated``: recorded removals, each with the journal and the position of the record; ``sealed``:
    the checkpoints that end segments; ``begun``: the hash before the first entry of a source, if
    the previous source was not read by this process; ``site``: the site, and whether all its tables
    are simulated.
    """

    verdict: Verdict
    chains: dict[str, _Chain]
    found: dict[tuple[str, int], str] = {}
    stated: list[tuple[str, int, RemovedDay]] = []
    sealed: list[Checkpoint] = []
    begun: dict[tuple[str, int], str] = {}
    wrong: dict[str, tuple[int, str]] = {}
    site: tuple[str, bool] | None = None


def verify(
    journal: Path,
    key: str | None = None,
    checkpoints: Iterable[Checkpoint] = (),
    each: Callable[[Entry], None] | EntryListener | None = None,
    progress: Progress = lambda _done, _total: None,
    jobs: int = 1,
) -> Verdict:
    """Walk the chain. ``key``: the public key to trust; without it, those that the journal names.
    ``checkpoints``: further ones from untrusted sources. ``each`` receives every entry once.
    ``jobs``: the number of processes for a large journal; one, if ``each`` is a function.
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
            f"{evidence.strays} entries are before the first entry of the journal",
        )
    alone = each is not None and not isinstance(each, EntryListener)
    listener = each if isinstance(each, EntryListener) else EntryListener(each or (lambda _: None))
    walk = Walk(evidence, verdict, last_checkpoint(journal), list(checkpoints), listener, progress)
    parallel = jobs > 1 and not alone and evidence.size() >= MIN_PARALLEL_ENTRIES
    if not (parallel and walk.walk_in_parallel(jobs)):
        for piece in whole(evidence):
            walk.process(piece)
        listener.end()
    walk.conclude()
    verdict.notes[:] = dict.fromkeys(verdict.notes)
    return verdict


class Walk:
    """One verification, piece by piece."""

    def __init__(
        self,
        evidence: Evidence,
        verdict: Verdict,
        own: Checkpoint | None,
        checkpoints: list[Checkpoint],
        listener: EntryListener,
        progress: Progress,
    ) -> None:
        self.evidence, self.listener, self.progress = evidence, listener, progress
        self._verdict, self._checkpoints = verdict, checkpoints
        self._own = [own] if own is not None else []
        self._wanted = {(point.journal, point.position) for point in [*checkpoints, *self._own]}
        self._wanted |= {(source.journal, source.after) for source in evidence.sources}
        self._found: dict[tuple[str, int], str] = {}
        self._assumed_hashes: dict[tuple[str, int], str] = {}
        self._chains: dict[str, _Chain] = {}
        self._recorded_removals: list[tuple[str, int, RemovedDay]] = []
        self._site: tuple[str, bool] | None = None
        self._at = b"", 0
        """The hash of the last entry that was read in the present source, and the position after
        it.
        """
        self._abandoned_source: int | None = None
        """The source that could not be read further."""
        self._done, self._total = 0, evidence.size()
        live = (
            evidence.sources[-1]
            if evidence.sources and not evidence.sources[-1].is_segment
            else None
        )
        self._saved_states = SavedStateCheck(evidence.saved, live)

    def begin(self, piece: Piece) -> None:
        """Begin with this piece, assuming that everything before it is present and intact. Raises
        :class:`BrokenSegmentError` and ``ValueError`` if its lead cannot be read.
        """
        source = self.evidence.sources[piece.source]
        earlier = [
            each.last
            for each in self.evidence.sources[: piece.source]
            if each.journal == source.journal
        ]
        head = max([*earlier, piece.after])
        self._chains = {
            source.journal: _Chain(
                source.journal, source.base, source.after, head, head, head, records_removals=True
            )
        }
        self._at = piece.previous, piece.after + 1
        self.listener.begin(lead(self.evidence, piece))

    def state_digest(self, piece: Piece) -> bytes:
        """Return a digest of the state before this piece, on which alone its findings depend."""
        journal = self.evidence.sources[piece.source].journal
        chain = self._chains.get(journal)
        here = self._at, self._abandoned_source == piece.source, self.listener.state_digest()
        if chain is None:
            return repr((journal, here)).encode()
        known = chain.head, chain.flawed, chain.cut_short, chain.records_removals is not None
        return repr((journal, here, known)).encode()

    def pop_findings(self) -> WalkFindings:
        """Return the findings since the last call."""
        verdict = self._verdict
        findings = WalkFindings(
            verdict=verdict,
            chains=self._chains,
            found=self._found,
            stated=self._recorded_removals,
            sealed=self._own,
            begun=self._assumed_hashes,
            wrong=self._saved_states.problems_so_far(),
            site=self._site,
        )
        self._verdict = Verdict(journal=verdict.journal, trusted=verdict.trusted)
        self._recorded_removals, self._own = [], []
        return findings

    def walk_in_parallel(self, jobs: int) -> bool:
        """Walk all pieces in several processes. Return False if one process has to do it."""
        pieces = walk_together(self, jobs)
        if pieces is None:
            return False
        found: dict[tuple[str, int], str] = {}
        for piece in pieces:
            found |= piece.walked.found
        if any(
            found.get(at, hash_) != hash_
            for piece in pieces
            for at, hash_ in piece.walked.begun.items()
        ):
            return False  # a source does not continue the findings of another process
        for piece in pieces:
            self._add(piece.walked)
            self.listener.add(piece.listener_findings)
        return True

    def _add(self, walked: WalkFindings) -> None:
        self._verdict.add(walked.verdict)
        for journal, chain in walked.chains.items():
            known = self._chains.setdefault(journal, chain)
            known.head, known.sound = chain.head, chain.sound
            known.flawed, known.cut_short = chain.flawed, chain.cut_short
            known.records_removals = (
                chain.records_removals if known.records_removals is None else known.records_removals
            )
        self._found |= walked.found
        self._recorded_removals += walked.stated
        self._own += walked.sealed
        self._site = walked.site or self._site
        self._saved_states.add(walked.wrong)

    def conclude(self) -> None:
        """Complete the verdict, once all pieces were walked."""
        verdict = self._verdict
        self.progress(self._total, self._total)
        if self._site is not None:
            verdict.site, verdict.simulated = self._site
        verdict.head = max((chain.head for chain in self._chains.values()), default=0)
        self._check_checkpoints()
        whole = {
            chain.journal: chain.head for chain in self._chains.values() if not chain.cut_short
        }
        for position, what in self._saved_states.problems(whole):
            verdict.wrong(str(self.evidence.journal), position, what)
        for chain in self._chains.values():
            self._add_coverage(chain)

    def process(self, piece: Piece) -> None:
        """Walk the next piece."""
        if self._abandoned_source == piece.source:
            return
        source = self.evidence.sources[piece.source]
        begins = piece.after == source.after
        chain = self._enter(source) if begins else self._chains[source.journal]
        try:
            for entry in source.entries(piece.after):
                if piece.through is not None and entry.position > piece.through:
                    return
                self._check(entry, source, chain)
        except UnreadableSegmentError as unreadable:
            self._verdict.unread.append(f"from entry {self._at[1]} on: {unreadable}")
        except BrokenSegmentError as broken:
            what = f"it cannot be read from entry {self._at[1]} on: {broken}"
            self._verdict.wrong(str(source.path), self._at[1], what)
        else:
            if source.is_segment and piece.through is None:
                self._check_seal(source, self._at[1] - 1, self._at[0])
            return
        self._abandoned_source, chain.cut_short = piece.source, True
        chain.break_at(self._at[1])

    def _enter(self, source: JournalSource) -> _Chain:
        chain = self._chains.get(source.journal)
        if chain is None:
            after = source.after
            chain = _Chain(source.journal, source.base, after, after, after, after)
            self._chains[source.journal] = chain
            self._check_genesis(source)
        else:
            self._check_beginning(source, chain)
        self._at = source.previous, source.after + 1
        self._found.setdefault((source.journal, source.after), source.previous.hex())
        return chain

    def _check(self, entry: Entry, source: JournalSource, chain: _Chain) -> None:
        previous, expected = self._at
        if (wrong := _entry_problem(entry, previous, expected)) is not None:
            self._verdict.wrong(str(source.path), expected, wrong)
            chain.break_at(expected)
        if (source.journal, entry.position) in self._wanted:
            self._found[source.journal, entry.position] = entry.hash.hex()
        self._at = entry.hash, entry.position + 1
        if entry.position > chain.head:
            chain.head = entry.position
            if not chain.flawed:
                chain.sound = entry.position
            self._on_entry(entry, chain)
            self._done += 1
            if not self._done % 1000:
                self.progress(self._done, self._total)

    def _check_genesis(self, source: JournalSource) -> None:
        if source.after == source.base and source.previous != genesis(source.journal):
            self._verdict.wrong(
                str(source.path),
                source.after + 1,
                "the first entry does not follow from the journal's id",
            )
        if source.base and source.after == source.base:
            self._verdict.notes.append(
                f"entries 1 to {source.base} are in the file before this one: verify that too"
            )

    def _check_beginning(self, source: JournalSource, chain: _Chain) -> None:
        """Check that a source continues where the previous one ended."""
        verdict, known = self._verdict, chain.head
        if source.after > known:
            chain.break_at(known + 1)
            if not self._is_withheld(source.journal, known + 1, source.after):
                verdict.wrong(
                    str(source.path),
                    known + 1,
                    f"entries {known + 1} to {source.after} are missing",
                )
            return
        before = self._found.get((source.journal, source.after))
        if before is None:
            self._assumed_hashes[source.journal, source.after] = source.previous.hex()
        elif before != source.previous.hex():
            chain.break_at(source.after + 1)
            what = f"entry {source.after + 1} does not follow from the sealed day before it"
            verdict.wrong(str(source.path), source.after + 1, what)

    def _is_withheld(self, journal: str, first: int, last: int) -> bool:
        """Return True if those entries are in sealed days that exist but cannot be read."""
        spans = sorted(
            span(path)[2:] for path in self.evidence.withheld if span(path)[1] == journal[:8]
        )
        for begins, ends in spans:
            if begins <= first <= ends:
                first = ends + 1
        return first > last

    def _check_seal(self, source: JournalSource, end: int, last: bytes) -> None:
        sealed, verdict, place = source.sealed, self._verdict, str(source.path)
        verdict.segments += 1
        if sealed is None:
            return  # its entries could not be read to the end, which is reported
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

    def _on_entry(self, entry: Entry, chain: _Chain) -> None:
        verdict = self._verdict
        verdict.entries += 1
        verdict.first = verdict.first or entry.time
        verdict.last = entry.time
        if entry.kind == "boot":
            self._on_boot(entry, chain)
        self._saved_states.on_entry(entry, chain.journal)
        self.listener.on_entry(entry)

    def _on_boot(self, entry: Entry, chain: _Chain) -> None:
        try:
            boot = msgspec.json.decode(entry.body, type=Boot)
        except DECODE_ERRORS:
            return  # its hash shows whether it was altered
        if chain.records_removals is None:
            chain.records_removals = boot.clock is not None
        if (point := boot.restored) is not None:
            self._verdict.notes.append(
                f"the journal continues a backup, restored at {point.at[:40]}: entry "
                f"{point.position} of {point.since[:40]}, in {point.file[:200]}, which is verified "
                "separately. Entries stored after it and before the restore are in no file here: "
                "subscribers have them"
            )
        if boot.standby is not None and boot.standby.before is not None:
            hand_overs.note_hand_over(boot.standby.before, self.evidence.journal, self._verdict)
        self._recorded_removals += (
            (chain.journal, entry.position, removal) for removal in boot.removed
        )
        verdict = self._verdict
        self._site = (
            boot.site,
            bool(boot.tables) and all(table.simulated for table in boot.tables),
        )
        if not verdict.trusted and boot.key is not None and boot.key not in verdict.keys:
            verdict.keys.append(boot.key)

    # The checkpoints

    def _check_checkpoints(self) -> None:
        verdict, keys = self._verdict, frozenset(self._verdict.keys)
        own = {msgspec.json.encode(point): point for point in self._own}
        from_archive = {msgspec.json.encode(point): point for point in self._checkpoints}
        for point in own.values():
            verdict.checkpoints += 1
            wrong = signature_problem(point, keys)
            if point.journal not in self._chains:
                verdict.elsewhere += 1
            elif point.signature is None:
                verdict.unsigned += 1
                verdict.notes.append(f"{_named(point)}, is not signed: it proves nothing")
                self._apply_checkpoint(point, signed=False)
            elif not keys:
                verdict.notes.append(
                    f"{_named(point)}, is signed with the key {point.key}, and the journal names "
                    "no key"
                )
            elif wrong is not None:
                verdict.wrong(
                    str(self.evidence.journal), point.position, f"{_named(point)}: {wrong}"
                )
            else:
                self._apply_checkpoint(point, signed=True)
        for body, point in from_archive.items():
            if body in own:
                continue
            verdict.checkpoints += 1
            wrong = signature_problem(point, keys)
            if point.journal not in self._chains:
                verdict.elsewhere += 1
            elif wrong is None:
                self._apply_checkpoint(point, signed=True)
            else:
                self._note_disbelieved(point, wrong)

    def _note_disbelieved(self, point: Checkpoint, why: str) -> None:
        """Note a checkpoint of the archive that no trusted key has signed: anyone could have sent
        it. If no key was given, its signer may still be the right one.
        """
        verdict = self._verdict
        verdict.disbelieved += 1
        verdict.unsigned += point.signature is None
        if verdict.disbelieved == 1:
            verdict.notes.append(f"{_named(point)}, of the archive is not believed: {why}")
        if (
            verdict.trusted
            or point.key is None
            or signature_problem(point, frozenset({point.key})) is not None
        ):
            return
        if self._contradiction(point) is not None and not any(
            "--key" in each for each in verdict.unread
        ):
            verdict.unread.append(
                f"{_named(point)}, of the archive contradicts the journal, and is signed with the "
                f"key {point.key}, which the journal does not name: name the key to trust with "
                "--key"
            )

    def _apply_checkpoint(self, point: Checkpoint, *, signed: bool) -> None:
        chain = self._chains[point.journal]
        if (wrong := self._contradiction(point)) is not None:
            self._verdict.wrong(str(self.evidence.journal), *wrong)
        elif (
            signed
            and self._found.get((point.journal, point.position)) == point.hash
            and point.position <= chain.sound
        ):
            chain.signed = max(chain.signed, point.position)
            self._verdict.through = max(self._verdict.through, point.position)

    def _contradiction(self, point: Checkpoint) -> tuple[int, str] | None:
        """Return where and how the journal contradicts this checkpoint, or None."""
        chain, here = self._chains[point.journal], self._found.get((point.journal, point.position))
        if point.position > chain.head:
            if chain.cut_short:
                return None  # the entry could not be read, which is reported
            return (
                chain.head + 1,
                f"cut off after entry {chain.head}: {_named(point)}, was signed for",
            )
        if here is not None and here != point.hash:
            return (
                point.position,
                f"{_named(point)}: the journal has another entry there; it was rewritten",
            )
        return None

    # Coverage

    def _add_coverage(self, chain: _Chain) -> None:
        verdict = self._verdict
        verdict.proved += chain.signed - chain.after
        if chain.head > chain.signed:
            verdict.unproved.append(PositionRange(chain.journal, chain.signed + 1, chain.head))
        removed_through = min(
            chain.after, max((removal.last for removal in self._removals(chain)), default=0)
        )
        if removed_through > chain.base:
            verdict.removed.append(PositionRange(chain.journal, chain.base + 1, removed_through))
        if chain.after > max(removed_through, chain.base):
            missing = PositionRange(
                chain.journal, max(removed_through, chain.base) + 1, chain.after
            )
            verdict.missing.append(missing)
            if chain.records_removals and not any(
                each.journal == chain.journal and each.last >= chain.after
                for _, _, each in self._recorded_removals
            ):
                what = (
                    f"entries {missing.first} to {missing.last} are gone, and no entry says that "
                    "their days were removed in their time"
                )
                verdict.wrong(str(self.evidence.journal), missing.first, what)

    def _removals(self, chain: _Chain) -> list[RemovedDay]:
        """Return the recorded removals of this chain that are credible.

        The oldest day is removed first, and its record is removed later with the day that holds it,
        so the latest record counts for all earlier days.
        """
        removals = [
            (where, at, removal)
            for where, at, removal in self._recorded_removals
            if removal.journal == chain.journal
        ]
        believed = [
            removal
            for where, at, removal in removals
            if at
            <= (self._chains[where].signed if self._verdict.trusted else self._chains[where].sound)
        ]
        before = self._found.get((chain.journal, chain.after))
        for removal in believed:
            if removal.last == chain.after and removal.hash != before:
                what = (
                    f"the stored entries do not follow from entry {removal.last}, as it was when "
                    "its day was removed"
                )
                self._verdict.wrong(str(self.evidence.journal), chain.after + 1, what)
        return believed


def _entry_problem(entry: Entry, previous: bytes, expected: int) -> str | None:
    """Return what is wrong with the entry found at the position ``expected``, or None."""
    if entry.position != expected:
        missing = (
            f"entry {expected}"
            if entry.position == expected + 1
            else f"entries {expected} to {entry.position - 1}"
        )
        return (
            f"{missing} missing"
            if entry.position > expected
            else f"entry {entry.position} comes twice"
        )
    name = f"entry {expected} ({entry.kind} of {entry.table or 'the daemon'}, {entry.time})"
    if entry.previous != previous:
        return f"{name} does not follow from the entry before it"
    return (
        None if has_valid_hash(entry) else f"{name} is not what was written: its hash does not hold"
    )


def _named(point: Checkpoint) -> str:
    return f"the checkpoint of {point.time[:40]}, entry {point.position}"
