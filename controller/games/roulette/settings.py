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
    """The rotor turns as it did for the spin before. It must not, but no decree voids such a
    spin.
    """
    rotor_after_void: Literal["counts", "ignored"] = "counts"
    """Whether a void spin is the «spin before» from which the rotor must be reversed. The decrees
    do not say; the rotor did turn.
    """
    ball_with_rotor: Policy = "ask"
    """The ball runs in the rotor's direction, though it must be launched against it. The person in
    charge says whether this is the defective launch that is void.
    """
    failed_launch: Policy = "warn"
    """The ball never started to run. The wheel launches again by itself with bets still open; a
    person may void the spin.
    """
    ball_removed: Policy = "ask"
    """The ball is no longer seen: it left the cylinder, which voids the spin, or is only out of
    sight. A person looks.
    """
    cylinder_stopped: Policy = "ask"
    """The rotor is at rest and the ball has not fallen. The spin is void if the decree requires it,
    and the table checks it only there.
    """
    last_rounds_count: Literal["valid", "all"] = "valid"
    """Which of the announced last balls count: those with a result, or void ones as well. The
    decrees do not say.
    """

    highest: Highest = msgspec.field(default_factory=dict)
    """The highest stakes that the authorisation fixes or the casino has given notice of: ``straight
    simple`` ....
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
    "bet_minimum",
)
"""The laws that the game cites: a rulebook has each of them."""
