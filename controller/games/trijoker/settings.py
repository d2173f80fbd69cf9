"""The settings of one table of trijoker, and the irregularities that the game names."""

from __future__ import annotations

from typing import Literal

import msgspec

from controller.games.amounts import Count


class TrijokerSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The settings of one table. The site's value wins, then the default of the rulebook's
    ``doubts``, then the one here.
    """

    decks: Count = 1
    """How many decks are in use, a deck to a round, one after the other."""
    face_up: Literal["no", "yes"] = "no"
    """Whether the first card of each player and the left common card are dealt face up."""


LAWS = (
    "card_before_close",
    "card_out_of_round",
    "card_unsure",
    "card_unread",
    "card_foreign",
    "card_duplicate",
    "card_extra",
    "packet_wrong",
    "shuffler_unready",
    "card_exposed",
    "common_exposed",
    "deal_error",
    "shown_differs",
    "deck_wrong",
    "deck_unchecked",
    "silence",
)
"""The laws that the game cites: a rulebook has each of them."""
OWN_LAWS = {"hand_told": ("BAL05",)}
"""Bets that not every decree has: the penalty for a player who shows or names his cards."""
