"""Concludes a verification: which entries the checkpoints prove, and which are missing."""

from __future__ import annotations

import msgspec

from common.chain.checkpoint import signature_problem
from common.contract.node import Checkpoint
from controller.journal.setup import RemovedDay
from controller.proof.verdict import PositionRange
from controller.proof.walk import JournalChain, Walk


class Conclusion:
    """Completes the verdict of a walk, once all pieces were walked. ``excerpt``: the chain begins
    before the entries that were walked, and those are not missing.
    """

    def __init__(self, walk: Walk, *, excerpt: bool = False) -> None:
        self._walk, self._excerpt = walk, excerpt
        self._verdict = walk.verdict

    def conclude(self) -> None:
        """Complete the verdict."""
        verdict = self._verdict
        self._walk.progress(self._walk.total, self._walk.total)
        if self._walk.site is not None:
            verdict.site, verdict.simulated = self._walk.site
        verdict.head = max((chain.head for chain in self._walk.chains.values()), default=0)
        self._check_checkpoints()
        whole = {
            chain.journal: chain.head for chain in self._walk.chains.values() if not chain.cut_short
        }
        saved = [] if self._excerpt else self._walk.saved_states.problems(whole)
        for position, what in saved:
            verdict.wrong(str(self._walk.evidence.journal), position, what)
        for chain in self._walk.chains.values():
            self._add_coverage(chain)

    # The checkpoints

    def _check_checkpoints(self) -> None:
        verdict, keys = self._verdict, frozenset(self._verdict.keys)
        own = {msgspec.json.encode(point): point for point in self._walk.own}
        from_archive = {msgspec.json.encode(point): point for point in self._walk.checkpoints}
        for point in own.values():
            verdict.checkpoints += 1
            wrong = signature_problem(point, keys)
            if point.journal not in self._walk.chains:
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
                    str(self._walk.evidence.journal), point.position, f"{_named(point)}: {wrong}"
                )
            else:
                self._apply_checkpoint(point, signed=True)
        for body, point in from_archive.items():
            if body in own:
                continue
            verdict.checkpoints += 1
            wrong = signature_problem(point, keys)
            if point.journal not in self._walk.chains:
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
            "--signer" in each for each in verdict.unread
        ):
            verdict.unread.append(
                f"{_named(point)}, of the archive contradicts the journal, and is signed with the "
                f"key {point.key}, which the journal does not name: name the key to trust with "
                "--signer"
            )

    def _apply_checkpoint(self, point: Checkpoint, *, signed: bool) -> None:
        chain = self._walk.chains[point.journal]
        if (wrong := self._contradiction(point)) is not None:
            self._verdict.wrong(str(self._walk.evidence.journal), *wrong)
        elif (
            signed
            and self._walk.found.get((point.journal, point.position)) == point.hash
            and point.position <= chain.sound
        ):
            chain.signed = max(chain.signed, point.position)
            self._verdict.through = max(self._verdict.through, point.position)

    def _contradiction(self, point: Checkpoint) -> tuple[int, str] | None:
        """Return where and how the journal contradicts this checkpoint, or None."""
        chain, here = (
            self._walk.chains[point.journal],
            self._walk.found.get((point.journal, point.position)),
        )
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

    def _add_coverage(self, chain: JournalChain) -> None:
        verdict = self._verdict
        verdict.proved += chain.signed - chain.after
        if chain.head > chain.signed:
            verdict.unproved.append(PositionRange(chain.journal, chain.signed + 1, chain.head))
        if self._excerpt:
            return
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
                for _, _, each in self._walk.recorded_removals
            ):
                what = (
                    f"entries {missing.first} to {missing.last} are gone, and no entry says that "
                    "their days were removed in their time"
                )
                verdict.wrong(str(self._walk.evidence.journal), missing.first, what)

    def _removals(self, chain: JournalChain) -> list[RemovedDay]:
        """Return the recorded removals of this chain that are credible.

        The oldest day is removed first, and its record is removed later with the day that holds it,
        so the latest record counts for all earlier days.
        """
        removals = [
            (where, at, removal)
            for where, at, removal in self._walk.recorded_removals
            if removal.journal == chain.journal
        ]
        believed = [
            removal
            for where, at, removal in removals
            if at
            <= (
                self._walk.chains[where].signed
                if self._verdict.trusted
                else self._walk.chains[where].sound
            )
        ]
        before = self._walk.found.get((chain.journal, chain.after))
        for removal in believed:
            if removal.last == chain.after and removal.hash != before:
                what = (
                    f"the stored entries do not follow from entry {removal.last}, as it was when "
                    "its day was removed"
                )
                self._verdict.wrong(str(self._walk.evidence.journal), chain.after + 1, what)
        return believed


def _named(point: Checkpoint) -> str:
    return f"the checkpoint of {point.time[:40]}, entry {point.position}"
