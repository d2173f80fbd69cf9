"""Who may say what at a table, and what every session begins with."""

from __future__ import annotations

from collections.abc import Mapping

from controller.contract.commands import AnyCommand, Command, Role, RoundVoid
from controller.contract.refusals import RejectedError
from controller.contract.topics import level

IN_CHARGE: tuple[Role, ...] = ("table_head", "inspector", "director")
AT_THE_TABLE: tuple[Role, ...] = ("croupier", *IN_CHARGE)


COMMANDS_DEVICES: tuple[Role, ...] = (*IN_CHARGE, "technician")
"""Who may command a device: no decree says. What stops, frees or switches it is for who answers for
the table, or for it.
"""
LAUNCHES = ("start", "start_anticlockwise", "fire", "shake")
"""Commands that set the ball or the dice going, as the croupier does by hand or with the wheel's
key: he may say them too.
"""


def may_command(command: str) -> tuple[Role, ...]:
    """The roles that may give a device this command."""
    return ("croupier", *COMMANDS_DEVICES) if command in LAUNCHES else COMMANDS_DEVICES


def allow(
    given: AnyCommand, may: Mapping[type[Command], tuple[Role, ...]], void_by: tuple[Role, ...]
) -> None:
    """Reject a command that the game does not take, or from a role that may not give it.

    ``may``: the game's commands and whose they are; ``void_by``: who may call a round null, from
    the rulebook.
    """
    roles = void_by if isinstance(given, RoundVoid) else may.get(type(given))
    if roles is None:
        raise RejectedError(
            "unknown_command", command=level(str(type(given).__struct_config__.tag))
        )
    allow_role(given.role, roles)


def allow_role(role: Role, roles: tuple[Role, ...]) -> None:
    """Reject what is not for this role to say."""
    if role not in roles:
        raise RejectedError("role_not_allowed", role=role, roles=roles)


def allow_minimum(minimum: int) -> None:
    """Reject a table minimum that is none."""
    if minimum <= 0:
        raise RejectedError("minimum_above_zero", minimum=minimum)
