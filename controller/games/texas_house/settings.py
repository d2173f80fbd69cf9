"""The settings of one table of texas against the house, and the irregularities that the game
names.
"""

from __future__ import annotations

from typing import Literal

import msgspec


class TexasHouseSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The settings of one table. The site's value wins, then the default of the rulebook's
    ``doubts``, then the one here.
    """

    misdeal: Literal["ask", "void"] = "ask"
    """Whether a device's report of an exposed card voids the round at once, or a person decides."""
    second_bet: Literal["double", "equal"] = "double"
    """How high the second bet is: twice the ante, or once more as much."""


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
    "deal_error",
    "hands_touched",
    "shown_differs",
    "deck_wrong",
    "silence",
)
"""The laws that the game cites: a rulebook has each of them."""
