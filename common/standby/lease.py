"""The lease: which daemon may serve the tables of a node, until when, and when another may take it.

Pure: no clock, no I/O. Every time here is of the clock of one machine, in seconds, and is never
compared with another machine's. Two daemons can never serve at once:

- The holder may serve until ``SERVING_SHARE`` of the lease has passed since the time *before* it
  sent the last renewal that was confirmed.
- A candidate takes the lease only when the same revision has been unchanged for a whole lease since
  the candidate *first saw* it, which was after it was sent; and it does so by compare-and-set on
  that revision, so that any renewal that the store accepted in between prevents it.

So the holder stops before the candidate starts, as long as one clock is not a quarter faster than
the other.
"""

from __future__ import annotations

from collections.abc import Collection

import msgspec
from msgspec.structs import replace

from common.chain.hand_over import HandOver
from common.standby.record import LeaseRecord, hand_over_of, merge_highest
from common.standby.statements import START

SERVING_SHARE = 0.8
"""Part of a lease for which the holder may serve after a renewal."""
RENEWALS_PER_LEASE = 4
"""Renewals during a lease."""
STAND_BACK_LEASES = 3
"""Leases for which a daemon that cannot serve, or could not, waits for another one to take over."""
MAX_RETAKES = 1
"""How many times in a row a daemon takes the lease from its own earlier run without waiting. With
one, a daemon that dies again and again has left the tables within two leases.
"""
STEADY_LEASES = 3
"""Leases of uninterrupted ability to serve after which the retakes are counted from 0 again."""
SETTLED_LEASES = 1
"""Leases of uninterrupted ability to serve after which the yields are counted from 0 again: the
tables were yielded to the right daemon.
"""
GRACE_LEASES = 0.5
"""Part of a lease for which the serving daemon must be unable, and another one able, to serve
before it yields the tables.
"""
MAX_SHORT_GRACE_YIELDS = 3
"""How many times in a row the tables are yielded after the shortest grace. After that, each grace
is four times as long as the previous one, so that two daemons that misjudge each other do not keep
passing the tables back and forth.
"""
MAX_GRACE_LEASES = 64
"""The longest grace, in leases."""


class OwnIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """The daemon itself. ``journal``: the id of its journal, which it has locked; ``machine``: the
    id of the machine; ``term``: the last term in the journal, or 0; ``last_written``: the time
    (UTC) of its last entry.
    """

    instance: str
    boot: str
    journal: str
    machine: str
    term: int = 0
    last_written: str = ""


class WaitingState(msgspec.Struct, frozen=True, kw_only=True):
    """The observations of a candidate. ``revision``: of the store; 0 if it has no record, None if
    not read yet; ``first_seen``: when that revision was first seen; ``highest``: the highest term
    ever seen; ``before``: the last record written by another run. ``store_was_away``: the store did
    not answer the first read, so the earlier run may have ended for that alone.
    """

    own: OwnIdentity
    lease: float
    revision: int | None = None
    record: LeaseRecord | None = None
    first_seen: float = 0.0
    highest: int = 0
    before: LeaseRecord | None = None
    store_was_away: bool = False

    @property
    def died_again(self) -> bool:
        """Return True if this daemon's earlier runs have died too often in a row to take the lease
        back at once.
        """
        record = self.record
        return (
            record is not None
            and record.again >= MAX_RETAKES
            and not self.store_was_away
            and _is_own_run(self.own, record)
        )


class HeldLease(msgspec.Struct, frozen=True, kw_only=True):
    """The lease as held by this daemon. ``serve_until``: when the right to serve ends."""

    record: LeaseRecord
    revision: int
    serve_until: float


def observe(
    waiting: WaitingState, revision: int, record: LeaseRecord | None, now: float
) -> WaitingState:
    """Update the state after a read of the store. An unchanged revision keeps the time at which it
    was first seen.
    """
    if revision == waiting.revision:
        return waiting
    own = record is not None and record.boot == waiting.own.boot
    return replace(
        waiting,
        revision=revision,
        record=record,
        first_seen=now,
        highest=max(waiting.highest, 0 if record is None else record.term),
        before=waiting.before if own or record is None else record,
    )


def continues(own: OwnIdentity, record: LeaseRecord | None) -> bool:
    """Return True if the record is of an earlier run of this daemon, and no other daemon had the
    lease since: its journal has one of the terms that it held without interruption.
    """
    return (
        record is not None
        and record.journal == own.journal
        and record.instance == own.instance
        and record.first <= own.term <= record.term
    )


