"""Link state of a table's devices, and commands to them."""

from __future__ import annotations

from collections.abc import Collection

from common.contract.commands import DeviceCommand
from common.contract.events import DeviceCommanded
from common.contract.refusals import RejectedError
from common.contract.retained import LinkState
from common.readings import LinkLost, LinkOpen, LinkStale, LinkUnintelligible, LinkUp
from controller.games.roles import allow_role, roles_for_device


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
