"""What the ledger takes in: what tables did, as far as it concerns a jackpot, and what persons
ordered.
"""

from __future__ import annotations

import msgspec

from controller.contract.command_fields import Signature
from controller.contract.jackpot import Fraction, JackpotAlert, JackpotOrder, OutOfPlay
from subscribers.carrousel.accounts import Cause


class _Fact(msgspec.Struct, frozen=True, kw_only=True, tag_field="fact", omit_defaults=True):
    pass


class _RoundFact(_Fact, frozen=True, kw_only=True):
    """An event of a table's round."""

    cause: Cause
    session: int
    round: int


class Staked(_RoundFact, frozen=True, kw_only=True, tag="staked"):
    """What a box has on the jackpot in this round by now (``bet.placed``): the whole, not what was
    added. 0: withdrawn. ``coin``: a slot told it, and no person.
    """

    box: str
    amount: int
    coin: bool


class PlayStaked(_RoundFact, frozen=True, kw_only=True, tag="play_staked"):
    """The play has ended (``jackpot.staked``): what was staked in it, and how much of that came
    through slots. It closes the hit of the play.
    """

    amount: int
    slots: int


class RoundVoided(_RoundFact, frozen=True, kw_only=True, tag="round_voided"):
    """The round is void: its stakes go back."""


class Won(_RoundFact, frozen=True, kw_only=True, tag="won"):
    """A hand qualifies (``award.qualified``). All of one round are one hit. ``time_bound``: the
    seconds by which the table says that its time may be wrong, where that is more than its site
    allows; None: nobody knows.
    """

    box: str
    hand: str
    cards: tuple[str, ...]
    share: Fraction | None
    time_bound: float | None = 0.0


class NotWon(_RoundFact, frozen=True, kw_only=True, tag="not_won"):
    """The table takes an award back (``award.qualified`` with ``valid: false``)."""

    box: str
    hand: str
    cards: tuple[str, ...]
    share: Fraction | None


class CaughtUp(_Fact, frozen=True, kw_only=True, tag="heard"):
    """A table has told everything that it did until ``time`` on its own clock: its answer to a
    recall says that nothing more was there.
    """

    table: str
    time: str


class ServedBy(_Fact, frozen=True, kw_only=True, tag="served"):
    """Which node's clock a table's times are of, within how many seconds of the true time that
    clock is, and how long its rounds can matter.
    """

    table: str
    node: str
    clock_bound: float
    rounds: int = 4
    """How many rounds with stakes are remembered of it from here on. A ledger of an older release
    remembered four.
    """


class PlayStatus(_Fact, frozen=True, kw_only=True, tag="standing"):
    """Whether bets may be taken at a table, or, with ``table`` empty, at all."""

    time: str
    table: str
    why: OutOfPlay | None


class OrderGiven(_Fact, frozen=True, kw_only=True, tag="ordered"):
    """A person, or two, ordered something. ``time``: on the controller's clock."""

    time: str
    order: JackpotOrder
    signed: tuple[Signature, ...]
    unnamed: bool = False
    """It was given to an older release, in which orders did not name the state that their signers
    saw (:data:`controller.contract.jackpot.NAMED`). That field is 0 or empty and is not checked.
    """


class OrderNotFollowed(_Fact, frozen=True, kw_only=True, tag="unfollowed"):
    """A signed order that was not followed when it came: it waits for a second person, or was
    refused. Nothing follows from it. It is stored so that a restarted controller knows that the
    order was already given.
    """

    time: str
    signed: tuple[Signature, ...]
    refusal: str
    """The key of the reply's refusal."""


class TransferReceived(_Fact, frozen=True, kw_only=True, tag="received"):
    """Money of another jackpot of this controller comes in. What that jackpot has taken names it
    (``onward``), and it is taken in the same commit.
    """

    time: str
    jackpot: str
    """The jackpot that it is for."""
    of: str
    """The jackpot that it comes from."""
    currency: str
    amount: int


class ControllerStarted(_Fact, frozen=True, kw_only=True, tag="started"):
    """The controller started, and had checked itself before."""

    time: str
    boot: str
    program: str
    """SHA-256 over all files of the program, in hexadecimal."""
    configuration: str
    """The same of what it was told of its jackpots."""
    software: str
    """Name and version."""


class TermsGiven(_Fact, frozen=True, kw_only=True, tag="terms_given"):
    """The configuration has other terms than before. ``terms``: as
    :class:`subscribers.carrousel.terms.Terms`.
    """

    time: str
    terms: dict[str, object]


class AlertRaised(_Fact, frozen=True, kw_only=True, tag="alerted"):
    """An alert that a person must clear was raised, or happened again after somebody had seen it.
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
    | AlertRaised
)
