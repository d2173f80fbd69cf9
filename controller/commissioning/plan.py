"""The steps of an acceptance of a wheel or a shoe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from common.errors import NovamasError
from common.readings import (
    AnyReading,
    CardCut,
    CardDrawn,
    LinkLost,
    LinkOpen,
    LinkStale,
    LinkUnintelligible,
    LinkUp,
    ShoeFault,
    WheelCell,
    WheelFault,
    WheelNumber,
)
from controller.commissioning.protocol import Expected
from devices.codec import Driver

BOULE_HOLES = 18
"""Holes of a boule wheel."""
RANKS, SUITS = "A23456789TJQK", "cdhs"
BALL_FAULTS = ("ball_removed", "ball_not_in_track", "ball_out", "ball_with_rotor", "between")
"""Faults in which a wheel reports a misplaced ball."""


class NotCommissionedError(NovamasError):
    """There is no acceptance for this kind of device."""


class FaultSteps(NamedTuple):
    """A fault to provoke: instructions to cause it and to end it."""

    make: str
    mend: str
    ends: bool
    """Whether the device reports the end."""


FAULTS: Mapping[str, FaultSteps] = {
    "cable": FaultSteps("Pull the device's cable.", "Plug it in again.", True),
    "ball": FaultSteps(
        "Start a spin and take the ball out, or hold it back, so that the device misses it.",
        "Put the ball back and let the device continue.",
        False,
    ),
    "sensor": FaultSteps(
        "Cover a sensor of the ball.", "Uncover it and let the device continue.", True
    ),
    "unread": FaultSteps(
        "Draw a card that the shoe cannot read: face up, or with its code covered.",
        "Put the shoe in order.",
        False,
    ),
    "cut card": FaultSteps("Draw the cut card.", "Put it back.", False),
}
"""By name. The cut card is not a fault, but the shoe must report it as well."""


def expected(driver: Driver, options: msgspec.Struct, game: str, pockets: int | None) -> Expected:
    """Return what a device must report. ``pockets``: number required by the decree. Raises
    :class:`NotCommissionedError`.
    """
    if driver.kind == "shoe":
        cards = tuple(rank + suit for suit in SUITS for rank in RANKS)
        shoe_faults = ("cable", "unread", "cut card")
        return Expected(kind="shoe", values=cards, phases=(), faults=shoe_faults)
    if driver.kind == "wheel":
        phases: tuple[str, ...] = ("bets_open", "no_more_bets")
        faults: tuple[str, ...] = ("cable", "ball", "sensor")
        if game in ("boule", "fortune-wheel"):
            phases = ("launched", "settling", "settled")
        if game == "fortune-wheel":
            faults = ("cable",)
        return Expected(
            kind="wheel",
            values=_numbers(options, game, pockets),
            phases=phases,
            faults=faults,
            parameters=driver.parameters if getattr(options, "ask", False) else (),
        )
    raise NotCommissionedError(
        f"the driver {driver.name} is for a {driver.kind}; only wheels and shoes have an acceptance"
    )


def _numbers(options: msgspec.Struct, game: str, pockets: int | None) -> tuple[str, ...]:
    """Return the values that the device can report: roulette pockets, or holes or cells by
    position.
    """
    if game == "boule":
        return tuple(str(hole) for hole in range(1, BOULE_HOLES + 1))
    if game == "fortune-wheel":
        return tuple(str(cell) for cell in range(1, getattr(options, "cells", 54) + 1))
    count = getattr(options, "pockets", None) or pockets or 37
    return (*map(str, range(37)), *("00", "000", "0000")[: count - 37])


def parse_value(text: str, device: Expected) -> str | None:
    """Convert a person's entry to the device's notation; None if it is not a possible value."""
    value = text.strip()
    if device.kind == "shoe":
        value = value.upper().replace("10", "T")
        value = value[:1] + value[1:].lower()
    return value if value in device.values else None


def result_of(reading: AnyReading) -> str | None:
    """Return the number or card of a reading: ``?`` if the device could not read it; None if it is
    another reading.
    """
    match reading:
        case WheelNumber(number=number):
            return str(number)
        case WheelCell(cell=cell):
            return str(cell)
        case CardDrawn(card=card):
            return card or "?"
    return None


def fault_report(fault: str, reading: AnyReading) -> str | None:
    """Describe how a reading reports the start of a fault, or return None."""
    match fault, reading:
        case "cable", LinkLost() | LinkStale() | LinkUnintelligible():
            return str(reading.__struct_config__.tag)
        case "ball", WheelFault(fault=wheel_fault, active=True) if wheel_fault in BALL_FAULTS:
            return f"wheel.fault {wheel_fault}"
        case "sensor", WheelFault(fault="sensor", active=True):
            return "wheel.fault sensor"
        case "unread", CardDrawn(card=None):
            return "card.drawn, unread"
        case "unread", ShoeFault(fault=wheel_fault, active=True):
            return f"shoe.fault {wheel_fault}"
        case "cut card", CardCut():
            return "card.cut"
    return None


def fault_ended(fault: str, reading: AnyReading) -> bool:
    """True if a reading reports the end of a fault."""
    match fault, reading:
        case "cable", LinkUp() | LinkOpen():
            return True
        case "sensor", WheelFault(fault="sensor", active=False):
            return True
    return False
