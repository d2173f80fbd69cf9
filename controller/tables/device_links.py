"""A table's devices: the state of their links, and the commands that people give them."""

from __future__ import annotations

from collections.abc import Collection

from controller.contract.commands import DeviceCommand
from controller.contract.events import DeviceCommanded
from controller.contract.refusals import RejectedError
from controller.contract.retained import LinkState
from controller.games.roles import allow_role, may_command
from devices.readings import LinkLost, LinkOpen, LinkStale, LinkUnintelligible, LinkUp


def allow(given: DeviceCommand, devices: Collection[str], halted: str | None) -> None:
    """Reject a command that this role, these devices or this moment does not allow. ``halted``: why
    nothing can be stored.
    """
    allow_role(given.role, may_command(given.command))
    if given.device not in devices:
        if not devices:
            raise RejectedError("devices_none", device=given.device)
        raise RejectedError("device_unknown", device=given.device, devices=tuple(sorted(devices)))
    if halted:
        raise RejectedError("table_in_fault", reason=halted)


def commanded(
    given: DeviceCommand, devices: Collection[str], halted: str | None
) -> DeviceCommanded:
    """The events of a command. What the daemon adds to it is never refused."""
    if given.unsent is None:
        allow(given, devices, halted)
    return DeviceCommanded(
        device=given.device,
        command=given.command,
        argument=given.argument,
        by=given.by,
        role=given.role,
        unsent=given.unsent,
    )


def link_alert(device: str) -> str:
    """The alert for a bad link of a device."""
    return f"{device or 'device'}-link"


def link_state(given: object) -> tuple[LinkState, str | None] | None:
    """The link state that this reading reports, and why; None if it reports none."""
    match given:
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
