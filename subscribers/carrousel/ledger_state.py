"""What a jackpot remembers beside its postings: small, whole, and as JSON the same again.

No balance is kept here. What the meter holds is the sum of its postings.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from controller.contract.jackpot import Fraction, OutOfPlay
from controller.contract.refusals import RejectedError
from controller.contract.retained import Alert
from subscribers.carrousel.accounts import Account, Cause, Transaction
from subscribers.carrousel.facts import TransferReceived
from subscribers.carrousel.shares import Parts
from subscribers.carrousel.terms import Terms

BEGINNING_OF_TIME = Cause(time="", table="", boot="", seq=0)
"""Before everything that ever happens."""


class HitPosting(msgspec.Struct, frozen=True, array_like=True):
    """A posting that was made for a hit, and may have to be made good when something earlier is
    heard.
    """

    what: Literal["award", "award_returned", "seed", "limit", "advance"]
    account: Account
    part: str
    amount: int


HitPostings = tuple[HitPosting, ...]


class BoxStake(msgspec.Struct, frozen=True, array_like=True):
    """What a box has on the jackpot in a round, and where that went."""

    amount: int = 0
    parts: Parts = Parts()


class StakedRound(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A round with stakes on the jackpot."""

    session: int
    round: int
    boxes: dict[str, BoxStake] = {}
    told: Parts = Parts()
    """What only the sum of the play told."""
    ended: bool = False
    """The play has ended: its sum was told."""
    refused: bool = False
    """A stake in it was refused, so that the sum of the play proves nothing more."""


class TableRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A linked table."""

    node: str = ""
    """Whose clock its times are of; empty: unknown."""
    clock_bound: float = 0.0
    """Within how many seconds of the true time that clock is."""
    last: Cause = BEGINNING_OF_TIME
    """Until when everything it did is known: the place of the last event taken, or later. What it
    tells after that counts after that, so that a clock that was put back does not change the order
    of what one table did.
    """
    why: OutOfPlay | None = "unheard"
    since: str = ""
    kept: int = 4
    """How many rounds with stakes are remembered."""
    rounds: tuple[StakedRound, ...] = ()
    """The last rounds with stakes."""
    forgotten: tuple[int, int] = (0, 0)
    """The last session and round with stakes that is not kept."""


class HitAward(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A hand that takes a part of the meter."""

    number: int
    box: str
    hand: str
    cards: tuple[str, ...]
    time: str
    share: Fraction | None
    value: int | None = None
    """What was posted to it; None while persons have not decided."""
    paid: int = 0
    returned: bool = False
    """It went back to the meter."""
    claimed: bool = False
    """The table took it back after a payment."""
    disputed: bool = False


class AwardChange(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Awards that were won, or went back, at one moment."""

    own: Cause
    """When the table, or a person, said so."""
    at: Cause
    """When it counts: later than ``own`` where the order of hits wants it."""
    what: Literal["won", "back"]
    awards: tuple[int, ...]
    posted: HitPostings | None = None
    """What was posted for it so far; None: nothing was reckoned yet."""


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
    """Seconds by which the table says that this may be wrong; None: nobody knows."""
    awards: tuple[HitAward, ...]
    points: tuple[AwardChange, ...]
    meter: int = 0
    """What the meter held as of the hit: before the prizes of its play."""
    added: int = 0
    """What the house adds to an award of the whole, so that it is worth the least."""
    seed: tuple[int, int] = (0, 0)
    """What the meter begins with again once the whole is taken: from the reserve, from the
    house.
    """
    level: HitPostings = ()
    """What was posted to keep the meter within its bounds from this hit to the next."""
    ended: bool = False
    """The play has ended."""
    forced: bool = False
    """Persons said that it waits no longer for tables."""
    fixed: bool = False
    """Its value is final."""
    voided: bool = False
    """Its round is void; another hit of a round with the same number is another hit."""

    @property
    def at(self) -> Cause:
        """When it counts."""
        return self.points[0].at


class JackpotLedgerState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A jackpot between two facts."""

    jackpot: str
    terms: Terms | None = None
    """None until an authorisation is given."""
    given: Cause = BEGINNING_OF_TIME
    """When ``terms`` were written."""
    since: Cause = BEGINNING_OF_TIME
    """From when on they hold."""
    former: Terms | None = None
    """The terms that held before."""
    waiting: Terms | None = None
    """Terms that begin when the jackpot is won."""
    waiting_given: Cause = BEGINNING_OF_TIME
    base: Cause = BEGINNING_OF_TIME
    """Where the last final value stands: nothing more can count before it."""
    level: HitPostings = ()
    """What was posted to keep the meter within its bounds from there to the next hit."""
    tables: dict[str, TableRecord] = {}
    hits: tuple[Hit, ...] = ()
    """The hits whose value is not final, or of which an award is not done, and those of the last
    awards; in the order in which they count.
    """
    answers: tuple[tuple[int, ...], ...] = ()
    """Orders of hits that persons have said."""
    why: OutOfPlay | None = None
    """Why the controller itself keeps the jackpot out of play."""
    alerts: dict[str, Alert] = {}
    """Alerts that stand until a person clears them, by id."""
    suspended: bool = False
    closed: bool = False
    generation: int = 1
    """Rises with each order about the jackpot as a whole that names it."""
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
    """What a person must look at. The fact that it is about changed no balance, or not by the
    amount that it names.
    """

    what: NoticeKind
    table: str = ""
    text: str
    """In English: what is wrong, then what to do."""


class FactOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What a fact led to."""

    state: JackpotLedgerState
    transactions: tuple[Transaction, ...] = ()
    notices: tuple[LedgerNotice, ...] = ()
    receipt: int | None = None
    """The number of the receipt, where money was paid; counted per jackpot from 1."""
    onward: tuple[TransferReceived, ...] = ()
    """What other jackpots take in the same commit. If one refuses, nothing of it happened."""


class OrderRefusedError(RejectedError):
    """An order that the ledger cannot follow."""
