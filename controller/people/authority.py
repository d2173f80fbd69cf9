"""The commands that each role may give at a table, derived from the game and its rulebook.

If the decree determines who decides, the right has its article. The rest is a strict default of
Novamás. A site can restrict both, and extend neither.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from typing import Any

import msgspec

from common.contract.commands import (
    COMMANDS,
    AlertAcknowledge,
    AnyCommand,
    Command,
    DeviceCommand,
    DeviceService,
    StaffOff,
    StaffOn,
    WitnessReport,
)
from common.contract.orders import RECALL, DeviceOrder, Recall
from common.contract.refusals import RejectedError
from common.contract.retained import Allowed, Undo
from common.contract.topics import level
from common.people.roles import COMMANDING_ROLES, ENROLLABLE_ROLES, EnrolledRole
from common.suggestions import unknown_word
from controller.games.games import make_game
from controller.games.machine import Inputs, Machine
from controller.games.roles import AT_THE_TABLE, COMMANDS_DEVICES, LAUNCHES, roles_for_device

DEVICE_COMMAND = str(DeviceCommand.__struct_config__.tag)
LAUNCH_COMMAND = f"{DEVICE_COMMAND} launch"
"""Commands to devices that launch the ball or the dice; :data:`DEVICE_COMMAND` is all others."""


class CommandRight(msgspec.Struct, frozen=True):
    """The right to give one command at a table."""

    command: str
    """Its name, such as ``round.void``. Commands to devices have two rights."""
    roles: tuple[EnrolledRole, ...]
    """The roles that may give it. The game may require more, depending on the fields of the
    command.
    """
    law: str | None = None
    """The page of the decree that determines who decides; None for a default of Novamás."""
    narrowed: bool = False
    """True if the site has withdrawn it from a role."""


Rights = Mapping[str, CommandRight]


@cache
def command_rights(game: str, decree: str) -> Rights:
    """Return the rights at a table of this game under this decree, by command.

    Raises ``ValueError`` if the decree does not have the game.
    """
    machine = make_game(game, decree, {})
    assert isinstance(machine, Machine)
    law: str = machine.book.article
    by_decree = {_name(kind) for kind, row in machine.inputs.commands.items() if not row.roles}
    named = {*by_decree, *machine.deciders}
    witnessed = machine.kind.read_witness_report is not None
    found_rights = [
        CommandRight(_name(kind), roles, law if _name(kind) in named else None)
        for kind, roles in machine.roles.items()
    ]
    found_rights += [
        CommandRight(_name(AlertAcknowledge), COMMANDING_ROLES),
        CommandRight(_name(StaffOn), AT_THE_TABLE),
        CommandRight(_name(StaffOff), AT_THE_TABLE),
        *((CommandRight(_name(WitnessReport), AT_THE_TABLE),) if witnessed else ()),
        CommandRight(_name(DeviceService), COMMANDS_DEVICES),
        CommandRight(LAUNCH_COMMAND, roles_for_device(LAUNCHES[0])),
        CommandRight(DEVICE_COMMAND, roles_for_device("")),
        CommandRight(RECALL, ENROLLABLE_ROLES),
    ]
    return {right.command: right for right in sorted(found_rights, key=lambda right: right.command)}


def allowed_commands(
    game: str,
    decree: str,
    settings: Mapping[str, Any],
    rights: Rights,
    two_persons: Collection[str] = (),
    devices: tuple[str, ...] = (),
) -> dict[str, Allowed]:
    """Return the rights with the game's restrictions of each command, for programs that show forms.
    The topic ``info`` has it. ``two_persons``: the commands that may need a second person;
    ``devices``: those of the table.
    """
    machine = make_game(game, decree, settings)
    assert isinstance(machine, Machine)
    named: dict[str, type[Command]] = {_name(kind): kind for kind in COMMANDS}
    inputs = machine.inputs
    choices = {**machine.choices()}
    if devices:
        choices[DeviceService] = {"device": devices}
    return {
        name: Allowed(
            roles=tuple(role for role in COMMANDING_ROLES if role in right.roles),
            two_persons=name in two_persons,
            choices=dict(choices.get(named.get(name, Command), {})),
            leaves_out=inputs.leaves_out.get(named.get(name, Command), ()),
            undone_by=_undone_by(inputs, name),
            reasons={
                reason: tuple(role for role in roles if role in right.roles)
                for reason, roles in machine.roles_by_reason(name).items()
            },
        )
        for name, right in rights.items()
        if name != RECALL
    }


UNDONE_BY: Mapping[str, str] = {
    "bet.place": "bet.withdraw",
    "bet.withdraw": "bet.place",
    "boxes.set": "boxes.set",
    "die.report": "die.report",
    "round.confirm": "result.correct",
    "dice.tell": "result.correct",
    "staff.on": "staff.off",
    "staff.off": "staff.on",
}
"""The command that takes each command back, if the table knows both and does not always refuse
it.
"""


def _undone_by(inputs: Inputs, name: str) -> Undo | None:
    if name in map(_name, inputs.withdrawn):
        return Undo(command=name, fields={"valid": False})
    by = UNDONE_BY.get(name)
    known = {_name(kind) for kind, handle in inputs.takes.items() if handle is not None}
    return Undo(command=by) if by in {*known, "staff.on", "staff.off"} else None


def narrow(rights: Rights, site: Mapping[str, tuple[EnrolledRole, ...]]) -> Rights:
    """Restrict the rights to the roles that ``site`` lists for some commands.

    Raises ``ValueError`` for an unknown command, for a role that may not have it, and for a command
    that no role could give.
    """
    narrowed = dict(rights)
    for command, roles in site.items():
        right = rights.get(command)
        if right is None:
            raise ValueError(unknown_word("command", command, sorted(rights)))
        if wider := [role for role in roles if role not in right.roles]:
            by = right.law or "the default"
            raise ValueError(
                f"{command}: {', '.join(wider)} may not have it; {by} leaves it to "
                f"{', '.join(right.roles)}"
            )
        if not roles:
            raise ValueError(f"{command}: nobody could give it; name one of its roles")
        remaining = tuple(role for role in right.roles if role in roles)
        narrowed[command] = msgspec.structs.replace(
            right, roles=remaining, narrowed=len(remaining) < len(right.roles)
        )
    return narrowed


def narrow_at_table(rights: Rights, site: Mapping[str, tuple[str, ...]]) -> Rights:
    """Restrict the rights of one table as ``site`` does for all tables. Commands that this table
    does not have, and roles that may not have them here, are ignored.

    Raises ``ValueError`` for a command that no role could give.
    """
    return narrow(
        rights,
        {
            command: tuple(role for role in rights[command].roles if role in roles)
            for command, roles in site.items()
            if command in rights
        },
    )


def command_name(command: AnyCommand | DeviceOrder | Recall) -> str:
    """Return the name of this command in :func:`command_rights`."""
    if isinstance(command, Recall):
        return RECALL
    if isinstance(command, DeviceOrder | DeviceCommand):
        return LAUNCH_COMMAND if command.command in LAUNCHES else DEVICE_COMMAND
    return _name(type(command))


def authorise(
    rights: Rights, command: AnyCommand | DeviceOrder | Recall, role: EnrolledRole
) -> CommandRight:
    """Return the right of this role to give this command. Raises :class:`RejectedError`."""
    name = command_name(command)
    right = rights.get(name)
    if right is None:
        raise RejectedError("unknown_command", command=level(name))
    if role not in right.roles:
        raise RejectedError("role_not_allowed", law=right.law, role=role, roles=right.roles)
    return right


def _name(kind: type[Command] | type[Any]) -> str:
    return str(kind.__struct_config__.tag)
