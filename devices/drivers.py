"""Registry of drivers, one line each. A driver's module is imported on first use."""

from __future__ import annotations

from importlib import import_module

from common.extensions import ExtensionError, ExtensionRecord, load_extension
from common.suggestions import unknown_word
from devices.codec import Driver, Registry

DRIVERS: Registry = {
    "angel-eye": "devices.shoe.angel_eye:DRIVER",
    "barcode-hid": "devices.shoe.barcode:HID",
    "barcode-serial": "devices.shoe.barcode:SERIAL",
    "bee-tek": "devices.shoe.bee_tek:DRIVER",
    "boule-board": "devices.wheel.boule_board:DRIVER",
    "cammegh-ss2": "devices.wheel.cammegh_ss2_driver:DRIVER",
    "cctalk-acceptor": "devices.slot.cctalk_acceptor:DRIVER",
    "deck-mate-1": "devices.shuffler.deck_mate_1:DRIVER",
    "dice-board": "devices.dice.dice_board:DRIVER",
    "fortune-board": "devices.wheel.fortune_board:DRIVER",
    "profile": "devices.profiles.drivers:PROFILE",
    "saturn": "devices.wheel.saturn:DRIVER",
    "shuffler-board": "devices.shuffler.shuffler_board:DRIVER",
    "sicbo-shaker": "devices.dice.sicbo_shaker:DRIVER",
    "slot-board": "devices.slot.slot_board:DRIVER",
    "zvonimir-king": "devices.profiles.drivers:ZVONIMIR_KING",
}


_extensions: dict[str, Driver] = {}
"""The drivers of enabled extensions, by name."""


def enable_driver(name: str) -> ExtensionRecord:
    """Load the driver of an extension: :func:`driver` then knows it. Raises
    :class:`ExtensionError`.
    """
    if name in DRIVERS:
        raise ExtensionError(
            f"extension {name}: a driver of novamas has this name, and no extension replaces it; "
            "its author must choose another"
        )
    found, record = load_extension("drivers", name, lambda found: _flaw(found, name))
    _extensions[name] = found
    return record


def _flaw(found: object, name: str) -> str | None:
    if not isinstance(found, Driver):
        return "it is not a devices.codec.Driver"
    return None if found.name == name else f"its driver is called {found.name!r}, not {name!r}"


def driver_names() -> list[str]:
    """Return the names of all drivers, also of enabled extensions."""
    return sorted((*DRIVERS, *_extensions))


def driver(name: str) -> Driver:
    """Return a driver by name. Raises ``KeyError`` with a suggestion or the known names."""
    if name in _extensions:
        return _extensions[name]
    try:
        module, attribute = DRIVERS[name].split(":")
    except KeyError:
        raise KeyError(unknown_word("driver", name, driver_names())) from None
    found = getattr(import_module(module), attribute)
    assert isinstance(found, Driver)
    return found
