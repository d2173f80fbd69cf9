"""Checkpoints against each other, and against the chain as a daemon's file has it now. Pure.

A signed checkpoint says which hash the chain had at a position. It stays true: whatever was put in
place of an entry changes the hash of every later one. So some of those that were told are kept, and
after each new one the daemon is asked for the hashes at their positions, as it reads them from its
file. One that differs proves that the file was rewritten; one that is gone, that it was cut.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec

from controller.contract.node import Checkpoint
from controller.proof.checkpoint import flaw
from subscribers.surveillance.findings import Finding, What

MARKS = 64
"""Checkpoints of a journal that are kept to be asked for again."""


class Proof(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a daemon. ``marks``: checkpoints of its journal, in order of position.
    ``key``: the one that is believed; ``vouched``: a person or the configuration vouches for it, it
    was not merely the first one.
    """

    key: str | None = None
    vouched: bool = False
    journal: str = ""
    marks: tuple[Checkpoint, ...] = ()


class Link(msgspec.Struct, frozen=True):
    """The hash at a position, as the file has it."""

    position: int
    hash: str


def trusting(proof: Proof, key: str) -> Proof:
    """A person or the configuration vouches for this key. What was signed with the one before stays
    signed.
    """
    return msgspec.structs.replace(proof, key=key, vouched=True)


def heard(proof: Proof, said: Checkpoint, node: str) -> tuple[Proof, tuple[Finding, ...]]:
    """Take a checkpoint. Returns what is known then, and what is wrong with it. The first key is
    believed where nobody vouches for one; nothing that another one signed is.
    """
    if said.key is None or said.signature is None:
        return proof, (
            _finding(
                "checkpoint_unsigned",
                node,
                said.boot,
                f"the checkpoints of {node} are not signed and prove nothing; its alert "
                "journal-key says why",
                said=said,
            ),
        )
    if (wrong := flaw(said, frozenset({said.key}))) is not None:
        return proof, (
            _finding(
                "checkpoint_forged",
                node,
                f"{said.journal}:{said.position}:{said.hash}",
                f"a checkpoint came for {node} that it did not sign: {wrong}. Look who may write "
                "there at the broker",
                said=said,
            ),
        )
    if proof.key is not None and proof.key != said.key:
        return proof, (
            _finding(
                "checkpoint_key_changed",
                node,
                f"{said.key}:{proof.marks[-1].position if proof.marks else 0}",
                f"{node} signs with the key {said.key}, and {proof.key} is the one to believe. "
                "Nothing that the other one signs is believed. If you replaced the key, settle "
                "this with --as; otherwise somebody else writes its journal",
                believed=proof.key,
                said=said,
            ),
        )
    found: list[Finding] = []
    last = proof.marks[-1] if proof.marks else None
    if last is not None and proof.journal != said.journal and said.time < last.time:
        return proof, tuple(found)  # of the journal before, and late
    if last is None or proof.journal != said.journal:
        if proof.journal not in ("", said.journal):
            found.append(_replaced(node, proof.journal, last, said))
        begun = Proof(key=said.key, vouched=proof.vouched, journal=said.journal, marks=(said,))
        return begun, tuple(found)
    known = next((each for each in proof.marks if each.position == said.position), None)
    if known is not None and known.hash != said.hash:
        found.append(_rewritten(node, known, said.hash, said, good(proof, known.position)))
    elif known is None and said.position < last.position and said.time > last.time:
        found.append(
            _finding(
                "journal_rolled_back",
                node,
                f"{said.journal}:{said.position}:{said.time}",
                f"the journal of {node} had {last.position} entries at {last.time}, and has "
                f"{said.position} at {said.time}: an older copy was put in its place, or it was "
                "cut. Keep the file, and run `novamas verify` on it",
                before=last,
                said=said,
            )
        )
    if said.position > last.position:
        proof = msgspec.structs.replace(proof, marks=thinned((*proof.marks, said)))
    elif found and said.time > last.time:  # told once: go on from what it is now
        kept = tuple(each for each in proof.marks if each.position < said.position)
        proof = msgspec.structs.replace(proof, marks=(*kept, said))
    return proof, tuple(found)


