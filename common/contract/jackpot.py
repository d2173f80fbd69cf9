"""A jackpot over linked tables: the topics of its controller, and the orders that persons give.

Its topics are those of a table whose id is ``jackpot/<jackpot>``: ``state`` and ``alert/<id>``
retained, ``command/<name>`` and ``reply/<client>``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from common.contract.bounds import Money, Name, Note, Word
from common.contract.command_fields import Role
from common.contract.refusals import Refusal
from common.readings import MAX_EXACT_INTEGER, Whole
from common.readings import OutOfPlay as OutOfPlay

Term = Annotated[int, Meta(ge=-MAX_EXACT_INTEGER, le=MAX_EXACT_INTEGER)]
Fraction = tuple[Term, Term]
"""Numerator and denominator. The code that uses one rejects values outside 0 to 1."""

Awarded = Literal["pending", "payable", "paid", "disputed", "withdrawn", "claimed"]
"""The status of an award. ``pending``: its value is not final. ``payable``: it is final, and two
persons may pay it. ``disputed``: there is an objection, nothing is paid. ``withdrawn``: the table
took the result back before anything was paid. ``claimed``: the table took it back after a payment;
a person must settle that.
"""

Pending = Literal["tables", "order", "amount"]
"""Why the value of a hit is not final. ``tables``: a linked table has not yet reported all its
events up to then. ``order``: two hits are closer in time than the clocks are accurate; a person
decides which was first. ``amount``: the decree does not say what the hand takes; persons decide.
"""

JackpotAlert = Literal[
    "amount_wrong",
    "award_twice",
    "award_unknown",
    "award_without_bet",
    "clock",
    "closed",
    "configuration_changed",
    "contradiction",
    "foreign",
    "gap",
    "not_authorised",
    "not_verified",
    "orders_discarded",
    "program_changed",
    "refused",
    "share_wrong",
    "stakes_differ",
    "standby_different",
    "standby_unready",
    "state_foreign",
    "store",
    "terms_flawed",
    "unheard",
    "void_unknown",
]
"""The subjects of a jackpot's alerts. The ``what`` of an alert is ``jackpot.`` and the word; the id
of an alert about one table is the id of the table, a hyphen and the word.
"""

KEPT_ALERTS: frozenset[JackpotAlert] = frozenset(
    {
        "amount_wrong",
        "award_twice",
        "award_unknown",
        "award_without_bet",
        "closed",
        "configuration_changed",
        "contradiction",
        "orders_discarded",
        "program_changed",
        "refused",
        "share_wrong",
        "stakes_differ",
        "terms_flawed",
        "void_unknown",
    }
)
"""Alerts about past incidents. They remain, also after a restart of the controller, until a person
clears them. All others end with their cause.
"""


class Authorisation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An authorisation of the authority. Without it no jackpot starts."""

    number: Word
    """The number of the authorisation."""
    date: Word
    """Its date, ISO 8601."""
    authority: Name
    """Who gave it."""
    until: Word | None = None
    """The last day on which it is valid, ISO 8601; null if it does not expire."""
    percentage: Fraction
    """The part of each stake that the meter rises by."""
    tables: tuple[Word, ...]
    """The tables that it is for."""


class JackpotTable(msgspec.Struct, frozen=True, kw_only=True):
    """A linked table, as the controller knows it."""

    in_play: bool
    """Bets on the jackpot may be accepted there while this state is valid."""
    why: OutOfPlay | None = None
    """Why not; null if they may."""
    since: str
    """The time of the last change: UTC, ISO 8601. If ``why`` is ``gap``, ``gap.settle`` names the
    gap by this time.
    """


class JackpotAward(msgspec.Struct, frozen=True, kw_only=True):
    """A hand that takes a part of the meter."""

    award: Whole
    """Its number, counted per jackpot from 1."""
    hit: Whole
    """The number of the hit: awards of one play are one hit."""
    table: Word
    """The table's id."""
    session: Whole
    """The table's session."""
    round: Whole
    """The round of that session."""
    box: Word
    """The box that has the hand."""
    hand: Word
    """The hand that its cards make: ``royal_flush``."""
    cards: tuple[Word, ...]
    """Its cards, which are face up."""
    time: str
    """When the table committed it: UTC, ISO 8601 with microseconds."""
    share: Fraction | None
    """Its share of the meter before the prizes of its play; null if persons decide."""
    value: Whole | None
    """Its value in minor units; null while unknown. Not final while ``pending``."""
    paid: Whole = 0
    """The amount already paid, in minor units."""
    status: Awarded
    """Its status."""
    why: Pending | None = None
    """Why it is pending; null if it is not."""


