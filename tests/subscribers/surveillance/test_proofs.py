"""Checkpoints against each other and against the chain, given as a list of messages."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from nacl.signing import SigningKey

from common.chain.checkpoint import public, sign
from common.chain.schema import ChainHead
from common.contract.node import Checkpoint
from common.contract.times import format_utc
from subscribers.surveillance.findings import RecorderFinding, changed_key, finding_record
from subscribers.surveillance.proofs import (
    MAX_MARKS,
    JournalHash,
    JournalProof,
    check_chain,
    check_checkpoint,
    positions_to_query,
    thin,
    trust_key,
)

KEY, OTHER = SigningKey(bytes(range(32))), SigningKey(bytes(range(1, 33)))


def said(
    position: int, *, at: int | None = None, fill: int | None = None, **given: Any
) -> Checkpoint:
    """A checkpoint of entry ``position``, at that second; ``fill``: every byte of its hash."""
    of = {"key": KEY, "journal": "j1", **given}
    digest = bytes([position % 256 if fill is None else fill]) * 32
    time = format_utc(1_790_000_000 + (position if at is None else at))
    return sign(of["key"], of["journal"], "boot-1", time, ChainHead(position, digest))


def links(*checkpoints: Checkpoint) -> tuple[JournalHash, ...]:
    """The chain of the file, which has these."""
    return tuple(JournalHash(checkpoint.position, checkpoint.hash) for checkpoint in checkpoints)


def told(
    *checkpoints: Checkpoint, proof: JournalProof | None = None
) -> tuple[JournalProof, list[RecorderFinding]]:
    """The state after these, and the findings."""
    known, found = proof or JournalProof(), list[RecorderFinding]()
    for checkpoint in checkpoints:
        known, more = check_checkpoint(known, checkpoint, "pit-1")
        found += more
    return known, found


def names(found: list[RecorderFinding]) -> list[str]:
    return [each.what for each in found]


def test_a_journal_that_grows_is_sound() -> None:
    known, found = told(said(3), said(7), said(7, at=8), said(9))
    assert found == []
    assert [mark.position for mark in known.marks] == [3, 7, 9]
    assert check_chain(known, links(said(3), said(7), said(9)), "pit-1") == (known, ())


def test_the_first_key_is_believed_and_no_other() -> None:
    known, _ = told(said(3))
    assert (known.key, known.vouched) == (public(KEY), False)
    after, found = told(said(9, key=OTHER), said(12, key=OTHER), proof=known)
    assert names(found) == ["checkpoint_key_changed"] * 2
    assert len({each.name for each in found}) == 1  # reported once
    assert after == known
    assert told(said(10), proof=after)[1] == []


def test_a_key_vouched_for_by_a_person() -> None:
    pinned = trust_key(JournalProof(), public(KEY))
    known, found = told(said(3, key=OTHER), proof=pinned)
    assert names(found) == ["checkpoint_key_changed"]
    assert known == pinned
    known, found = told(said(3), proof=known)
    assert found == []
    replaced = trust_key(known, public(OTHER))
    known, found = told(said(9, key=OTHER), proof=replaced)
    assert found == []
    assert [mark.position for mark in known.marks] == [3, 9]  # a signed day stays signed
    again, found = told(said(12), proof=known)
    assert names(found) == ["checkpoint_key_changed"]
    assert again == known


def test_the_finding_of_a_changed_key_names_it() -> None:
    _, found = told(said(3), said(9, key=OTHER))
    record = finding_record(found[0], "palma", format_utc(0))
    assert changed_key(record.key) == ("pit-1", public(OTHER))


@pytest.mark.parametrize(
    ("checkpoint", "what"),
    [
        (said(9, key=None), "checkpoint_unsigned"),
        (msgspec.structs.replace(said(9), position=8), "checkpoint_forged"),
    ],
)
def test_an_unsigned_checkpoint_changes_nothing(checkpoint: Checkpoint, what: str) -> None:
    known, _ = told(said(3))
    after, found = told(checkpoint, proof=known)
    assert names(found) == [what]
    assert after == known


def test_a_journal_that_is_shorter_was_rolled_back() -> None:
    known, found = told(said(3), said(9), said(5, at=20, fill=77))
    assert names(found) == ["journal_rolled_back"]
    assert [mark.position for mark in known.marks] == [3, 5]
    assert told(said(6, at=21, fill=78), proof=known)[1] == []  # reported once


def test_a_checkpoint_that_is_late_is_no_roll_back() -> None:
    known, found = told(said(3), said(9), said(5))
    assert found == []
    assert told(said(1, journal="j0", at=0), proof=known) == (known, [])


def test_another_journal() -> None:
    known, found = told(said(3), said(9), said(2, journal="j2", at=20))
    assert names(found) == ["journal_replaced"]
    assert (known.journal, len(known.marks), known.key) == ("j2", 1, public(KEY))


def test_a_forged_entry_is_named_by_the_marks_beside_it() -> None:
    known, _ = told(said(3), said(7), said(9), said(20))
    forged = (*links(said(3), said(7)), JournalHash(9, "ab" * 32), JournalHash(20, "cd" * 32))
    after, found = check_chain(known, forged, "pit-1")
    assert names(list(found)) == ["journal_rewritten"]
    assert "one or more of the entries 8 to 9 changed" in found[0].detail
    assert found[0].evidence["signed"]["position"] == 9
    assert found[0].evidence["unchanged"]["position"] == 7
    assert [mark.position for mark in after.marks] == [3, 7]
    one, _ = told(said(3), said(4))
    _, found = check_chain(one, (*links(said(3)), JournalHash(4, "ab" * 32)), "pit-1")
    assert "entry 4 changed" in found[0].detail
    first, _ = told(said(2))
    assert (
        "entries 1 to 2 changed"
        in check_chain(first, (JournalHash(2, "ab" * 32),), "pit-1")[1][0].detail
    )


def test_the_same_position_with_another_hash() -> None:
    _, found = told(said(3), said(9), said(9, at=20, fill=77))
    assert names(found) == ["journal_rewritten"]


def test_a_new_journal_is_queried_for_its_own_positions() -> None:
    known, found = told(said(0), said(4), said(9))
    assert positions_to_query(known) == [4, 9]
    assert check_chain(known, links(said(4), said(9)), "pit-1") == (known, ())
    assert names(list(check_chain(known, links(said(4)), "pit-1")[1])) == ["journal_cut"]
    assert found == []
    assert positions_to_query(told(said(0))[0]) == []


def test_a_cut_end_is_found_and_days_whose_time_is_over_are_not() -> None:
    known, _ = told(said(3), said(7), said(9))
    after, found = check_chain(known, links(said(3), said(7)), "pit-1")
    assert names(list(found)) == ["journal_cut"]
    assert "entry 9" in found[0].detail
    assert [mark.position for mark in after.marks] == [3, 7]
    assert check_chain(known, links(said(7), said(9)), "pit-1")[1] == ()
    assert names(list(check_chain(known, (), "pit-1")[1])) == ["journal_cut"]
    assert names(list(check_chain(known, links(said(3), said(9)), "pit-1")[1])) == ["journal_cut"]


def test_a_checkpoint_that_came_after_the_question_is_not_missing_in_its_answer() -> None:
    before, _ = told(said(3), said(7))
    known, _ = told(said(9), proof=before)
    assert check_chain(known, links(said(3), said(7)), "pit-1", before.marks) == (known, ())
    assert names(list(check_chain(known, links(said(3)), "pit-1", before.marks)[1])) == [
        "journal_cut"
    ]
    forged = (*links(said(3)), JournalHash(7, "ab" * 32))
    assert names(list(check_chain(known, forged, "pit-1", before.marks)[1])) == [
        "journal_rewritten"
    ]
    other, _ = told(said(7, journal="j2", at=20, fill=77), proof=known)
    assert check_chain(other, links(said(3), said(7)), "pit-1", before.marks) == (other, ())


def test_marks_are_few_and_the_newest_are_dense() -> None:
    known, found = told(*(said(n, fill=n % 251) for n in range(1, 400)))
    assert found == []
    at = [mark.position for mark in known.marks]
    assert len(at) == MAX_MARKS
    assert (at[0], at[-1]) == (1, 399)
    assert at == sorted(at)
    assert at[-1] - at[MAX_MARKS // 2] < at[MAX_MARKS // 2] - at[0]
    assert thin(known.marks) == known.marks
