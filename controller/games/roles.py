"""Groups of roles, and the roles that may command a device."""

from __future__ import annotations

from common.contract.commands import Role

IN_CHARGE: tuple[Role, ...] = ("table_head", "inspector", "director")
AT_THE_TABLE: tuple[Role, ...] = ("croupier", *IN_CHARGE)
VOIDERS: tuple[Role, ...] = ()
"""Stands for the roles that may void a round by the rulebook."""


COMMANDS_DEVICES: tuple[Role, ...] = (*IN_CHARGE, "technician")
"""The roles that may command a device; no decree names any. Only those in charge and the technician
may stop, release or switch it.
"""
LAUNCHES = ("start", "start_anticlockwise", "fire", "shake")
"""Device commands that launch the ball or the dice. The croupier may give them too, as he may
launch by hand or with the wheel's key.
"""


def roles_for_device(command: str) -> tuple[Role, ...]:
    """The roles that may give a device this command."""
    return ("croupier", *COMMANDS_DEVICES) if command in LAUNCHES else COMMANDS_DEVICES
