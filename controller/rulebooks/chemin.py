"""Chemin de fer and two-cloth baccarat in one decree: the games of baccarat in which a player holds
the bank.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from common.contract.commands import Role, VoidReason
from common.contract.events import Announcement
from controller.rulebooks.cards import ShoeRules, ThirdCards
from controller.rulebooks.law import Law, LawDoubt

CheminError = Literal[
    "fifth_card",  # a card drawn before the hand's decision is the bank's if the hand wants none
    "bank_overdealt",  # more than two first cards make the bank zero
    "two_third_cards",  # of two third cards a hand has the better one, the bank the worse one
    # the croupier called a card for a hand that refused one: the play is restored by the table
    "false_card",
    "basket_nine",  # a hand whose card the bank dropped into the basket has nine
    "basket_loses",  # a hand whose own cards go into the basket unseen has lost
    # cards that fall into the basket unseen are void for their cloth, the bank's for both
    "basket_void",
    "basket_zero",  # cards thrown into the basket unshown count as zero
    "basket_gathered",  # if the croupier threw them, they are gathered and count as they were
    "words_contradict",  # a cloth decided both yes and no: with five points the first one is valid
    # a cloth's wrong decision is corrected: third cards go, in order, to the hands they belong to
    "restored",
    "restored_drew",  # the law if the first cloth drew a card that it may not have
    "wrong_point",  # a banker who announced a wrong point may ask for a card
    # the law of a bank that has erred, if one cloth requires a card and the other forbids it
    "bank_own_error",
    "bank_bets",  # the law on the number of bettors on the bank
    "second_cloth",  # the law of every wrong decision of the second cloth
]


class Chemin(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Chemin de fer, or baccarat at two cloths, which follows it except for the rules in its
    section.
    """

    title: Announcement
    article: str
    hands: tuple[str, ...]
    """The hands that play against the bank, in the order of the deal: ``player``, or ``cloth:1``
    and ``cloth:2``.
    """
    bank: str
    """Name of the bank's hand in events: ``banker`` or ``bank``."""
    players: int
    """Minimum number of players at any time, at the table or at each cloth."""
    shoe: ShoeRules
    third: ThirdCards
    """The third-card rule of the hands, and the bank's table with its optional cells."""
    banco: Literal["authorised", "always"]
    """When a player who covers the whole bank alone is free to draw: if the director of games has
    authorised it, or always.
    """
    natural_beats: bool = False
    """Whether an eight with two cards beats an eight or nine with three."""
    errors: tuple[CheminError, ...]
    """Errors whose consequence is fixed by the decree itself in this game."""
    deductions: dict[Literal["limited", "free"], tuple[int, int]]
    """The house's share of what the bank wins in a round, as a fraction, with a limited bank and
    with a free one.
    """
    bank_maximum: int = 0
    """A limited bank may be this many times the minimum of the point; 0: the authorisation sets
    it.
    """
    garage: int = 0
    """The bank may keep winnings out of the game beyond this many times the minimum of the point;
    0: the decree does not say.
    """
    garage_half_from: int = 0
    """The pass from which the banker may keep half of the bank out of the game; 0: the decree does
    not say.
    """
    bank_bets: int = 0
    """Maximum number of bets on a covered bank in a play; 0: only the banker's."""
    last_rounds: int | None = None
    """Number of last rounds announced before closing; None: the decree does not say."""
    announcements: dict[str, Announcement]
    """Calls: ``cards_pass bank bets_closed card no last_rounds``; a call that the section does not
    word is empty.
    """
    void: dict[VoidReason, Law]
    """Reasons that void a round, and their laws."""
    void_by: tuple[Role, ...]
    """Who may void a round."""
    laws: dict[str, Law]
    """The law behind each irregularity that the game can report, by name."""
    doubts: dict[str, LawDoubt] = {}
    """By the table setting that decides it."""

    @property
    def everyone(self) -> tuple[str, ...]:
        """All hands in the order of the deal, the bank's last."""
        return (*self.hands, self.bank)
