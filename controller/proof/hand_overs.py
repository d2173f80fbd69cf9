"""Hand-overs between the two daemons of a pair: what a journal says of the other one's, and whether
that one says the same.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from controller.contract.node import Checkpoint
from controller.journal.schema import JournalUnusableError
from controller.journal.setup import Boot, HandOver
from controller.proof.checkpoint import flaw
from controller.proof.evidence import Evidence
from controller.proof.segment import DECODE_ERRORS, BrokenSegmentError
from controller.proof.verdict import Verdict


def judge(before: HandOver, journal: Path, verdict: Verdict) -> None:
    """State the hand-over, and whether the other daemon signed for where it ended."""
    end = before.checkpoint
    if before.forgotten:
        note = (
            f"took the tables over at {before.at[:40]}, and the store of the pair had lost its "
            "record: what another daemon did before, no journal says"
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
    if note not in verdict.notes:  # each start and each day repeats it, until the next one
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
        verdict.unread.append(f"no hand-over that the journal tells is from that of {other}")
    for at, digest in wanted.items():
        if at not in found:
            verdict.unread.append(f"{other}: entry {at[1]}, which was handed over, is not there")
        elif found[at] != digest:
            what = f"entry {at[1]} is not the one that was handed over"
            verdict.wrong(str(other), at[1], what)
        else:
            verdict.notes.append(f"entry {at[1]}, which was handed over, stands in {other}")


def _end(body: bytes) -> Checkpoint | None:
    try:
        told = msgspec.json.decode(body, type=Boot).standby
    except DECODE_ERRORS:
        return None
    return None if told is None or told.before is None else told.before.checkpoint


def _taken_over(before: HandOver, end: Checkpoint) -> str:
    return (
        f"took the tables over from {before.instance[:48]} at {before.at[:40]}, whose journal "
        f"{end.journal[:64]} went as far as entry {end.position}"
    )


def _flaw(end: Checkpoint) -> str | None:
    return flaw(end, frozenset() if end.key is None else frozenset({end.key}))


def _signed(end: Checkpoint) -> str:
    wrong = _flaw(end)
    return f"signed with the key {end.key}" if wrong is None else f"as it said: {wrong}"
