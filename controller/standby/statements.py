"""What the daemons of a pair state of themselves in the store: whether each could serve the tables
now, and what keeps it from that.

Pure: no clock, no I/O. Every time here is of this machine's own clock: a statement counts while its
``beat`` is seen to change, and not by the time that its writer gives.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec

from controller.standby.record import LONGEST, Count, Text
from controller.standby.seal import Seal, Sealed

JOURNAL, BROKER, DEVICES, START, KEY = "journal", "broker", "devices", "start", "key"
"""The kinds of trouble."""
FORGOTTEN = 10
"""Leases after which the statement of a daemon that is silent is removed."""
MAX_DAEMONS = 8
"""Statements that are read: more than any pair has."""

Missing = Literal["lost", "stale"]


class Statement(Sealed, frozen=True, kw_only=True, omit_defaults=True):
    """One daemon of itself. ``beat`` counts its statements; ``serves``: it has the lease.

    ``troubles``: by kind, why it could not serve now; empty: it could. ``missing``: of whoever
    serves, the devices without a link or without data, by ``table/device``; ``reached``: which of
    those that the other daemon misses can be reached from here.

    ``facts``: what must be the same on both machines, by what it is; ``tables``: those of its
    configuration, and whether each is simulated.
    """

    instance: Text
    boot: Text
    journal: Text
    machine: Text
    beat: Count
    lease: Annotated[float, msgspec.Meta(gt=0, le=LONGEST)]
    serves: bool = False
    troubles: dict[Text, Text] = msgspec.field(default_factory=dict)
    missing: dict[Text, Missing] = msgspec.field(default_factory=dict)
    reached: tuple[Text, ...] = ()
    facts: dict[Text, Text] = msgspec.field(default_factory=dict)
    tables: dict[Text, bool] = msgspec.field(default_factory=dict)

    @property
    def able(self) -> bool:
        """Whether it says that it could serve."""
        return not self.troubles


Board = dict[str, Statement]
"""The statements, by the journal of each daemon."""


def read_board(body: bytes, seal: Seal) -> Board:
    """What can be read of the statements: one that is no statement of this release, or that nobody
    who is believed signed as it is, counts as none, and is written over.
    """
    try:
        found = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    except (ValueError, RecursionError):
        return {}
    board: Board = {}
    for journal, raw in list(found.items())[:MAX_DAEMONS]:
        try:
            statement = msgspec.json.decode(raw, type=Statement)
        except (ValueError, RecursionError):
            continue
        if statement.journal == journal and seal.holds(statement):
            board[journal] = statement
    return board


class Peer(msgspec.Struct, frozen=True):
    """Another daemon. ``changed``: when its statement was last seen to change; None: it was not
    yet, and may be of a daemon that has ended.
    """

    statement: Statement
    seen: float
    changed: float | None = None

    def is_fresh(self, now: float, lease: float) -> bool:
        """Whether it runs, as far as the store tells."""
        return self.changed is not None and now - self.changed <= max(lease, self.statement.lease)


def saw(peers: Mapping[str, Peer], board: Board, own: str, now: float) -> dict[str, Peer]:
    """The store was read: by journal, all other daemons than that of the journal ``own``."""
    found = {}
    for journal, statement in board.items():
        if journal == own:
            continue
        known = peers.get(journal)
        if known is None:
            found[journal] = Peer(statement, now)
        elif (known.statement.boot, known.statement.beat) != (statement.boot, statement.beat):
            found[journal] = Peer(statement, now, now)
        else:
            found[journal] = known
    return found


def left(board: Board, peers: Mapping[str, Peer], now: float, lease: float) -> Board:
    """The statements of others that stay in the store."""
    return {
        journal: statement
        for journal, statement in board.items()
        if (peer := peers.get(journal)) is not None
        and now - (peer.seen if peer.changed is None else peer.changed)
        <= FORGOTTEN * max(lease, statement.lease)
    }


def rival(peers: Mapping[str, Peer], now: float, lease: float) -> Statement | None:
    """A daemon that runs and says that it could serve."""
    return next(
        (
            peer.statement
            for peer in peers.values()
            if peer.is_fresh(now, lease) and peer.statement.able
        ),
        None,
    )


def better(
    troubles: Mapping[str, str], missing: Mapping[str, Missing], other: Statement | None
) -> str | None:
    """Why the tables are better given to the ``other`` daemon, which says that it could serve;
    None: they are not. ``troubles`` and ``missing``: of this one, which serves.
    """
    if other is None or other.serves:
        return None
    for kind in (JOURNAL, BROKER):
        if kind in troubles:
            return troubles[kind]
    if DEVICES in troubles and any(device in missing for device in other.reached):
        return troubles[DEVICES]
    return None


def differences(own: Statement, other: Statement) -> list[str]:
    """What is not as it must be between two machines of a pair, for a person."""
    found = [
        f"{name}: {mine} here, {theirs} at {other.instance}"
        for name, mine in own.facts.items()
        if (theirs := other.facts.get(name, mine)) != mine
    ]
    if own.instance == other.instance:
        found.insert(0, f"both machines are called {own.instance}: set standby.instance")
    here, there = own.tables.keys() - other.tables.keys(), other.tables.keys() - own.tables.keys()
    if other.facts and here:
        found.append(f"only here: {', '.join(sorted(here))}")
    if other.facts and there:
        found.append(f"only at {other.instance}: {', '.join(sorted(there))}")
    return found
