"""The settings that every table of coups has."""

from __future__ import annotations

from typing import Literal

from controller.games.shoe import ShoeSettings


class CoupSettings(ShoeSettings, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table's settings. A rulebook's ``doubts`` may state another default for any of them; a site
    has the last word.
    """

    rounds: Literal["keys", "shoe"] = "keys"
    """How bets open and close: by a person with ``bets.open`` and ``bets.close``, or by themselves,
    when the first card opens the round and shows that its bets are closed.
    """
