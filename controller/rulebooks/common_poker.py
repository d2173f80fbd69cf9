"""House poker with cards that all hands share, as one decree has it: trijoker, and texas against
the house.
"""

from __future__ import annotations

import msgspec

from controller.contract.commands import Role, VoidReason
from controller.contract.events import Announcement
from controller.rulebooks.law import Doubt, Law

Pays = dict[str, tuple[int, int]]
"""What each category of hands pays to 1; a category that is not there pays nothing."""


class Banked(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What games dealt from one deck, box by box, have in common, against the house or whoever has
    the bank.
    """

    title: Announcement
    article: str
    boxes: int
    """The most boxes."""
    deck: str
    """The deck in use."""
    decks: int = 1
    """How many decks may be in use in turn, one per round."""
    ranking: str
    errors: dict[str, VoidReason] = {}
    """Errors of dealing that void the round, named as in ``deal.error``; ``exposed dealer`` is one
    of the dealer's cards. For an error that is not here, and for which the game has no other rule,
    the person in charge decides.
    """
    last_rounds: int | None = None
    """How many last rounds are announced before closing; None: the decree does not say."""
    announcements: dict[str, Announcement]
    """Calls: ``bets_closed``, ``pass``, ``last_rounds``."""
    void: dict[VoidReason, Law]
    """Reasons that void a round, and their laws."""
    void_by: tuple[Role, ...]
    laws: dict[str, Law]
    """The law behind each irregularity that the game can report."""
    doubts: dict[str, Doubt] = {}
    """By the name of the table setting that decides it."""


class CommonPoker(Banked, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """With cards that all hands share. Cards go to ``boxes``, ``dealer``, ``common:1`` and
    ``common:2``, and ``board``.
    """

    bets_per_box: int
    deal: tuple[str, ...]
    """Where the first cards go, face down, in their order; ``boxes``: one to each box, from the
    croupier's left.
    """
    limits: tuple[int, ...]
    """The highest bet as a multiple of the table's minimum, one for each choice that the decree
    offers.
    """


class Trijoker(CommonPoker, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Three own cards and two common ones, three equal bets; two of them may be withdrawn."""

    bets: tuple[str, ...]
    """By our names; all but the last may be withdrawn, each before the common card of its number is
    turned.
    """
    pays: Pays
    pair_from: str
    """The lowest pair that wins."""
    void_from: str
    """The lowest rank of a common card that voids the round if seen too early."""


class TexasHouse(CommonPoker, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Two own cards and five common ones against the bank's. Bets ``ante``, ``second`` and
    ``txb``.
    """

    board: tuple[int, ...]
    """How many common cards are turned at a time: the flop before the players decide, turn and
    river after it.
    """
    qualifies: str
    """The rank of the lowest pair that the bank plays with."""
    ante: Pays
    """By the player's hand."""
    second: tuple[int, int]
    bonus: Pays
    """By his two cards and the flop."""
    bonus_pair_from: str
