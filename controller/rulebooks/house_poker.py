"""Poker dealt to boxes against the dealer's hand, as one decree defines it: without discards, with
discards, or with three cards.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from common.contract.commands import Role, VoidReason
from common.contract.events import Announcement
from controller.rulebooks.law import Law, LawDoubt

Fraction = tuple[int, int]
HousePayouts = dict[str, Fraction]
"""Payout of each category of hands to 1; an absent category pays nothing."""


class Threshold(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The lowest hand that counts: a category, and the ranks of its deciding cards. ``high_card``
    with ``AK`` is ace and king.
    """

    category: str
    ranks: str


class SideBet(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A side bet on the player's hand alone, placed before the deal together with an ante."""

    least: Fraction | None = None
    """The lowest stake as a multiple of the table's minimum; None if the decree does not say."""
    most: Fraction | None = None
    """The highest stake as a multiple of the table's minimum; None if the decree does not say."""
    tables: tuple[HousePayouts, ...] = ()
    """The pay tables that the decree offers; empty for the jackpot bet."""


class JackpotRules(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The prizes paid from a meter that rises with the ``jackpot`` bets."""

    award: str
    """The name of the award: ``jackpot`` or ``carrousel``."""
    shares: HousePayouts
    """The share of the meter that each category wins."""
    discarded: HousePayouts = {}
    """The shares of hands made by discarding, where the casino pays them. They are paid after the
    others.
    """
    several: Literal["remainder", "highest"] | None = None
    """How several prizes in one round are paid: each from what the higher ones leave, or the
    highest only. None if the decree does not say.
    """
    of: Literal["table", "all_tables"]
    """The base of a share: the table's own jackpot, which may be linked to others where authorised,
    or what all tables have accumulated.
    """
    decided: bool = False
    """Whether the jackpot bet must be the amount that the house has fixed and displays."""
    rises: Fraction | None = None
    """The part of each bet that goes to the meter; None if the authorisation fixes it."""
    starts: dict[str, int] = {}
    """The lowest meter as a multiple of the bet, for ``progressive`` and ``fixed``."""


class CardPurchase(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The purchase of a card from the bank to replace a discarded one. None: the decree does not
    say.
    """

    up: bool | None = None
    """Whether the bought card is dealt face up."""
    forfeits: bool | None = None
    """Whether the buyer loses the side bets."""


class HousePoker(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The game. Boxes are numbered clockwise from the croupier's left; cards are dealt in that
    order, to the bank last.
    """

    title: Announcement
    article: str
    boxes: int
    """Maximum number of boxes."""
    bets_per_box: int
    """Maximum number of people who may bet on one box."""
    others_optional: bool = False
    """If true, others may bet on a player's box only with the casino's permission."""
    hand: int
    """The number of cards in a hand."""
    ranking: str
    exposed: dict[Literal["singly", "packets"], tuple[Literal["first", "last"], ...]]
    """The bank's cards that may be dealt face up, for each way of dealing that the decree has: card
    by card, or hand by hand from an automatic shoe. Empty: none; two: the casino chooses one.
    """
    second: int
    """The second bet as a multiple of the ante."""
    qualifies: Threshold
    """The lowest hand with which the bank qualifies."""
    pays: HousePayouts
    """Payout of the second bet, by the player's hand."""
    bonus: HousePayouts = {}
    """Additional payout of the ante, regardless of the bank's hand."""
    sides: dict[str, SideBet] = {}
    """The side bets by name: ``insurance``, ``pair_plus``, ``jackpot``."""
    jackpot: JackpotRules | None = None
    purchase: CardPurchase | None = None
    discards: int = 0
    """Maximum number of cards that a player may discard. If any, the bank follows a fixed rule."""
    limits: tuple[int, ...]
    """The highest antes that the decree offers, as multiples of the table's minimum."""
    last_rounds: int | None = None
    """The number of last rounds announced before closing; None if the decree does not say."""
    announcements: dict[str, Announcement]
    """The calls that the decree words: ``bets_closed``, ``go``, ``pass``, ``last_rounds``."""
    void: dict[VoidReason, Law]
    """The law behind each reason that voids a round."""
    void_by: tuple[Role, ...]
    laws: dict[str, Law]
    """The law behind each irregularity that the game can report."""
    doubts: dict[str, LawDoubt] = {}
    """Doubts about the decree, by the table setting that decides each."""
