"""The settings of one table of black jack, and the irregularities that the game names."""

from __future__ import annotations

from typing import Literal

import msgspec

from controller.games import shoe
from controller.games.amounts import Count, Money
from controller.games.shoe import ShoeSettings
from controller.games.stakes import Highest
from controller.rulebooks.blackjack import Blackjack


class BlackjackSettings(ShoeSettings, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table's settings. A rulebook's ``doubts`` may state another default for any of them; a site
    has the last word.
    """

    keys: bool = True
    """The croupier says by ``boxes.set`` and ``hand.…`` which boxes are in play and what each hand
    does. Without keys nobody can know whose a card is after the first two rounds of the deal: the
    shoe is counted, and of the round only what follows.
    """
    boxes: Count | None = None
    """Boxes marked on the table; None: as many as the decree has at first."""
    surrender: bool = False
    """The casino allows it, where the decree leaves it to the casino."""
    pair_bets: bool = False
    """The table has the bet on pairs: results say which boxes have one."""
    accumulated_bets: bool = False
    """The table has the accumulated bet: results say which boxes have sevens."""
    accumulated_stake: Money | None = None
    """The amount that is agreed for the accumulated bet, in minor units; None: any, up to the
    highest.
    """
    linked: bool = False
    """What is accumulated is connected with that of other tables, as it is authorised."""
    split_sevens: Literal["pair", "third"] = "pair"
    """A pair of sevens that is split, and another seven: two sevens for the accumulated bet, or
    three.
    """
    split_cards: Literal["in_turn", "at_once"] = "in_turn"
    """When the hands of a pair get their second card: each as it comes to play, or both before the
    first plays.
    """
    resplit_aces: Literal["yes", "no"] = "yes"
    """An ace of a pair that gets another ace may be split again."""
    dealer_alone: Literal["stops", "draws"] = "stops"
    """What the dealer does when no hand is left against him."""
    blackjack_tie: Literal["tie", "wins"] = "tie"
    """Black jack against the dealer's: neither wins, or the hand is paid."""
    three_sevens: Literal["wins", "ties"] = "wins"
    """21 with three sevens against a dealer's 21 that is made otherwise."""
    cut_first: Literal["play", "end"] = "play"
    """The cut card comes before the first card of a round: the round is played, or the talla is
    over before it.
    """
    burn_continuous: Literal["yes", "no"] = "no"
    """Whether cards are burned from a shoe that shuffles by itself without end."""
    highest: Highest = msgspec.field(default_factory=dict)
    """The highest stakes that the authorisation fixes: ``hands pairs``."""


LAWS = (
    *shoe.LAWS,
    "shoe_missing",
    "shoe_over",
    "shoe_reset",
    "silence",
    "card_exposed",
    "card_unsure",
    "card_out_of_round",
    "card_before_decision",
    "bet_after_close",
    "bet_limit",
)
"""The laws that the game cites: a rulebook has each of them, ``hands_too_few`` where it has a least
number of hands, ``box_bettors`` where it says how many may bet on a box, and ``even_money`` where a
black jack may be paid at par.
"""


def faults(settings: BlackjackSettings, book: Blackjack) -> list[str]:
    """What the decree does not allow of these settings."""
    most = " or ".join(map(str, book.boxes))
    without_accumulated = (
        "split_sevens, accumulated_stake, linked: the table has no accumulated bet"
    )
    wrong = {
        f"boxes = {settings.boxes}: the decree has {most} at most": not (
            settings.boxes is None or 0 < settings.boxes <= max(book.boxes)
        ),
        "surrender: the decree does not have it": settings.surrender and book.surrender == "none",
        "pair_bets: the decree does not have them": settings.pair_bets and not book.pair_bets,
        "accumulated_bets: the decree does not describe them": settings.accumulated_bets
        and not book.accumulated_bets,
        without_accumulated: not settings.accumulated_bets
        and (
            settings.split_sevens == "third"
            or settings.linked
            or settings.accumulated_stake is not None
        ),
        "dealer_alone = 'draws': the decree says that he draws only against a hand": (
            settings.dealer_alone == "draws" and book.dealer_alone == "stops"
        ),
    }
    return [fault for fault, is_wrong in wrong.items() if is_wrong]
