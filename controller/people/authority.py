"""What each role may say at a table: one table of data, derived from the game and its rulebook.

Where the decree says who decides, its article stands beside it. The rest is our own default, which
is strict. A site can narrow either, and widen neither.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from controller.contract.commands import (
    COMMANDS,
    AlertAcknowledge,
    AnyCommand,
    Command,
    DeviceCommand,
    DeviceService,
    StaffOff,
    StaffOn,
)
from controller.contract.orders import RECALL, DeviceOrder, Recall
from controller.contract.refusals import RejectedError
from controller.contract.retained import Allowed, Undo
from controller.contract.topics import level
from controller.games.games import make_game
from controller.games.machine import Inputs, Machine
from controller.games.roles import AT_THE_TABLE, COMMANDS_DEVICES, LAUNCHES, may_command
from controller.games.when import never
from controller.people.roles import HELD as HELD
from controller.people.roles import READS as READS
from controller.people.roles import ROLES as ROLES
from controller.people.roles import Holds as Holds
from devices.suggestions import unknown_word

DEVICE = str(DeviceCommand.__struct_config__.tag)
LAUNCH = f"{DEVICE} launch"
"""Commands to devices that set the ball or the dice going; :data:`DEVICE` is all others."""


class Right(msgspec.Struct, frozen=True):
    """Who may give one command at a table."""

    command: str
    """Its name, as ``round.void``. Commands to devices have two lines."""
    roles: tuple[Holds, ...]
    """The roles that may give it. The game may ask for more, depending on what the command says."""
    law: str | None = None
    """The page of the decree that says who decides; None: no decree says, this is our default."""
    narrowed: bool = False
    """Whether the site has taken it from a role that could have it."""


Rights = Mapping[str, Right]


def rights(game: str, decree: str) -> Rights:
    """What may be said at a table of this game under this decree, by the command's name.

    Raises ``ValueError`` for a game that the decree does not have.
    """
    made = make_game(game, decree, {})
    assert isinstance(made, Machine)
    law: str = made.book.article
    named = {*map(_name, made.inputs.of_voiders), *made.deciders}
    found = [
        Right(_name(kind), roles, law if _name(kind) in named else None)
        for kind, roles in made.may.items()
    ]
    found += [
        Right(_name(AlertAcknowledge), ROLES),
        Right(_name(StaffOn), AT_THE_TABLE),
        Right(_name(StaffOff), AT_THE_TABLE),
        Right(_name(DeviceService), COMMANDS_DEVICES),
        Right(LAUNCH, may_command(LAUNCHES[0])),
        Right(DEVICE, may_command("")),
        Right(RECALL, HELD),
    ]
    return {right.command: right for right in sorted(found, key=lambda right: right.command)}


def allowed(
    game: str,
    decree: str,
    settings: Mapping[str, Any],
    of: Rights,
    two_persons: Collection[str] = (),
    devices: tuple[str, ...] = (),
) -> dict[str, Allowed]:
    """The same for a program that shows forms, with what the game knows of each command: the topic
    ``info`` has it. ``two_persons``: the commands that may take a second person; ``devices``: those
    of the table.
    """
    made = make_game(game, decree, settings)
    assert isinstance(made, Machine)
    named: dict[str, type[Command]] = {_name(kind): kind for kind in COMMANDS}
    inputs = made.inputs
    choices = {**made.choices()}
    if devices:
        choices[DeviceService] = {"device": devices}
    return {
        name: Allowed(
            roles=tuple(role for role in ROLES if role in right.roles),
            two_persons=name in two_persons,
            choices=dict(choices.get(named.get(name, Command), {})),
            leaves_out=inputs.leaves_out.get(named.get(name, Command), ()),
            undone_by=_undone_by(inputs, name),
            reasons={
                reason: tuple(role for role in roles if role in right.roles)
                for reason, roles in made.roles_by_reason(name).items()
            },
        )
        for name, right in of.items()
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
"""What takes a command back, where the table knows both and does not always refuse it."""


def _undone_by(inputs: Inputs, name: str) -> Undo | None:
    if name in map(_name, inputs.withdrawn):
        return Undo(command=name, fields={"valid": False})
    by = UNDONE_BY.get(name)
    known = {_name(kind) for kind in inputs.takes if inputs.when.get(kind) is not never}
    return Undo(command=by) if by in {*known, "staff.on", "staff.off"} else None


def narrowed(of: Rights, site: Mapping[str, tuple[Holds, ...]]) -> Rights:
    """The rights with those that a site takes away: for each command that it names, the roles that
    keep it.

    Raises ``ValueError`` that names a command that there is not, a role that may not have it, or a
    command that nobody could give any more.
    """
    found = dict(of)
    for command, roles in site.items():
        right = of.get(command)
        if right is None:
            raise ValueError(unknown_word("command", command, sorted(of)))
        if wider := [role for role in roles if role not in right.roles]:
            by = right.law or "the default"
            raise ValueError(
                f"{command}: {', '.join(wider)} may not have it; {by} leaves it to "
                f"{', '.join(right.roles)}"
            )
        if not roles:
            raise ValueError(f"{command}: nobody could give it; name one of its roles")
        kept = tuple(role for role in right.roles if role in roles)
        found[command] = msgspec.structs.replace(
            right, roles=kept, narrowed=len(kept) < len(right.roles)
        )
    return found


def at_table(of: Rights, site: Mapping[str, tuple[str, ...]]) -> Rights:
    """The rights of one table with what the site takes away at all of its tables: commands that
    this table has, and of their roles those that may have them here.

    Raises ``ValueError`` for a command that nobody could give any more.
    """
    return narrowed(
        of,
        {
            command: tuple(role for role in of[command].roles if role in roles)
            for command, roles in site.items()
            if command in of
        },
    )


def command_name(given: AnyCommand | DeviceOrder | Recall) -> str:
    """The name under which :func:`rights` has this command."""
    if isinstance(given, Recall):
        return RECALL
    if isinstance(given, DeviceOrder | DeviceCommand):
        return LAUNCH if given.command in LAUNCHES else DEVICE
    return _name(type(given))


def allow(of: Rights, given: AnyCommand | DeviceOrder | Recall, role: Holds) -> Right:
    """The right by which this role may give this command. Raises :class:`RejectedError`."""
    name = command_name(given)
    right = of.get(name)
    if right is None:
        raise RejectedError("unknown_command", command=level(name))
    if role not in right.roles:
        raise RejectedError("role_not_allowed", law=right.law, role=role, roles=right.roles)
    return right


def _name(kind: type[Command] | type[Any]) -> str:
    return str(kind.__struct_config__.tag)
