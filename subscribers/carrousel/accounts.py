"""Double entry: accounts, postings, and transactions whose postings sum to zero.

Amounts are integers in minor units of the jackpot's currency. A positive amount goes into an
account. ``stakes``, ``seed``, ``paid`` and ``adjusted`` stand for money outside: what players
inserted is negative there, what they were paid is positive.
"""

from __future__ import annotations

from typing import Literal, Protocol

import msgspec

Account = Literal[
    "stakes",  # what players staked, by table
    "house",  # the part of stakes that stays with the house, and what the house bears
    "meter",
    "reserve",  # what the next period begins with, where the site has one
    "seed",  # what the house puts in at the start of a period
    "award",  # what a hit has locked, by the award's number
    "paid",  # what was paid out, by the award's number
    "adjusted",  # what two persons put right
    "transfer",  # between two jackpots; the whole ledger's sum of it is zero
]


class Cause(msgspec.Struct, frozen=True, order=True):
    """The event of a table that something was posted for. Ordered by when the table committed it;
    ``table``, ``boot`` and ``seq`` make the order of equal times the same every time.
    """

    time: str
    """UTC, ISO 8601 with microseconds, as the table says it. Times are compared as text, so they
    have one form: :func:`controller.contract.times.utc`.
    """
    table: str
    boot: str
    seq: int


END_OF_TIME = Cause(time="~", table="", boot="", seq=0)
"""After everything that ever happens."""


def successor(cause: Cause) -> Cause:
    """The next place after this one."""
    return Cause(time=cause.time, table=cause.table, boot=cause.boot, seq=cause.seq + 1)


class BalanceBefore(Protocol):
    """What an account of the jackpot holds: the sum of its postings, whatever their part, of the
    transactions with ``at`` before the given place. With :data:`END_OF_TIME`, of all.
    """

    def __call__(self, account: Literal["meter", "reserve"], before: Cause, /) -> int:
        """The sum in minor units."""


class Posting(msgspec.Struct, frozen=True):
    """One line of a transaction. ``part``: the table of a stake, and whose meter an award or a
    stake changed; the number of an award; the other jackpot of a transfer.
    """

    account: Account
    part: str
    amount: int


class Transaction(msgspec.Struct, frozen=True, kw_only=True):
    """Postings that sum to zero, with why. ``at``: since when it counts. Mostly that is its cause,
    so that the meter at a hit is the sum of all that counts before it. What is heard only when the
    value of a later hit is final counts from that hit on.
    """

    jackpot: str
    what: Literal[
        "stake", "stake_returned", "stakes_told", "seed", "award", "award_returned", "payment",
        "claim", "gap", "adjustment", "transfer", "close",
        "limit",  # what exceeds the highest meter goes to the reserve, or comes back
        "advance",  # what meter or reserve lacks is advanced by the house, or goes back to it
    ]  # fmt: skip
    at: Cause
    cause: Cause | None
    """The table's event; None: a person ordered it."""
    postings: tuple[Posting, ...]

    def __post_init__(self) -> None:
        if sum(each.amount for each in self.postings):
            raise ValueError(f"{self.what}: the postings sum to {self.postings}, not to zero")
