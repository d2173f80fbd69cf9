"""Balances of accounts: the sums of their postings. Totals are kept in memory and updated with each
posting, so that a coin does not need a sum over millions of postings. A balance as of an earlier
moment is the total less what counts from that moment on.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from subscribers.carrousel.accounts import Cause
from subscribers.carrousel.schema import PostingRow, cause_key

ALL_SUMS_QUERY = "SELECT jackpot, account, sum(amount) FROM posting GROUP BY jackpot, account"
"""Sums over the table of postings."""
INDEXED_SUMS_QUERY = (
    "SELECT jackpot, account, sum(amount) FROM posting WHERE account IN ('meter', 'reserve') "
    "GROUP BY jackpot, account"
)
"""Sums of meters and reserves, from the index that is used for balances as of a moment."""
_SUM_SINCE_QUERY = (
    "SELECT coalesce(sum(amount), 0) FROM posting WHERE account IN ('meter', 'reserve') "
    "AND jackpot = ? AND account = ? AND (at_time, at_table, at_boot, at_seq) >= (?, ?, ?, ?)"
)


class Balances:
    """Balances of the postings that a connection sees. All methods raise ``sqlite3.Error``."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._sums = _query_sums(connection, ALL_SUMS_QUERY)

    def add(self, postings: Iterable[PostingRow]) -> None:
        """Add postings that were written."""
        for posting in postings:
            account = posting.jackpot, posting.account
            self._sums[account] = self._sums.get(account, 0) + posting.amount

    def current(self, jackpot: str, account: str) -> int:
        """Return the balance of an account, over all postings."""
        return self._sums.get((jackpot, account), 0)

    @property
    def all(self) -> dict[tuple[str, str], int]:
        """All balances, by jackpot and account."""
        return dict(self._sums)

    def before(self, jackpot: str, account: str, cause: Cause) -> int:
        """Return the balance of a meter or reserve over the postings that count before a cause."""
        (since,) = self._connection.execute(
            _SUM_SINCE_QUERY, (jackpot, account, *cause_key(cause))
        ).fetchone()
        return self.current(jackpot, account) - int(since)

    def find_mismatch(self) -> str | None:
        """Return where a total in memory differs from the file's index, or None."""
        indexed = _query_sums(self._connection, INDEXED_SUMS_QUERY)
        counted = {account for account in self._sums if account[1] in ("meter", "reserve")}
        for jackpot, account in sorted(counted | indexed.keys()):
            counted_sum, indexed_sum = (
                self.current(jackpot, account),
                indexed.get((jackpot, account), 0),
            )
            if counted_sum != indexed_sum:
                return (
                    f"the postings of {account} {jackpot} sum to {indexed_sum}; the controller "
                    f"counted {counted_sum}"
                )
        return None


def _query_sums(connection: sqlite3.Connection, query: str) -> dict[tuple[str, str], int]:
    return {(jackpot, account): int(total) for jackpot, account, total in connection.execute(query)}
