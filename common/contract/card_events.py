"""The events of games played with cards."""

from __future__ import annotations

from typing import Literal

import msgspec

from common.contract.commands import HandAction, Role
from common.contract.event_fields import Announcement, Event, Settled
from common.readings import OutOfPlay, Whole


class Hand(msgspec.Struct, frozen=True, omit_defaults=True):
    """One hand, or row, at the end of a round."""

    who: str
    """The hand: ``player``, ``box:3``, ``box:3.2``, ``dealer``."""
    cards: tuple[str, ...]
    """Its cards, in the order in which they came."""
    points: Whole | None = None
    """The points of the cards; absent in poker, which has none."""
    kind: str | None = None
    """The hand that the cards make: ``natural``, ``blackjack``, ``bust``, ``full_house``."""
    outcome: Literal["win", "lose", "tie"] | None = None
    """The result of the hand; absent if the table does not judge it."""
    best: tuple[str, ...] = ()
    """Poker: the cards that count, most significant first."""
    low: tuple[str, ...] = ()
    """Poker: the cards of the low hand."""
    low_kind: str | None = None
    """Poker: the low hand that they make."""
    settled: tuple[Settled, ...] = ()
    """Poker: the settlement of the hand's bets. Black jack: the settlement of the ``bet`` on the
    hand, and what it pays; empty for a hand that was surrendered.
    """


class ShoeStarted(Event, frozen=True, tag="shoe.started"):
    """A shoe begins."""

    shoe: str
    """The shoe's number in the establishment."""
    model: str | None
    """The shoe's homologated model; null if not reported."""
    decks: Whole
    """The number of decks in it."""
    cards: Whole
    """The number of cards in it."""
    cut: Whole
    """Cards behind the cut card."""
    by: str
    """The person who reported it."""
    role: Role
    """That person's role."""
    announcement: Announcement | None = None
    """The call at the table in the decree's words, by language: ``{"es": "no va más"}``."""


class ShoeCut(Event, frozen=True, tag="shoe.cut"):
    """The cut card came out."""

    drawn: Whole
    """Cards that came before it."""
    left: Whole | None
    """Cards behind it by the count; null without a count."""
    rounds_left: Whole
    """Rounds that may still be played, the one in progress included."""
    announcement: Announcement | None = None
    """The call at the table in the decree's words, by language: ``{"es": "no va más"}``."""


class ShoeEnded(Event, frozen=True, tag="shoe.ended"):
    """The shoe is over."""

    why: Literal["cut", "person", "reset"]
    """Why it is over."""
    drawn: Whole
    """Cards that came out."""
    unread: Whole
    """Cards that the device could not read."""
    left: Whole | None = None
    """Cards counted in the shoe at the end; absent if they were not counted."""
    missing: tuple[str, ...] = ()
    """Cards that should have come and did not, as far as all were read."""
    extra: tuple[str, ...] = ()
    """Cards that came and should not have."""


class CardsBurned(Event, frozen=True, tag="cards.burned"):
    """Cards were burned, unseen."""

    count: Whole
    """How many."""
    shown: str | None = None
    """The card that was shown and decided how many, where the decree has one."""


class CardExpected(Event, frozen=True, tag="card.expected"):
    """The place of the next card changed."""

    to: str | None
    """The hand that the next card belongs to, ``burn`` or ``table``; null: no card may come now."""
    announcement: Announcement | None = None
    """The call at the table in the decree's words, by language: ``{"es": "no va más"}``."""


class CardDealt(Event, frozen=True, tag="card.dealt"):
    """A card was dealt to a hand."""

    to: str
    """The hand."""
    index: Whole
    """Which card of the hand, from 1."""
    card: str | None
    """The card; null while it is face down."""
    was: str | None = None
    """The hand it was with before, where it did not belong."""


class CardTurned(Event, frozen=True, tag="card.turned"):
    """A card that was face down is turned."""

    to: str
    """The hand."""
    index: Whole
    """Which card of the hand, from 1."""
    card: str
    """The card."""


class CardRemoved(Event, frozen=True, tag="card.removed"):
    """A card leaves the game."""

    why: str
    """What happened to it."""
    card: str | None
    """The card; null if no person at the table has seen it."""
    to: str | None = None
    """The hand that it was with."""
    law: str | None = None
    """The id of the rule that removes it."""
    article: str | None = None
    """Where that rule is printed."""


