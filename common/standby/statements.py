"""Statements of the daemons of a pair in the store: whether each could serve the tables now, and
why not.

Pure: no clock, no I/O. Every time here is of this machine's clock. A statement is fresh while its
``beat`` changes; the times of its writer do not count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import msgspec

from common.standby.record import MAX_LEASE_SECONDS, Count, Text
from common.standby.seal import SignedStruct, StructSigner

JOURNAL, BROKER, DEVICES, START, KEY = "journal", "broker", "devices", "start", "key"
"""Kinds of trouble."""
FORGET_LEASES = 10
"""Number of leases after which the statement of a silent daemon is removed."""
ALONE_LEASES = 6
"""Leases without another machine after which an alert is raised."""
MAX_DAEMONS = 8
"""Maximum statements that are read; a pair has fewer."""

Missing = Literal["lost", "stale"]


class DaemonStatement(SignedStruct, frozen=True, kw_only=True, omit_defaults=True):
    """The statement of one daemon. ``beat`` counts its statements; ``serves``: it has the lease.

    ``troubles``: why it could not serve now, by kind; empty if it could. ``missing``: the devices
    of the serving daemon without a link or without data, as ``table/device``; ``reached``: those of
    the other daemon's missing devices that this one can reach.

    ``facts``: values that must be equal on both machines, by name; ``tables``: the tables in its
    configuration, with True for simulated ones.
    """

    instance: Text
    boot: Text
    journal: Text
    machine: Text
    beat: Count
    lease: Annotated[float, msgspec.Meta(gt=0, le=MAX_LEASE_SECONDS)]
    serves: bool = False
    troubles: dict[Text, Text] = msgspec.field(default_factory=dict)
    missing: dict[Text, Missing] = msgspec.field(default_factory=dict)
    reached: tuple[Text, ...] = ()
    facts: dict[Text, Text] = msgspec.field(default_factory=dict)
    tables: dict[Text, bool] = msgspec.field(default_factory=dict)

    @property
    def is_able(self) -> bool:
        """Return True if the daemon states that it could serve."""
        return not self.troubles


Board = dict[str, DaemonStatement]
"""Statements by the id of each daemon's journal."""


def read_board(body: bytes, seal: StructSigner) -> Board:
    """Read the valid statements. One that cannot be decoded, or that no trusted key has signed, is
    ignored, and is later overwritten.
    """
    try:
        raw_statements = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    except (ValueError, RecursionError):
        return {}
    board: Board = {}
    for journal, raw in list(raw_statements.items())[:MAX_DAEMONS]:
        try:
            statement = msgspec.json.decode(raw, type=DaemonStatement)
        except (ValueError, RecursionError):
            continue
        if statement.journal == journal and seal.verify(statement):
            board[journal] = statement
    return board


class Peer(msgspec.Struct, frozen=True):
    """Another daemon. ``seen``: when its statement was first seen; ``changed``: when it last
    changed, or None: then its daemon may have ended.
    """

    statement: DaemonStatement
    seen: float
    changed: float | None = None

    def is_fresh(self, now: float, lease: float) -> bool:
        """Return True if the daemon runs, judged by its statements."""
        return self.changed is not None and now - self.changed <= max(lease, self.statement.lease)


def observe_peers(peers: Mapping[str, Peer], board: Board, own: str, now: float) -> dict[str, Peer]:
    """Update the peers after a read of the store. The daemon of the journal ``own`` is left out."""
    observed = {}
    for journal, statement in board.items():
        if journal == own:
            continue
        peer = peers.get(journal)
        if peer is None:
            observed[journal] = Peer(statement, now)
        elif (peer.statement.boot, peer.statement.beat) != (statement.boot, statement.beat):
            observed[journal] = Peer(statement, now, now)
        else:
            observed[journal] = peer
    return observed


def without_silent(board: Board, peers: Mapping[str, Peer], now: float, lease: float) -> Board:
    """Return the statements of other daemons without those that have been silent for too long."""
    return {
        journal: statement
        for journal, statement in board.items()
        if (peer := peers.get(journal)) is not None
        and now - (peer.seen if peer.changed is None else peer.changed)
        <= FORGET_LEASES * max(lease, statement.lease)
    }


def find_rival(peers: Mapping[str, Peer], now: float, lease: float) -> DaemonStatement | None:
    """Return the statement of a daemon that runs and could serve, or None."""
    return next(
        (
            peer.statement
            for peer in peers.values()
            if peer.is_fresh(now, lease) and peer.statement.is_able
        ),
        None,
    )


def reason_to_yield(
    troubles: Mapping[str, str], missing: Mapping[str, Missing], other: DaemonStatement | None
) -> str | None:
    """Return why this daemon, which serves, should yield the tables to the ``other`` one, which
    could serve; None if it should not. ``troubles`` and ``missing`` are this daemon's.
    """
    if other is None or other.serves:
        return None
    for kind in (JOURNAL, BROKER):
        if kind in troubles:
            return troubles[kind]
    if DEVICES in troubles and any(device in missing for device in other.reached):
        return troubles[DEVICES]
    return None


def peer_trouble(statements: Sequence[DaemonStatement], alone_leases: float) -> str | None:
    """Return why no other machine could take over; None if one could, or if it is too early to
    decide. ``statements``: those of the machines that wait; ``alone_leases``: the leases since the
    last one waited.
    """
    if not statements:
        return "no other machine waits" if alone_leases > ALONE_LEASES else None
    if any(statement.is_able for statement in statements):
        return None
    return "; ".join(
        f"{statement.instance}: {'; '.join(statement.troubles.values())}"
        for statement in statements
    )


def differences(own: DaemonStatement, other: DaemonStatement) -> list[str]:
    """List the differences between the machines of a pair that must not exist, for a person."""
    found_differences = [
        f"{name}: {mine} here, {theirs} at {other.instance}"
        for name, mine in own.facts.items()
        if (theirs := other.facts.get(name, mine)) != mine
    ]
    if own.instance == other.instance:
        found_differences.insert(
            0, f"both machines are called {own.instance}: set standby.instance"
        )
    here, there = own.tables.keys() - other.tables.keys(), other.tables.keys() - own.tables.keys()
    if other.facts and here:
        found_differences.append(f"only here: {', '.join(sorted(here))}")
    if other.facts and there:
        found_differences.append(f"only at {other.instance}: {', '.join(sorted(there))}")
    return found_differences
