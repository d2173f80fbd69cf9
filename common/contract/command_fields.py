"""The fields that every command has."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from common.contract.bounds import Name, Note, Word

Role = Literal["croupier", "table_head", "inspector", "director", "technician"]
"""The role of the person who gives a command. ``table_head``: jefe de mesa, cap de taula,
mahaiburua, xefe de mesa. The rulebook says what a role may do.
"""

Duty = Literal["table_head", "inspector", "croupier"]
"""A person's function at the table: jefe de mesa, inspector, crupier."""

VoidReason = Literal[
    "foreign_object",  # a chip or anything else fell into the cylinder while the ball turned
    "ball_out",  # the ball left the cylinder
    "bad_launch",
    "cylinder_stopped",  # the cylinder stopped before the ball fell
    "ball_with_rotor",
    "rotor_not_reversed",
    "device_fault",
    "cards_stuck",  # two cards came out of the shoe together
    "cut_card",  # the cut card came in mid-round, where that voids the round
    "misdeal",  # the cards of the round cannot be put in order
    "wrong_count",  # a hand got the wrong number of cards
    "wrong_order",  # cards were dealt in the wrong order
    "card_exposed",  # a card that must be face down was seen
    "deck_defective",  # a card is missing, foreign, marked or duplicated
    "cards_lacking",  # there are not enough cards left
    "die_broken",
    "dice_stacked",  # one die rests on the other
    "die_on_chips",
    "die_off_table",
    "die_on_edge",
    "die_in_reserve",  # it fell among the reserve dice
    "dice_slid",  # the dice slid and did not roll
    "bad_throw",  # thrown in a way that the decree does not allow, or too early
    "inspector",  # decided by the person in charge, to whom the decree leaves it
]


Work = Literal[
    "inspected",  # looked over and found in order, nothing changed
    "levelled",
    "balanced",
    "adjusted",
    "calibrated",
    "cleaned",
    "lubricated",
    "frets_changed",
    "ball_changed",
    "cards_changed",
    "part_changed",
    "software_changed",
    "repaired",
    "replaced",  # by another device
    "taken_out",
    "put_back",
]
"""Work that was done on a device."""


class Signer(msgspec.Struct, frozen=True, kw_only=True):
    """A person who signed a command."""

    id: Word
    """The person's id in the people file."""
    name: Name
    """The person's name then."""
    role: Role
    """The role in which the person signed it."""


class Signature(Signer, frozen=True, kw_only=True):
    """A person's signature."""

    token: Annotated[str, Meta(max_length=16_384)]
    """The command as received: a JWS (RFC 7515), the proof of who gave it."""


class Command(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    tag_field="type",
):
    """The base of all commands: the person, the role and the time."""

    at: float
    """Seconds on the clock of the table that received the command. Not sent over MQTT: the table
    stamps it.
    """
    by: Name
    """The person's name."""
    role: Role
    """The person's role. The rulebook of the decree says what a role may do."""
    note: Note | None = None
    """A remark of the person, for the record."""
    signed: Annotated[tuple[Signature, ...], Meta(max_length=2)] = ()
    """Its signatures; if two persons are needed, the first signer comes first. Not sent over MQTT:
    there the whole command is signed.
    """
