"""A test wheel that plays spin after spin, each with a number that follows from its count."""

from __future__ import annotations

import threading

from tests.support.daemon.process import Wheel

STEP = 0.2
"""Seconds that the wheel shows each of its states."""
WRAPS = 250
"""Spins until the wheel's counter is 1 again; it has eight bits."""


def shown(spin: int) -> int:
    """The number of that spin, by the wheel's own count."""
    return (spin * 17 + 5) % 37


def show_spin(wheel: Wheel, spin: int, ending: threading.Event) -> None:
    """Show the states of the spin with this number, from 1 on, unless it is to end."""
    count = (spin - 1) % WRAPS + 1
    for state in (2, 3, 4, 5):
        before, now = shown(count - 1 or WRAPS), shown(count)
        wheel.show(state, count, f"{now if state == 5 else before:>2}")
        if ending.wait(STEP):
            return
