"""The settings of one table of pai gow, and the irregularities that the game names."""

from __future__ import annotations

from typing import Literal

import msgspec

from controller.games.amounts import Count


class PaiGowSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The settings of one table. The site's value wins, then the default of the rulebook's
    ``doubts``, then the one here.
    """

    hands: Literal["players", "positions"] = "players"
    """How many hands are made: one for each player and the croupier, or one for each position of
    the cloth.
    """
    dealt: Literal["packets", "singly"] = "packets"
    """How the cards come: a whole hand for each place, or a card to each in turn."""
    compared: Literal["bank", "dealer"] = "bank"
    """Against whose hand the others play when a player has the bank: his, or the croupier's."""
    commission: Count = 50
    """The part of a win that is kept, in thousandths."""


LAWS = (
    "dice_before_close",
    "dice_wrong",
    "dice_again",
    "dice_differ",
    "dice_late",
    "card_before_dice",
    "card_before_close",
    "card_out_of_round",
    "card_unsure",
    "card_extra",
    "packet_wrong",
    "shuffler_unready",
    "card_exposed",
    "deal_error",
    "card_foreign",
    "card_duplicate",
    "deck_wrong",
    "shown_differs",
    "leftover_wrong",
    "leftover_unchecked",
    "hand_wrongly_set",
    "dealer_early",
    "hand_early",
    "bank_passed",
    "silence",
)
"""The laws that the game cites: a rulebook has each of them."""