class JackpotState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The retained topic ``jackpot/<jackpot>/state``."""

    site: str
    """The site's id."""
    jackpot: str
    """The jackpot's id."""
    title: dict[str, str]
    """Its name, by language."""
    decree: str
    """The decree that it is played under: ``ARA02``."""
    currency: str
    """ISO 4217: ``EUR``."""
    boot: str
    """The run of the controller."""
    time: str
    """The time of this state: UTC, ISO 8601 with microseconds."""
    until: str
    """The end of its validity. A client that has received nothing newer by then must treat the
    jackpot as not in play, and the value as not current.
    """
    in_play: bool
    """Bets on the jackpot may be accepted at the tables that are in play."""
    why: OutOfPlay | None
    """Why not; null if they may."""
    value: Whole
    """The meter, in minor units, without what is pending or payable."""
    seq: Whole
    """The last entry of the ledger that it includes."""
    generation: Whole = 0
    """Rises by one with each order that is about the jackpot as a whole (``meter.adjust``,
    ``pool.transfer``, ``pool.close``, ``jackpot.suspend``, ``jackpot.resume``). Such an order names
    the generation that its signers saw. Absent from controllers of older releases.
    """
    awards: tuple[JackpotAward, ...]
    """Awards that wait: pending, payable, disputed or claimed, oldest first."""
    won: JackpotAward | None = None
    """The last award while it is to be shown; the site sets for how long."""
    last: tuple[JackpotAward, ...] = ()
    """The last 25 awards, newest first."""
    tables: dict[str, JackpotTable]
    """The linked tables, by id."""
    authorisation: Authorisation | None
    """The authorisation of the authority; null if there is none: the jackpot is then not in play.
    """
    terms_wait: bool = False
    """New terms are configured, and take effect when the jackpot is won."""
    asks: tuple[str, ...] = ()
    """The commands that wait for a person, as ``hits.order``."""
    unordered: tuple[tuple[Whole, ...], ...] = ()
    """The hits for ``hits.order``: groups whose order is unknown, by number."""
    simulated: bool = False
    """It is fed by simulated tables."""


