"""The state of a jackpot beside its postings; encodes to JSON and back without loss.

It contains no balances: the meter is the sum of its postings.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from common.contract.jackpot import Fraction, OutOfPlay
from common.contract.refusals import RejectedError
from common.contract.retained import Alert
from subscribers.carrousel.accounts import Account, Cause, Transaction
from subscribers.carrousel.facts import TransferReceived
from subscribers.carrousel.shares import Parts
from subscribers.carrousel.terms import Terms

BEGINNING_OF_TIME = Cause(time="", table="", boot="", seq=0)
"""Earlier than every event."""


class HitPosting(msgspec.Struct, frozen=True, array_like=True):
    """A posting made for a hit. It is corrected if an earlier event arrives later."""

    what: Literal["award", "award_returned", "seed", "limit", "advance"]
    account: Account
    part: str
    amount: int


HitPostings = tuple[HitPosting, ...]


class BoxStake(msgspec.Struct, frozen=True, array_like=True):
    """A box's stake on the jackpot in a round, and how it was split."""

    amount: int = 0
    parts: Parts = Parts()


class RoundStakes(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A round with stakes on the jackpot."""

    session: int
    round: int
    boxes: dict[str, BoxStake] = {}
    reported: Parts = msgspec.field(default=Parts(), name="told")
    """Stakes that only the sum of the play reported."""
    ended: bool = False
    """The play has ended and its sum was reported."""
    refused: bool = False
    """A stake in it was refused, so the sum of the play proves nothing more."""


class TableRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A linked table."""

    node: str = ""
    """The node whose clock stamps its events; empty if unknown."""
    clock_bound: float = 0.0
    """Maximum error of that clock in seconds."""
    last: Cause = BEGINNING_OF_TIME
    """Up to where everything it did is known: the position of its last applied event, or later.
    Later events count after this position, so that a clock that was set back does not change the
    order of one table's events.
    """
    why: OutOfPlay | None = "unheard"
    since: str = ""
    kept: int = 4
    """Number of rounds with stakes that are remembered."""
    rounds: tuple[RoundStakes, ...] = ()
    """The latest rounds with stakes."""
    forgotten: tuple[int, int] = (0, 0)
    """Session and round of the latest round with stakes that is no longer remembered."""


class HitAward(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A hand that wins a share of the meter."""

    number: int
    box: str
    hand: str
    cards: tuple[str, ...]
    time: str
    share: Fraction | None
    value: int | None = None
    """Amount posted to it; None while persons have not decided it."""
    paid: int = 0
    returned: bool = False
    """It was returned to the meter."""
    claimed: bool = False
    """The table withdrew it after a payment."""
    disputed: bool = False


class AwardChange(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Awards that were won, or returned, at one moment."""

    own: Cause
    """When the table, or a person, reported it."""
    at: Cause
    """From when it counts; later than ``own`` if the order of hits requires it."""
    what: Literal["won", "back"]
    awards: tuple[int, ...]
    posted: HitPostings | None = None
    """Its postings so far; None if it was not valued yet."""


class Hit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All awards of one round. The first of ``points`` is the hit itself; the others are
    corrections.
    """

    number: int
    table: str
    boot: str
    session: int
    round: int
    time: str
    """When the table committed it."""
    time_bound: float | None = 0.0
    """Maximum error of ``time`` in seconds, as reported by the table; None if unknown."""
    awards: tuple[HitAward, ...]
    points: tuple[AwardChange, ...]
    meter: int = 0
    """The meter as of the hit, before the prizes of its play."""
    added: int = 0
    """Amount that the house adds to an award of the whole meter to reach the guaranteed minimum."""
    seed: tuple[int, int] = (0, 0)
    """Seed of the next period once the whole meter is won: paid from the reserve, and by the house.
    """
    level: HitPostings = ()
    """Postings that keep the meter within its bounds from this hit to the next."""
    ended: bool = False
    """The play has ended."""
    forced: bool = False
    """Persons decided not to wait any longer for other tables."""
    fixed: bool = False
    """Its value is final."""
    voided: bool = False
    """Its round is void; a later hit with the same round number is a different hit."""

    @property
    def at(self) -> Cause:
        """Position from which the hit counts."""
        return self.points[0].at


class JackpotLedgerState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The state of a jackpot between two facts."""

    jackpot: str
    terms: Terms | None = None
    """Terms in force; None until an authorisation is given."""
    given: Cause = BEGINNING_OF_TIME
    """When ``terms`` were written."""
    since: Cause = BEGINNING_OF_TIME
    """From when ``terms`` apply."""
    former: Terms | None = None
    """The terms that applied before."""
    waiting: Terms | None = None
    """Terms that begin when the jackpot is won."""
    waiting_given: Cause = BEGINNING_OF_TIME
    base: Cause = BEGINNING_OF_TIME
    """Position of the last final hit: nothing more can count before it."""
    level: HitPostings = ()
    """Postings that keep the meter within its bounds from ``base`` to the next hit."""
    tables: dict[str, TableRecord] = {}
    hits: tuple[Hit, ...] = ()
    """Hits whose value is not final or that have an open award, and those of the latest awards, in
    the order in which they count.
    """
    answers: tuple[tuple[int, ...], ...] = ()
    """Orders of hits that persons have decided."""
    why: OutOfPlay | None = None
    """Why the controller itself keeps the jackpot out of play."""
    alerts: dict[str, Alert] = {}
    """Alerts that stay open until a person clears them, by id."""
    suspended: bool = False
    closed: bool = False
    generation: int = 1
    """Incremented by each order that names it and concerns the jackpot as a whole."""
    hit_count: int = 0
    award_count: int = 0
    receipt_count: int = 0


NoticeKind = Literal[
    "not_authorised",
    "amount_wrong",
    "share_wrong",
    "award_without_bet",
    "award_twice",
    "award_unknown",
    "stakes_differ",
    "void_unknown",
    "terms_flawed",
    "closed",
]


class LedgerNotice(msgspec.Struct, frozen=True, kw_only=True):
    """Something a person must look at. Its fact changed no balance, or not by the amount named."""

    what: NoticeKind
    table: str = ""
    text: str
    """In English: what is wrong, then what to do."""


class FactOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a fact."""

    state: JackpotLedgerState
    transactions: tuple[Transaction, ...] = ()
    notices: tuple[LedgerNotice, ...] = ()
    receipt: int | None = None
    """Number of the receipt if money was paid; counted per jackpot from 1."""
    onward: tuple[TransferReceived, ...] = ()
    """Facts that other jackpots apply in the same commit. If one of them refuses, nothing is
    applied.
    """


class OrderRefusedError(RejectedError):
    """An order that the ledger cannot follow."""
