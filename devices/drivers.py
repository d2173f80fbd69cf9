"""The registry of drivers: one line per driver. A module is imported only when its driver is asked for."""

from __future__ import annotations

from importlib import import_module

from devices.codec import Driver, Registry

DRIVERS: Registry = {
    "angel-eye": "devices.shoe.angel_eye:DRIVER",
    "barcode-hid": "devices.shoe.barcode:HID",
    "barcode-serial": "devices.shoe.barcode:SERIAL",
    "bee-tek": "devices.shoe.bee_tek:DRIVER",
    "cammegh-ss2": "devices.wheel.cammegh_ss2:DRIVER",
}


def driver(name: str) -> Driver:
    """The driver of that name. Raises ``KeyError`` that names the known ones."""
    try:
        module, attribute = DRIVERS[name].split(":")
    except KeyError:
        raise KeyError(f"no driver {name!r}; there are: {', '.join(sorted(DRIVERS))}") from None
    found = getattr(import_module(module), attribute)
    assert isinstance(found, Driver)
    return found
