"""The settings of one table of chemin de fer or two-cloth baccarat, and the laws that the game
cites.
"""

from __future__ import annotations

from typing import Literal

from controller.games import shoe
from controller.games.shoe import ShoeSettings


class CheminSettings(ShoeSettings, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The settings of one table. A rulebook's ``doubts`` may change any default; the site's own
    setting prevails over both.
    """

    modality: Literal["limited", "free"] = "limited"
    """Whether the bank is limited to the money on the table or unlimited."""
    banker: Literal["free", "table"] = "free"
    """Whether the banker plays freely or follows the drawing table in every round."""
    banco: Literal["ruled", "free"] = "ruled"
    """Whether a player who alone covers the whole bank follows the drawing rules, or draws freely
    because the director of games has authorised it.
    """
    early_card: Literal["ask", "keep"] = "ask"
    """What happens to a card drawn before bets are closed: the inspector decides, or it is played
    as the rule says.
    """
    cut_first: Literal["play", "end"] = "play"
    """When the cut card comes before a round's first card: the round is played, or the talla
    ends.
    """
    natural_nine: Literal["beats", "ties"] = "beats"
    """``beats``: an eight of two cards beats an eight or nine of three. ``ties``: the higher total
    wins, and equal totals are void.
    """


LAWS = (
    *shoe.LAWS,
    "shoe_missing",
    "shoe_over",
    "shoe_reset",
    "silence",
    "overdraw",
    "card_before_close",
    "card_out_of_round",
    "card_unsure",
    "card_exposed",
    "card_surplus",
    "card_on_floor",
    "card_in_basket",
    "cards_shown",
    "cards_shown_by_bank",
    "irregular_deal",
    "player_word",
    "bank_word",
    "bank_before_hands",
    "natural_forgotten",
    "table_followed",
    "no_claim",
    "bet_after_close",
)
"""The laws that the game cites. Every rulebook must have each, and one for each of its
``errors``.
"""
