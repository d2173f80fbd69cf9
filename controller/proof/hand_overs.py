"""Hand-overs between the two daemons of a pair: compares what a journal records of the other
daemon's journal with that journal.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from common.chain.checkpoint import signature_problem
from common.chain.hand_over import HandOver
from common.chain.schema import JournalUnusableError
from common.contract.node import Checkpoint
from controller.journal.setup import Boot
from controller.proof.evidence import Evidence
from controller.proof.segment import DECODE_ERRORS, BrokenSegmentError
from controller.proof.verdict import Verdict


def note_hand_over(before: HandOver, journal: Path, verdict: Verdict) -> None:
    """Add a note about a hand-over, and whether the other daemon signed its last entry."""
    end = before.checkpoint
    if before.forgotten:
        note = (
            f"took the tables over at {before.at[:40]}, and the store of the pair had lost its "
            "record: no journal tells what another daemon did before"
        )
    elif end is None:
        note = (
            f"took the tables over from {before.instance[:48]} at {before.at[:40]}, which signed "
            "nothing"
        )
    else:
        note = f"{_taken_over(before, end)}, {_signed(end)}"
        if end.signature is not None and _flaw(end) is not None:
            verdict.wrong(str(journal), None, note)
            return
    if note not in verdict.notes:  # each start and each day repeats the hand-over
        verdict.notes.append(note)


def compare(journal: Path, other: Path, verdict: Verdict) -> None:
    """Compare the journal's hand-overs with the ``other`` daemon's."""
    try:
        ours, theirs = Evidence(journal), Evidence(other)
        handed = {
            (end.journal, end.position): end.hash
            for _, entry in ours.entries()
            if entry.kind == "boot" and (end := _end(entry.body)) is not None
        }
        ids = {source.journal for source in theirs.sources}
        wanted = {at: digest for at, digest in handed.items() if at[0] in ids}
        found = {
            at: entry.hash.hex()
            for source, entry in theirs.entries()
            if (at := (source.journal, entry.position)) in wanted
        }
    except (BrokenSegmentError, JournalUnusableError, OSError) as error:
        verdict.unread.append(str(error))
        return
    if not wanted:
        verdict.unread.append(f"the journal records no hand-over from the journal {other}")
    for at, digest in wanted.items():
        if at not in found:
            verdict.unread.append(f"{other}: entry {at[1]}, which was handed over, is not there")
        elif found[at] != digest:
            what = f"entry {at[1]} is not the one that was handed over"
            verdict.wrong(str(other), at[1], what)
        else:
            verdict.notes.append(f"entry {at[1]}, which was handed over, is in {other}")


def _end(body: bytes) -> Checkpoint | None:
    try:
        tenure = msgspec.json.decode(body, type=Boot).standby
    except DECODE_ERRORS:
        return None
    return None if tenure is None or tenure.before is None else tenure.before.checkpoint


def _taken_over(before: HandOver, end: Checkpoint) -> str:
    return (
        f"took the tables over from {before.instance[:48]} at {before.at[:40]}, whose journal "
        f"{end.journal[:64]} went as far as entry {end.position}"
    )


def _flaw(end: Checkpoint) -> str | None:
    return signature_problem(end, frozenset() if end.key is None else frozenset({end.key}))


def _signed(end: Checkpoint) -> str:
    wrong = _flaw(end)
    return f"signed with the key {end.key}" if wrong is None else f"by its own account: {wrong}"
