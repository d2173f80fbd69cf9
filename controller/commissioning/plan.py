"""What has to be seen of a wheel or a shoe before it is accepted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from controller.commissioning.protocol import Expected
from devices.codec import Driver
from devices.errors import NovamasError
from devices.readings import (
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

HOLES = 18
"""Holes of a boule."""
RANKS, SUITS = "A23456789TJQK", "cdhs"
BALL = ("ball_removed", "ball_not_in_track", "ball_out", "ball_with_rotor", "between")
"""Faults by which a wheel tells that its ball is not where it must be."""


class NotCommissionedError(NovamasError):
    """No acceptance is led through for this kind of device."""


class Fault(NamedTuple):
    """A fault that a person provokes: what to do, and what to do then."""

    make: str
    mend: str
    ends: bool
    """Whether the device tells its end."""


FAULTS: Mapping[str, Fault] = {
    "cable": Fault("Pull the device's cable.", "Plug it in again.", True),
    "ball": Fault(
        "Start a spin and take the ball out, or hold it back, so that the device misses it.",
        "Put the ball back and let the device go on.",
        False,
    ),
    "sensor": Fault("Cover a sensor of the ball.", "Uncover it and let the device go on.", True),
    "unread": Fault(
        "Draw a card that the shoe cannot read: face up, or with its code covered.",
        "Put the shoe in order.",
        False,
    ),
    "cut card": Fault("Draw the cut card.", "Put it back.", False),
}
"""By name. The cut card is no fault, but the shoe has to tell it as well."""


def expected(driver: Driver, options: msgspec.Struct, game: str, pockets: int | None) -> Expected:
    """What has to be seen of this device; ``pockets``: as the decree has them for the game. Raises
    :class:`NotCommissionedError`.
    """
    if driver.kind == "shoe":
        cards = tuple(rank + suit for suit in SUITS for rank in RANKS)
        of_a_shoe = ("cable", "unread", "cut card")
        return Expected(kind="shoe", values=cards, phases=(), faults=of_a_shoe)
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
        )
    raise NotCommissionedError(
        f"the driver {driver.name} is for a {driver.kind}; an acceptance is of a wheel or a shoe"
    )


def _numbers(options: msgspec.Struct, game: str, pockets: int | None) -> tuple[str, ...]:
    """The values that the device can tell: pockets of a roulette, holes or cells by position."""
    if game == "boule":
        return tuple(str(hole) for hole in range(1, HOLES + 1))
    if game == "fortune-wheel":
        return tuple(str(cell) for cell in range(1, getattr(options, "cells", 54) + 1))
    count = getattr(options, "pockets", None) or pockets or 37
    return (*map(str, range(37)), *("00", "000", "0000")[: count - 37])


def read(text: str, of: Expected) -> str | None:
    """What a person typed, as the device would tell it; None: none of what there is."""
    said = text.strip()
    if of.kind == "shoe":
        said = said.upper().replace("10", "T")
        said = said[:1] + said[1:].lower()
    return said if said in of.values else None


def result_of(reading: AnyReading) -> str | None:
    """The number or card that a reading tells: ``?`` if the device could not read it; None: it
    tells none.
    """
    match reading:
        case WheelNumber(number=number):
            return str(number)
        case WheelCell(cell=cell):
            return str(cell)
        case CardDrawn(card=card):
            return card or "?"
    return None


def tells(fault: str, reading: AnyReading) -> str | None:
    """How a reading tells that a fault began, or None."""
    match fault, reading:
        case "cable", LinkLost() | LinkStale() | LinkUnintelligible():
            return str(reading.__struct_config__.tag)
        case "ball", WheelFault(fault=what, active=True) if what in BALL:
            return f"wheel.fault {what}"
        case "sensor", WheelFault(fault="sensor", active=True):
            return "wheel.fault sensor"
        case "unread", CardDrawn(card=None):
            return "card.drawn, unread"
        case "unread", ShoeFault(fault=what, active=True):
            return f"shoe.fault {what}"
        case "cut card", CardCut():
            return "card.cut"
    return None


def ends(fault: str, reading: AnyReading) -> bool:
    """Whether a reading tells that a fault is over."""
    match fault, reading:
        case "cable", LinkUp() | LinkOpen():
            return True
        case "sensor", WheelFault(fault="sensor", active=False):
            return True
    return False
