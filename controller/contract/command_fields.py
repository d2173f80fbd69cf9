"""What every command has: who speaks, and when."""

from __future__ import annotations

from typing import Literal

import msgspec

from controller.contract.bounds import Name, Note

Role = Literal["croupier", "table_head", "inspector", "director", "technician"]
"""Who speaks. ``table_head``: jefe de mesa, cap de taula, mahaiburua, xefe de mesa. What a role may
say is in the rulebook.
"""

VoidReason = Literal[
    "foreign_object",  # a chip or anything else fell into the cylinder while the ball turned
    "ball_out",  # the ball left the cylinder
    "bad_launch",
    "cylinder_stopped",  # the cylinder stopped and the ball had not fallen
    "ball_with_rotor",
    "rotor_not_reversed",
    "device_fault",
    "cards_stuck",  # two cards came out of the shoe together
    "cut_card",  # the cut card came in the middle of the round, where that makes it null
    "misdeal",  # the cards of the round cannot be put right
    "wrong_count",  # a hand got more or fewer cards than it has to have
    "wrong_order",  # cards were dealt in another order than the decree's
    "card_exposed",  # a card that has to lie face down was seen
    "deck_defective",  # a card is missing, foreign, marked, or there twice
    "cards_lacking",  # there are not enough cards left to go on
    "die_broken",
    "dice_stacked",  # one die lies upon the other
    "die_on_chips",
    "die_off_table",
    "die_on_edge",
    "die_in_reserve",  # it fell into the basket of the dice in reserve
    "dice_slid",  # they slid and did not roll
    "bad_throw",  # thrown in a way that the decree does not allow, or before its time
    "inspector",  # the decree leaves what it does not foresee to the person in charge
]


class Command(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    tag_field="type",
):
    """The base of all commands: who gives it, in which role, and when."""

    at: float
    """Seconds on the clock of the table that took the command. Not sent over MQTT: the table stamps
    it.
    """
    by: Name
    """The person's name."""
    role: Role
    """The person's role. The rulebook of the decree says what a role may do."""
    note: Note | None = None
    """Anything the person wants written down."""
