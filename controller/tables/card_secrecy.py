"""Which inputs of a table with face-down cards may name a card that is not yet turned."""

from __future__ import annotations

from typing import TypeGuard

from common.contract.commands import CommandRefused, DeviceCommand
from common.contract.notation import Input
from common.readings import (
    DAEMON_READINGS,
    AnyReading,
    CardDrawn,
    ClockBound,
    ClockStep,
    DeviceParameter,
    DeviceRefused,
    DeviceReport,
    JournalRestore,
    LinkGap,
    LinkGarbage,
    LinkUnintelligible,
    Reading,
    ShoeFault,
    ShoeReset,
    ShufflerState,
)

POSSIBLY_REVEALING_READINGS = (
    LinkGarbage,
    LinkGap,
    DeviceReport,
    DeviceParameter,
    DeviceRefused,
    LinkUnintelligible,
    ShoeFault,
    ShoeReset,
    ShufflerState,
)
"""Readings whose frame, byte count or detail (the device's own words) may reveal a card that no
game has seen yet.
"""

CARDLESS_INPUTS = (DeviceCommand, ClockStep, ClockBound, JournalRestore)
"""Inputs that cannot name a card."""


def is_counted(item: Input) -> TypeGuard[AnyReading]:
    """True for readings that get a number at a table with cards: readings of a device, but not of
    its link, so that a replay yields the same numbers.
    """
    return (
        isinstance(item, Reading)
        and not isinstance(item, DAEMON_READINGS)
        and not str(item.__struct_config__.tag).startswith("link.")
    )


def may_reveal(item: Input) -> bool:
    """Return True if an input may name a card that no game has seen yet."""
    if isinstance(item, (*POSSIBLY_REVEALING_READINGS, CommandRefused)):
        return True
    # the reader could not name it, but its codes may be known to someone
    return isinstance(item, CardDrawn) and item.card is None and item.frame is not None
