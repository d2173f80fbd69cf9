"""The settings of one black jack table, and the laws that the game cites."""

from __future__ import annotations

from typing import Literal

import msgspec

from controller.games import shoe
from controller.games.amounts import Count, Money
from controller.games.shoe import ShoeSettings
from controller.games.stakes import Highest
from controller.rulebooks.blackjack import Blackjack


class BlackjackSettings(ShoeSettings, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The settings of one table. A rulebook's ``doubts`` may change any default; the site's own
    setting prevails over both.
    """

    keys: bool = True
    """Whether the croupier reports by ``boxes.set`` and ``hand.…`` which boxes are in play and what
    each hand does. Without these keys the table cannot know which hand a card belongs to after the
    first two cards of each; it then counts the shoe and reports only what it can infer of the
    round.
    """
    boxes: Count | None = None
    """The number of boxes marked on the table; None for the first number that the decree gives."""
    surrender: bool = False
    """Whether the casino allows surrender, where the decree leaves it to the casino."""
    pair_bets: bool = False
    """Whether the table offers the bet on pairs. If so, results name the boxes that have a pair."""
    accumulated_bets: bool = False
    """Whether the table offers the accumulated bet. If so, results name the boxes that have
    sevens.
    """
    accumulated_stake: Money | None = None
    """The fixed stake of the accumulated bet, in minor units; None for any stake up to the
    highest.
    """
    linked: bool = False
    """Whether the accumulated prize is linked with other tables, as authorised."""
    out_of_play: Literal["refuse", "mark"] = "refuse"
    """How the accumulated bet is treated while the controller of a linked jackpot reports that it
    is not in play, or reports nothing, as the site's authorisation provides: it is refused, or
    accepted and marked.
    """
    split_sevens: Literal["pair", "third"] = "pair"
    """Whether a third seven after a split pair of sevens counts for the accumulated bet: ``pair``:
    as two sevens; ``third``: as three.
    """
    split_cards: Literal["in_turn", "at_once"] = "in_turn"
    """When the hands of a split pair get their second card: each in its turn, or both before the
    first plays.
    """
    resplit_aces: Literal["yes", "no"] = "yes"
    """Whether a split ace that gets another ace may be split again."""
    dealer_alone: Literal["stops", "draws"] = "stops"
    """The dealer's course when no hand remains to play against."""
    blackjack_tie: Literal["tie", "wins"] = "tie"
    """Whether a player's black jack ties with the dealer's or wins."""
    three_sevens: Literal["wins", "ties"] = "wins"
    """Whether a 21 of three sevens wins or ties against a dealer's 21 made otherwise."""
    cut_first: Literal["play", "end"] = "play"
    """When the cut card comes before a round's first card: the round is played, or the talla
    ends.
    """
    burn_continuous: Literal["yes", "no"] = "no"
    """Whether cards are burned from a continuous shuffler."""
    highest: Highest = msgspec.field(default_factory=dict)
    """The highest authorised stakes, for ``hands`` and ``pairs``."""


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
    "bet_minimum",
    "insurance_limit",
)
"""The laws that the game cites. Every rulebook must have each of them; also ``hands_too_few`` if it
sets a least number of hands, ``box_bettors`` if it limits how many may bet on a box, and
``even_money`` if a black jack may be paid at par.
"""


def faults(settings: BlackjackSettings, book: Blackjack) -> list[str]:
    """The settings that the decree does not allow, each with the reason."""
    most = " or ".join(map(str, book.boxes))
    without_accumulated = (
        "split_sevens, accumulated_stake, linked, out_of_play: the table has no accumulated bet"
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
            or settings.out_of_play == "mark"
            or settings.accumulated_stake is not None
        ),
        "dealer_alone = 'draws': the decree says that he draws only against a hand": (
            settings.dealer_alone == "draws" and book.dealer_alone == "stops"
        ),
    }
    return [fault for fault, is_wrong in wrong.items() if is_wrong]
