"""What the store says of the lease: who serves the tables of a node, and how far it has come."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec

from controller.contract.node import Checkpoint
from controller.contract.times import moment
from controller.journal.setup import HandOver

LONGEST = 300.0
"""Seconds of the longest lease."""

Count = Annotated[int, msgspec.Meta(ge=0, le=2**53 - 1)]
LONGEST_TEXT = 300
Text = Annotated[str, msgspec.Meta(max_length=LONGEST_TEXT)]


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
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

    instance: str
    boot: str
    journal: str
    machine: str
    term: Count
    first: Count
    lease: Annotated[float, msgspec.Meta(gt=0, le=LONGEST)]
    since: str
    renewed: str
    checkpoint: Checkpoint | None = None
    sessions: dict[str, Count] = {}
    readings: dict[str, Count] = {}
    handed: HandOver | None = None
    released: bool = False
    trouble: Text = ""
    again: Count = 0
    yields: Count = 0


def read_record(body: bytes) -> Record | None:
    """None: it is not one."""
    try:
        record = msgspec.json.decode(body, type=Record)
        for time in (
            record.since,
            record.renewed,
            *([record.handed.since] if record.handed else []),
        ):
            moment(time)
    except (ValueError, RecursionError, OverflowError):
        return None
    return record


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
