"""A jackpot over linked tables: what its controller tells, and what persons order of it.

Its topics are those of a table whose id is ``jackpot/<jackpot>``: ``state`` and ``alert/<id>``
retained, ``command/<name>`` and ``reply/<client>``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from controller.contract.bounds import Money, Name, Note, Word
from controller.contract.command_fields import Role
from controller.contract.refusals import Refusal
from devices.readings import MAX_EXACT_INTEGER, Whole
from devices.readings import OutOfPlay as OutOfPlay

Term = Annotated[int, Meta(ge=-MAX_EXACT_INTEGER, le=MAX_EXACT_INTEGER)]
Fraction = tuple[Term, Term]
"""Numerator and denominator. Who uses one refuses what is no part of a whole."""

Awarded = Literal["pending", "payable", "paid", "disputed", "withdrawn", "claimed"]
"""What has become of an award. ``pending``: its value is not final. ``payable``: it is, and two
persons may pay it. ``disputed``: somebody objects, nothing is paid. ``withdrawn``: the table took
the result back before anything was paid. ``claimed``: the table took it back after a payment; a
person must settle that.
"""

Pending = Literal["tables", "order", "amount"]
"""Why the value of a hit is not final. ``tables``: a linked table has not yet said all it did until
then. ``order``: two hits are closer than the clocks are true; a person says which was first.
``amount``: the decree does not say what the hand takes; persons decide.
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
    "state_foreign",
    "store",
    "terms_flawed",
    "unheard",
    "void_unknown",
]
"""What an alert of a jackpot is about; its ``what`` is ``jackpot.`` before the word. Where it is
about one table, its id is that of the table, a hyphen and the word.
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
"""Alerts about what has happened and is over. They stand, also after a restart of the controller,
until a person clears them. All others end with their cause.
"""


class Authorisation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the authority has authorised. Without it no jackpot starts."""

    number: Word
    """The number of the authorisation."""
    date: Word
    """Its date, ISO 8601."""
    authority: Name
    """Who gave it."""
    until: Word | None = None
    """The last day on which it is in force, ISO 8601; None: it does not end."""
    percentage: Fraction
    """The part of each stake that the meter rises by."""
    tables: tuple[Word, ...]
    """The tables that it is for."""


class JackpotTable(msgspec.Struct, frozen=True, kw_only=True):
    """A linked table, as the controller knows it."""

    in_play: bool
    """Bets on the jackpot may be taken there, until the statement ends."""
    why: OutOfPlay | None = None
    """Why not; null if they may."""
    since: str
    """Since when it is so: UTC, ISO 8601. Where ``why`` is ``gap``, ``gap.settle`` names the gap by
    this time.
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
    """What the hand makes: ``royal_flush``."""
    cards: tuple[Word, ...]
    """Its cards, which are face up."""
    time: str
    """When the table committed it: UTC, ISO 8601 with microseconds."""
    share: Fraction | None
    """What it takes of the meter before the prizes of its play; null: persons decide."""
    value: Whole | None
    """What it is worth, in minor units; null while nobody can say. Not final while ``pending``."""
    paid: Whole = 0
    """What was paid of it, in minor units."""
    status: Awarded
    """What has become of it."""
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
    """When this was said: UTC, ISO 8601 with microseconds."""
    until: str
    """Until when it holds. Whoever has heard nothing newer by then treats the jackpot as not in
    play, and the value as not current.
    """
    in_play: bool
    """Bets on the jackpot may be taken at the tables that are in play."""
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
    """The last award while it is to be shown, as long as the site has set."""
    last: tuple[JackpotAward, ...] = ()
    """The last 25 awards, newest first."""
    tables: dict[str, JackpotTable]
    """The linked tables, by id."""
    authorisation: Authorisation | None
    """What the authority has authorised; null: nothing, and the jackpot is not in play."""
    terms_wait: bool = False
    """New terms are written, and begin when the jackpot is won."""
    asks: tuple[str, ...] = ()
    """The commands that wait for a person, as ``hits.order``."""
    unordered: tuple[tuple[Whole, ...], ...] = ()
    """The hits that ``hits.order`` is about: groups of which nobody knows the order, by number."""
    simulated: bool = False
    """It is fed by simulated tables."""


class _Order(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    by: Name
    """The person's name."""
    role: Role
    """The person's role."""
    note: Note | None = None
    """Anything the person wants written down."""


Count = Annotated[int, Meta(ge=1, le=MAX_EXACT_INTEGER)]
Counts = Annotated[tuple[Count, ...], Meta(min_length=2, max_length=100)]
Paid = Annotated[int, Meta(ge=1, le=1_000_000_000_000)]
AlertId = Annotated[str, Meta(max_length=256)]
Proved = Annotated[int, Meta(ge=0, le=1_000_000_000_000)]


class AwardPay(_Order, frozen=True, kw_only=True, tag="award.pay"):
    """``award.pay``: an award is paid, or a part of it. It takes two persons."""

    award: Count
    """The number of the award."""
    amount: Paid
    """In minor units; at most what is due."""
    paid: Proved
    """What was paid of it before, in minor units: ``paid`` of the award as these persons saw it. If
    it is another amount by now, the order is refused: no order is paid twice.
    """


class AwardDecide(_Order, frozen=True, kw_only=True, tag="award.decide"):
    """``award.decide``: what an award takes where the decree does not say. It takes two persons."""

    award: Count
    """The number of the award."""
    amount: Money
    """In minor units; at most what the meter held then. 0: nothing."""


