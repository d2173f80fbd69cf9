"""Who is at a table: what people say of it, and what stands after it."""

from __future__ import annotations

from collections.abc import Mapping

from controller.contract.commands import Duty, StaffOff, StaffOn
from controller.contract.events import StaffArrived, StaffLeft
from controller.contract.refusals import RejectedError
from controller.games.roles import AT_THE_TABLE, IN_CHARGE, allow_role

MOST = 24
"""The most persons at one table at once."""

Staff = Mapping[Duty, tuple[str, ...]]
"""By duty the names, in the order in which they came."""


def staffed(
    given: StaffOn | StaffOff, staff: Staff, *, is_open: bool, stopped: str | None
) -> StaffArrived | StaffLeft:
    """The event of such a command. ``stopped``: why nothing is taken now.

    Raises :class:`RejectedError` for a role that may not say it, outside a session, and for what is
    so already.
    """
    allow_role(given.role, AT_THE_TABLE)
    himself = bool(given.signed) and given.person == given.by and given.duty == given.role
    if given.role not in IN_CHARGE and not himself:
        raise RejectedError("staff_themself_only")
    if stopped:
        raise RejectedError("table_in_fault", reason=stopped)
    if not is_open:
        raise RejectedError("no_session")
    there, arrives = staff.get(given.duty, ()), isinstance(given, StaffOn)
    if arrives and given.person in there:
        raise RejectedError("staff_on_already", person=given.person, duty=given.duty)
    if not arrives and given.person not in there:
        raise RejectedError("staff_not_on", person=given.person, duty=given.duty, staff=there)
    if arrives and sum(map(len, staff.values())) >= MOST:
        raise RejectedError("staff_too_many", most=MOST)
    kind = StaffArrived if arrives else StaffLeft
    return kind(person=given.person, duty=given.duty, by=given.by, role=given.role)


def after(staff: Staff, event: StaffArrived | StaffLeft) -> dict[Duty, tuple[str, ...]]:
    """Who is at the table after it."""
    others = tuple(name for name in staff.get(event.duty, ()) if name != event.person)
    now = (*others, event.person) if isinstance(event, StaffArrived) else others
    found = {**staff, event.duty: now}
    return {duty: names for duty, names in found.items() if names}
