"""The settings of one wheel of fortune: the map of its cells, what the decree leaves open, and what
its board can sense.
"""

from __future__ import annotations

from typing import Literal

from controller.games.amounts import Count
from controller.games.cells import settings as cells_settings
from controller.games.cells.settings import Asked, CellsSettings
from controller.games.wheels.settings import WheelBreach


class FortuneSettings(CellsSettings, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table's settings. A rulebook's ``doubts`` may state another default for any of them; a site
    has the last word.
    """

    cells: tuple[Count | str, ...] = ()
    """The symbols around the wheel, clockwise, as the board counts its cells from 1. Empty: an
    order of our own that keeps to the decree. No decree prints the order whole.
    """
    reversed: Asked = "ask"
    """The wheel turned back."""
    pays_24: Literal["decree", "0 to 1", "1 to 1"] = "decree"
    """The odds of a bet on 24, if the decree is in doubt."""
    pays_15: Literal["decree", "1 to 1", "2 to 1"] = "decree"
    """The odds of a bet on 15, if the decree is in doubt."""
    jokers: Literal["decree", "two"] = "decree"
    """Whether the two jokers are two bets, where the decree speaks of one."""


DOUBTED_SETTINGS = ("pays_24", "pays_15", "jokers")
"""The settings that may be stated only where the decree is in doubt."""

BREACHES: dict[str, WheelBreach] = {
    **cells_settings.BREACHES,
    "reversed": WheelBreach("inspector", "reversed"),
}
"""The breaches that a setting of the same name decides."""

LAWS = (*cells_settings.LAWS, "reversed")
"""The laws that the game cites: a rulebook has each of them."""
