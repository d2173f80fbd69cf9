"""What a table of poker against the dealer remembers. Everything is here; the game itself remembers
nothing.
"""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec.structs import replace

from controller.contract.commands import CardsShow
from controller.games.poker.cards import Table
from controller.games.poker.state import PokerState
from controller.games.stakes import Stake
from devices.readings import CardDrawn, ShufflerPacket

DEALER = "dealer"
QUEUE = 60
"""The most cards and packets that wait for a person: more than a deck."""

Came = CardDrawn | ShufflerPacket


class HousePokerSeat(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A box in play. ``discards``: how many cards it threw away, None before it said so;
    ``bought``: for the one it threw away it bought another. ``told``: its player showed or told his
    cards, and loses everything.
    """

    who: str
    decision: Literal["go", "pass"] | None = None
    discards: int | None = None
    bought: bool = False
    told: bool = False

    @property
    def dropped(self) -> int:
        """How many of the cards that were dealt first are not in the hand any more."""
        return (self.discards or 0) + self.bought


class HousePokerStop(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why the round is suspended until a person decides. ``given``: the card, packet or command it
    is about.
    """

    what: str
    asks: tuple[str, ...]
    given: CardDrawn | ShufflerPacket | CardsShow | None = None


class HousePokerRound(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The round in progress. ``bets``: what lies beside the ante, by box and bet, and the ante's
    amount if it was said.

    ``discards``: how many cards the bank threw away, None before. ``queue``: what came while the
    round stood still. ``gap``: a silence may have hidden a card. ``confirmed_by``: who decided
    about something. ``others``: what others than its player bet on a box. ``slotted``: the boxes
    whose bet on the jackpot came through a slot.
    """

    round: int
    seats: tuple[HousePokerSeat, ...] = ()
    bets: dict[str, dict[str, int | None]] = {}
    closed: bool = False
    cards: Table = ()
    discards: int | None = None
    stop: HousePokerStop | None = None
    queue: tuple[Came, ...] = ()
    gap: bool = False
    confirmed_by: str | None = None
    others: tuple[Stake, ...] = ()
    slotted: tuple[str, ...] = ()

    def seat(self, who: str | None) -> HousePokerSeat | None:
        """The box of this name, if it is in play."""
        return next((seat for seat in self.seats if seat.who == who), None)

    def with_seat(self, seat: HousePokerSeat) -> HousePokerRound:
        """With this box in the place of the one of its name."""
        return replace(
            self, seats=tuple(seat if each.who == seat.who else each for each in self.seats)
        )

    def has_bet(self, who: str, bet: str) -> bool:
        """Whether a box has this side bet."""
        return bet in self.bets.get(who, {})


class HousePokerState(PokerState, frozen=True, kw_only=True, omit_defaults=True):
    """A table of poker against the dealer between two inputs.

    ``deck``: whether the deck was right when it was looked at last; ``shuffler``: what it says that
    it cannot deal for. ``slots``: devices that told of coins, which deal no cards.
    """

    current: HousePokerRound | None = None
    played: tuple[HousePokerRound, ...] = ()
    deck: bool | None = None
    shuffler: str | None = None
    slots: tuple[str, ...] = ()
