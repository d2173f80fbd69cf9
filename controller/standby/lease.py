"""The lease: who may serve the tables of a node, until when, and from when another may take it.

Pure: no clock, no I/O. Every time here is of the clock of one machine, in seconds, and is compared
with no other machine's. Two may never serve at once, for this reason:

- Whoever holds the lease may serve until ``SHARE`` of it has passed since *before* it sent the last
  renewal that was confirmed.
- Whoever waits takes it only when the same revision has stood for a whole lease since it *first
  saw* that revision, which was after it was sent; and with compare-and-set on that revision, so
  that any renewal that the store took meanwhile keeps it.

So ``SHARE`` of a lease has passed on one clock before the whole of it has on the other, as long as
one clock is not a quarter faster than the other.
"""

from __future__ import annotations

from collections.abc import Collection

import msgspec
from msgspec.structs import replace

from controller.journal.setup import HandOver
from controller.standby.record import Record, handed_over, highest
from controller.standby.statements import START

SHARE = 0.8
"""The part of a lease for which whoever holds it may serve after a renewal."""
RENEWALS = 4
"""Renewals in a lease."""
STAND_BACK = 3
"""Leases for which a daemon that cannot serve, or could not, leaves the tables to another one."""
RETAKES = 2
"""How many times in a row a daemon takes the lease from its own earlier run at once."""
STEADY = 3
"""Leases after which a daemon that could serve all the while may take the lease from its own runs
again.
"""
SETTLED = 1
"""Leases after which a daemon that could serve all the while counts as one to which the tables were
rightly given.
"""
GRACE = 0.5
"""The part of a lease for which a daemon that serves must be unable, and another one able, before
it gives the tables to that one.
"""
FREE_YIELDS = 3
"""How many times in a row the tables are given away after the shortest time: from then on each
waits four times as long as the one before, so that two daemons that are both wrong about the other
do not hand the tables to and fro.
"""
LONGEST_GRACE = 64
"""Leases of the longest such wait."""


class Own(msgspec.Struct, frozen=True, kw_only=True):
    """The daemon itself. ``journal``: the id of its journal, which it has locked; ``machine``: an
    id of the machine; ``term``: the last one that the journal has begun, 0: none;
    ``until``: when its last entry was written: UTC.
    """

    instance: str
    boot: str
    journal: str
    machine: str
    term: int = 0
    until: str = ""


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """What a daemon that waits has seen. ``revision``: of the store, 0: it has no record, None: it
    was not asked yet; ``first``: when that revision was first seen; ``highest``: the highest term
    ever seen; ``before``: the last record that another run wrote.
    """

    own: Own
    lease: float
    revision: int | None = None
    record: Record | None = None
    first: float = 0.0
    highest: int = 0
    before: Record | None = None


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """The lease, held. ``until``: when the right to serve ends."""

    record: Record
    revision: int
    until: float


def saw(waiting: Waiting, revision: int, record: Record | None, now: float) -> Waiting:
    """The store was read. A revision that stands keeps the time at which it was first seen."""
    if revision == waiting.revision:
        return waiting
    own = record is not None and record.boot == waiting.own.boot
    return replace(
        waiting,
        revision=revision,
        record=record,
        first=now,
        highest=max(waiting.highest, 0 if record is None else record.term),
        before=waiting.before if own or record is None else record,
    )


def goes_on(own: Own, record: Record | None) -> bool:
    """Whether the record is of an earlier run of the same daemon, and nobody else had the lease
    since: its journal knows one of the terms that were its own without a break.
    """
    return (
        record is not None
        and record.journal == own.journal
        and record.instance == own.instance
        and record.first <= own.term <= record.term
    )