def asked(proof: Proof) -> list[int]:
    """The positions whose hashes a daemon is asked for: those of its marks. At 0, where a new
    journal is before its first entry, there is none.
    """
    return [each.position for each in proof.marks if each.position]


def answered(
    proof: Proof, links: tuple[Link, ...], node: str, of: Collection[Checkpoint] | None = None
) -> tuple[Proof, tuple[Finding, ...]]:
    """Hold against the marks what the daemon's file has at their positions. Days that had their
    time are gone from the beginning, and that alone is no finding.

    ``of``: the marks that it was asked about, where those are not all: a checkpoint may come
    between the question and its answer.
    """
    now = {each.position: each.hash for each in links}
    begins = min(now, default=0)
    marks = [each for each in proof.marks if of is None or each in of]
    for mark in marks:
        if mark.position not in now and (mark.position > begins or mark is marks[-1]):
            found = _finding(
                "journal_cut",
                node,
                f"{mark.journal}:{mark.position}:{mark.hash}",
                f"entry {mark.position} of the journal of {node}, signed at {mark.time}, is gone. "
                "Keep the file, and run `novamas verify` on it",
                signed=mark,
                has=links,
            )
            return _until(proof, mark.position), (found,)
        if mark.position in now and now[mark.position] != mark.hash:
            before = good(proof, mark.position)
            rewritten = _rewritten(node, mark, now[mark.position], None, before)
            return _until(proof, mark.position), (rewritten,)
    return proof, ()


def thinned(marks: tuple[Checkpoint, ...]) -> tuple[Checkpoint, ...]:
    """At most :data:`MARKS` of them: the first and the last, and in between the more, the newer."""
    while len(marks) > MARKS:
        spans = [
            (marks[n + 1].position - marks[n - 1].position)
            / max(1, marks[-1].position - marks[n].position)
            for n in range(1, len(marks) - 2)
        ]
        least = spans.index(min(spans)) + 1
        marks = (*marks[:least], *marks[least + 1 :])
    return marks


def _until(proof: Proof, position: int) -> Proof:
    """Without the marks from this position on: they were told to be wrong."""
    kept = tuple(each for each in proof.marks if each.position < position)
    return msgspec.structs.replace(proof, marks=kept)


def good(proof: Proof, position: int) -> Checkpoint | None:
    """The last mark before a position: up to there nothing was changed."""
    return max(
        (each for each in proof.marks if each.position < position),
        key=lambda each: each.position,
        default=None,
    )


def _rewritten(
    node: str, signed: Checkpoint, has: str, said: Checkpoint | None, before: Checkpoint | None
) -> Finding:
    first = 1 if before is None else before.position + 1
    which = (
        f"entry {first}"
        if first == signed.position
        else f"one or more of the entries {first} to {signed.position}"
    )
    return _finding(
        "journal_rewritten",
        node,
        f"{signed.journal}:{signed.position}:{has}",
        f"the journal of {node} was rewritten: {which} changed. At {signed.time} it signed the "
        f"hash {signed.hash} for entry {signed.position}, and now has {has} there. Keep the file, "
        "and run `novamas verify` on it",
        signed=signed,
        has=has,
        said=said,
        unchanged=before,
    )


def _replaced(node: str, before: str, last: Checkpoint | None, said: Checkpoint) -> Finding:
    return _finding(
        "journal_replaced",
        node,
        said.journal,
        f"{node} writes another journal than before. If its alert journal-set-aside names the file "
        "that was damaged, keep that file; if its alert journal-restored names a backup, see the "
        "finding journal_restored; if there is neither, somebody put another in its place",
        journal=before,
        before=last,
        said=said,
    )


def _finding(what: What, node: str, name: str, detail: str, **evidence: Any) -> Finding:
    return Finding(
        what=what,
        detail=detail,
        name=f"{node}:{name}",
        evidence=msgspec.to_builtins(evidence),
        node=node,
    )
