"""The faults that can be switched on while a simulator runs: one table, and how a person writes one.

``silence 5`` is a silence of five seconds; ``damaged x3`` damages the next three lines; ``12.5:silence=5`` is a
fault of a schedule, 12.5 seconds after the start. A fault is over by itself after its seconds or its uses.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple


class Fault(NamedTuple):
    """What a fault does, and where: on the line, in the device, or at the port. ``value``: what it has where none is given."""

    where: Literal["line", "device", "port"]
    does: str
    value: float = 0.0


FAULTS: dict[str, Fault] = {
    "silence": Fault("line", "nothing arrives for VALUE seconds, and what was sent meanwhile is lost", 5.0),
    "burst": Fault("line", "nothing arrives for VALUE seconds, then all of it at once", 10.0),
    "split": Fault("line", "the bytes of the next line come in dribbles"),
    "damaged": Fault("line", "the next line loses a character or gets noise for one"),
    "spliced": Fault("line", "the next two lines run into each other, as a receiver that lost bytes sees them"),
    "duplicate": Fault("line", "the next line comes twice"),
    "failed_launch": Fault("device", "the next ball is not launched well, warning 8; the wheel tries again"),
    "ball_removed": Fault(
        "device", "the ball is gone from the next game's state 4 for VALUE seconds; from 75 on the wheel stops", 75.0
    ),
    "ball_with_rotor": Fault("device", "the next ball runs the same way as the rotor, warning 2 in state 3"),
    "rotor_not_reversed": Fault("device", "the rotor keeps its direction in the next game"),
    "sensor": Fault("device", "warning 4 at once and a move to state 6; the cause is gone after VALUE seconds", 20.0),
    "wrong_number": Fault("device", "the next bare number is not the one of the status line"),
    "power_cycle": Fault("device", "the power is gone for VALUE seconds; the spin number falls to 1", 2.0),
    "unplug": Fault("port", "the port is gone for VALUE seconds and comes back under the same link", 3.0),
}


class Switch(NamedTuple):
    """One fault to switch on, ``times`` over."""

    name: str
    value: float
    times: int = 1


_SWITCH = re.compile(r"(?:fault\s+)?(?P<name>[a-z_]+)(?:[ =]\s*(?P<value>\d+(?:\.\d+)?))?(?:\s*x\s*(?P<times>[1-9]\d*))?")
_SCHEDULED = re.compile(r"(?P<at>\d+(?:\.\d+)?):(?P<switch>.+)")


def read_switch(text: str) -> Switch:
    """A fault as a person writes it. Raises ``ValueError`` that says what may be written."""
    match = _SWITCH.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text.strip()!r} is no fault: write NAME, NAME SECONDS or NAME xTIMES")
    name = match["name"]
    if name not in FAULTS:
        raise ValueError(f"no fault {name!r}; there are: {', '.join(FAULTS)}")
    value = FAULTS[name].value if match["value"] is None else float(match["value"])
    return Switch(name, value, int(match["times"] or 1))


def read_scheduled(text: str) -> tuple[float, Switch]:
    """A fault of a schedule, ``SECONDS:FAULT``. Raises ``ValueError``."""
    match = _SCHEDULED.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is no fault of a schedule: write SECONDS:NAME=VALUE, as in 12.5:silence=5")
    return float(match["at"]), read_switch(match["switch"])
