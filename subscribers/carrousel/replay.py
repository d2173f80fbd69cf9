"""The facts of a ledger once more through the rules: what must follow from them."""

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
    """Takes the facts of a ledger in order: all, or those after ``states``, where ``earlier`` says
    what an account held of all postings until then that count before a cause.

    ``states``: what the jackpots remember by now. ``departed``: those whose ledger says something
    else than follows from its facts; what comes after that says nothing any more.
    """

    def __init__(
        self,
        states: Mapping[str, JackpotLedgerState] | None = None,
        earlier: Callable[[str, str, Cause], int] = lambda _jackpot, _account, _before: 0,
    ) -> None:
        self.states = dict(states or {})
        self._earlier = earlier
        self._postings = sqlite3.connect("", isolation_level=None)  # on the disk where it grows
        self._postings.executescript(f"{POSTING_SCHEMA} BEGIN;")
        self._balances = Balances(self._postings)
        self.diverged: set[str] = set()

    def find_difference(
        self, position: int, jackpot: str, fact: Fact, found: Sequence[PostingRow]
    ) -> str | None:
        """How the postings of an entry differ from what follows from its fact; None: not at all."""
        if jackpot in self.diverged:
            return None
        try:
            state = self.states.get(jackpot) or initial_state(jackpot)
            taken = apply_fact(state, fact, partial(self._held, jackpot))
            wanted = posting_rows(taken.transactions)
        except Exception as error:
            self.diverged.add(jackpot)
            return f"the rules cannot take its fact: {type(error).__name__}: {error}"
        if wanted == found:
            self.states[jackpot] = taken.state
            self._postings.executemany(_INSERT_POSTING, [(position, *each) for each in wanted])
            self._balances.add(wanted)
            return None
        self.diverged.add(jackpot)
        count = min(len(wanted), len(found))
        at = next((n for n in range(count) if wanted[n] != found[n]), count)
        return (
            f"line {at + 1} says {_describe_row(found, at)}, and what follows from the facts is "
            f"{_describe_row(wanted, at)}"
        )

    def _held(self, jackpot: str, account: str, before: Cause) -> int:
        return self._earlier(jackpot, account, before) + self._balances.before(
            jackpot, account, before
        )

    def close(self) -> None:
        """Give back what it takes on the disk."""
        self._postings.close()


def _describe_row(postings: Sequence[PostingRow], at: int) -> str:
    if at >= len(postings):
        return "nothing"
    line = postings[at]
    return f"{line.what} {line.jackpot} {line.account} {line.part} {line.amount} ({line.at_time})"
