"""What a table remembers whose boxes play one deck against the house or whoever has the bank: the
base of each ``State``.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from controller.contract.commands import CardsShow
from controller.games.poker.cards import Table
from controller.games.poker.deal import Order, due
from controller.games.poker.state import PokerState
from devices.readings import CardDrawn

QUEUE = 53
"""The most cards that wait for a person."""


class BankedHeld(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A card that came and is not dealt yet. ``trouble``: why a person must look at it, if so."""

    given: CardDrawn
    trouble: str | None = None


class BankedDeal(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The round in progress. ``order``: to whom its cards go, one by one; ``table``: those that
    came. ``gap``: a silence may have hidden one. ``confirmed_by``: who decided about what was not
    as it should be.
    """

    round: int
    boxes: tuple[int, ...]
    closed: bool = False
    order: Order = ()
    table: Table = ()
    gap: bool = False
    confirmed_by: str | None = None

    @property
    def due(self) -> Order:
        """Who is still to get cards, in order."""
        return due(self.order, self.table)


class BankedState(PokerState, frozen=True, kw_only=True, omit_defaults=True):
    """A table between two inputs.

    ``boxes``: those in play. ``doubt``: the irregularity about which a person must speak before
    anything goes on, ``about`` whose cards; ``shown``: cards that are not those that were dealt.
    ``held``: cards that wait. ``checked``: the cards were looked at since the last round;
    ``defective``: and were not right. ``shuffler``: what one says that needs a person, while nobody
    has found the cards right since.
    """

    boxes: tuple[int, ...] = ()
    deal: BankedDeal | None = None
    played: tuple[BankedDeal, ...] = ()
    doubt: str | None = None
    about: str | None = None
    shown: CardsShow | None = None
    held: tuple[BankedHeld, ...] = ()
    checked: bool = True
    defective: bool = False
    shuffler: str | None = None

    @property
    def stop(self) -> str | None:
        """Why the table waits for a person."""
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
"""What a card that waits asks for."""
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
"""By the name of the irregularity; any other is about the card that waits, or about cards that may
have gone unseen.
"""