class HandDecided(Event, frozen=True, tag="hand.decided"):
    """A hand acts, by its holder's word or because the rules leave no choice."""

    who: str
    """The hand."""
    decision: Literal[
        "draw",
        "stand",
        "double",
        "split",
        "surrender",
        "even_money",
        "natural",
        "bust",
        HandAction,
    ]
    """The action."""
    by: str | None = None
    """The person who reported it; absent where the rules leave no choice."""
    announcement: Announcement | None = None
    """The call at the table in the decree's words, by language: ``{"es": "no va más"}``."""
    count: Whole | None = None
    """How many cards it discards."""
    valid: bool = True
    """``false``: it was reported by mistake and is taken back."""


class Insurance(Event, frozen=True, tag="insurance"):
    """Insurance is offered, or closed."""

    offered: bool
    """``true``: offered; ``false``: closed."""
    announcement: Announcement | None = None
    """The call at the table in the decree's words, by language: ``{"es": "no va más"}``."""


class ButtonMoved(Event, frozen=True, tag="button.moved"):
    """The button or the bank moved."""

    seat: Whole
    """The seat that has it now."""
    by: str | None = None
    """The person who moved it; absent where it moved by the rules."""


class BettingOpened(Event, frozen=True, tag="betting.opened"):
    """A betting interval begins. Sent again for the same interval if an open card turns out to
    differ from the one that was read: the later event applies.
    """

    interval: Whole
    """The number of the interval, counted per round from 1."""
    first: str | None = None
    """The hand that acts first, if the rules determine it."""
    announcement: Announcement | None = None
    """The call at the table in the decree's words, by language: ``{"es": "no va más"}``."""


class BettingClosed(Event, frozen=True, tag="betting.closed"):
    """The bets of the betting interval are equal."""

    interval: Whole
    """The number of the interval, counted per round from 1."""
    by: str | None = None
    """The person who reported it; absent where it followed by itself."""


class BetPlaced(Event, frozen=True, tag="bet.placed"):
    """A bet was placed, withdrawn or refused that matters beyond its own amount."""

    who: str
    """Whose bet: ``box:3``, ``seat:2``."""
    bet: str
    """The bet, as in the command ``bet.place``."""
    withdrawn: bool = False
    """The bet is withdrawn or refused."""
    amount: Whole | None = None
    """The amount in minor units; absent if not reported."""
    by: str | None = None
    """The person who reported it; absent where a device did."""
    out_of_play: bool = False
    """A bet on a jackpot that was taken, or part of it, while the jackpot was not in play."""


class AwardQualified(Event, frozen=True, tag="award.qualified"):
    """A hand qualifies for an award: a bonus, a jackpot, a carrousel."""

    award: str
    """The award: ``bonus``, ``jackpot``, ``carrousel``."""
    box: str
    """The hand."""
    hand: str
    """The hand that its cards make."""
    cards: tuple[str, ...] = ()
    """Its cards, which are face up."""
    share: tuple[Whole, Whole] | None = None
    """Its share of the meter before the prizes of this play, as numerator and denominator."""
    of: Literal["table", "all_tables"] | None = None
    """Whose meter ``share`` is of."""
    out_of_play: bool = False
    """The hand's bet was taken while the jackpot was not in play."""
    pays: tuple[Whole, Whole] | None = None
    """The odds of a fixed award to 1: numerator and denominator."""
    valid: bool = True
    """``false``: the result was corrected, so the award is no longer valid and must not be paid.
    All other fields repeat the first event.
    """


class JackpotStaked(Event, frozen=True, tag="jackpot.staked"):
    """The stakes on the jackpot in this play, sent at its end for the controller that raises the
    meter.
    """

    amount: Whole
    """The sum, in minor units."""
    slots: Whole = 0
    """How much of it came through slots, in minor units. Each of those coins was reported as it
    fell (``bet.placed``).
    """


class JackpotInPlay(Event, frozen=True, tag="jackpot.in_play"):
    """The jackpot that the table is linked with is in play from here on, or is not. Bets that were
    placed before stay as they are.
    """

    jackpot: str
    """Its id."""
    in_play: bool | None
    """Bets on it may be accepted; null if the table is no longer linked with a jackpot."""
    why: OutOfPlay | None = None
    """Why not; absent if they may."""


class DeckChecked(Event, frozen=True, tag="deck.checked"):
    """A person or a shuffler checked a deck. Whether the count and whether the set is right are two
    separate facts. The missing cards are reported to surveillance only: they could reveal a hand
    that was not shown.
    """

    right: bool
    """The deck may be played with."""
    count: Whole | None = None
    """Cards counted, where that was reported."""
    count_right: bool | None = None
    """Whether the count is as it must be; null where it was not judged."""
    set_right: bool | None = None
    """Whether every card is there as often as it must be; null where it was not judged."""
    by: str | None = None
    """The person who checked it; absent where a shuffler did."""
    device: str | None = None
    """The shuffler that checked it; absent where a person did."""
