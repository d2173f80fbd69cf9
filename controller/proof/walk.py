"""Walks the entries of a journal, piece by piece: each must follow from the one before."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from common.chain.schema import Entry, genesis, has_valid_hash
from common.contract.node import Checkpoint
from controller.journal.setup import Boot, RemovedDay
from controller.proof import hand_overs
from controller.proof.evidence import Evidence, JournalSource
from controller.proof.listener import EntryListener
from controller.proof.pieces import Piece, lead
from controller.proof.saved_states import SavedStateCheck
from controller.proof.segment import DECODE_ERRORS, BrokenSegmentError, UnreadableSegmentError, span
from controller.proof.verdict import Verdict

Progress = Callable[[int, int], None]


class JournalChain(msgspec.Struct):
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
    chains: dict[str, JournalChain]
    found: dict[tuple[str, int], str] = {}
    stated: list[tuple[str, int, RemovedDay]] = []
    sealed: list[Checkpoint] = []
    begun: dict[tuple[str, int], str] = {}
    wrong: dict[str, tuple[int, str]] = {}
    site: tuple[str, bool] | None = None


class Walk:
    """One verification, piece by piece.

    ``own``: the checkpoints of the journal itself, ``checkpoints``: further ones from untrusted
    sources. ``found``: hashes of entries, by journal and position. ``recorded_removals``: each with
    the journal and the position of its record. ``site``: the site, and whether all its tables are
    simulated.
    """

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
        self.verdict, self.checkpoints = verdict, checkpoints
        self.own = [own] if own is not None else []
        self._wanted = {(point.journal, point.position) for point in [*checkpoints, *self.own]}
        self._wanted |= {(source.journal, source.after) for source in evidence.sources}
        self.found: dict[tuple[str, int], str] = {}
        self._assumed_hashes: dict[tuple[str, int], str] = {}
        self.chains: dict[str, JournalChain] = {}
        self.recorded_removals: list[tuple[str, int, RemovedDay]] = []
        self.site: tuple[str, bool] | None = None
        self._at = b"", 0
        """The hash of the last entry that was read in the present source, and the position after
        it.
        """
        self._abandoned_source: int | None = None
        """The source that could not be read further."""
        self._done, self.total = 0, evidence.size()
        live = (
            evidence.sources[-1]
            if evidence.sources and not evidence.sources[-1].is_segment
            else None
        )
        self.saved_states = SavedStateCheck(evidence.saved, live)

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
        self.chains = {
            source.journal: JournalChain(
                source.journal, source.base, source.after, head, head, head, records_removals=True
            )
        }
        self._at = piece.previous, piece.after + 1
        self.listener.begin(lead(self.evidence, piece))

    def state_digest(self, piece: Piece) -> bytes:
        """Return a digest of the state before this piece, on which alone its findings depend."""
        journal = self.evidence.sources[piece.source].journal
        chain = self.chains.get(journal)
        here = self._at, self._abandoned_source == piece.source, self.listener.state_digest()
        if chain is None:
            return repr((journal, here)).encode()
        known = chain.head, chain.flawed, chain.cut_short, chain.records_removals is not None
        return repr((journal, here, known)).encode()

    def pop_findings(self) -> WalkFindings:
        """Return the findings since the last call."""
        verdict = self.verdict
        findings = WalkFindings(
            verdict=verdict,
            chains=self.chains,
            found=self.found,
            stated=self.recorded_removals,
            sealed=self.own,
            begun=self._assumed_hashes,
            wrong=self.saved_states.problems_so_far(),
            site=self.site,
        )
        self.verdict = Verdict(journal=verdict.journal, trusted=verdict.trusted)
        self.recorded_removals, self.own = [], []
        return findings

    def add(self, walked: WalkFindings) -> None:
        """Add the findings of another process in later pieces."""
        self.verdict.add(walked.verdict)
        for journal, chain in walked.chains.items():
            known = self.chains.setdefault(journal, chain)
            known.head, known.sound = chain.head, chain.sound
            known.flawed, known.cut_short = chain.flawed, chain.cut_short
            known.records_removals = (
                chain.records_removals if known.records_removals is None else known.records_removals
            )
        self.found |= walked.found
        self.recorded_removals += walked.stated
        self.own += walked.sealed
        self.site = walked.site or self.site
        self.saved_states.add(walked.wrong)

    def process(self, piece: Piece) -> None:
        """Walk the next piece."""
        if self._abandoned_source == piece.source:
            return
        source = self.evidence.sources[piece.source]
        begins = piece.after == source.after
        chain = self._enter(source) if begins else self.chains[source.journal]
        try:
            for entry in source.entries(piece.after):
                if piece.through is not None and entry.position > piece.through:
                    return
                self._check(entry, source, chain)
        except UnreadableSegmentError as unreadable:
            self.verdict.unread.append(f"from entry {self._at[1]} on: {unreadable}")
        except BrokenSegmentError as broken:
            what = f"it cannot be read from entry {self._at[1]} on: {broken}"
            self.verdict.wrong(str(source.path), self._at[1], what)
        else:
            if source.is_segment and piece.through is None:
                self._check_seal(source, self._at[1] - 1, self._at[0])
            return
        self._abandoned_source, chain.cut_short = piece.source, True
        chain.break_at(self._at[1])

    def _enter(self, source: JournalSource) -> JournalChain:
        chain = self.chains.get(source.journal)
        if chain is None:
            after = source.after
            chain = JournalChain(source.journal, source.base, after, after, after, after)
            self.chains[source.journal] = chain
            self._check_genesis(source)
        else:
            self._check_beginning(source, chain)
        self._at = source.previous, source.after + 1
        self.found.setdefault((source.journal, source.after), source.previous.hex())
        return chain

    def _check(self, entry: Entry, source: JournalSource, chain: JournalChain) -> None:
        previous, expected = self._at
        if (wrong := _entry_problem(entry, previous, expected)) is not None:
            self.verdict.wrong(str(source.path), expected, wrong)
            chain.break_at(expected)
        if (source.journal, entry.position) in self._wanted:
            self.found[source.journal, entry.position] = entry.hash.hex()
        self._at = entry.hash, entry.position + 1
        if entry.position > chain.head:
            chain.head = entry.position
            if not chain.flawed:
                chain.sound = entry.position
            self._on_entry(entry, chain)
            self._done += 1
            if not self._done % 1000:
                self.progress(self._done, self.total)

    def _check_genesis(self, source: JournalSource) -> None:
        if source.after == source.base and source.previous != genesis(source.journal):
            self.verdict.wrong(
                str(source.path),
                source.after + 1,
                "the first entry does not follow from the journal's id",
            )
        if source.base and source.after == source.base:
            self.verdict.notes.append(
                f"entries 1 to {source.base} are in the file before this one: verify that too"
            )

    def _check_beginning(self, source: JournalSource, chain: JournalChain) -> None:
        """Check that a source continues where the previous one ended."""
        verdict, known = self.verdict, chain.head
        if source.after > known:
            chain.break_at(known + 1)
            if not self._is_withheld(source.journal, known + 1, source.after):
                verdict.wrong(
                    str(source.path),
                    known + 1,
                    f"entries {known + 1} to {source.after} are missing",
                )
            return
        before = self.found.get((source.journal, source.after))
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
        sealed, verdict, place = source.sealed, self.verdict, str(source.path)
        verdict.segments += 1
        if sealed is None:
            return  # its entries could not be read to the end, which is reported
        self.found[source.journal, end] = last.hex()
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
            self.own.append(sealed)

    def _on_entry(self, entry: Entry, chain: JournalChain) -> None:
        verdict = self.verdict
        verdict.entries += 1
        verdict.first = verdict.first or entry.time
        verdict.last = entry.time
        if entry.kind == "boot":
            self._on_boot(entry, chain)
        self.saved_states.on_entry(entry, chain.journal)
        self.listener.on_entry(entry)

    def _on_boot(self, entry: Entry, chain: JournalChain) -> None:
        try:
            boot = msgspec.json.decode(entry.body, type=Boot)
        except DECODE_ERRORS:
            return  # its hash shows whether it was altered
        if chain.records_removals is None:
            chain.records_removals = boot.clock is not None
        if (point := boot.restored) is not None:
            self.verdict.notes.append(
                f"the journal continues a backup, restored at {point.at[:40]}: entry "
                f"{point.position} of {point.since[:40]}, in {point.file[:200]}, which is verified "
                "separately. Entries stored after it and before the restore are in no file here: "
                "subscribers have them"
            )
        if boot.standby is not None and boot.standby.before is not None:
            hand_overs.note_hand_over(boot.standby.before, self.evidence.journal, self.verdict)
        self.recorded_removals += (
            (chain.journal, entry.position, removal) for removal in boot.removed
        )
        verdict = self.verdict
        self.site = (
            boot.site,
            bool(boot.tables) and all(table.simulated for table in boot.tables),
        )
        verdict.extensions += (each for each in boot.extensions if each not in verdict.extensions)
        if not verdict.trusted and boot.key is not None and boot.key not in verdict.keys:
            verdict.keys.append(boot.key)


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
