"""The step of an acceptance in which the device states its parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from common.readings import AnyReading
    from controller.commissioning.protocol import AnyNote, Expected

PARAMETER_SECONDS = 60.0
"""Seconds in which a device that is asked must have stated its parameters."""


def read_parameters(
    expected: Expected,
    notes: Sequence[AnyNote],
    store: Callable[[AnyNote], None],
    until: Callable[[Callable[[AnyReading], bool], float], bool],
    now: Callable[[], str],
) -> None:
    """Store each parameter that was not stated before. ``until`` waits for a reading that a
    function accepts, and returns False after so many seconds without it; ``now``: UTC.
    """
    from common.readings import DeviceParameter
    from controller.commissioning.protocol import ParameterNote

    missing = set(expected.parameters) - {
        note.parameter for note in notes if isinstance(note, ParameterNote)
    }
    if not missing:
        return
    print("\nParameters. The device is asked while it is closed; this takes half a minute.")

    def is_last(reading: AnyReading) -> bool:
        if isinstance(reading, DeviceParameter) and reading.parameter in missing:
            missing.discard(reading.parameter)
            store(
                ParameterNote(
                    at=now(),
                    parameter=reading.parameter,
                    value=reading.value,
                    expected=reading.expected,
                )
            )
            value = "no answer" if reading.value is None else reading.value
            wrong = f": expected {reading.expected}" if reading.expected else ""
            print(f"  {reading.parameter} {value}{wrong}")
        return not missing

    if not until(is_last, PARAMETER_SECONDS):
        print(f"  Not stated: {', '.join(sorted(missing))}. Close the wheel, and start again.")
