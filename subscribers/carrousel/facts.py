"""The facts that the ledger records: table events that concern a jackpot, and orders of persons."""

from __future__ import annotations

import msgspec

from common.contract.command_fields import Signature
from common.contract.jackpot import Fraction, JackpotAlert, JackpotOrder, OutOfPlay
from subscribers.carrousel.accounts import Cause


class _Fact(msgspec.Struct, frozen=True, kw_only=True, tag_field="fact", omit_defaults=True):
    pass


class _RoundFact(_Fact, frozen=True, kw_only=True):
    """An event of a table's round."""

    cause: Cause
    session: int
    round: int


class Staked(_RoundFact, frozen=True, kw_only=True, tag="staked"):
    """A box's total stake on the jackpot in this round (``bet.placed``), not the increment. 0:
    withdrawn. ``coin``: reported by a slot, not by a person.
    """

    box: str
    amount: int
    coin: bool


class PlayStaked(_RoundFact, frozen=True, kw_only=True, tag="play_staked"):
    """The play has ended (``jackpot.staked``). ``amount``: total staked in it; ``slots``: the part
    of that inserted in slots. The hit of the play is then complete.
    """

    amount: int
    slots: int


class RoundVoided(_RoundFact, frozen=True, kw_only=True, tag="round_voided"):
    """The round is void: its stakes are returned."""


class Won(_RoundFact, frozen=True, kw_only=True, tag="won"):
    """A hand qualifies for an award (``award.qualified``). All awards of one round form one hit.
    ``time_bound``: the table's clock error in seconds if it exceeds what its site allows; None if
    unknown.
    """

    box: str
    hand: str
    cards: tuple[str, ...]
    share: Fraction | None
    time_bound: float | None = 0.0


class NotWon(_RoundFact, frozen=True, kw_only=True, tag="not_won"):
    """The table withdraws an award (``award.qualified`` with ``valid: false``)."""

    box: str
    hand: str
    cards: tuple[str, ...]
    share: Fraction | None


class CaughtUp(_Fact, frozen=True, kw_only=True, tag="heard"):
    """A table has reported all its events up to ``time`` on its own clock: its reply to a recall
    had nothing more.
    """

    table: str
    time: str


class ServedBy(_Fact, frozen=True, kw_only=True, tag="served"):
    """The node whose clock stamps a table's events, that clock's maximum error in seconds, and how
    many of its rounds are remembered.
    """

    table: str
    node: str
    clock_bound: float
    rounds: int = 4
    """Number of rounds with stakes to remember from here on. Ledgers of older releases remembered
    four.
    """


class PlayStatus(_Fact, frozen=True, kw_only=True, tag="standing"):
    """Whether bets are in play at a table, or at all if ``table`` is empty."""

    time: str
    table: str
    why: OutOfPlay | None


class OrderGiven(_Fact, frozen=True, kw_only=True, tag="ordered"):
    """An order given by one or two persons. ``time``: on the controller's clock."""

    time: str
    order: JackpotOrder
    signed: tuple[Signature, ...]
    unnamed: bool = False
    """The order was given to an older release, in which orders did not name the state that their
    signers saw (:data:`common.contract.jackpot.NAMED`). That field is 0 or empty and is not
    checked.
    """
    with_withdrawn: bool = False
    """A ``hit.fix`` that also ends the wait of hits before it that their tables have withdrawn: no
    one sees that they wait. False in facts of older releases.
    """


class OrderNotFollowed(_Fact, frozen=True, kw_only=True, tag="unfollowed"):
    """A signed order that was not followed on arrival: it waits for a second person, or was
    refused. It changes nothing. It is stored so that a restarted controller knows that the order
    was already given.
    """

    time: str
    signed: tuple[Signature, ...]
    refusal: str
    """Key of the refusal in the reply."""


class TransferReceived(_Fact, frozen=True, kw_only=True, tag="received"):
    """Money arrives from another jackpot of this controller. It results from that jackpot's fact
    (``onward``) and is applied in the same commit.
    """

    time: str
    jackpot: str
    """The receiving jackpot."""
    of: str
    """The jackpot it comes from."""
    currency: str
    amount: int


class ControllerStarted(_Fact, frozen=True, kw_only=True, tag="started"):
    """The controller started, after it had checked its program, configuration and ledger."""

    time: str
    boot: str
    program: str
    """SHA-256 over all files of the program, in hexadecimal."""
    configuration: str
    """SHA-256 of its settings, in hexadecimal."""
    software: str
    """Name and version."""
    instance: str = ""
    """The machine of a pair that took the lease; empty without a pair."""
    term: int = 0
    """How many times the lease was taken, including this time; 0 without a pair."""


class TermsGiven(_Fact, frozen=True, kw_only=True, tag="terms_given"):
    """The configuration has new terms. ``terms``: in the form of
    :class:`subscribers.carrousel.terms.Terms`.
    """

    time: str
    terms: dict[str, object]


class AlertRecorded(_Fact, frozen=True, kw_only=True, tag="alerted"):
    """An alert that a person must clear was raised, or recurred after it was acknowledged.
    ``time``: when it was raised.
    """

    time: str
    alert: str
    """Its id."""
    what: JackpotAlert
    fault: bool
    detail: str


Fact = (
    Staked
    | PlayStaked
    | RoundVoided
    | Won
    | NotWon
    | CaughtUp
    | ServedBy
    | ControllerStarted
    | PlayStatus
    | OrderGiven
    | OrderNotFollowed
    | TransferReceived
    | TermsGiven
    | AlertRecorded
)
