"""Identity of the devices at a table: what is configured, what they report, and what maintenance
recorded.

A device reports its serial number over USB or in its own protocol. A number other than the
configured or previous one, without a recorded replacement, raises an alert. The number is only
compared and proves nothing: a device can report any number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec
from msgspec.structs import replace

from common.contract.commands import DeviceService
from common.contract.events import (
    AlertCleared,
    AlertRaised,
    AnyEvent,
    DeviceIdentified,
    DeviceServiced,
)
from common.contract.refusals import RejectedError
from common.contract.retained import Identity
from common.readings import DeviceIdentity, DeviceReport
from controller.games.guards import allow_role
from controller.games.roles import COMMANDS_DEVICES

SERIAL_REPORT = "serial"
"""Name of the report in which a device sends its own serial number."""

MAX_SERIAL_CHARACTERS = 64
"""Maximum characters of a serial number, as in the configuration."""

Source = Literal["usb", "device"]


class ReportedIdentity(msgspec.Struct, frozen=True, omit_defaults=True):
    """The identity that a device or its connector reported. ``usb``: vendor and product id."""

    serial: str | None = None
    usb: str | None = None


class KnownDevice(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The identity of one device as its table knows it. ``right``: by source, the identity that is
    accepted as correct; ``reported``: the latest one; ``replaced``: a replacement was recorded,
    so the first identity that a source reports is accepted.
    """

    configured: Identity = Identity()
    usb_serial: str | None = None
    right: dict[Source, ReportedIdentity] = {}
    reported: dict[Source, ReportedIdentity] = msgspec.field(default_factory=dict, name="told")
    replaced: bool = False


Identities = Mapping[str, KnownDevice]


def identity_alert(device: str) -> str:
    """Return the id of the alert that a device may have been exchanged."""
    return f"{device}-identity"


def on_identity(
    reading: DeviceIdentity | DeviceReport, devices: Identities, *, alerted: bool
) -> tuple[KnownDevice | None, list[AnyEvent]]:
    """Process an identity. Return the new state of the device, or None if unchanged, and the
    events. ``alerted``: the alert is currently raised.
    """
    before = devices.get(reading.device, KnownDevice())
    if isinstance(reading, DeviceIdentity) and reading.source == "configured":
        return _configured(reading, before, alerted=alerted)
    if isinstance(reading, DeviceIdentity):
        source: Source = "usb" if reading.source == "usb" else "device"
        return _on_reported(
            source, ReportedIdentity(reading.serial, reading.usb), reading, before, alerted=alerted
        )
    if reading.report != SERIAL_REPORT:
        return None, []
    return _on_reported(
        "device",
        ReportedIdentity(reading.value[:MAX_SERIAL_CHARACTERS]),
        reading,
        before,
        alerted=alerted,
    )


def _configured(
    reading: DeviceIdentity, before: KnownDevice, *, alerted: bool
) -> tuple[KnownDevice | None, list[AnyEvent]]:
    """A changed configuration discards what was reported before."""
    configured = Identity(maker=reading.maker, model=reading.model, serial=reading.serial)
    if (configured, reading.usb_serial) == (before.configured, before.usb_serial):
        return None, []
    events: list[AnyEvent] = []
    if configured != before.configured:
        events = [
            DeviceIdentified(
                device=reading.device,
                source="configured",
                serial=configured.serial,
                maker=configured.maker,
                model=configured.model,
                was=before.configured.serial,
            )
        ]
    if alerted:
        events.append(AlertCleared(alert=identity_alert(reading.device)))
    return KnownDevice(configured=configured, usb_serial=reading.usb_serial), events


def _on_reported(
    source: Source,
    reported: ReportedIdentity,
    reading: DeviceIdentity | DeviceReport,
    before: KnownDevice,
    *,
    alerted: bool,
) -> tuple[KnownDevice | None, list[AnyEvent]]:
    device, previous = reading.device, before.reported.get(source)
    link = reading if isinstance(reading, DeviceIdentity) else None
    if reported == previous:
        return None, []
    events: list[AnyEvent] = [
        DeviceIdentified(
            device=device,
            source=source,
            serial=reported.serial,
            maker=link.maker if link else None,
            model=link.model if link else None,
            usb=reported.usb,
            was=None if previous is None else previous.serial,
        )
    ]
    apply_service = replace(before, reported={**before.reported, source: reported})
    if (wrong := _difference(source, reported, before)) is None:
        apply_service = replace(apply_service, right={**apply_service.right, source: reported})
    if why := wrong or _other_difference(apply_service, source):
        if wrong is not None:
            events.append(
                AlertRaised(
                    alert=identity_alert(device),
                    what="device.replaced",
                    severity="warning",
                    device=device,
                    detail=why,
                )
            )
    elif alerted:
        events.append(AlertCleared(alert=identity_alert(device)))
    return apply_service, events


def _difference(source: Source, reported: ReportedIdentity, known: KnownDevice) -> str | None:
    """Describe how a reported identity differs; None if it is right or there is no reference."""
    right = known.right.get(source)
    if right is not None:
        return (
            None
            if reported == right
            else f"{_describe_report(source, reported)}; before: {_describe_identity(right)}"
        )
    serial = known.usb_serial if source == "usb" else known.configured.serial
    if known.replaced or serial is None or reported.serial == serial:
        return None
    return f"{_describe_report(source, reported)}; configured: {serial}"


def _other_difference(known: KnownDevice, except_source: Source) -> str | None:
    """Describe how the last identity from any other source differs."""
    sources: Iterable[Source] = ("usb", "device")
    differences = (
        _difference(source, known.reported[source], known)
        for source in sources
        if source != except_source and source in known.reported
    )
    return next((source for source in differences if source is not None), None)


def _describe_report(source: Source, reported: ReportedIdentity) -> str:
    return f"{'USB' if source == 'usb' else 'the device'} tells {_describe_identity(reported)}"


def _describe_identity(reported: ReportedIdentity) -> str:
    serial = "no serial number" if reported.serial is None else f"serial number {reported.serial}"
    return serial if reported.usb is None else f"{serial} ({reported.usb})"


def service_event(
    command: DeviceService, devices: Iterable[str], halted: str | None
) -> DeviceServiced:
    """Return the event of a maintenance entry. Raises :class:`RejectedError`, as for a command to a
    device.
    """
    allow_role(command.role, COMMANDS_DEVICES)
    names = tuple(sorted(devices))
    if command.device not in names:
        if not names:
            raise RejectedError("devices_none", device=command.device)
        raise RejectedError("device_unknown", device=command.device, devices=names)
    if halted:
        raise RejectedError("table_in_fault", reason=halted)
    return DeviceServiced(
        device=command.device,
        work=command.work,
        serial=command.serial,
        note=command.note,
        by=command.by,
        role=command.role,
    )


def apply_service(
    devices: Identities, event: DeviceServiced, *, is_open: bool
) -> dict[str, KnownDevice]:
    """Return the identities after a maintenance entry. ``is_open``: the link of the device is open.
    After a replacement, the identity reported now, or else next, is accepted.
    """
    if event.work != "replaced":
        return dict(devices)
    device = devices.get(event.device, KnownDevice())
    reported = {**device.reported} if is_open else {}
    return {
        **devices,
        event.device: replace(device, right=reported, reported=reported, replaced=True),
    }
