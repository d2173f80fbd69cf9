"""Which devices are at a table: what is configured of them, what they tell, and what people did to
them.

A device tells its serial number over USB or in its own protocol. Another one than the configured,
or than the one before, and nobody said that the device was replaced: that is an alert. It is a
claim that is compared, never a proof: a device can tell any number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec
from msgspec.structs import replace

from controller.contract.commands import DeviceService
from controller.contract.events import (
    AlertCleared,
    AlertRaised,
    AnyEvent,
    DeviceIdentified,
    DeviceServiced,
)
from controller.contract.refusals import RejectedError
from controller.contract.retained import Identity
from controller.games.roles import COMMANDS_DEVICES, allow_role
from devices.readings import DeviceIdentity, DeviceReport

SERIAL = "serial"
"""The report in which a device tells its own serial number."""

LONGEST = 64
"""Characters of a serial number, as a configuration takes it."""

Source = Literal["usb", "device"]


class Told(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a device or its connector told of itself. ``usb``: vendor and product id."""

    serial: str | None = None
    usb: str | None = None


class Known(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a table knows of one device. ``right``: what is taken for its own, by source; ``told``:
    what it told last; ``replaced``: a person said that another device stands there, so what a
    source tells first is right.
    """

    configured: Identity = Identity()
    usb_serial: str | None = None
    right: dict[Source, Told] = {}
    told: dict[Source, Told] = {}
    replaced: bool = False


Identities = Mapping[str, Known]


def identity_alert(device: str) -> str:
    """The alert that another device may be in the place of this one."""
    return f"{device}-identity"


def identified(
    given: DeviceIdentity | DeviceReport, known: Identities, *, alerted: bool
) -> tuple[Known | None, list[AnyEvent]]:
    """What is known of the device after that, and what is to be said of it; None: as before.
    ``alerted``: the alert is raised.
    """
    before = known.get(given.device, Known())
    if isinstance(given, DeviceIdentity) and given.source == "configured":
        return _configured(given, before, alerted=alerted)
    if isinstance(given, DeviceIdentity):
        source: Source = "usb" if given.source == "usb" else "device"
        return _told(source, Told(given.serial, given.usb), given, before, alerted=alerted)
    if given.report != SERIAL:
        return None, []
    return _told("device", Told(given.value[:LONGEST]), given, before, alerted=alerted)


def _configured(
    given: DeviceIdentity, before: Known, *, alerted: bool
) -> tuple[Known | None, list[AnyEvent]]:
    """Once the configuration says something else, what was told before no longer counts."""
    now = Identity(maker=given.maker, model=given.model, serial=given.serial)
    if (now, given.usb_serial) == (before.configured, before.usb_serial):
        return None, []
    events: list[AnyEvent] = []
    if now != before.configured:
        events = [
            DeviceIdentified(
                device=given.device,
                source="configured",
                serial=now.serial,
                maker=now.maker,
                model=now.model,
                was=before.configured.serial,
            )
        ]
    if alerted:
        events.append(AlertCleared(alert=identity_alert(given.device)))
    return Known(configured=now, usb_serial=given.usb_serial), events


def _told(
    source: Source,
    told: Told,
    given: DeviceIdentity | DeviceReport,
    before: Known,
    *,
    alerted: bool,
) -> tuple[Known | None, list[AnyEvent]]:
    device, was = given.device, before.told.get(source)
    if told == was:
        return None, []
    events: list[AnyEvent] = [
        DeviceIdentified(
            device=device,
            source=source,
            serial=told.serial,
            maker=getattr(given, "maker", None),
            model=getattr(given, "model", None),
            usb=told.usb,
            was=None if was is None else was.serial,
        )
    ]
    now = replace(before, told={**before.told, source: told})
    if (wrong := _wrong(source, told, before)) is None:
        now = replace(now, right={**now.right, source: told})
    if why := wrong or _others(now, source):
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
    return now, events


def _wrong(source: Source, told: Told, known: Known) -> str | None:
    """In what it is another device; None: it is the right one, or nobody knows."""
    right = known.right.get(source)
    if right is not None:
        return None if told == right else f"{_name(source, told)}; before: {_plain(right)}"
    serial = known.usb_serial if source == "usb" else known.configured.serial
    if known.replaced or serial is None or told.serial == serial:
        return None
    return f"{_name(source, told)}; configured: {serial}"


def _others(known: Known, but: Source) -> str | None:
    """The same of what the other sources told last."""
    sources: Iterable[Source] = ("usb", "device")
    found = (
        _wrong(each, known.told[each], known)
        for each in sources
        if each != but and each in known.told
    )
    return next((each for each in found if each is not None), None)


def _name(source: Source, told: Told) -> str:
    return f"{'USB' if source == 'usb' else 'the device'} tells {_plain(told)}"


def _plain(told: Told) -> str:
    serial = "no serial number" if told.serial is None else f"serial number {told.serial}"
    return serial if told.usb is None else f"{serial} ({told.usb})"


def serviced(given: DeviceService, devices: Iterable[str], halted: str | None) -> DeviceServiced:
    """The event of such a command. Raises :class:`RejectedError`, as for a command to a device."""
    allow_role(given.role, COMMANDS_DEVICES)
    names = tuple(sorted(devices))
    if given.device not in names:
        if not names:
            raise RejectedError("devices_none", device=given.device)
        raise RejectedError("device_unknown", device=given.device, devices=names)
    if halted:
        raise RejectedError("table_in_fault", reason=halted)
    return DeviceServiced(
        device=given.device,
        work=given.work,
        serial=given.serial,
        note=given.note,
        by=given.by,
        role=given.role,
    )


def after(known: Identities, event: DeviceServiced, *, there: bool) -> dict[str, Known]:
    """What is known after it. ``there``: its link is open. Where a device was replaced, what it
    tells now is right, or what it tells next.
    """
    if event.work != "replaced":
        return dict(known)
    of = known.get(event.device, Known())
    told = {**of.told} if there else {}
    return {**known, event.device: replace(of, right=told, told=told, replaced=True)}
