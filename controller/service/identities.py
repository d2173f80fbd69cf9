"""Which device it is: what the configuration says, and what its USB connector tells."""

from __future__ import annotations

from collections.abc import Mapping

from controller.configuration.settings import DeviceConfig
from controller.contract.retained import Identity
from devices.readings import DeviceIdentity

LONGEST = 64
"""Characters that are kept of what a device says."""


def plate(device: DeviceConfig) -> Identity | None:
    """What is configured of the device's plate; None: nothing."""
    found = Identity(maker=device.maker, model=device.model, serial=device.serial)
    return None if found == Identity() else found


def configured_identity(device: DeviceConfig, at: float) -> DeviceIdentity:
    """What the configuration says of it. Behind a serial port USB tells the adapter's number, which
    is not compared with that of the device.
    """
    of_device = device.serial if device.link.startswith("usb://") else None
    return DeviceIdentity(
        at=at,
        device=device.id,
        source="configured",
        serial=device.serial,
        maker=device.maker,
        model=device.model,
        usb_serial=device.usb_serial or of_device,
    )


def usb_identity(device: str, facts: Mapping[str, str], at: float) -> DeviceIdentity | None:
    """What USB tells, of the facts about a connection; None: it is not USB."""
    if "usb" not in facts:
        return None
    return DeviceIdentity(
        at=at,
        device=device,
        source="usb",
        usb=_line(facts["usb"]),
        serial=_line(facts.get("serial_number")),
        maker=_line(facts.get("manufacturer")),
        model=_line(facts.get("product")),
    )


def _line(text: str | None) -> str | None:
    """A device's own words, as one line of bounded length; None if there are none."""
    kept = "".join(c if c.isprintable() else " " for c in text or "").strip()[:LONGEST]
    return kept or None
