"""The whole state of a table of poker against the dealer. The game itself keeps none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec
from msgspec.structs import replace

from common.contract.commands import CardsShow
from common.contract.shown import LinkedJackpot
from controller.games.dealt.state import DealtRound, Stop
from controller.games.poker.state import PokerState

DEALER = "dealer"
MAX_WAITING_CARDS = 60
"""The most cards and packets that may wait for a person: more than one deck."""


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


class HousePokerRound(DealtRound, frozen=True, kw_only=True, omit_defaults=True):
    """The round in progress. ``bets``: those placed on a box by others than its player."""

    seats: tuple[HousePokerSeat, ...] = ()
    """The boxes in play."""
    amounts: Mapping[str, Mapping[str, int | None]] = {}
    """The amounts bet, by box and bet: the side bets, and the ante if its amount was reported."""
    discards: int | None = None
    """The number of cards the bank discarded; None until it has discarded."""
    slotted: tuple[str, ...] = ()
    """The boxes whose jackpot bet was placed through a coin slot."""
    marked: tuple[str, ...] = ()
    """The boxes whose jackpot bet was taken while the jackpot was not in play."""

    def seat(self, who: str | None) -> HousePokerSeat | None:
        """The box with this name; None if it is not in play."""
        return next((seat for seat in self.seats if seat.who == who), None)

    def with_seat(self, seat: HousePokerSeat) -> HousePokerRound:
        """A copy in which this box replaces the one with the same name."""
        return replace(
            self, seats=tuple(seat if other.who == seat.who else other for other in self.seats)
        )

    def has_bet(self, who: str, bet: str) -> bool:
        """Whether a box has this side bet."""
        return bet in self.amounts.get(who, {})


class HousePokerState(PokerState, frozen=True, kw_only=True, omit_defaults=True):
    """A table of poker against the dealer between two inputs."""

    current: HousePokerRound | None = None
    """The round in progress."""
    played: tuple[HousePokerRound, ...] = ()
    """Rounds that have a result, kept for corrections."""
    doubt: str | None = None
    """The irregularity that a person must decide, where it is about no card that waits."""
    shown: CardsShow | None = None
    """The command that showed cards which cannot be so."""
    deck: bool | None = None
    """Whether the last check found the deck complete; None before any check."""
    shuffler: str | None = None
    """A report of the shuffler that keeps it from dealing; None if nothing."""
    slots: tuple[str, ...] = ()
    """Devices that have reported coins; they deal no cards."""
    jackpot: LinkedJackpot | None = None
    """The jackpot that the table is linked with."""

    @property
    def stop(self) -> Stop | None:
        """A doubt about the round, then a held card, then what a silence hid."""
        hand, first = self.current, self.held[0].trouble if self.held else None
        silence = "silence" if hand is not None and hand.closed and hand.gap else None
        what = self.doubt or first or silence
        if what is None:
            return None
        asks = REQUESTED_COMMANDS.get(
            "shown" if self.shown is not None else what, ("card.decide", "round.void")
        )
        return Stop(what, asks, "decide_first")


REQUESTED_COMMANDS: Mapping[str, tuple[str, ...]] = {
    "card_before_close": ("bets.close", "card.decide", "round.void"),
    "silence": ("cards.deal", "card.decide", "round.void"),
    "shown": ("cards.show", "card.decide", "round.void"),
}
"""The commands each stop waits for; other stops wait for ``card.decide`` or ``round.void``."""
