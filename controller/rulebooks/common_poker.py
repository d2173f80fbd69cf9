"""House poker with common cards, as one decree defines it: trijoker, and Texas hold'em against the
house.
"""

from __future__ import annotations

import msgspec

from common.contract.commands import Role, VoidReason
from common.contract.events import Announcement
from controller.rulebooks.law import Law, LawDoubt

HandPayouts = dict[str, tuple[int, int]]
"""Payout of each category of hands to 1; an absent category pays nothing."""


class Banked(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The rules shared by games dealt from one deck to boxes, against the house or a player who
    holds the bank.
    """

    title: Announcement
    article: str
    boxes: int
    """Maximum number of boxes."""
    deck: str
    """The name of the deck."""
    decks: int = 1
    """The number of decks that may be used in turn, one per round."""
    ranking: str
    errors: dict[str, VoidReason] = {}
    """Dealing errors that void the round, named as in ``deal.error``; ``exposed dealer`` is an
    exposed card of the dealer. The person in charge decides on an error that neither this nor the
    game covers.
    """
    last_rounds: int | None = None
    """The number of last rounds announced before closing; None if the decree does not say."""
    announcements: dict[str, Announcement]
    """The calls that the decree words: ``bets_closed``, ``pass``, ``last_rounds``."""
    void: dict[VoidReason, Law]
    """The law behind each reason that voids a round."""
    void_by: tuple[Role, ...]
    laws: dict[str, Law]
    """The law behind each irregularity that the game can report."""
    doubts: dict[str, LawDoubt] = {}
    """Doubts about the decree, by the table setting that decides each."""


class CommonPoker(Banked, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The rules of games with common cards. Cards are dealt to ``boxes``, ``dealer``, ``common:1``,
    ``common:2`` and ``board``.
    """

    bets_per_box: int
    deal: tuple[str, ...]
    """The receivers of the first cards, face down, in dealing order; ``boxes`` is one card to each
    box from the croupier's left.
    """
    limits: tuple[int, ...]
    """The highest bets that the decree offers, as multiples of the table's minimum."""


class Trijoker(CommonPoker, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Trijoker: three own cards, two common ones and three equal bets, of which two may be
    withdrawn.
    """

    bets: tuple[str, ...]
    """The names of the bets. Each but the last may be withdrawn until the common card with its
    number is turned.
    """
    pays: HandPayouts
    pair_from: str
    """The lowest pair that wins."""
    void_from: str
    """The lowest rank of a common card that voids the round if seen too early."""


class TexasHouse(CommonPoker, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Texas hold'em against the house: two own cards and five common ones, with the bets ``ante``,
    ``second`` and ``txb``.
    """

    board: tuple[int, ...]
    """The common cards dealt at a time: the flop before the players decide, turn and river
    after.
    """
    qualifies: str
    """The rank of the lowest pair with which the bank qualifies."""
    ante: HandPayouts
    """Payout of the ante, by the player's hand."""
    second: tuple[int, int]
    """Payout of the second bet to 1."""
    bonus: HandPayouts
    """Payout of the ``txb`` bet, by the player's two cards and the flop."""
    bonus_pair_from: str
    """The rank of the lowest pair for which the ``txb`` bet pays."""