class AwardDispute(_Order, frozen=True, kw_only=True, tag="award.dispute"):
    """``award.dispute``: somebody objects to an award: nothing is paid until it is upheld or
    withdrawn.
    """

    award: Count
    """The number of the award."""


class AwardUphold(_Order, frozen=True, kw_only=True, tag="award.uphold"):
    """``award.uphold``: a disputed award stands. It takes two persons."""

    award: Count
    """The number of the award."""


class AwardWithdraw(_Order, frozen=True, kw_only=True, tag="award.withdraw"):
    """``award.withdraw``: a disputed award of which nothing was paid goes back to the meter. It
    takes two persons.
    """

    award: Count
    """The number of the award."""


class ClaimSettle(_Order, frozen=True, kw_only=True, tag="claim.settle"):
    """``claim.settle``: how an award ends that was paid and that the table then took back. It takes
    two persons.
    """

    award: Count
    """The number of the award."""
    how: Literal["recovered", "house", "stands"]
    """``recovered``: the money came back, and returns to the meter. ``house``: the house bears it,
    and pays the meter. ``stands``: the payment stands, and the meter stays as it is.
    """


class HitsOrder(_Order, frozen=True, kw_only=True, tag="hits.order"):
    """``hits.order``: in which order hits count that are closer than the clocks are true. It takes
    two persons.
    """

    hits: Counts
    """The numbers of the hits, the first one first."""


class HitFix(_Order, frozen=True, kw_only=True, tag="hit.fix"):
    """``hit.fix``: the value of a hit becomes final though a linked table has not yet said all it
    did. What that table tells later counts for the meter as it is then. It takes two persons.
    """

    hit: Count
    """The number of the hit."""


class GapSettle(_Order, frozen=True, kw_only=True, tag="gap.settle"):
    """``gap.settle``: events of a table are missing and nobody can tell them any more: what the
    meter rises by for the coins in them, as persons can prove. It takes two persons.
    """

    table: Word
    """The table whose events are missing."""
    gap: Word
    """Which gap: ``since`` of the table in the jackpot's state, as these persons saw it. The order
    is refused where the table has another gap by now.
    """
    amount: Proved
    """The stakes in minor units; 0: none."""


class MeterAdjust(_Order, frozen=True, kw_only=True, tag="meter.adjust"):
    """``meter.adjust``: the meter is put right by an amount, with the reason in ``note``. It takes
    two persons.
    """

    amount: Money
    """In minor units; negative lowers it."""
    generation: Count
    """The jackpot's ``generation`` as these persons saw it. The order is refused where it is
    another by now.
    """


class PoolTransfer(_Order, frozen=True, kw_only=True, tag="pool.transfer"):
    """``pool.transfer``: money of the meter goes to another jackpot of this controller. It takes
    two persons.
    """

    to: Word
    """The jackpot that gets it."""
    amount: Paid
    """In minor units."""
    generation: Count
    """The jackpot's ``generation`` as these persons saw it. The order is refused where it is
    another by now.
    """


class PoolClose(_Order, frozen=True, kw_only=True, tag="pool.close"):
    """``pool.close``: the jackpot ends, and what it holds, meter and reserve, goes to another one.
    Nothing may be pending or due. It takes two persons.
    """

    to: Word | None = None
    """The jackpot; None: to the house, where the authorisation lets it."""
    generation: Count
    """The jackpot's ``generation`` as these persons saw it. The order is refused where it is
    another by now.
    """


class JackpotSuspend(_Order, frozen=True, kw_only=True, tag="jackpot.suspend"):
    """``jackpot.suspend``: bets on the jackpot are not taken until it is resumed."""

    generation: Count
    """The jackpot's ``generation`` as this person saw it. The order is refused where it is
    another by now.
    """


class JackpotResume(_Order, frozen=True, kw_only=True, tag="jackpot.resume"):
    """``jackpot.resume``: bets on the jackpot are taken again."""

    generation: Count
    """The jackpot's ``generation`` as this person saw it. The order is refused where it is
    another by now.
    """


class JackpotAlertAcknowledge(_Order, frozen=True, kw_only=True, tag="alert.acknowledge"):
    """``alert.acknowledge``: a person has seen an alert, and looks after it. It stands until it is
    cleared, and is open anew if it happens again.
    """

    alert: AlertId
    """The alert's id, which is also the last level of its topic."""


class JackpotAlertClear(_Order, frozen=True, kw_only=True, tag="alert.clear"):
    """``alert.clear``: what an alert told is settled. Alerts that end with their cause are not
    cleared by persons.
    """

    alert: AlertId
    """The alert's id, which is also the last level of its topic."""


NAMED: Mapping[type[msgspec.Struct], str] = {
    AwardPay: "paid",
    GapSettle: "gap",
    MeterAdjust: "generation",
    PoolTransfer: "generation",
    PoolClose: "generation",
    JackpotSuspend: "generation",
    JackpotResume: "generation",
}
"""By order, the field in which it names the state that its signers saw. All other orders name an
award, hits or an alert.
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
    """The answer on ``jackpot/<jackpot>/reply/<client>``."""

    id: Any
    """The ``id`` of the command."""
    ok: bool
    """The order was followed and stored."""
    error: str | None = None
    """Why not, in English, for a person."""
    refusal: Refusal | None = None
    """Why not, for a program, where a text of the catalogue says it."""
    receipt: Whole | None = None
    """The number of the receipt, where money was paid."""
    judged: bool = False
    """It was refused though all who must say it had: what the first person said is over with it."""
