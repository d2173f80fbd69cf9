"""Builder of one ledger entry: collects everything that a fact changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec.structs import replace

from subscribers.carrousel.accounts import Account, BalanceBefore, Cause, Posting, Transaction
from subscribers.carrousel.facts import TransferReceived
from subscribers.carrousel.ledger_state import (
    FactOutcome,
    JackpotLedgerState,
    LedgerNotice,
    NoticeKind,
    TableRecord,
)
from subscribers.carrousel.shares import Parts
from subscribers.carrousel.terms import Terms

TransactionKind = Literal[
    "stake", "stake_returned", "stakes_told", "seed", "award", "award_returned", "payment",
    "claim", "gap", "adjustment", "transfer", "close", "limit", "advance",
]  # fmt: skip
Amounts = dict[tuple[Account, str], int]
"""Amount that goes into each account and part."""


class EntryBuilder:
    """The new state, and the transactions that lead to it.

    ``cause``: the table event it results from; None for a person's order or the configuration.
    """

    def __init__(
        self, state: JackpotLedgerState, balance_before: BalanceBefore, cause: Cause | None
    ) -> None:
        self.state = state
        self.cause = cause
        self.receipt: int | None = None
        self.unsettled = False
        """True if the meter may be outside its bounds, or an award's value may have changed."""
        self._balance_before = balance_before
        self._transactions: list[Transaction] = []
        self._notices: list[LedgerNotice] = []
        self._onward: list[TransferReceived] = []

    def balance(self, account: Literal["meter", "reserve"], before: Cause) -> int:
        """Return the balance of an account, including this entry's postings."""
        return self._balance_before(account, before) + sum(
            posting.amount
            for transaction in self._transactions
            if transaction.at < before
            for posting in transaction.postings
            if posting.account == account
        )

    def post(self, kind: TransactionKind, at: Cause, amounts: Amounts) -> None:
        """Add a transaction, leaving out amounts of zero."""
        postings = tuple(
            Posting(account, part, amount) for (account, part), amount in amounts.items() if amount
        )
        if postings:
            self._transactions.append(
                Transaction(
                    jackpot=self.state.jackpot,
                    what=kind,
                    at=at,
                    cause=self.cause,
                    postings=postings,
                )
            )

    def post_stake(self, kind: TransactionKind, at: Cause, table: str, parts: Parts) -> None:
        """Post a stake, or with negative parts its return."""
        self.post(
            kind,
            at,
            {
                ("stakes", table): -parts.stakes,
                ("meter", table): parts.meter,
                ("reserve", table): parts.reserve,
                ("house", table): parts.house,
            },
        )
        open_hit = self.state.hits[-1] if self.state.hits else None
        if open_hit is not None and not open_hit.fixed:
            late = at < open_hit.at or bool(open_hit.level)
        else:
            late = bool(self.state.level)
        terms = self.terms_at(at)
        limited = terms is not None and terms.limit is not None
        self.unsettled = self.unsettled or late or limited or parts.meter < 0 or parts.reserve < 0

    def add_notice(self, kind: NoticeKind, text: str, table: str = "") -> None:
        """Add a notice for a person."""
        self._notices.append(LedgerNotice(what=kind, table=table, text=text))

    def send(self, transfer: TransferReceived) -> None:
        """Transfer money to another jackpot in the same commit."""
        self._onward.append(transfer)

    def table(self, name: str) -> TableRecord:
        """Return the record of a table; an empty one if it is unknown."""
        return self.state.tables.get(name) or TableRecord()

    def set_table(self, name: str, record: TableRecord) -> None:
        """Replace the record of a table."""
        self.state = replace(self.state, tables={**self.state.tables, name: record})

    def terms_at(self, at: Cause) -> Terms | None:
        """Return the terms in force at a position in the order; None before the first period."""
        if at < self.state.since and self.state.former is not None:
            return self.state.former
        return self.state.terms

    @property
    def has_postings(self) -> bool:
        """Whether anything was posted."""
        return bool(self._transactions)

    def build(self) -> FactOutcome:
        """Return the finished entry."""
        return FactOutcome(
            state=self.state,
            transactions=tuple(self._transactions),
            notices=tuple(self._notices),
            receipt=self.receipt,
            onward=tuple(self._onward),
        )


def sum_by_account(amounts: Sequence[tuple[Account, str, int]]) -> Amounts:
    """Add up the amounts per account and part."""
    sums: Amounts = {}
    for account, part, amount in amounts:
        sums[account, part] = sums.get((account, part), 0) + amount
    return sums
