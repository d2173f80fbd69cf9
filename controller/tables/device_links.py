"""Link state of a table's devices, and commands to them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from common.contract.commands import DeviceCommand
from common.contract.events import (
    AlertCleared,
    AlertRaised,
    AnyEvent,
    DataLate,
    DeviceCommanded,
    DeviceState,
)
from common.contract.refusals import RejectedError
from common.contract.retained import DeviceLink, LinkState
from common.readings import (
    LinkGarbage,
    LinkLate,
    LinkLost,
    LinkOpen,
    LinkStale,
    LinkUnintelligible,
    LinkUp,
)
from controller.games.guards import allow_role
from controller.games.roles import roles_for_device
from controller.tables.facts import TableFacts

RESTART_REASON = "restart"
"""Reason for marking every device as lost when a table is resumed; raises no separate alert."""

OUTAGE_REASON = "the journal could not be written"
"""Reason for marking every device as lost when the table missed input that could not be stored."""


def allow(command: DeviceCommand, devices: Collection[str], halted: str | None) -> None:
    """Raise :class:`RejectedError` if this role, these devices or this moment do not allow a
    command. ``halted``: the reason why nothing can be stored.
    """
    allow_role(command.role, roles_for_device(command.command))
    if command.device not in devices:
        if not devices:
            raise RejectedError("devices_none", device=command.device)
        raise RejectedError("device_unknown", device=command.device, devices=tuple(sorted(devices)))
    if halted:
        raise RejectedError("table_in_fault", reason=halted)


def command_event(
    command: DeviceCommand, devices: Collection[str], halted: str | None
) -> DeviceCommanded:
    """Return the event of a command. The daemon's own report that it was not sent is always
    accepted.
    """
    if command.unsent is None:
        allow(command, devices, halted)
    return DeviceCommanded(
        device=command.device,
        command=command.command,
        argument=command.argument,
        by=command.by,
        role=command.role,
        unsent=command.unsent,
    )


def link_alert(device: str) -> str:
    """Return the id of the alert for a bad link of a device."""
    return f"{device or 'device'}-link"


def link_state(reading: object) -> tuple[LinkState, str | None] | None:
    """Return the link state that a reading reports, and its detail; None if it reports none."""
    match reading:
        case LinkUp():
            return "up", None
        case LinkOpen():
            return "open", "nothing heard yet"
        case LinkStale(age=age):
            return "stale", f"no valid frame for {age:g} s"
        case LinkLost(reason=reason):
            return "lost", reason
        case LinkUnintelligible(bytes=count):
            return "unintelligible", f"{count} bytes, and no frame among them"
    return None


def link_events(
    reading: Any, time: str, facts: TableFacts, garbage: dict[str, int], *, face_down: bool
) -> Iterable[AnyEvent]:
    """Yield the table's own events for a reading of a link, and note the state of the link and the
    bytes of ``garbage`` by device.
    """
    device = reading.device
    if isinstance(reading, LinkGarbage):
        garbage[device] = garbage.get(device, 0) + reading.bytes
    elif isinstance(reading, LinkLate):
        yield DataLate(device=device, frames=reading.frames, silence=reading.silence)
    elif (link := link_state(reading)) is not None:
        state, detail = link
        if face_down and isinstance(reading, LinkUnintelligible):
            detail = "no frame among its bytes"  # their number may depend on a card
        was, alert = facts.devices.get(device), link_alert(device)
        if was and was.state == state and (state != "lost" or was.detail == detail):
            return  # unchanged
        facts.devices[device] = DeviceLink(state, time, detail)
        yield DeviceState(device=device, state=state, detail=detail)
        if state == "open":
            if (
                (current_alert := facts.alerts.get(alert)) and current_alert.what != "link.open"
            ):  # not at a start, and not again after a restart
                yield AlertRaised(
                    alert=alert,
                    what="link.open",
                    severity="warning",
                    device=device,
                    detail=detail,
                )
        elif state != "up" and detail != RESTART_REASON:
            yield AlertRaised(alert=alert, what=f"link.{state}", device=device, detail=detail)
        elif state == "up" and facts.alerts.get(alert):
            yield AlertCleared(alert=alert)
