"""The settings of one table of chemin de fer or two-cloth baccarat, and the irregularities that the
game names.
"""

from __future__ import annotations

from typing import Literal

from controller.games import shoe
from controller.games.shoe import ShoeSettings


class CheminSettings(ShoeSettings, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table's settings. A rulebook's ``doubts`` may state another default for any of them; a site
    has the last word.
    """

    modality: Literal["limited", "free"] = "limited"
    """Whether the bank is limited to what is on the table, or unlimited."""
    banker: Literal["free", "table"] = "free"
    """Whether the banker is free, or keeps to the table of plays at every round."""
    banco: Literal["ruled", "free"] = "ruled"
    """Whether the director of games has authorised who plays alone for the whole bank to draw as
    they like.
    """
    early_card: Literal["ask", "keep"] = "ask"
    """A card drawn before the bets are closed: the inspector is asked, or it is played, as the rule
    is.
    """
    cut_first: Literal["play", "end"] = "play"
    """The cut card comes before the first card of a round: the round is played, or the talla is
    over before it.
    """
    natural_nine: Literal["beats", "ties"] = "beats"
    """The outcome where an eight of two cards beats an eight or nine of three; otherwise the higher
    wins, and equal is void.
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
    "irregular_deal",
    "player_word",
    "bank_word",
    "bank_before_hands",
    "natural_forgotten",
    "table_followed",
    "no_claim",
    "bet_after_close",
)
"""The laws that the game cites: a rulebook has each of them, and one for each of its ``errors``."""
