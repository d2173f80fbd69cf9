"""Commands that a table follows itself, without its game."""

from __future__ import annotations

from typing import Any, NamedTuple

from msgspec.structs import replace

from common.contract.commands import (
    AlertAcknowledge,
    DeviceService,
    StaffOff,
    StaffOn,
    WitnessReport,
)
from common.contract.events import AnyEvent
from common.contract.refusals import RejectedError
from common.contract.retained import About
from controller.games.game import Game
from controller.games.guards import allow_role
from controller.games.roles import AT_THE_TABLE
from controller.tables.facts import TableFacts
from controller.tables.identities import service_event
from controller.tables.staff import staff_event
from controller.tables.table_alerts import acknowledge, settled_by_service
from controller.tables.witnesses import Witnesses, on_person

OWN_COMMANDS = (AlertAcknowledge, StaffOn, StaffOff, DeviceService, WitnessReport)


class CommandContext(NamedTuple):
    """What decides about such a command. ``fault``: why the game failed; ``halted``: why nothing
    can be stored.
    """

    facts: TableFacts
    about: About
    witnesses: Witnesses
    game: Game
    session: int
    fault: str | None
    halted: str | None


def on_own_command(command: Any, context: CommandContext) -> list[AnyEvent]:
    """Return the events of a command. Raises :class:`RejectedError`."""
    facts, stopped = context.facts, context.fault or context.halted
    match command:
        case AlertAcknowledge():
            return [*acknowledge(command, facts.alerts)]
        case StaffOn() | StaffOff():
            arrival = staff_event(command, facts.staff, is_open=facts.open, stopped=stopped)
            return [replace(arrival, session=context.session)]
        case DeviceService():
            event = service_event(command, context.about.devices, context.halted)
            event = replace(event, session=context.session)
            return [event, *settled_by_service(command, facts.alerts)]
        case _:
            allow_role(command.role, AT_THE_TABLE)
            seen = context.game.read_witness_report(command)
            if stopped:
                raise RejectedError("table_in_fault", reason=stopped)
            if not facts.open:
                raise RejectedError("no_session")
            return on_person(command, seen, facts, context.witnesses)