def free_from(
    waiting: Waiting, troubles: Collection[str] = (), *, rival: bool = False
) -> float | None:
    """When the lease may be taken if the record stands until then; None: not known yet.
    ``troubles``: what keeps this daemon from serving; ``rival``: another one runs that says it
    could serve.

    At once if it was given back, or is of the same journal on the same machine: who held it has
    died, or the journal would still be locked. A record of a lower term than was ever seen is none
    of these: the store has forgotten something, and another daemon may be sure of its lease.

    A daemon that could not serve the last time, has died again and again, or cannot serve now,
    gives another one the time to take it first.
    """
    record, own = waiting.record, waiting.own
    if waiting.revision is None:
        return None
    if record is None:
        free = waiting.first + waiting.lease
        return free + STAND_BACK * waiting.lease if troubles else free
    longer = max(waiting.lease, record.lease)
    same = (record.journal, record.machine) == (own.journal, own.machine)
    if record.trouble and not same:  # the other one could not serve either
        troubles = [kind for kind in troubles if kind != START]
    known = record.term >= waiting.highest
    free = waiting.first if known and (record.released or same) else waiting.first + longer
    failed = same and (bool(record.trouble) or record.again >= RETAKES)
    if failed:  # a lease is long enough to see whether another daemon runs
        free = max(free, waiting.first + longer)
    if (rival and failed) or (troubles and (rival or not same)):
        free = max(free, waiting.first + STAND_BACK * longer)
    return free


def grace(record: Record) -> float:
    """Seconds for which the daemon that holds this record must be unable, and another one able,
    before it gives the tables away.
    """
    times = max(0, min(record.yields, FREE_YIELDS + 8) - FREE_YIELDS + 1)
    leases: float = min(GRACE * 4**times, LONGEST_GRACE)
    return record.lease * leases


def claim(waiting: Waiting, now: str) -> Record:
    """The record with which the lease is taken on ``waiting.revision``. ``now``: UTC."""
    own, record = waiting.own, waiting.before
    term = max(waiting.highest, own.term) + 1
    claimed = Record(
        instance=own.instance,
        boot=own.boot,
        journal=own.journal,
        machine=own.machine,
        term=term,
        first=term,
        lease=waiting.lease,
        since=now,
        renewed=now,
        again=record.again + 1 if record is not None and record.journal == own.journal else 0,
        yields=0 if record is None else record.yields,
    )
    if record is None:
        # the journal knows of a pair, and the store does not: what the other one did, nobody knows
        forgotten = HandOver(since=own.until, forgotten=True) if own.term else None
        return replace(claimed, handed=forgotten)
    carried = replace(claimed, sessions=record.sessions, readings=record.readings)
    if goes_on(own, record):
        return replace(carried, first=record.first, handed=record.handed)
    return replace(carried, handed=handed_over(record))


def taken(record: Record, revision: int, sent: float) -> Held:
    """The store took the record, which was sent no earlier than at ``sent``."""
    return Held(record=record, revision=revision, until=sent + SHARE * record.lease)


def renewed(held: Held, record: Record, revision: int, sent: float) -> Held:
    """The store took the renewal."""
    until = max(held.until, sent + SHARE * record.lease)
    return Held(record=record, revision=revision, until=until)


def reread(held: Held, revision: int, record: Record | None) -> Held | None:
    """After a request whose answer did not come, the store has this. None: the lease is another's.
    The right to serve lasts no longer for it.
    """
    mine = held.record
    if record is None or (record.boot, record.term) != (mine.boot, mine.term):
        return None
    return replace(held, revision=revision)


def renewal(
    held: Held,
    now: str,
    sessions: dict[str, int],
    readings: dict[str, int],
    *,
    able: float = 0.0,
) -> Record:
    """The record to renew with, but for its checkpoint. Numbers never go back. ``able``:
    leases for which the daemon has been able to serve.
    """
    record = held.record
    return replace(
        record,
        again=0 if able >= STEADY else record.again,
        yields=0 if able >= SETTLED else record.yields,
        renewed=now,
        sessions=highest(record.sessions, sessions),
        readings=highest(record.readings, readings),
    )
