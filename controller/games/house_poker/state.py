"""The whole state of a table of poker against the dealer. The game itself keeps none."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec.structs import replace

from controller.contract.commands import CardsShow
from controller.games.dealt.cards import Table
from controller.games.poker.state import PokerState
from controller.games.stakes import Stake
from devices.readings import CardDrawn, ShufflerPacket

DEALER = "dealer"
QUEUE = 60
"""The most cards and packets that may wait for a person: more than one deck."""

Came = CardDrawn | ShufflerPacket


class HousePokerSeat(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A box in play."""

    who: str
    decision: Literal["go", "pass"] | None = None
    discards: int | None = None
    """The number of cards discarded; None until the player has discarded or declined to."""
    bought: bool = False
    """Whether the player discarded a card and bought another."""
    told: bool = False
    """Whether the player revealed the hand to others, and so loses every bet."""

    @property
    def dropped(self) -> int:
        """The number of cards from the first deal that have left the hand."""
        return (self.discards or 0) + self.bought


class HousePokerStop(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why the round is suspended until a person decides."""

    what: str
    """The name of the irregularity."""
    asks: tuple[str, ...]
    """The commands that the stop waits for."""
    given: CardDrawn | ShufflerPacket | CardsShow | None = None
    """The card, packet or command that caused it."""


class HousePokerRound(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The round in progress."""

    round: int
    seats: tuple[HousePokerSeat, ...] = ()
    """The boxes in play."""
    bets: dict[str, dict[str, int | None]] = {}
    """The amounts bet, by box and bet: the side bets, and the ante if its amount was reported."""
    closed: bool = False
    """Whether bets are closed."""
    cards: Table = ()
    discards: int | None = None
    """The number of cards the bank discarded; None until it has discarded."""
    stop: HousePokerStop | None = None
    queue: tuple[Came, ...] = ()
    """Cards and packets that came while the round was suspended."""
    gap: bool = False
    """Whether a card may have gone unseen while a device was silent."""
    confirmed_by: str | None = None
    """The person who decided an irregularity of this round."""
    others: tuple[Stake, ...] = ()
    """Bets placed on a box by others than its player."""
    slotted: tuple[str, ...] = ()
    """The boxes whose jackpot bet was placed through a coin slot."""

    def seat(self, who: str | None) -> HousePokerSeat | None:
        """The box with this name; None if it is not in play."""
        return next((seat for seat in self.seats if seat.who == who), None)

    def with_seat(self, seat: HousePokerSeat) -> HousePokerRound:
        """A copy in which this box replaces the one with the same name."""
        return replace(
            self, seats=tuple(seat if each.who == seat.who else each for each in self.seats)
        )

    def has_bet(self, who: str, bet: str) -> bool:
        """Whether a box has placed this side bet."""
        return bet in self.bets.get(who, {})


class HousePokerState(PokerState, frozen=True, kw_only=True, omit_defaults=True):
    """A table of poker against the dealer between two inputs."""

    current: HousePokerRound | None = None
    """The round in progress."""
    played: tuple[HousePokerRound, ...] = ()
    """Rounds that have a result, kept for corrections."""
    deck: bool | None = None
    """Whether the last check found the deck complete; None before any check."""
    shuffler: str | None = None
    """What the shuffler reports that keeps it from dealing; None if nothing."""
    slots: tuple[str, ...] = ()
    """Devices that have reported coins; they deal no cards."""
