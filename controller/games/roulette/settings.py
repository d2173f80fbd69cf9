"""The settings of one roulette table: what the decree leaves open, and what this table's wheel can
sense.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from controller.games.amounts import Count
from controller.games.roulette.wheel import EUROPEAN
from controller.games.stakes import Highest
from controller.games.wheels.settings import Policy, WheelBreach


class RouletteSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table's settings. A rulebook's ``doubts`` may state another default for any of them; a site
    has the last word.
    """

    pocket_order: tuple[Count, ...] = EUROPEAN
    """The numbers around the wheel, clockwise. No decree prints the order; their constraints are
    checked.
    """
    phases: Literal["device", "person"] = "device"
    """Who says that bets open and close: the wheel, or a person with ``bets.open`` and
    ``bets.close``.
    """
    rotor_not_reversed: Policy = "warn"
    """The rotor turns as it did for the spin before. It must not, but no decree calls such a spin
    null.
    """
    rotor_after_void: Literal["counts", "ignored"] = "counts"
    """Whether a null spin is the «spin before» that the rotor must be reversed from. Not said; the
    rotor did turn.
    """
    ball_with_rotor: Policy = "ask"
    """The ball runs the rotor's way, though it must be launched against it. Whether this launch is
    the defective one that is null, the person in charge says.
    """
    failed_launch: Policy = "warn"
    """The ball never came to run. The wheel launches again by itself with bets still open; a person
    may call it null.
    """
    ball_removed: Policy = "ask"
    """The ball is not seen any more: out of the cylinder, which is null, or only out of sight. A
    person looks.
    """
    cylinder_stopped: Policy = "ask"
    """The rotor stands still and the ball has not fallen: null where the decree says so, and only
    there looked for.
    """
    last_rounds_count: Literal["valid", "all"] = "valid"
    """Which balls the announced last ones are: those with a result, or null ones as well.
    Not said.
    """

    highest: Highest = msgspec.field(default_factory=dict)
    """The highest stakes that the authorisation fixes, or of which the casino gave notice:
    ``straight simple`` ....
    """


BREACHES: dict[str, WheelBreach] = {
    "rotor_not_reversed": WheelBreach("rotor_not_reversed", "rotor_not_reversed"),
    "ball_with_rotor": WheelBreach("ball_with_rotor", "ball_with_rotor"),
    "failed_launch": WheelBreach("bad_launch"),
    "ball_removed": WheelBreach("ball_out"),
    "cylinder_stopped": WheelBreach("cylinder_stopped"),
}
"""The breaches that a setting of the same name decides."""

LAWS = (
    "number_invalid",
    "rotor_not_reversed",
    "ball_with_rotor",
    "before_no_more_bets",
    "movement_after_close",
    "no_launch",
    "not_definitive",
    "phase_skipped",
    "session_closed_unlocked",
    "witnesses_disagree",
    "number_changed",
    "limit_change",
    "bet_after_close",
    "bet_limit",
)
"""The laws that the game cites: a rulebook has each of them."""
