"""The settings of one table of poker against the dealer, and the irregularities that the game
names.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from controller.games.amounts import Count, Money
from controller.rulebooks.house_poker import HousePoker


class HousePokerSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The settings of one table. The site's value wins, then the default of the rulebook's
    ``doubts``, then the one here.
    """

    dealt: Literal["singly", "packets"] = "singly"
    """How the cards come: one to each hand in turn, or hand by hand, as an automatic shoe gives
    them.
    """
    exposed: Literal["first", "last"] = "last"
    """Which of the bank's cards is exposed, where the decree leaves it open."""
    boxes: Count | None = None
    """Boxes marked on the table; None: as many as the decree has at most."""
    limit: Count | None = None
    """The highest ante as a multiple of the minimum, as it is authorised; None: the highest that
    the decree offers.
    """
    pay_table: Count = 1
    """Which of the decree's tables is announced for a side bet that has several, from 1."""
    misdeal: Literal["ask", "void"] = "ask"
    """The effect of a device's report of a misdeal: a person decides, or the round is void at
    once.
    """
    folded_bets: Literal["lose", "play"] = "lose"
    """How the side bets of a hand that passes are treated: they are lost with the ante, or still
    decided by the hand.
    """
    bought_card: Literal["down", "up"] = "down"
    """True if a bought card is face up, if the decree leaves it open."""
    bought_bets: Literal["lose", "play"] = "lose"
    """How the side bets of a hand that buys a card are treated, if the decree leaves it open."""
    ranking: Literal["listed", "paid"] = "listed"
    """Which of flush and full house is higher, where the decree lists them in one order and pays
    them in the other.
    """
    jackpot_stake: Money | None = None
    """The amount with which a player takes part in the jackpot, in minor units, as it is decided
    and displayed. Where the decree wants one, a table that does not state it has no jackpot.
    """
    linked: bool = False
    """The table's jackpot is connected with those of others, as it is authorised: a share is of
    them all.
    """
    later_prizes: Literal["of_remainder", "of_whole"] = "of_remainder"
    """Of what a lower prize of the same play is a share, where the decree leaves it open."""
    discarded_jackpot: bool = False
    """The casino pays jackpots for hands that were made by discarding, where the decree leaves it
    to the casino.
    """
    out_of_play: Literal["refuse", "mark"] = "refuse"
    """How a bet on the jackpot is treated while the controller of a linked jackpot reports that it
    is not in play, or reports nothing, as the site's authorisation provides: it is refused, or
    accepted and marked.
    """
    others_bet: bool = False
    """The casino lets others bet on a player's hand, where the decree leaves it to the casino."""


LAWS = (
    "card_foreign",
    "card_duplicate",
    "card_unread",
    "card_unsure",
    "card_exposed",
    "card_extra",
    "card_order",
    "card_before_close",
    "card_out_of_round",
    "packet_wrong",
    "shown_differs",
    "shuffler_unready",
    "deck_wrong",
    "silence",
    "ante_limit",
    "bet_minimum",
)
"""The laws that the game cites: a rulebook has each of them."""
OWN_LAWS = (
    "bet_without_ante",
    "bet_late",
    "stake_limit",
    "jackpot_stake",
    "jackpot_not_in_play",
    "hand_told",
    "box_bettors",
)
"""The settings that apply if the decree has side bets, a limit to them, one stake for the jackpot,
a jackpot at all, a penalty for players who show or name their cards, and a clause on who else may
bet on a hand.
"""


def faults(settings: HousePokerSettings, book: HousePoker) -> list[str]:
    """The settings that the decree does not allow, and what is allowed."""
    tables = max((len(side.tables) for side in book.sides.values()), default=0) or 1
    wrong = {
        f"dealt = {settings.dealt!r}: must be one of: {', '.join(book.exposed)}": settings.dealt
        not in book.exposed,
        f"boxes = {settings.boxes}: must be 1 to {book.boxes}": not 0
        < (settings.boxes or 1)
        <= book.boxes,
        f"limit = {settings.limit}: must be one of: {', '.join(map(str, book.limits))}": (
            settings.limit is not None and settings.limit not in book.limits
        ),
        f"pay_table = {settings.pay_table}: must be 1 to {tables}": not 0
        < settings.pay_table
        <= tables,
        "jackpot_stake: leave it out; the decree has no decided amount for the jackpot": (
            settings.jackpot_stake is not None and not (book.jackpot and book.jackpot.decided)
        ),
        "linked: leave it out; the decree has no jackpot of one table": settings.linked
        and not (book.jackpot and book.jackpot.of == "table"),
        "out_of_play: leave it out; the decree has no jackpot": settings.out_of_play == "mark"
        and book.jackpot is None,
        "later_prizes: leave it out; the decree decides it": settings.later_prizes == "of_whole"
        and "later_prizes" not in book.doubts,
        "discarded_jackpot: leave it out; the decree has no such jackpot": (
            settings.discarded_jackpot and not (book.jackpot and book.jackpot.discarded)
        ),
    }
    return [fault for fault, is_wrong in wrong.items() if is_wrong]