def free_at(
    waiting: WaitingState, troubles: Collection[str] = (), *, rival: bool = False
) -> float | None:
    """Return when the lease may be taken if the record does not change until then, or None if that
    is not known yet.

    ``troubles``: what keeps this daemon from serving; ``rival``: another daemon runs and could
    serve. The lease is free at once if it was released, or if the record is of the same journal on
    the same machine: its holder has died, or the journal would still be locked. This does not apply
    to a record of a lower term than was seen before: the store has lost data, and another daemon
    may rightly count on its lease.

    A daemon that could not serve the last time, has died repeatedly, or cannot serve now, waits
    longer, so that another one can take the lease first.
    """
    record, own = waiting.record, waiting.own
    if waiting.revision is None:
        return None
    if record is None:
        free = waiting.first_seen + waiting.lease
        return free + STAND_BACK_LEASES * waiting.lease if troubles else free
    longer = max(waiting.lease, record.lease)
    same = _is_own_run(own, record)
    if record.trouble and not same:  # the other one could not serve either
        troubles = [kind for kind in troubles if kind != START]
    is_newest = record.term >= waiting.highest
    free = (
        waiting.first_seen
        if is_newest and (record.released or same)
        else waiting.first_seen + longer
    )
    failed = waiting.died_again or (same and bool(record.trouble))
    if failed:  # one lease is enough to see whether another daemon runs
        free = max(free, waiting.first_seen + longer)
    if (rival and failed) or (troubles and (rival or not same)):
        free = max(free, waiting.first_seen + STAND_BACK_LEASES * longer)
    return free


def _is_own_run(own: OwnIdentity, record: LeaseRecord) -> bool:
    return (record.journal, record.machine) == (own.journal, own.machine)


def release_of_dead_run(waiting: WaitingState) -> LeaseRecord | None:
    """Return the record that releases the lease of this daemon's earlier run, or None.

    It is released if that daemon has died too often to take it back at once: another one then need
    not wait until it ends.
    """
    record = waiting.record
    if record is None or record.released or record.term < waiting.highest or not waiting.died_again:
        return None
    deaths = f"it died {record.again + 1} times in a row"
    return replace(record, released=True, trouble=deaths)


def grace_seconds(record: LeaseRecord) -> float:
    """Return for how many seconds the holder of this record must be unable, and another daemon
    able, to serve before it yields the tables.
    """
    doublings = max(0, min(record.yields, MAX_SHORT_GRACE_YIELDS + 8) - MAX_SHORT_GRACE_YIELDS + 1)
    leases: float = min(GRACE_LEASES * 4**doublings, MAX_GRACE_LEASES)
    return record.lease * leases


def claim_record(waiting: WaitingState, now: str) -> LeaseRecord:
    """Return the record that takes the lease, to replace ``waiting.revision``. ``now``: UTC."""
    own, record = waiting.own, waiting.before
    term = max(waiting.highest, own.term) + 1
    claimed = LeaseRecord(
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
        # the journal is of a pair, but the store is empty: what the other daemon did is unknown
        forgotten = HandOver(since=own.last_written, forgotten=True) if own.term else None
        return replace(claimed, handed=forgotten)
    carried = replace(claimed, sessions=record.sessions, readings=record.readings)
    if continues(own, record):
        return replace(carried, first=record.first, handed=record.handed)
    return replace(carried, handed=hand_over_of(record))


def held_after_claim(record: LeaseRecord, revision: int, sent: float) -> HeldLease:
    """Return the lease after the store has accepted the claim, which was sent at ``sent`` or
    later.
    """
    return HeldLease(
        record=record, revision=revision, serve_until=sent + SERVING_SHARE * record.lease
    )


def held_after_renewal(
    held: HeldLease, record: LeaseRecord, revision: int, sent: float
) -> HeldLease:
    """Return the lease after the store has accepted the renewal."""
    until = max(held.serve_until, sent + SERVING_SHARE * record.lease)
    return HeldLease(record=record, revision=revision, serve_until=until)


def held_after_reread(
    held: HeldLease, revision: int, record: LeaseRecord | None
) -> HeldLease | None:
    """Return the lease after a read that followed a missing reply, or None if it is lost. The right
    to serve is not extended.
    """
    mine = held.record
    if record is None or (record.boot, record.term) != (mine.boot, mine.term):
        return None
    return replace(held, revision=revision)


def renewal_record(
    held: HeldLease,
    now: str,
    sessions: dict[str, int],
    readings: dict[str, int],
    *,
    able_leases: float = 0.0,
) -> LeaseRecord:
    """Return the record for a renewal, without its checkpoint. Numbers never decrease.
    ``able_leases``: for how many leases the daemon has been able to serve.
    """
    record = held.record
    return replace(
        record,
        again=0 if able_leases >= STEADY_LEASES else record.again,
        yields=0 if able_leases >= SETTLED_LEASES else record.yields,
        renewed=now,
        sessions=merge_highest(record.sessions, sessions),
        readings=merge_highest(record.readings, readings),
    )
