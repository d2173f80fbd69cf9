"""The events of games that are played with cards."""

from __future__ import annotations

from typing import Literal

import msgspec

from controller.contract.commands import Role
from controller.contract.event_fields import Announcement, Event, Settled


class Hand(msgspec.Struct, frozen=True, omit_defaults=True):
    """One hand, or row, as it lay at the end of a round. ``kind``: what it makes (``natural``,
    ``bust``, ``full_house`` ...).

    Of poker: ``best``, the cards that count; ``low`` and ``low_kind``, the low hand; ``settled``,
    its bets; no points. Of black jack: ``settled``, the bet on the hand and what it pays; none of a
    hand that was given up for half its bet.
    """

    who: str
    cards: tuple[str, ...]
    points: int | None = None
    kind: str | None = None
    outcome: Literal["win", "lose", "tie"] | None = None
    best: tuple[str, ...] = ()
    low: tuple[str, ...] = ()
    low_kind: str | None = None
    settled: tuple[Settled, ...] = ()


class ShoeStarted(Event, frozen=True, tag="shoe.started"):
    """A talla begins: shoe ``shoe`` of ``model`` with ``cards`` cards of ``decks`` decks, ``cut``
    of them behind the cut card.
    """

    shoe: str
    model: str | None
    decks: int
    cards: int
    cut: int
    by: str
    role: Role
    announcement: Announcement | None = None


class ShoeCut(Event, frozen=True, tag="shoe.cut"):
    """The cut card has come: ``drawn`` cards came before it, ``left`` are behind it by the count;
    null without a count.

    ``rounds_left``: how many rounds may still be played, the one in hand among them.
    """

    drawn: int
    left: int | None
    rounds_left: int
    announcement: Announcement | None = None


class ShoeEnded(Event, frozen=True, tag="shoe.ended"):
    """The talla is over. ``missing`` and ``extra``: what the cards seen say against the
    composition, as far as all were read.
    """

    why: Literal["cut", "person", "reset"]
    drawn: int
    unread: int
    left: int | None = None
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()


class CardsBurned(Event, frozen=True, tag="cards.burned"):
    """``count`` cards were burned, unseen. ``shown``: the card that was shown and said how many,
    where the decree has one.
    """

    count: int
    shown: str | None = None


class CardExpected(Event, frozen=True, tag="card.expected"):
    """Where the next card belongs; null: none may come now. ``announcement``: what is called before
    it comes.
    """

    to: str | None
    announcement: Announcement | None = None


class CardDealt(Event, frozen=True, tag="card.dealt"):
    """A card went to a hand as its ``index``-th. ``card`` is null while it lies face down.

    ``was``: it lay with that hand before, where it did not belong.
    """

    to: str
    index: int
    card: str | None
    was: str | None = None


class CardTurned(Event, frozen=True, tag="card.turned"):
    """A card that lay face down is turned."""

    to: str
    index: int
    card: str


class CardRemoved(Event, frozen=True, tag="card.removed"):
    """A card leaves the game. ``card`` is null where nobody at the table has seen it. ``to``: the
    hand that it lay with.
    """

    why: str
    card: str | None
    to: str | None = None
    law: str | None = None
    article: str | None = None


class HandDecided(Event, frozen=True, tag="hand.decided"):
    """What a hand does, by its holder's word or because the rules leave no choice (``by`` is absent
    then).

    ``count``: how many cards it discards. ``valid`` false: it was told by mistake, and is taken
    back.
    """

    who: str
    decision: Literal[
        "draw", "stand", "double", "split", "surrender", "even_money", "natural", "bust",
        "go", "pass", "buy", "discard", "withdraw", "open", "check", "bet", "call", "raise", "fold", "all_in", "muck", "set",
        "out", "in",
    ]  # fmt: skip
    by: str | None = None
    announcement: Announcement | None = None
    count: int | None = None
    valid: bool = True


class Insurance(Event, frozen=True, tag="insurance"):
    """Insurance is offered, or closed."""

    offered: bool
    announcement: Announcement | None = None


class ButtonMoved(Event, frozen=True, tag="button.moved"):
    """Who has the button, or the bank."""

    seat: int
    by: str | None = None


class BettingOpened(Event, frozen=True, tag="betting.opened"):
    """A betting interval begins; they count from 1 in a round. ``first``: who speaks first, where
    the rules say so.

    Said again for the same interval where an open card was another than was read: the later one
    holds.
    """

    interval: int
    first: str | None = None
    announcement: Announcement | None = None


class BettingClosed(Event, frozen=True, tag="betting.closed"):
    """The bets of the interval are equal."""

    interval: int
    by: str | None = None


class BetPlaced(Event, frozen=True, tag="bet.placed"):
    """A bet that matters beyond its own amount: it is placed, or (``withdrawn``) taken back or
    refused.
    """

    who: str
    bet: str
    withdrawn: bool = False
    amount: int | None = None
    by: str | None = None


class AwardQualified(Event, frozen=True, tag="award.qualified"):
    """A hand has a right to an award: a bonus, a jackpot, a carrousel. ``hand``: its category;
    ``share``: what it takes, as a fraction of the meter as it stood before the prizes of this play;
    ``of``: whose meter, the table's or that of all tables that are connected; ``pays``: to 1, of a
    fixed one. ``valid`` false: the right is taken back, and must not be paid: the result that it
    came of was corrected. It has all that was said when the right was given.
    """

    award: str
    box: str
    hand: str
    cards: tuple[str, ...] = ()
    share: tuple[int, int] | None = None
    of: Literal["table", "all_tables"] | None = None
    pays: tuple[int, int] | None = None
    valid: bool = True


class JackpotStaked(Event, frozen=True, tag="jackpot.staked"):
    """What was staked on the jackpot in this play, told at its end for whoever raises the meter.
    ``slots``: so much of it came through slots, each coin of which was told as it fell
    (``bet.placed``).
    """

    amount: int
    slots: int = 0


class DeckChecked(Event, frozen=True, tag="deck.checked"):
    """A deck was looked at, by a person or by a shuffler. That its count and that its set is right
    are two facts; null: not judged. ``right``: it may be played with. Which cards are missing is
    for surveillance alone: a hand that nobody showed may be told by them.
    """

    right: bool
    count: int | None = None
    count_right: bool | None = None
    set_right: bool | None = None
    by: str | None = None
    device: str | None = None
