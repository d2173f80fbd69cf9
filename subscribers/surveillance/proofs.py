"""Compares checkpoints with each other, and with the chain that a daemon's file has now. Pure.

A signed checkpoint states the chain's hash at a position. It stays valid: replacing an entry
changes the hash of every later one. So some checkpoints are stored as marks, and after each new one
the daemon is asked for the hashes at their positions, as it reads them from its file. A hash that
differs proves that the file was rewritten; a missing one, that it was cut.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec

from common.chain.checkpoint import signature_problem
from common.contract.node import Checkpoint
from subscribers.surveillance.findings import FindingType, RecorderFinding

MAX_MARKS = 64
"""Maximum number of marks per journal."""


class JournalProof(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a daemon's journal, as far as proved. ``marks``: its checkpoints, by position.
    ``key``: the trusted key; ``vouched``: a person or the configuration vouches for it, it is not
    merely the first one seen.
    """

    key: str | None = None
    vouched: bool = False
    journal: str = ""
    marks: tuple[Checkpoint, ...] = ()


class JournalHash(msgspec.Struct, frozen=True):
    """The hash at a position, as the file has it."""

    position: int
    hash: str


def trust_key(proof: JournalProof, key: str) -> JournalProof:
    """Return the proof with a key that a person or the configuration vouches for. Checkpoints
    signed with the previous key stay valid.
    """
    return msgspec.structs.replace(proof, key=key, vouched=True)


def check_checkpoint(
    proof: JournalProof, checkpoint: Checkpoint, node: str
) -> tuple[JournalProof, tuple[RecorderFinding, ...]]:
    """Check a new checkpoint. Return the new proof and the findings. Without a key that was vouched
    for, the first one is trusted; checkpoints signed with another key are ignored.
    """
    if (rejected := _signature_finding(proof, checkpoint, node)) is not None:
        return proof, (rejected,)
    last = proof.marks[-1] if proof.marks else None
    if last is None or proof.journal != checkpoint.journal:
        if last is not None and checkpoint.time < last.time:
            return proof, ()  # late, of the previous journal
        findings: tuple[RecorderFinding, ...] = ()
        if proof.journal not in ("", checkpoint.journal):
            findings = (_replaced(node, proof.journal, last, checkpoint),)
        restarted = JournalProof(
            key=checkpoint.key,
            vouched=proof.vouched,
            journal=checkpoint.journal,
            marks=(checkpoint,),
        )
        return restarted, findings
    findings = _contradiction(proof, last, checkpoint, node)
    if checkpoint.position > last.position:
        proof = msgspec.structs.replace(proof, marks=thin((*proof.marks, checkpoint)))
    elif findings and checkpoint.time > last.time:  # reported once: continue from this one
        earlier = tuple(mark for mark in proof.marks if mark.position < checkpoint.position)
        proof = msgspec.structs.replace(proof, marks=(*earlier, checkpoint))
    return proof, findings


def _signature_finding(
    proof: JournalProof, checkpoint: Checkpoint, node: str
) -> RecorderFinding | None:
    """Return why a checkpoint proves nothing: it is unsigned, forged, or of another key."""
    if checkpoint.key is None or checkpoint.signature is None:
        return _finding(
            "checkpoint_unsigned",
            node,
            checkpoint.boot,
            f"the checkpoints of {node} are not signed and prove nothing; see its alert "
            "journal-key",
            said=checkpoint,
        )
    if (defect := signature_problem(checkpoint, frozenset({checkpoint.key}))) is not None:
        return _finding(
            "checkpoint_forged",
            node,
            f"{checkpoint.journal}:{checkpoint.position}:{checkpoint.hash}",
            f"received a checkpoint for {node} that it did not sign: {defect}. Check who may "
            "publish there at the broker",
            said=checkpoint,
        )
    if proof.key is not None and proof.key != checkpoint.key:
        return _finding(
            "checkpoint_key_changed",
            node,
            f"{checkpoint.key}:{proof.marks[-1].position if proof.marks else 0}",
            f"{node} signs with the key {checkpoint.key}, but the trusted key is {proof.key}. "
            "Checkpoints with the other key are ignored. If you replaced the key, settle "
            "this with --as; otherwise another program writes its journal",
            believed=proof.key,
            said=checkpoint,
        )
    return None


def _contradiction(
    proof: JournalProof, last: Checkpoint, checkpoint: Checkpoint, node: str
) -> tuple[RecorderFinding, ...]:
    """Return the finding if a checkpoint of the same journal contradicts the marks."""
    mark = next((each for each in proof.marks if each.position == checkpoint.position), None)
    if mark is not None and mark.hash != checkpoint.hash:
        previous = last_good_mark(proof, mark.position)
        return (_rewritten(node, mark, checkpoint.hash, checkpoint, previous),)
    if mark is None and checkpoint.position < last.position and checkpoint.time > last.time:
        rolled_back = _finding(
            "journal_rolled_back",
            node,
            f"{checkpoint.journal}:{checkpoint.position}:{checkpoint.time}",
            f"the journal of {node} had {last.position} entries at {last.time}, and has "
            f"{checkpoint.position} at {checkpoint.time}: an older copy was put in its "
            "place, or it was cut. Keep the file, and run `novamas verify` on it",
            before=last,
            said=checkpoint,
        )
        return (rolled_back,)
    return ()


