"""The faults that can be switched on while a simulator runs: one table, and how a person writes
one.

``silence 5`` is a silence of five seconds; ``damaged x3`` damages the next three lines;
``12.5:silence=5`` is a fault of a schedule, 12.5 seconds after the start. A fault is over by itself
after its seconds or its uses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple


class Fault(NamedTuple):
    """What a fault does, and where: on the line, in the device, or at the port. ``value``: what it
    has where none is given.

    ``of``: the protocols whose device has it; none: every device has.
    """

    where: Literal["line", "device", "port"]
    does: str
    value: float = 0.0
    of: tuple[str, ...] = ()


WHEEL, SATURN = ("cammegh-ss2",), ("saturn",)
DECK_MATE, SHAKER = ("deck-mate-1",), ("sicbo-shaker",)
ANGEL_EYE, BEE_TEK, BARCODE = ("angel-eye",), ("bee-tek",), ("barcode-serial",)
BOULE, FORTUNE, DICE = ("boule-board",), ("fortune-board",), ("dice-board",)
SHUFFLER, SLOT = ("shuffler-board",), ("slot-board",)
BOARDS = BOULE + FORTUNE + DICE + SHUFFLER + SLOT
SHOES = ANGEL_EYE + BEE_TEK + BARCODE


FAULTS: dict[str, Fault] = {
    "silence": Fault(
        "line", "nothing arrives for VALUE seconds, and what was sent meanwhile is lost", 5.0
    ),
    "burst": Fault("line", "nothing arrives for VALUE seconds, then all of it at once", 10.0),
    "split": Fault("line", "the bytes of the next line come in dribbles"),
    "damaged": Fault("line", "the next line loses a character or gets noise for one"),
    "spliced": Fault(
        "line", "the next two lines run into each other, as a receiver that lost bytes sees them"
    ),
    "duplicate": Fault("line", "the next line comes twice"),
    "wrong_baud": Fault("line", "for VALUE seconds the host listens at twice the speed", 10.0),
    "failed_launch": Fault(
        "device", "the next ball is not launched well, warning 8; the wheel tries again", of=WHEEL
    ),
    "ball_removed": Fault(
        "device",
        "the ball is gone from the next game's state 4 for VALUE seconds; from 75 on the wheel "
        "stops",
        75.0,
        of=WHEEL,
    ),
    "ball_with_rotor": Fault(
        "device", "the next ball runs the same way as the rotor, warning 2 in state 3", of=WHEEL
    ),
    "rotor_not_reversed": Fault(
        "device", "the rotor keeps its direction in the next game", of=WHEEL
    ),
    "sensor": Fault(
        "device",
        "warning 4 at once and a move to state 6; the cause is gone after VALUE seconds",
        20.0,
        of=WHEEL,
    ),
    "error": Fault("device", "the error flag is set for VALUE seconds", 20.0, of=SATURN),
    "wrong_number": Fault(
        "device", "the next bare number is not the one of the status line", of=WHEEL
    ),
    "power_cycle": Fault(
        "device",
        "the power is gone for VALUE seconds, and what was counted with it",
        2.0,
        of=WHEEL + DECK_MATE,
    ),
    "no_shake": Fault("device", "the next command is received, and nothing moves", of=SHAKER),
    "motion": Fault("device", "the shaker's motion fails for VALUE seconds", 5.0, of=SHAKER),
    "history": Fault("device", "the operator calls for the history that it keeps", of=DECK_MATE),
    "unread": Fault(
        "device",
        "the next card of a hand cannot be read; after VALUE seconds it was seen to",
        5.0,
        of=SHOES,
    ),
    "overdraw": Fault(
        "device",
        "a card too many is drawn behind the coup; after VALUE seconds it is kept for the next",
        5.0,
        of=SHOES,
    ),
    "lost_report": Fault("device", "the next report is never sent", of=SHOES + BOARDS),
    "bad_bcc": Fault(
        "device", "VALUE copies of the next report have a wrong check", 3.0, of=ANGEL_EYE
    ),
    "repeated": Fault(
        "device", "the last character of the next line comes several times", of=BEE_TEK
    ),
    "wrong_mode": Fault(
        "device", "at the next card the key is turned, for VALUE seconds", 20.0, of=BEE_TEK
    ),
    "read_twice": Fault(
        "device", "the next card is read twice, VALUE seconds apart", 0.3, of=BARCODE
    ),
    "foreign_code": Fault(
        "device", "a code that is no card's is read before the next card", of=BARCODE
    ),
    "reset": Fault(
        "device",
        "the power is gone for VALUE seconds, in the middle of a coup, which is broken off",
        2.0,
        of=SHOES,
    ),
    "cut_card": Fault("device", "the cut card comes before the next card", of=SHOES),
    "alarm": Fault("device", "an alarm before the next card, for VALUE seconds", 5.0, of=SHOES),
    "restart": Fault(
        "device",
        "the power of the board is gone for VALUE seconds, and with it its counts",
        2.0,
        of=BOARDS,
    ),
    "between_holes": Fault("device", "the next ball comes to lie between two holes", of=BOULE),
    "ball_out": Fault("device", "the next ball leaves the plate", of=BOULE),
    "flicker": Fault(
        "device",
        "the hole in which the next ball lies is seen empty again and again for VALUE seconds",
        3.0,
        of=BOULE,
    ),
    "stuck_sensor": Fault(
        "device", "from the next launch on a sensor sees a ball for VALUE seconds", 60.0, of=BOULE
    ),
    "blind_sensor": Fault(
        "device",
        "from the next launch on the hole of that ball is blind for VALUE seconds",
        60.0,
        of=BOULE,
    ),
    "weak_push": Fault("device", "the next push is good for less than two turns", of=FORTUNE),
    "turned_back": Fault(
        "device", "the wheel is turned back VALUE cells before it stands", 6.0, of=FORTUNE
    ),
    "on_pin": Fault("device", "the wheel comes to stand with its tongue on a pin", of=FORTUNE),
    "encoder": Fault(
        "device", "from the next push on the encoder fails for VALUE seconds", 30.0, of=FORTUNE
    ),
    "unreadable": Fault("device", "a die of the next throw cannot be read", of=DICE),
    "cocked": Fault("device", "a die of the next throw leans", of=DICE),
    "unmoved": Fault("device", "the next throw is counted, and the dice lie as they lay", of=DICE),
    "die_missing": Fault("device", "a die of the next throw falls off the table", of=DICE),
    "die_extra": Fault("device", "a die too many lies there after the next throw", of=DICE),
    "reader": Fault(
        "device", "from the next throw on the reader fails for VALUE seconds", 20.0, of=DICE
    ),
    "jam": Fault(
        "device", "a card jams before the next packet, for VALUE seconds", 5.0, of=SHUFFLER
    ),
    "door_open": Fault(
        "device", "the door is opened before the next packet, for VALUE seconds", 5.0, of=SHUFFLER
    ),
    "count_wrong": Fault(
        "device",
        "a card is missing from the next deck, which is changed after VALUE seconds",
        5.0,
        of=SHUFFLER,
    ),
    "set_wrong": Fault(
        "device",
        "the next deck has a card twice, and is changed after VALUE seconds",
        5.0,
        of=SHUFFLER,
    ),
    "service": Fault(
        "device", "it needs service before the next deck, for VALUE seconds", 5.0, of=SHUFFLER
    ),
    "blocked": Fault(
        "device", "no coin goes in for VALUE seconds from the next round on", 20.0, of=SLOT
    ),
    "unplug": Fault(
        "port", "the port is gone for VALUE seconds and comes back under the same link", 3.0
    ),
}


class Switch(NamedTuple):
    """One fault to switch on, ``times`` over."""

    name: str
    value: float
    times: int = 1


_SWITCH = re.compile(
    r"(?:fault\s+)?(?P<name>[a-z_]+)(?:[ "
    r"=]\s*(?P<value>\d+(?:\.\d+)?))?(?:\s*x\s*(?P<times>[1-9]\d*))?"
)
_SCHEDULED = re.compile(r"(?P<at>\d+(?:\.\d+)?):(?P<switch>.+)")


def faults_of(protocol: str) -> dict[str, Fault]:
    """The faults that such a device, its line and its port have."""
    return {name: fault for name, fault in FAULTS.items() if not fault.of or protocol in fault.of}


def read_switch(text: str, known: Mapping[str, Fault] = FAULTS) -> Switch:
    """A fault as a person writes it. Raises ``ValueError`` that says what may be written."""
    match = _SWITCH.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text.strip()!r} is no fault: write NAME, NAME SECONDS or NAME xTIMES")
    name = match["name"]
    if name not in known:
        raise ValueError(f"no fault {name!r}; there are: {', '.join(known)}")
    value = known[name].value if match["value"] is None else float(match["value"])
    return Switch(name, value, int(match["times"] or 1))


def read_scheduled(text: str) -> tuple[float, Switch]:
    """A fault of a schedule, ``SECONDS:FAULT``. Raises ``ValueError``."""
    match = _SCHEDULED.fullmatch(text.strip())
    if match is None:
        raise ValueError(
            f"{text!r} is no fault of a schedule: write SECONDS:NAME=VALUE, as in 12.5:silence=5"
        )
    return float(match["at"]), read_switch(match["switch"])