class _Order(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    by: Name
    """The person's name."""
    role: Role
    """The person's role."""
    note: Note | None = None
    """A remark of the person, for the record."""


Count = Annotated[int, Meta(ge=1, le=MAX_EXACT_INTEGER)]
Counts = Annotated[tuple[Count, ...], Meta(min_length=2, max_length=100)]
Paid = Annotated[int, Meta(ge=1, le=1_000_000_000_000)]
AlertId = Annotated[str, Meta(max_length=256)]
Proved = Annotated[int, Meta(ge=0, le=1_000_000_000_000)]


class AwardPay(_Order, frozen=True, kw_only=True, tag="award.pay"):
    """``award.pay``: an award is paid, or a part of it. It needs two persons."""

    award: Count
    """The number of the award."""
    amount: Paid
    """In minor units; at most what is due."""
    paid: Proved
    """The amount paid before, in minor units: ``paid`` of the award as these persons saw it. If it
    has changed meanwhile, the order is refused: no order is paid twice.
    """


class AwardDecide(_Order, frozen=True, kw_only=True, tag="award.decide"):
    """``award.decide``: the value of an award that the decree does not determine. It needs two
    persons.
    """

    award: Count
    """The number of the award."""
    amount: Money
    """In minor units; at most what the meter held then. 0: nothing."""


class AwardDispute(_Order, frozen=True, kw_only=True, tag="award.dispute"):
    """``award.dispute``: there is an objection to an award: nothing is paid until it is upheld or
    withdrawn.
    """

    award: Count
    """The number of the award."""


class AwardUphold(_Order, frozen=True, kw_only=True, tag="award.uphold"):
    """``award.uphold``: a disputed award is valid. It needs two persons."""

    award: Count
    """The number of the award."""


class AwardWithdraw(_Order, frozen=True, kw_only=True, tag="award.withdraw"):
    """``award.withdraw``: a disputed award of which nothing was paid goes back to the meter. It
    needs two persons.
    """

    award: Count
    """The number of the award."""


class ClaimSettle(_Order, frozen=True, kw_only=True, tag="claim.settle"):
    """``claim.settle``: the settlement of an award that was paid and that the table then took back.
    It needs two persons.
    """

    award: Count
    """The number of the award."""
    how: Literal["recovered", "house", "stands"]
    """``recovered``: the money came back, and returns to the meter. ``house``: the house bears the
    loss, and pays the meter. ``stands``: the payment is valid, and the meter does not change.
    """


class HitsOrder(_Order, frozen=True, kw_only=True, tag="hits.order"):
    """``hits.order``: the order of hits that are closer in time than the clocks are accurate. It
    needs two persons.
    """

    hits: Counts
    """The numbers of the hits, the first one first."""


class HitFix(_Order, frozen=True, kw_only=True, tag="hit.fix"):
    """``hit.fix``: the value of a hit becomes final although a linked table has not yet reported
    all its events. Events that it reports later count for the meter at that time. It needs two
    persons.
    """

    hit: Count
    """The number of the hit."""


class GapSettle(_Order, frozen=True, kw_only=True, tag="gap.settle"):
    """``gap.settle``: events of a table are lost for good: the amount by which the meter rises for
    the coins in them, as persons can prove. It needs two persons.
    """

    table: Word
    """The table whose events are missing."""
    gap: Word
    """Which gap: ``since`` of the table in the jackpot's state, as these persons saw it. The order
    is refused if the table has another gap meanwhile.
    """
    amount: Proved
    """The stakes in minor units; 0: none."""


class MeterAdjust(_Order, frozen=True, kw_only=True, tag="meter.adjust"):
    """``meter.adjust``: the meter is corrected by an amount, with the reason in ``note``. It needs
    two persons.
    """

    amount: Money
    """In minor units; negative lowers it."""
    generation: Count
    """The jackpot's ``generation`` as these persons saw it. The order is refused if it has changed
    meanwhile.
    """


class PoolTransfer(_Order, frozen=True, kw_only=True, tag="pool.transfer"):
    """``pool.transfer``: money of the meter goes to another jackpot of this controller. It needs
    two persons.
    """

    to: Word
    """The jackpot that gets it."""
    amount: Paid
    """In minor units."""
    generation: Count
    """The jackpot's ``generation`` as these persons saw it. The order is refused if it has changed
    meanwhile.
    """


class PoolClose(_Order, frozen=True, kw_only=True, tag="pool.close"):
    """``pool.close``: the jackpot ends, and what it holds, meter and reserve, goes to another one.
    Nothing may be pending or due. It needs two persons.
    """

    to: Word | None = None
    """The jackpot; null for the house, if the authorisation allows it."""
    generation: Count
    """The jackpot's ``generation`` as these persons saw it. The order is refused if it has changed
    meanwhile.
    """


class JackpotSuspend(_Order, frozen=True, kw_only=True, tag="jackpot.suspend"):
    """``jackpot.suspend``: bets on the jackpot are not accepted until it is resumed."""

    generation: Count
    """The jackpot's ``generation`` as this person saw it. The order is refused if it has changed
    meanwhile.
    """


class JackpotResume(_Order, frozen=True, kw_only=True, tag="jackpot.resume"):
    """``jackpot.resume``: bets on the jackpot are accepted again."""

    generation: Count
    """The jackpot's ``generation`` as this person saw it. The order is refused if it has changed
    meanwhile.
    """


class JackpotAlertAcknowledge(_Order, frozen=True, kw_only=True, tag="alert.acknowledge"):
    """``alert.acknowledge``: a person has seen an alert, and looks after it. It remains until it is
    cleared, and is opened again if it happens again.
    """

    alert: AlertId
    """The alert's id, which is also the last level of its topic."""


class JackpotAlertClear(_Order, frozen=True, kw_only=True, tag="alert.clear"):
    """``alert.clear``: the cause of an alert is settled. Alerts that end with their cause are not
    cleared by persons.
    """

    alert: AlertId
    """The alert's id, which is also the last level of its topic."""


STATE_FIELDS: Mapping[type[msgspec.Struct], str] = {
    AwardPay: "paid",
    GapSettle: "gap",
    MeterAdjust: "generation",
    PoolTransfer: "generation",
    PoolClose: "generation",
    JackpotSuspend: "generation",
    JackpotResume: "generation",
}
"""The field in which an order names the state that its signers saw. All other orders name an award,
hits or an alert.
"""

JackpotOrder = (
    AwardPay
    | AwardDecide
    | AwardDispute
    | AwardUphold
    | AwardWithdraw
    | ClaimSettle
    | HitsOrder
    | HitFix
    | GapSettle
    | MeterAdjust
    | PoolTransfer
    | PoolClose
    | JackpotSuspend
    | JackpotResume
    | JackpotAlertAcknowledge
    | JackpotAlertClear
)

JACKPOT_ORDERS: tuple[type[msgspec.Struct], ...] = (
    AwardPay,
    AwardDecide,
    AwardDispute,
    AwardUphold,
    AwardWithdraw,
    ClaimSettle,
    HitsOrder,
    HitFix,
    GapSettle,
    MeterAdjust,
    PoolTransfer,
    PoolClose,
    JackpotSuspend,
    JackpotResume,
    JackpotAlertAcknowledge,
    JackpotAlertClear,
)


class JackpotReply(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply on ``jackpot/<jackpot>/reply/<client>``."""

    id: Any
    """The ``id`` of the command."""
    ok: bool
    """The order was executed and stored."""
    error: str | None = None
    """Why not, in English, for a person."""
    refusal: Refusal | None = None
    """Why not, for a program, if the catalogue has a text for it."""
    receipt: Whole | None = None
    """The number of the receipt, where money was paid."""
    judged: bool = False
    """It was refused although all required persons had signed: the first signature is no longer
    pending.
    """
