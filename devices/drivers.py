"""Registry of drivers, one line each. A driver's module is imported on first use."""

from __future__ import annotations

from importlib import import_module

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


def driver(name: str) -> Driver:
    """Return a driver by name. Raises ``KeyError`` with a suggestion or the known names."""
    try:
        module, attribute = DRIVERS[name].split(":")
    except KeyError:
        raise KeyError(unknown_word("driver", name, sorted(DRIVERS))) from None
    found = getattr(import_module(module), attribute)
    assert isinstance(found, Driver)
    return found
