"""Replay of a ledger's facts: applies them again and compares the results."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from subscribers.carrousel.accounts import Cause
from subscribers.carrousel.balances import Balances
from subscribers.carrousel.facts import Fact
from subscribers.carrousel.jackpot import apply_fact, initial_state
from subscribers.carrousel.ledger_state import JackpotLedgerState
from subscribers.carrousel.schema import POSTING_SCHEMA, PostingRow, posting_rows

_INSERT_POSTING = "INSERT INTO posting VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


class Replay:
    """Applies the facts of a ledger in order: all of them, or those after ``states``, in which case
    ``earlier`` returns an account's balance over the postings up to there that count before a
    cause.

    ``states``: the resulting states of the jackpots. ``diverged``: the jackpots whose ledger
    differs from what follows from its facts; their later entries are not compared.
    """

    def __init__(
        self,
        states: Mapping[str, JackpotLedgerState] | None = None,
        earlier: Callable[[str, str, Cause], int] = lambda _jackpot, _account, _before: 0,
    ) -> None:
        self.states = dict(states or {})
        self._earlier = earlier
        self._postings = sqlite3.connect(
            "", isolation_level=None
        )  # SQLite spills to disk when it grows
        self._postings.executescript(f"{POSTING_SCHEMA} BEGIN;")
        self._balances = Balances(self._postings)
        self.diverged: set[str] = set()

    def find_difference(
        self, position: int, jackpot: str, fact: Fact, stored: Sequence[PostingRow]
    ) -> str | None:
        """Return how the postings of an entry differ from what follows from its fact, or None."""
        if jackpot in self.diverged:
            return None
        try:
            state = self.states.get(jackpot) or initial_state(jackpot)
            outcome = apply_fact(state, fact, partial(self._held, jackpot))
            expected = posting_rows(outcome.transactions)
        except Exception as error:
            self.diverged.add(jackpot)
            return f"the rules cannot apply its fact: {type(error).__name__}: {error}"
        if expected == stored:
            self.states[jackpot] = outcome.state
            self._postings.executemany(_INSERT_POSTING, [(position, *row) for row in expected])
            self._balances.add(expected)
            return None
        self.diverged.add(jackpot)
        count = min(len(expected), len(stored))
        index = next(
            (number for number in range(count) if expected[number] != stored[number]), count
        )
        return (
            f"line {index + 1} is {_describe_row(stored, index)}; expected from the facts: "
            f"{_describe_row(expected, index)}"
        )

    def _held(self, jackpot: str, account: str, before: Cause) -> int:
        return self._earlier(jackpot, account, before) + self._balances.before(
            jackpot, account, before
        )

    def close(self) -> None:
        """Release the temporary database."""
        self._postings.close()


def _describe_row(postings: Sequence[PostingRow], index: int) -> str:
    if index >= len(postings):
        return "nothing"
    posting = postings[index]
    return (
        f"{posting.what} {posting.jackpot} {posting.account} {posting.part} {posting.amount} "
        f"({posting.at_time})"
    )
