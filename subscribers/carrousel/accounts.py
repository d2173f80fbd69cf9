"""Double-entry bookkeeping: accounts, postings, and transactions whose postings sum to zero.

Amounts are integers in minor units of the jackpot's currency. A positive amount goes into an
account. The accounts ``stakes``, ``seed``, ``paid`` and ``adjusted`` represent money outside the
jackpot: stakes are negative there, payments positive.
"""

from __future__ import annotations

from typing import Literal, Protocol

import msgspec

Account = Literal[
    "stakes",  # what players staked, by table
    "house",  # the house's part of stakes, and amounts that the house bears
    "meter",
    "reserve",  # saved for the seed of the next period, if the site has a reserve
    "seed",  # paid in by the house at the start of a period
    "award",  # locked by a hit, by the award's number
    "paid",  # paid out, by the award's number
    "adjusted",  # corrections that two persons signed
    "transfer",  # between two jackpots; sums to zero over the whole ledger
]


class Cause(msgspec.Struct, frozen=True, order=True):
    """The table event that a posting results from. Ordered by the time at which the table committed
    it; ``table``, ``boot`` and ``seq`` make the order of equal times deterministic.
    """

    time: str
    """UTC, ISO 8601 with microseconds, from the table's event. Times are compared as text, so they
    all have the form of :func:`common.contract.times.utc`.
    """
    table: str
    boot: str
    seq: int


END_OF_TIME = Cause(time="~", table="", boot="", seq=0)
"""Later than every event."""


def successor(cause: Cause) -> Cause:
    """Return the next position after a cause."""
    return Cause(time=cause.time, table=cause.table, boot=cause.boot, seq=cause.seq + 1)


class BalanceBefore(Protocol):
    """Returns the balance of one of the jackpot's accounts: the sum of all postings of transactions
    whose ``at`` is before the given cause. With :data:`END_OF_TIME`, of all transactions.
    """

    def __call__(self, account: Literal["meter", "reserve"], before: Cause, /) -> int:
        """Return the sum in minor units."""


class Posting(msgspec.Struct, frozen=True):
    """One line of a transaction. ``part``: for stakes, and for awards on the meter, the table; for
    awards, the award's number; for transfers, the other jackpot.
    """

    account: Account
    part: str
    amount: int


class Transaction(msgspec.Struct, frozen=True, kw_only=True):
    """Postings that sum to zero, and their reason. ``at``: from when the transaction counts.
    Usually that is its cause, so that the meter at a hit is the sum of everything before it. An
    event that arrives after the value of a later hit became final counts from that hit on.
    """

    jackpot: str
    what: Literal[
        "stake", "stake_returned", "stakes_told", "seed", "award", "award_returned", "payment",
        "claim", "gap", "adjustment", "transfer", "close",
        "limit",  # moves what exceeds the meter's limit to the reserve, or back
        "advance",  # the house advances what meter or reserve lacks, or gets it back
    ]  # fmt: skip
    at: Cause
    cause: Cause | None
    """The table's event; None if a person ordered it."""
    postings: tuple[Posting, ...]

    def __post_init__(self) -> None:
        if sum(posting.amount for posting in self.postings):
            raise ValueError(f"{self.what}: the postings sum to {self.postings}, not to zero")