def positions_to_query(proof: JournalProof) -> list[int]:
    """Return the positions at which to ask the daemon for hashes: those of its marks. Position 0,
    before the first entry, has no hash.
    """
    return [mark.position for mark in proof.marks if mark.position]


def check_chain(
    proof: JournalProof,
    links: tuple[JournalHash, ...],
    node: str,
    queried: Collection[Checkpoint] | None = None,
) -> tuple[JournalProof, tuple[RecorderFinding, ...]]:
    """Compare the hashes of the daemon's file with the marks. Entries at the beginning may be gone
    because their retention ended; that alone is no finding.

    ``queried``: the marks that were asked for, if not all: a checkpoint may arrive between the
    request and its reply.
    """
    hashes = {item.position: item.hash for item in links}
    first = min(hashes, default=0)
    marks = [item for item in proof.marks if queried is None or item in queried]
    for mark in marks:
        if mark.position not in hashes and (mark.position > first or mark is marks[-1]):
            finding = _finding(
                "journal_cut",
                node,
                f"{mark.journal}:{mark.position}:{mark.hash}",
                f"entry {mark.position} of the journal of {node}, signed at {mark.time}, is gone. "
                "Keep the file, and run `novamas verify` on it",
                signed=mark,
                has=links,
            )
            return _until(proof, mark.position), (finding,)
        if mark.position in hashes and hashes[mark.position] != mark.hash:
            previous = last_good_mark(proof, mark.position)
            rewritten = _rewritten(node, mark, hashes[mark.position], None, previous)
            return _until(proof, mark.position), (rewritten,)
    return proof, ()


def thin(marks: tuple[Checkpoint, ...]) -> tuple[Checkpoint, ...]:
    """Drop marks until :data:`MAX_MARKS` are left: never the first or the last, and newer ones
    last.
    """
    while len(marks) > MAX_MARKS:
        spans = [
            (marks[index + 1].position - marks[index - 1].position)
            / max(1, marks[-1].position - marks[index].position)
            for index in range(1, len(marks) - 2)
        ]
        densest = spans.index(min(spans)) + 1
        marks = (*marks[:densest], *marks[densest + 1 :])
    return marks


def _until(proof: JournalProof, position: int) -> JournalProof:
    """Return the proof without the marks from this position on: they were reported as wrong."""
    earlier = tuple(mark for mark in proof.marks if mark.position < position)
    return msgspec.structs.replace(proof, marks=earlier)


def last_good_mark(proof: JournalProof, position: int) -> Checkpoint | None:
    """Return the last mark before a position: up to there the file is unchanged."""
    return max(
        (mark for mark in proof.marks if mark.position < position),
        key=lambda mark: mark.position,
        default=None,
    )


def _rewritten(
    node: str,
    signed: Checkpoint,
    found: str,
    checkpoint: Checkpoint | None,
    unchanged: Checkpoint | None,
) -> RecorderFinding:
    first = 1 if unchanged is None else unchanged.position + 1
    entries = (
        f"entry {first}"
        if first == signed.position
        else f"one or more of the entries {first} to {signed.position}"
    )
    return _finding(
        "journal_rewritten",
        node,
        f"{signed.journal}:{signed.position}:{found}",
        f"the journal of {node} was rewritten: {entries} changed. At {signed.time} it signed the "
        f"hash {signed.hash} for entry {signed.position}, and now it has {found} there. Keep the "
        "file, and run `novamas verify` on it",
        signed=signed,
        has=found,
        said=checkpoint,
        unchanged=unchanged,
    )


def _replaced(
    node: str, journal: str, last: Checkpoint | None, checkpoint: Checkpoint
) -> RecorderFinding:
    return _finding(
        "journal_replaced",
        node,
        checkpoint.journal,
        f"{node} writes a different journal than before. If its alert journal-set-aside "
        "names the file that was damaged, keep that file; if its alert journal-restored names "
        "a backup, see the finding journal_restored; if there is neither, a person replaced the "
        "journal",
        journal=journal,
        before=last,
        said=checkpoint,
    )


def _finding(
    type_: FindingType, node: str, name: str, detail: str, **evidence: Any
) -> RecorderFinding:
    return RecorderFinding(
        what=type_,
        detail=detail,
        name=f"{node}:{name}",
        evidence=msgspec.to_builtins(evidence),
        node=node,
    )
