"""Identities of devices: from the configuration, and as reported by their USB connector."""

from __future__ import annotations

from collections.abc import Mapping

from common.contract.retained import Identity
from common.readings import DeviceIdentity
from controller.configuration.settings import DeviceConfig

MAX_TEXT_CHARACTERS = 64
"""Maximum characters of a text that a device reports about itself."""


def plate(device: DeviceConfig) -> Identity | None:
    """Return the configured type plate of a device, or None."""
    identity = Identity(maker=device.maker, model=device.model, serial=device.serial)
    return None if identity == Identity() else identity


def configured_identity(device: DeviceConfig, at: float) -> DeviceIdentity:
    """Return the configured identity of a device. The serial number is expected over USB only for a
    ``usb://`` device: behind a serial port, USB reports the number of the adapter.
    """
    own_serial = device.serial if device.link.startswith("usb://") else None
    return DeviceIdentity(
        at=at,
        device=device.id,
        source="configured",
        serial=device.serial,
        maker=device.maker,
        model=device.model,
        usb_serial=device.usb_serial or own_serial,
    )


def usb_identity(device: str, facts: Mapping[str, str], at: float) -> DeviceIdentity | None:
    """Return the identity from the facts about a USB connection; None if it is not USB."""
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
    """Make one line of bounded length from a device's text; None if it is empty."""
    line = "".join(c if c.isprintable() else " " for c in text or "").strip()[:MAX_TEXT_CHARACTERS]
    return line or None
