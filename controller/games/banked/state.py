"""The state shared by all games in which boxes play with one deck against the house or the banker:
the base of each ``State``.
"""

from __future__ import annotations

from collections.abc import Mapping

from common.contract.commands import CardsShow
from controller.games.dealt.state import DealtRound, Stop
from controller.games.poker.deal import Order, due
from controller.games.poker.state import PokerState

MAX_WAITING_CARDS = 53
"""The most cards that may wait for a person."""


class BankedDeal(DealtRound, frozen=True, kw_only=True, omit_defaults=True):
    """The round in progress."""

    boxes: tuple[int, ...]
    """The boxes in play."""
    order: Order = ()
    """The receiver of each card, in dealing order."""

    @property
    def due(self) -> Order:
        """The receivers of the cards still to be dealt, in order."""
        return due(self.order, self.cards)


class BankedState(PokerState, frozen=True, kw_only=True, omit_defaults=True):
    """A table between two inputs."""

    boxes: tuple[int, ...] = ()
    """The boxes in play."""
    current: BankedDeal | None = None
    """The round in progress."""
    played: tuple[BankedDeal, ...] = ()
    """Rounds that have a result, kept for corrections."""
    doubt: str | None = None
    """The irregularity that a person must decide before play continues."""
    about: str | None = None
    """The hand that the irregularity concerns."""
    shown: CardsShow | None = None
    """The command that showed cards other than those dealt."""
    checked: bool = True
    """Whether the deck was checked since the last round."""
    defective: bool = False
    """Whether the last check found the deck incomplete or wrong."""
    shuffler: str | None = None
    """A report of the shuffler that needs a person; None if nothing, or once a check finds the deck
    complete.
    """

    @property
    def stop(self) -> Stop | None:
        """A doubt about the round, then what a silence hid, then a held card."""
        if self.doubt is not None:
            what, asks = self.doubt, REQUESTED_COMMANDS.get(self.doubt, CARD_DECISIONS)
        elif self.current is not None and self.current.gap:
            what, asks = "silence", REQUESTED_COMMANDS["silence"]
        elif self.held:
            what = self.held[0].trouble or "silence"
            asks = CARD_DECISIONS if what != "silence" else REQUESTED_COMMANDS["silence"]
        else:
            return None
        if self.current is None:
            asks = tuple(command for command in asks if command not in ("round.void", "cards.deal"))
        return Stop(what, asks)


CARD_DECISIONS = ("card.decide", "round.void")
"""The commands that decide a waiting card."""
REQUESTED_COMMANDS: Mapping[str, tuple[str, ...]] = {
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
asks for :data:`CARD_DECISIONS`.
"""
