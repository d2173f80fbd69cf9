"""The record of the lease in the store: which daemon serves the tables of a node, and its
progress.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec

from common.chain.hand_over import HandOver
from common.contract.node import Checkpoint
from common.contract.times import parse_utc
from common.standby.seal import SignedStruct, StructSigner

MAX_LEASE_SECONDS = 300.0

MAX_NUMBER = 2**52
"""Maximum of every number in the store. Numbers that count on from it are still exact in JSON."""
Count = Annotated[int, msgspec.Meta(ge=0, le=MAX_NUMBER)]
MAX_TEXT_CHARACTERS = 300
Text = Annotated[str, msgspec.Meta(max_length=MAX_TEXT_CHARACTERS)]


class LeaseRecord(SignedStruct, frozen=True, kw_only=True, omit_defaults=True):
    """The lease of all tables of one node. ``instance``, ``boot``, ``journal`` and ``machine``
    identify its holder. ``term``: how many times the lease was taken, including this time;
    ``first``: the term in which this journal took it from another one; ``lease``: its seconds.

    ``since`` and ``renewed``: when it was taken and last renewed, by the clock of the holder. They
    are never compared with another clock. ``checkpoint``: the signed end of its journal; null if
    nothing was published in this term. ``sessions`` and ``readings``: the highest assigned numbers
    by table. ``handed``: the hand-over with which ``first`` began. ``released``: the lease was
    released, and no daemon serves the tables.

    ``trouble``: why it was released, if that was not an ordinary end. ``again``: how many times in
    a row the same journal took it from itself without having served for a while; ``yields``: how
    many times in a row it was released because another daemon could serve.
    """

    instance: Text
    boot: Text
    journal: Text
    machine: Text
    term: Count
    first: Count
    lease: Annotated[float, msgspec.Meta(gt=0, le=MAX_LEASE_SECONDS)]
    since: Text
    renewed: Text
    checkpoint: Checkpoint | None = None
    sessions: dict[str, Count] = msgspec.field(default_factory=dict)
    readings: dict[str, Count] = msgspec.field(default_factory=dict)
    handed: HandOver | None = None
    released: bool = False
    trouble: Text = ""
    again: Count = 0
    yields: Count = 0


def read_record(body: bytes, seal: StructSigner) -> LeaseRecord | None:
    """Read and verify a record. None if it is malformed, no trusted key has signed it, or a journal
    could not store its values.
    """
    try:
        record = msgspec.json.decode(body, type=LeaseRecord)
        hand_over = record.handed
        for time in (record.since, record.renewed, *([hand_over.since] if hand_over else [])):
            parse_utc(time)
        is_valid = _is_valid_hand_over(hand_over) and _is_valid_checkpoint(record.checkpoint)
    except (ValueError, RecursionError, OverflowError):
        return None
    return record if is_valid and seal.verify(record) else None


def _is_valid_hand_over(hand_over: HandOver | None) -> bool:
    if hand_over is None:
        return True
    numbers = (
        hand_over.term,
        hand_over.through,
        *hand_over.sessions.values(),
        *hand_over.readings.values(),
    )
    texts = hand_over.instance, hand_over.boot, hand_over.journal, hand_over.since, hand_over.at
    return (
        max(numbers) <= MAX_NUMBER
        and all(len(word) <= MAX_TEXT_CHARACTERS for word in texts)
        and _is_valid_checkpoint(hand_over.checkpoint)
    )


def _is_valid_checkpoint(checkpoint: Checkpoint | None) -> bool:
    if checkpoint is None:
        return True
    values = (getattr(checkpoint, name) for name in checkpoint.__struct_fields__)
    texts = [value for value in values if isinstance(value, str)]
    return 0 <= checkpoint.position <= MAX_NUMBER and all(
        len(value) <= MAX_TEXT_CHARACTERS for value in texts
    )


def merge_highest(first: Mapping[str, int], second: Mapping[str, int]) -> dict[str, int]:
    """Return the higher number for each table."""
    return {table: max(first.get(table, 0), second.get(table, 0)) for table in {**first, **second}}


def hand_over_of(record: LeaseRecord) -> HandOver:
    """Return the hand-over for the daemon that takes the lease from the holder of this record. A
    term in which nothing was published passes on the hand-over before it.
    """
    previous = record.handed
    if record.checkpoint is None and previous is not None:
        return msgspec.structs.replace(
            previous,
            sessions=merge_highest(previous.sessions, record.sessions),
            readings=merge_highest(previous.readings, record.readings),
        )
    return HandOver(
        instance=record.instance,
        boot=record.boot,
        journal=record.journal,
        term=record.term,
        since=record.renewed,
        checkpoint=record.checkpoint,
        sessions=record.sessions,
        readings=record.readings,
    )
