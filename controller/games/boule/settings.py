"""The settings of one boule table: the map of its holes, what the decree leaves open, and what its
board can sense.
"""

from __future__ import annotations

from controller.games.amounts import Count, Money
from controller.games.cells import settings as cells_settings
from controller.games.cells.settings import Asked, CellsSettings
from controller.games.wheels.settings import WheelBreach

NUMBERS = tuple(range(1, 10))


class BouleSettings(CellsSettings, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table's settings. A rulebook's ``doubts`` may state another default for any of them; a site
    has the last word.
    """

    holes: tuple[tuple[Count, ...], ...] = (NUMBERS, NUMBERS)
    """The numbers of the holes row by row, as the board counts them from 1. The figure of the plate
    is lost in every copy.
    """
    ball_out: Asked = "ask"
    """The ball left the plate, or is seen nowhere."""
    authorised_minimum: Money | None = None
    """The minimum of the authorisation, in minor units: where it is stated, that of the table is
    held to it.
    """


BREACHES: dict[str, WheelBreach] = {
    **cells_settings.BREACHES,
    "ball_out": WheelBreach("inspector", "ball_out"),
}
"""The breaches that a setting of the same name decides."""

LAWS = (*cells_settings.LAWS, "ball_out", "minimum")
"""The laws that the game cites: a rulebook has each of them."""
