"""The jackpots and their ledger: facts are taken, and nothing counts before its commit."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import msgspec

from subscribers.carrousel.facts import Fact
from subscribers.carrousel.jackpot import apply_fact, initial_state
from subscribers.carrousel.ledger_state import FactOutcome, JackpotLedgerState, OrderRefusedError
from subscribers.carrousel.schema import Cursor
from subscribers.carrousel.store import LedgerStore


class Books:
    """``states``: of each jackpot after what was taken, committed or not. Raises ``LedgerError``,
    also where a saved state is none.
    """

    def __init__(self, store: LedgerStore, jackpots: Iterable[str]) -> None:
        self.store = store
        self._jackpots = tuple(jackpots)
        self.states: dict[str, JackpotLedgerState] = {}
        self._changed: set[str] = set()
        self._tables: dict[str, bytes] = {}
        self.reload()

    def reload(self) -> dict[str, bytes]:
        """Go back to what is committed. Returns what is kept of each table."""
        saved = self.store.states()
        self.states = {
            jackpot: msgspec.json.decode(saved[jackpot], type=JackpotLedgerState)
            if jackpot in saved
            else initial_state(jackpot)
            for jackpot in (*self._jackpots, *saved)
        }
        self._changed, self._tables = set(), {}
        return {table: cursor.heard for table, cursor in self.store.cursors().items()}

    def apply(self, jackpot: str, time: str, fact: Fact) -> FactOutcome | None:
        """Apply a fact at ``time``. Return its outcome, or None if it was applied before.

        Raises ``OrderRefusedError`` for an order that cannot be followed, in which case nothing has
        changed, and ``LedgerNotStoredError`` if the disk refuses the entry.
        """
        made: list[tuple[str, Fact, FactOutcome]] = []
        waiting: list[tuple[str, Fact]] = [(jackpot, fact)]
        while waiting:
            name, each = waiting.pop(0)
            if name not in self.states:
                raise OrderRefusedError("jackpot_unknown", jackpot=name)
            taken = apply_fact(self.states[name], each, partial(self.store.balance_before, name))
            made.append((name, each, taken))
            waiting += [(onward.jackpot, onward) for onward in taken.onward]
        for name, each, taken in made:
            if self.store.append(name, time, each, taken.transactions) != "new":
                return None
            self.states[name] = taken.state
            self._changed.add(name)
        return made[0][2]

    def save_cursor(self, table: str, heard: bytes) -> None:
        """How far a table was heard, with the next commit."""
        self._tables[table] = heard

    @property
    def has_changes(self) -> bool:
        """Whether something is to be committed."""
        return bool(self._changed or self._tables)

    def commit(self) -> None:
        """Put it all on the disk. In a thread of its own: nothing is taken meanwhile. Raises
        ``NotStoredError``.
        """
        states = {name: msgspec.json.encode(self.states[name]) for name in self._changed}
        cursors = [Cursor(table, heard) for table, heard in self._tables.items()]
        self.store.commit(states, cursors)
        self._changed, self._tables = set(), {}

    def meter(self, jackpot: str) -> int:
        """What the meter holds."""
        return self.store.balance(jackpot)

    @property
    def position(self) -> int:
        """The last entry that is committed."""
        return self.store.committed.position
