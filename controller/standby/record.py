"""What the store says of the lease: who serves the tables of a node, and how far it has come."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec

from controller.contract.node import Checkpoint
from controller.contract.times import moment
from controller.journal.setup import HandOver
from controller.standby.seal import Seal, Sealed

LONGEST = 300.0
"""Seconds of the longest lease."""

LARGEST = 2**52
"""Of every number in the store: what goes on beyond it is still a whole number everywhere."""
Count = Annotated[int, msgspec.Meta(ge=0, le=LARGEST)]
LONGEST_TEXT = 300
Text = Annotated[str, msgspec.Meta(max_length=LONGEST_TEXT)]


class Record(Sealed, frozen=True, kw_only=True, omit_defaults=True):
    """One lease, of all tables of one node. ``instance``, ``boot``, ``journal`` and ``machine``:
    who holds it; ``term``: how many times it was taken, this time included; ``first``: the term
    with which that journal took it from another; ``lease``: its seconds.

    ``since`` and ``renewed``: when it was taken and last renewed, by the clock of whoever holds it:
    nobody compares them with another clock. ``checkpoint``: the end of its journal, signed; null:
    nothing was published in this term. ``sessions`` and ``readings``: by table the highest numbers
    that were given. ``handed``: the hand-over with which ``first`` began. ``released``: it was
    given back, and nobody serves the tables.

    ``trouble``: why it was given back, where that was no ordinary end. ``again``: how many times in
    a row the same journal has taken it from itself without having served for a while; ``yields``:
    how many times in a row it was given back because another daemon could serve.
    """

    instance: Text
    boot: Text
    journal: Text
    machine: Text
    term: Count
    first: Count
    lease: Annotated[float, msgspec.Meta(gt=0, le=LONGEST)]
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


def read_record(body: bytes, seal: Seal) -> Record | None:
    """None: it is not one, or nobody who is believed signed it as it is, or a journal could not
    hold what it says.
    """
    try:
        record = msgspec.json.decode(body, type=Record)
        handed = record.handed
        for time in (record.since, record.renewed, *([handed.since] if handed else [])):
            moment(time)
        sound = _is_within(handed) and _is_held(record.checkpoint)
    except (ValueError, RecursionError, OverflowError):
        return None
    return record if sound and seal.holds(record) else None


def _is_within(handed: HandOver | None) -> bool:
    """Whether numbers go on beyond a hand-over."""
    if handed is None:
        return True
    numbers = handed.term, handed.through, *handed.sessions.values(), *handed.readings.values()
    words = handed.instance, handed.boot, handed.journal, handed.since, handed.at
    return (
        max(numbers) <= LARGEST
        and all(len(word) <= LONGEST_TEXT for word in words)
        and _is_held(handed.checkpoint)
    )


def _is_held(checkpoint: Checkpoint | None) -> bool:
    """Whether a journal can hold it."""
    if checkpoint is None:
        return True
    given = (getattr(checkpoint, name) for name in checkpoint.__struct_fields__)
    words = [each for each in given if isinstance(each, str)]
    return 0 <= checkpoint.position <= LARGEST and all(len(each) <= LONGEST_TEXT for each in words)


def highest(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    """The higher number of each table."""
    return {table: max(one.get(table, 0), other.get(table, 0)) for table in {**one, **other}}


def handed_over(record: Record) -> HandOver:
    """What whoever takes the lease from this one goes on from. A term in which nothing was
    published handed over nothing of its own.
    """
    before = record.handed
    if record.checkpoint is None and before is not None:
        return msgspec.structs.replace(
            before,
            sessions=highest(before.sessions, record.sessions),
            readings=highest(before.readings, record.readings),
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
