"""The settings shared by tables of boule and of the wheel of fortune."""

from __future__ import annotations

from typing import Literal

import msgspec

from controller.games.amounts import Count
from controller.games.stakes import Highest
from controller.games.wheels.settings import WheelBreach

Asked = Literal["warn", "ask"]
"""What follows from a breach: it is reported; the result waits for a person. No decree makes such a
spin void by itself.
"""


class CellsSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The settings of one table. The site's value wins, then the default of the rulebook's
    ``doubts``, then the one here.
    """

    phases: Literal["device", "person"] = "person"
    """Who says that bets open and close: a person with ``bets.open`` and ``bets.close``, or the
    wheel: they open when the spin before is over and close when it settles.
    """
    turns: Count = 3
    """Whole turns that the ball or the wheel has to make, where the device counts them; 0: none. No
    decree gives a number: three are the fewest that can be called several.
    """
    too_few_turns: Asked = "ask"
    """It came to rest before it had made them."""
    between: Asked = "ask"
    """The ball rests between two holes, or the tongue between two cells."""
    launched_again: Asked = "ask"
    """The wheel was set going again in the same round before the first spin was decided."""
    last_rounds_count: Literal["valid", "all"] = "valid"
    """Which spins the announced last ones are: those with a result, or void ones as well. Not
    set.
    """

    highest: Highest = msgspec.field(default_factory=dict)
    """The highest stakes that the authorisation fixes, or of which the casino gave notice: by the
    name of the bet.
    """


BREACHES: dict[str, WheelBreach] = {
    name: WheelBreach("inspector", name) for name in ("too_few_turns", "between", "launched_again")
}
"""The breaches decided by a setting of the same name, at both games."""

LAWS = (
    "number_invalid",
    "phase_skipped",
    "out_of_order",
    "before_no_more_bets",
    "bet_after_close",
    "bet_limit",
    "bet_minimum",
    "not_definitive",
    "too_few_turns",
    "between",
    "launched_again",
    "witnesses_disagree",
    "number_changed",
)
"""The laws that both games cite: a rulebook has each of them."""
