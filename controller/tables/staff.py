"""The staff at a table: events for arrivals and departures, and who is there afterwards."""

from __future__ import annotations

from collections.abc import Mapping

from common.contract.commands import Duty, StaffOff, StaffOn
from common.contract.events import StaffArrived, StaffLeft
from common.contract.refusals import RejectedError
from controller.games.guards import allow_role
from controller.games.roles import AT_THE_TABLE, IN_CHARGE

MAX_STAFF = 24
"""Maximum number of people at one table."""

Staff = Mapping[Duty, tuple[str, ...]]
"""Names by duty, in order of arrival."""


def staff_event(
    command: StaffOn | StaffOff, staff: Staff, *, is_open: bool, stopped: str | None
) -> StaffArrived | StaffLeft:
    """Return the event for a command. ``stopped``: the reason why commands are not accepted now.

    Raises :class:`RejectedError` for a role that may not give the command, outside a session, and
    if nothing would change.
    """
    allow_role(command.role, AT_THE_TABLE)
    is_self = bool(command.signed) and command.person == command.by and command.duty == command.role
    if command.role not in IN_CHARGE and not is_self:
        raise RejectedError("staff_themself_only")
    if stopped:
        raise RejectedError("table_in_fault", reason=stopped)
    if not is_open:
        raise RejectedError("no_session")
    present, arrives = staff.get(command.duty, ()), isinstance(command, StaffOn)
    if arrives and command.person in present:
        raise RejectedError("staff_on_already", person=command.person, duty=command.duty)
    if not arrives and command.person not in present:
        raise RejectedError("staff_not_on", person=command.person, duty=command.duty, staff=present)
    if arrives and sum(map(len, staff.values())) >= MAX_STAFF:
        raise RejectedError("staff_too_many", most=MAX_STAFF)
    kind = StaffArrived if arrives else StaffLeft
    return kind(person=command.person, duty=command.duty, by=command.by, role=command.role)


def staff_after(staff: Staff, event: StaffArrived | StaffLeft) -> dict[Duty, tuple[str, ...]]:
    """Return the staff after the event."""
    others = tuple(name for name in staff.get(event.duty, ()) if name != event.person)
    present = (*others, event.person) if isinstance(event, StaffArrived) else others
    staff_by_duty = {**staff, event.duty: present}
    return {duty: names for duty, names in staff_by_duty.items() if names}
