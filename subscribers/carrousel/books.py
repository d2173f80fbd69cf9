"""The jackpots and their ledger: facts are applied at once, and count only after their commit."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

import msgspec

from common.chain.schema import ChainHead
from subscribers.carrousel.facts import Fact
from subscribers.carrousel.jackpot import apply_fact, initial_state
from subscribers.carrousel.ledger_state import FactOutcome, JackpotLedgerState, OrderRefusedError
from subscribers.carrousel.schema import Cursor
from subscribers.carrousel.store import LedgerStore, UncommittedEntry


class PendingCommit(NamedTuple):
    """What the next commit writes. ``before``: the end of the ledger before it; ``cursors``: the
    changed intake memories, by table.
    """

    before: ChainHead
    entries: tuple[UncommittedEntry, ...]
    cursors: dict[str, bytes]


class Books:
    """The state of every jackpot, with the ledger that stores it. ``states`` includes facts that
    are not committed yet. Raises ``LedgerError``, also if a saved state cannot be decoded.
    """

    def __init__(self, store: LedgerStore, jackpots: Iterable[str]) -> None:
        self.store = store
        self._jackpots = tuple(jackpots)
        self.states: dict[str, JackpotLedgerState] = {}
        self._committed: dict[str, JackpotLedgerState] = {}
        """The states as of the last commit."""
        self._changed: set[str] = set()
        self._tables: dict[str, bytes] = {}
        self.reload()

    def reload(self) -> dict[str, bytes]:
        """Return to the committed state. Returns the stored intake memory of each table."""
        saved = self.store.states()
        self.states = {
            jackpot: msgspec.json.decode(saved[jackpot], type=JackpotLedgerState)
            if jackpot in saved
            else initial_state(jackpot)
            for jackpot in (*self._jackpots, *saved)
        }
        self._committed = dict(self.states)
        self._changed, self._tables = set(), {}
        return {table: cursor.memory for table, cursor in self.store.cursors().items()}

    def apply(self, jackpot: str, time: str, fact: Fact) -> FactOutcome | None:
        """Apply a fact at ``time``. Return its outcome, or None if it was applied before.

        Raises ``OrderRefusedError`` for an order that cannot be followed, in which case nothing has
        changed, and ``LedgerNotStoredError`` if the disk refuses the entry.
        """
        applied: list[tuple[str, Fact, FactOutcome]] = []
        waiting: list[tuple[str, Fact]] = [(jackpot, fact)]
        while waiting:
            name, next_fact = waiting.pop(0)
            if name not in self.states:
                raise OrderRefusedError("jackpot_unknown", jackpot=name)
            outcome = apply_fact(
                self.states[name], next_fact, partial(self.store.balance_before, name)
            )
            applied.append((name, next_fact, outcome))
            waiting += [(onward.jackpot, onward) for onward in outcome.onward]
        for name, next_fact, outcome in applied:
            if self.store.append(name, time, next_fact, outcome.transactions) != "new":
                return None
            self.states[name] = outcome.state
            self._changed.add(name)
        return applied[0][2]

    def follow(self, jackpot: str, time: str, fact: Fact) -> None:
        """Apply a fact that the other controller of a pair has stored. The facts that result from
        it follow by themselves. Raises ``OrderRefusedError`` and ``LedgerNotStoredError``.
        """
        state = self.states.get(jackpot) or initial_state(jackpot)
        outcome = apply_fact(state, fact, partial(self.store.balance_before, jackpot))
        self.store.append(jackpot, time, fact, outcome.transactions)
        self.states[jackpot] = outcome.state
        self._changed.add(jackpot)

    def pending(self) -> PendingCommit:
        """Return what the next commit writes."""
        return PendingCommit(self.store.committed, tuple(self.store.appended), dict(self._tables))

    def save_cursor(self, table: str, memory: bytes) -> None:
        """Store a table's intake memory with the next commit."""
        self._tables[table] = memory

    @property
    def has_changes(self) -> bool:
        """Whether there is anything to commit."""
        return bool(self._changed or self._tables)

    def commit(self) -> None:
        """Write all changes to disk. Runs in a separate thread; no fact may be applied meanwhile.
        Raises ``LedgerNotStoredError``.
        """
        states = {name: msgspec.json.encode(self.states[name]) for name in self._changed}
        cursors = [Cursor(table, memory) for table, memory in self._tables.items()]
        self.store.commit(states, cursors)
        self._committed = dict(self.states)
        self._changed, self._tables = set(), {}

    def drop_uncommitted(self) -> None:
        """Return to the states of the last commit after the disk has refused one. The ledger is
        closed; :meth:`reload` follows once it is open again.
        """
        self.states = dict(self._committed)
        self._changed, self._tables = set(), {}

    def meter(self, jackpot: str) -> int:
        """Return the committed balance of the meter in minor units."""
        return self.store.committed_balance(jackpot, "meter")

    @property
    def position(self) -> int:
        """Position of the last committed entry."""
        return self.store.committed.position
