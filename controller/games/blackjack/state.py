"""What a table of black jack remembers. Everything is here; the game itself remembers nothing."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec.structs import replace

from controller.contract.events import BlackjackOutcome, Frame, Hand
from controller.games.moves import Remembered
from controller.games.shoe import Past, Shoe
from controller.games.stakes import Stake

REMEMBERED = 20
"""Rounds in the retained history."""

Doubt = Literal["silence", "shoe_reset", "hands_too_few"]


class BlackjackSeat(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One hand of one box. ``split``: the pair it was part of. ``asked``: it asked for its next
    card. ``even_money``: a black jack that has taken even money in this play of the dealer.
    """

    who: str
    cards: tuple[str, ...] = ()
    split: Literal["aces", "others"] | None = None
    doubled: bool = False
    stood: bool = False
    surrendered: bool = False
    even_money: bool = False
    asked: bool = False


class BlackjackDeal(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The round in progress.

    ``seats``: its hands in the order in which they play; none until the boxes are set. ``play``:
    which of the dealer's hands this is, where he has several. ``unplaced``: cards whose hand nobody
    has named. ``insurance``: whether it may be taken now. ``latest``: who got the latest card.
    ``confirmed_by``: who decided about a card. ``last``: the cut card has come. ``bets``: those
    reported.
    """

    round: int
    seats: tuple[BlackjackSeat, ...] = ()
    dealer: tuple[str, ...] = ()
    play: int = 1
    closed: bool = False
    unplaced: tuple[str, ...] = ()
    insurance: bool | None = None
    latest: str | None = None
    frames: tuple[Frame, ...] = ()
    confirmed_by: str | None = None
    last: bool = False
    bets: tuple[Stake, ...] = ()

    @property
    def begun(self) -> bool:
        """Whether a card of it was dealt."""
        return bool(self.dealer or self.unplaced or any(seat.cards for seat in self.seats))

    @property
    def first_deal(self) -> bool:
        """Whether every hand has its first two cards and the dealer his one, and no card has come
        since.
        """
        whole = all(
            len(seat.cards) == 2 and not seat.split and not seat.doubled and not seat.asked
            for seat in self.seats
        )
        return bool(self.seats) and whole and len(self.dealer) == 1 and not self.unplaced

    def seat(self, who: str) -> BlackjackSeat | None:
        """The hand of this name."""
        return next((seat for seat in self.seats if seat.who == who), None)

    def with_seat(self, seat: BlackjackSeat) -> BlackjackDeal:
        """The round with this hand in place of the one of its name."""
        return replace(
            self, seats=tuple(seat if each.who == seat.who else each for each in self.seats)
        )


class BlackjackHeld(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A card that left the shoe and has no place yet. ``trouble``: why a person must look at it, if
    so.
    """

    card: str | None
    trouble: str | None = None
    frame: Frame | None = None


class BlackjackEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The outcome of one round."""

    round: int
    kind: Literal["result", "void", "unresolved"]
    hands: tuple[Hand, ...] = ()
    marks: tuple[str, ...] = ()
    reason: str | None = None
    article: str | None = None

    @property
    def outcome(self) -> BlackjackOutcome:
        """What a round that has a result came to."""
        return BlackjackOutcome(hands=self.hands, marks=self.marks)


class BlackjackLimit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An announced minimum: ``left`` rounds, or with None the rest of the shoe, are still played at
    the old one.
    """

    minimum: int
    left: int | None = None


class BlackjackState(Remembered, frozen=True, kw_only=True, omit_defaults=True):
    """A table of black jack between two inputs.

    ``past``: the shoes of the last sessions. ``burn``: cards still to be burned, unseen. ``held``:
    cards that wait for a place, in their order. ``doubt``: why a person must decide before anything
    goes on. ``silent``: the device is silent now. ``asked``, ``expected``: what was last announced
    of it.
    """

    limit: BlackjackLimit | None = None
    last_rounds: int | None = None
    past: Past = ()
    shoe: Shoe | None = None
    burn: int = 0
    deal: BlackjackDeal | None = None
    held: tuple[BlackjackHeld, ...] = ()
    doubt: Doubt | None = None
    silent: bool = False
    asked: str | None = None
    expected: str | None = None
    entries: tuple[BlackjackEntry, ...] = ()

    def with_entry(self, entry: BlackjackEntry) -> BlackjackState:
        """The state with the outcome of one more round; the oldest surplus one is forgotten."""
        return replace(self, entries=(*self.entries, entry)[-REMEMBERED:])
