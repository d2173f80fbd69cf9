"""What accounts hold: each the sum of its postings. In memory the sums are kept up to date posting
by posting, so that a coin needs no sum over a million others, and what an account held
before a moment is its sum less what counts from then on.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from subscribers.carrousel.accounts import Cause
from subscribers.carrousel.schema import PostingRow, cause_key

ALL_SUMS_QUERY = "SELECT jackpot, account, sum(amount) FROM posting GROUP BY jackpot, account"
"""The sums of the postings themselves."""
INDEXED_SUMS_QUERY = (
    "SELECT jackpot, account, sum(amount) FROM posting WHERE account IN ('meter', 'reserve') "
    "GROUP BY jackpot, account"
)
"""Those of meters and reserves, by the index that sums as of a moment come from."""
_SUM_SINCE_QUERY = (
    "SELECT coalesce(sum(amount), 0) FROM posting WHERE account IN ('meter', 'reserve') "
    "AND jackpot = ? AND account = ? AND (at_time, at_table, at_boot, at_seq) >= (?, ?, ?, ?)"
)


class Balances:
    """Of the postings that a connection sees. Everything here raises ``sqlite3.Error``."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._sums = _query_sums(connection, ALL_SUMS_QUERY)

    def add(self, postings: Iterable[PostingRow]) -> None:
        """These were written."""
        for each in postings:
            of = each.jackpot, each.account
            self._sums[of] = self._sums.get(of, 0) + each.amount

    def current(self, jackpot: str, account: str) -> int:
        """The sum of all postings."""
        return self._sums.get((jackpot, account), 0)

    @property
    def all(self) -> dict[tuple[str, str], int]:
        """By jackpot and account."""
        return dict(self._sums)

    def before(self, jackpot: str, account: str, cause: Cause) -> int:
        """The sum of the postings of a meter or reserve that count before ``cause``."""
        (since,) = self._connection.execute(
            _SUM_SINCE_QUERY, (jackpot, account, *cause_key(cause))
        ).fetchone()
        return self.current(jackpot, account) - int(since)

    def find_mismatch(self) -> str | None:
        """Where a sum in memory is not that of the file's index; None: nowhere."""
        found = _query_sums(self._connection, INDEXED_SUMS_QUERY)
        counted = {of for of in self._sums if of[1] in ("meter", "reserve")}
        for jackpot, account in sorted(counted | found.keys()):
            ours, theirs = self.current(jackpot, account), found.get((jackpot, account), 0)
            if ours != theirs:
                return (
                    f"the postings of {account} {jackpot} sum to {theirs}, and the controller "
                    f"counted {ours}"
                )
        return None


def _query_sums(connection: sqlite3.Connection, query: str) -> dict[tuple[str, str], int]:
    return {(jackpot, account): int(total) for jackpot, account, total in connection.execute(query)}
