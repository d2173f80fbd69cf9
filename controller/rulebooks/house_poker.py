"""Poker dealt to boxes against the dealer's hand, as one decree has it: without discards, with
discards, of three cards.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from controller.contract.commands import Role, VoidReason
from controller.contract.events import Announcement
from controller.rulebooks.law import Doubt, Law

Fraction = tuple[int, int]
Pays = dict[str, Fraction]
"""What each category of hands pays to 1; one that is not there pays nothing."""


class Threshold(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The lowest hand of a category: the ranks of its most telling cards, one card for each.
    ``high_card`` ``AK``: ace and king.
    """

    category: str
    ranks: str


class Side(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A bet beside the game, on the player's hand alone.

    It is placed before the deal, and with an ante. ``least`` and ``most``: its stake as a multiple
    of the table's minimum; None: the decree does not say. ``tables``: what it pays, one for each
    choice that the decree offers; empty for the bet that takes part in the jackpot.
    """

    least: Fraction | None = None
    most: Fraction | None = None
    tables: tuple[Pays, ...] = ()


class Jackpot(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The prizes out of a meter that rises with the bets ``jackpot``."""

    award: str
    """What it is: ``jackpot`` or ``carrousel``."""
    shares: Pays
    """What each category takes of the meter."""
    discarded: Pays = {}
    """The same for a hand that was made by discarding, where the casino pays those; after the
    others.
    """
    several: Literal["remainder", "highest"] | None = None
    """Several prizes in one play: each out of what the higher ones have left, or only the highest;
    None: the decree does not say.
    """
    of: Literal["table", "all_tables"]
    """What a share is a fraction of: the table's own jackpot, which may be connected with others
    where that is authorised, or what all tables have accumulated.
    """
    decided: bool = False
    """A player takes part with the amount that the house has decided and displays, and with no
    other.
    """
    rises: Fraction | None = None
    """How much of each bet the meter takes; None: what is authorised."""
    starts: dict[str, int] = {}
    """The least meter as a multiple of the bet: ``progressive``, ``fixed``."""


class Purchase(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A card may be bought from the bank for a discarded one. None: the decree does not say."""

    up: bool | None = None
    """Whether it is dealt face up."""
    forfeits: bool | None = None
    """Whether who buys loses his side bets."""


class HousePoker(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The game. Boxes count clockwise from the croupier's left; cards go to them in that order, to
    the bank last.
    """

    title: Announcement
    article: str
    boxes: int
    """The most boxes."""
    bets_per_box: int
    """How many may bet on one box."""
    others_optional: bool = False
    """Whether others than its player may bet on a box only where the casino says so."""
    hand: int
    """Cards of a hand."""
    ranking: str
    exposed: dict[Literal["singly", "packets"], tuple[Literal["first", "last"], ...]]
    """The ways of dealing that the decree has: card by card, or hand by hand out of an automatic
    shoe. For each, which of the bank's cards is exposed: none, that one, or one of these.
    """
    second: int
    """The second bet as a multiple of the ante."""
    qualifies: Threshold
    """The lowest hand that the bank plays with."""
    pays: Pays
    """What the second bet pays, by the player's hand."""
    bonus: Pays = {}
    """What is paid on the ante besides, whatever the bank has."""
    sides: dict[str, Side] = {}
    """``insurance``, ``pair_plus``, ``jackpot``."""
    jackpot: Jackpot | None = None
    purchase: Purchase | None = None
    discards: int = 0
    """How many cards a player may discard. The bank discards by a fixed rule then."""
    limits: tuple[int, ...]
    """The highest ante as a multiple of the table's minimum, one for each choice that the decree
    offers.
    """
    last_rounds: int | None = None
    """How many last rounds are announced before closing; None: the decree does not say."""
    announcements: dict[str, Announcement]
    """What is called: ``bets_closed go pass last_rounds``; a call that the decree does not word is
    absent.
    """
    void: dict[VoidReason, Law]
    """Reasons that void a round, and their laws."""
    void_by: tuple[Role, ...]
    laws: dict[str, Law]
    """The law behind each irregularity that the game can report."""
    doubts: dict[str, Doubt] = {}
    """By the name of the table setting that decides it."""
