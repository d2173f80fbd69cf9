"""The state shared by all games in which boxes play with one deck against the house or the banker:
the base of each ``State``.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from controller.contract.commands import CardsShow
from controller.games.dealt.cards import Table
from controller.games.poker.deal import Order, due
from controller.games.poker.state import PokerState
from devices.readings import CardDrawn

QUEUE = 53
"""The most cards that may wait for a person."""


class BankedHeld(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A card that was read but is not dealt yet."""

    given: CardDrawn
    trouble: str | None = None
    """The irregularity that a person must decide; None if the card waits behind others."""


class BankedDeal(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The round in progress."""

    round: int
    boxes: tuple[int, ...]
    """The boxes in play."""
    closed: bool = False
    """Whether bets are closed."""
    order: Order = ()
    """The receiver of each card, in dealing order."""
    table: Table = ()
    """The cards dealt so far."""
    gap: bool = False
    """Whether a card may have gone unseen while a device was silent."""
    confirmed_by: str | None = None
    """The person who decided an irregularity of this round."""

    @property
    def due(self) -> Order:
        """The receivers of the cards still to be dealt, in order."""
        return due(self.order, self.table)


class BankedState(PokerState, frozen=True, kw_only=True, omit_defaults=True):
    """A table between two inputs."""

    boxes: tuple[int, ...] = ()
    """The boxes in play."""
    deal: BankedDeal | None = None
    """The round in progress."""
    played: tuple[BankedDeal, ...] = ()
    """Rounds that have a result, kept for corrections."""
    doubt: str | None = None
    """The irregularity that a person must decide before play continues."""
    about: str | None = None
    """The hand that the irregularity concerns."""
    shown: CardsShow | None = None
    """The command that showed cards other than those dealt."""
    held: tuple[BankedHeld, ...] = ()
    """Cards that were read but not dealt yet."""
    checked: bool = True
    """Whether the deck was checked since the last round."""
    defective: bool = False
    """Whether the last check found the deck incomplete or wrong."""
    shuffler: str | None = None
    """What the shuffler reports that needs a person; None if nothing, or once a check finds the
    deck complete.
    """

    @property
    def stop(self) -> str | None:
        """The irregularity for which the table waits for a person; None if it does not wait."""
        if self.doubt is not None:
            return self.doubt
        if self.deal is not None and self.deal.gap:
            return "silence"
        return (self.held[0].trouble or "silence") if self.held else None

    @property
    def stop_asks(self) -> tuple[str, ...]:
        """The commands that the stop waits for."""
        if self.stop is None:
            return ()
        asks = HELD if self.doubt is None and self.stop != "silence" else ASKS.get(self.stop, HELD)
        return (
            asks
            if self.deal is not None
            else tuple(each for each in asks if each not in ("round.void", "cards.deal"))
        )


HELD = ("card.decide", "round.void")
"""The commands that decide a waiting card."""
ASKS: Mapping[str, tuple[str, ...]] = {
    "silence": ("cards.deal", "card.decide", "round.void"),
    "card_exposed": ("round.confirm", "round.void"),
    "deal_error": ("round.confirm", "round.void"),
    "packet_wrong": ("round.confirm", "round.void"),
    "shuffler_unready": ("round.confirm", "round.void"),
    "dealer_early": ("round.confirm", "round.void"),
    "deck_wrong": ("deck.check", "round.confirm", "round.void"),
    "leftover_wrong": ("deck.check", "round.confirm", "round.void"),
    "leftover_unchecked": ("deck.check", "round.void"),
    "common_exposed": ("cards.show", "round.void"),
    "card_unread": ("cards.show", "round.void"),
    "shown_differs": ("cards.show", "card.decide", "round.void"),
    "dice_late": ("dice.tell", "round.void"),
}
"""The commands that each irregularity waits for. Any other irregularity concerns a waiting card and
asks for :data:`HELD`.
"""
