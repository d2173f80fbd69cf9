"""The settings of one table of trente et quarante, and the irregularities that the game names."""

from __future__ import annotations

from typing import Literal

import msgspec

from controller.games import shoe
from controller.games.coups.settings import CoupSettings
from controller.games.stakes import Highest


class TrenteSettings(CoupSettings, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table's settings. A rulebook's ``doubts`` may state another default for any of them; a site
    has the last word.
    """

    refait: Literal["half_or_prison", "half"] = "half_or_prison"
    """What happens to bets on 31-31: the regime of zero at the French roulette, or that of the
    American one.
    """
    highest: Highest = msgspec.field(default_factory=dict)
    """The highest stake that the authorisation fixes: ``chances``."""


LAWS = (
    *shoe.LAWS,
    "shoe_unnumbered",
    "shoe_missing",
    "shoe_over",
    "shoe_reset",
    "card_before_close",
    "card_out_of_round",
    "card_unsure",
    "overdraw",
    "last_five",
    "silence",
    "bet_limit",
    "bet_minimum",
)
"""The laws that the game cites: a rulebook has each of them."""
