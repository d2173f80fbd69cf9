"""Verifies that the stored parts of a journal are what was written, from the first entry to the
last.

The hash chain shows what was changed, inserted, removed or moved. The signed checkpoints show what
was cut off at the end or rewritten as a whole. A subscriber's archive is a witness that the
journal's machine cannot alter.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from common.chain.checkpoint import last_checkpoint
from common.chain.schema import Entry, JournalUnusableError
from common.contract.node import Checkpoint
from controller.proof.conclusion import Conclusion
from controller.proof.evidence import Evidence
from controller.proof.listener import EntryListener
from controller.proof.pieces import whole
from controller.proof.processes import walk_together
from controller.proof.verdict import Verdict
from controller.proof.walk import Progress, Walk

MIN_PARALLEL_ENTRIES = 50_000
"""Minimum size of a journal that is verified in several processes."""


def verify(
    journal: Path,
    key: str | None = None,
    checkpoints: Iterable[Checkpoint] = (),
    each: Callable[[Entry], None] | EntryListener | None = None,
    progress: Progress = lambda _done, _total: None,
    jobs: int = 1,
    *,
    excerpt: Collection[str] | None = None,
) -> Verdict:
    """Walk the chain. ``key``: the public key to trust; without it, those that the journal names.
    ``checkpoints``: further ones from untrusted sources. ``each`` receives every entry once.
    ``jobs``: the number of processes for a large journal; one, if ``each`` is a function.
    ``excerpt``: the file has a part of the chain only, and nothing is concluded from what is before
    it; the public keys that the journal names there.
    """
    verdict = Verdict(journal=str(journal), trusted=key is not None, keys=[key] if key else [])
    try:
        evidence = Evidence(journal)
    except JournalUnusableError as error:
        verdict.unread.append(str(error))
        return verdict
    if excerpt is not None and key is None:
        verdict.keys += excerpt
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
    if not (parallel and _walk_in_parallel(walk, jobs)):
        for piece in whole(evidence):
            walk.process(piece)
        listener.end()
    Conclusion(walk, excerpt=excerpt is not None).conclude()
    verdict.notes[:] = dict.fromkeys(verdict.notes)
    return verdict


def _walk_in_parallel(walk: Walk, jobs: int) -> bool:
    """Walk all pieces in several processes. Return False if one process has to do it."""
    pieces = walk_together(walk, jobs)
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
        walk.add(piece.walked)
        walk.listener.add(piece.listener_findings)
    return True
