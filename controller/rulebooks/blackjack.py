"""Black jack and the triple game in one decree: the struct of their tables in the rulebook."""

from __future__ import annotations

from typing import Literal

import msgspec

from common.contract.commands import Role, VoidReason
from common.contract.events import Announcement
from controller.rulebooks.cards import ShoeRules
from controller.rulebooks.law import Law, LawDoubt

Payout = tuple[int, int]
"""To one, as a fraction: ``[3, 2]``."""


class Blackjack(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Black jack.

    The dealer has one card until the players are done, stands on every 17 and draws below. Boxes
    are numbered from the croupier's left, clockwise.
    """

    title: Announcement
    article: str
    shoe: ShoeRules
    boxes: tuple[int, ...]
    """Maximum number of boxes; the second number applies to the other modality, if there is one."""
    least_hands: int = 1
    """Minimum number of hands with a bet to start or continue a round."""
    bets_per_box: int | None = None
    """Maximum number of bets on one box; None: the decree does not say."""
    plays: int = 1
    """Number of times the dealer draws to the first card, each time against the bets in the next
    box of each player.
    """
    double_on: tuple[int, ...] = ()
    """The totals of two cards that may be doubled; empty: any."""
    double_ace_low: bool = False
    """Whether an ace among the first two cards of a doubled hand counts one."""
    surrender: Literal["none", "right", "option"]
    """Whether a hand may surrender for half its bet: never, always, or where the casino allows
    it.
    """
    surrender_until: Literal["table", "hand"] = "table"
    """Until when: before the first third card of the table, or before that of the hand itself."""
    dealer_alone: Literal["stops", "open"]
    """Whether the dealer draws when no hand is left: no, or the decree leaves it open."""
    pays: dict[str, Payout]
    """``win blackjack insurance``, and ``three_sevens`` where the decree has it."""
    insurance_limits: dict[str, tuple[int, int]]
    """``most``, of the bet; ``least``, of the table's minimum, if the decree sets one."""
    pair_bets: dict[str, Payout] = {}
    """The bet on pairs: ``pair_perfect pair_colour pair_mixed``; empty: the decree has no such
    bet.
    """
    accumulated_bets: dict[str, Payout] = {}
    """Minimum payouts of the accumulated bet, of which only the highest is paid: ``sevens_1
    sevens_2 sevens_2_suited sevens_3 sevens_3_suited``; empty: not described.
    """
    side_bet_limits: dict[str, tuple[int, ...]] = {}
    """Maximum bets as multiples of the table's minimum, or ``[1, 2]`` for half of it."""
    limits: tuple[int, ...]
    """The maximum bet on a hand as a multiple of the table's minimum."""
    limits_raised: bool = False
    """Whether the casino may raise the highest bet above them."""
    limit_change: Literal["none", "upward", "any"]
    """Whether the minimum of an open table may change within a session, as at roulette."""
    limit_after: Literal["shoe", "rounds"]
    """Announcement before the change: the last shoe at the old minimum, or the last rounds."""
    last_rounds: int = 3
    """Number of last rounds announced before closing."""
    close_after: Literal["rounds", "shoe"] = "rounds"
    """Announcement before closing: the last rounds, or the last shoe. With a continuous shuffler it
    is always the last rounds.
    """
    announcements: dict[str, Announcement]
    """Calls: ``last_round`` and any other call in the decree's words."""
    void: dict[VoidReason, Law] = {}
    """No decree has a list for this game."""
    void_by: tuple[Role, ...]
    laws: dict[str, Law]
    """The law behind each irregularity that the game can report."""
    doubts: dict[str, LawDoubt] = {}
    """By the table setting that decides it."""
