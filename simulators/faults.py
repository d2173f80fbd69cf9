"""Faults that can be triggered while a simulator runs: the table of all faults, and how to write
one.

``silence 5`` is five seconds of silence; ``damaged x3`` damages the next three lines;
``12.5:silence=5`` is a scheduled fault, 12.5 seconds after the start. A fault ends by itself after
its seconds or uses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

from devices.suggestions import instead_of


class Fault(NamedTuple):
    """What a fault does, and where: on the line, in the device, or at the port. ``value``: the
    default value.

    ``of``: the protocols whose device has it; empty: all.
    """

    where: Literal["line", "device", "port"]
    does: str
    value: float = 0.0
    of: tuple[str, ...] = ()


WHEEL, SATURN = ("cammegh-ss2",), ("saturn",)
DECK_MATE, SHAKER = ("deck-mate-1",), ("sicbo-shaker",)
ANGEL_EYE, BEE_TEK, BARCODE = ("angel-eye",), ("bee-tek",), ("barcode-serial",)
BOULE, FORTUNE, DICE = ("boule-board",), ("fortune-board",), ("dice-board",)
SHUFFLER, SLOT, CCTALK = ("shuffler-board",), ("slot-board",), ("cctalk-acceptor",)
BOARDS = BOULE + FORTUNE + DICE + SHUFFLER + SLOT
SHOES = ANGEL_EYE + BEE_TEK + BARCODE


FAULTS: dict[str, Fault] = {
    "silence": Fault(
        "line", "nothing arrives for VALUE seconds; what is sent meanwhile is lost", 5.0
    ),
    "burst": Fault("line", "nothing arrives for VALUE seconds, then everything at once", 10.0),
    "split": Fault("line", "the next line arrives in small pieces"),
    "damaged": Fault("line", "the next line loses a character, or noise replaces one"),
    "spliced": Fault("line", "the next two lines run together, as for a receiver that lost bytes"),
    "duplicate": Fault("line", "the next line is repeated"),
    "wrong_baud": Fault("line", "the host uses twice the baud rate for VALUE seconds", 10.0),
    "failed_launch": Fault(
        "device", "the next launch of the ball fails, warning 8; the wheel tries again", of=WHEEL
    ),
    "ball_removed": Fault(
        "device",
        (
            "the ball is missing from state 4 of the next game for VALUE seconds; at 75 the "
            "wheel stops"
        ),
        75.0,
        of=WHEEL,
    ),
    "ball_with_rotor": Fault(
        "device",
        "the next ball runs in the same direction as the rotor, warning 2 in state 3",
        of=WHEEL,
    ),
    "rotor_not_reversed": Fault("device", "the rotor does not reverse for the next game", of=WHEEL),
    "sensor": Fault(
        "device",
        "warning 4 at once and state 6; the cause ends after VALUE seconds",
        20.0,
        of=WHEEL,
    ),
    "error": Fault("device", "the error flag is set for VALUE seconds", 20.0, of=SATURN),
    "wrong_number": Fault(
        "device", "the next bare number differs from that of the status line", of=WHEEL
    ),
    "power_cycle": Fault(
        "device",
        "power is off for VALUE seconds; counters are lost",
        2.0,
        of=WHEEL + DECK_MATE,
    ),
    "no_shake": Fault("device", "the next command is accepted, but nothing moves", of=SHAKER),
    "motion": Fault("device", "the shaker's motion fails for VALUE seconds", 5.0, of=SHAKER),
    "history": Fault("device", "the operator requests the stored history", of=DECK_MATE),
    "unread": Fault(
        "device",
        "the next card of a hand cannot be read; somebody resolves it after VALUE seconds",
        5.0,
        of=SHOES,
    ),
    "overdraw": Fault(
        "device",
        ("an extra card is drawn after the coup; after VALUE seconds it is kept for the next coup"),
        5.0,
        of=SHOES,
    ),
    "lost_report": Fault("device", "the next report is never sent", of=SHOES + BOARDS),
    "bad_bcc": Fault(
        "device", "VALUE copies of the next report have a wrong check", 3.0, of=ANGEL_EYE
    ),
    "repeated": Fault(
        "device", "the last character of the next line is repeated several times", of=BEE_TEK
    ),
    "wrong_mode": Fault(
        "device", "the key is turned before the next card, for VALUE seconds", 20.0, of=BEE_TEK
    ),
    "read_twice": Fault(
        "device", "the next card is read twice, VALUE seconds apart", 0.3, of=BARCODE
    ),
    "foreign_code": Fault(
        "device", "a code that is not a card is read before the next card", of=BARCODE
    ),
    "reset": Fault(
        "device",
        "power is off for VALUE seconds in the middle of a coup, which is abandoned",
        2.0,
        of=SHOES,
    ),
    "cut_card": Fault("device", "the cut card comes before the next card", of=SHOES),
    "alarm": Fault("device", "an alarm before the next card, for VALUE seconds", 5.0, of=SHOES),
    "restart": Fault(
        "device",
        "the board loses power for VALUE seconds, and its counts",
        2.0,
        of=BOARDS,
    ),
    "between_holes": Fault("device", "the next ball comes to rest between two holes", of=BOULE),
    "ball_out": Fault("device", "the next ball leaves the plate", of=BOULE),
    "flicker": Fault(
        "device",
        "the sensor of the next ball's hole flickers for VALUE seconds",
        3.0,
        of=BOULE,
    ),
    "stuck_sensor": Fault(
        "device", "from the next launch, a sensor reports a ball for VALUE seconds", 60.0, of=BOULE
    ),
    "blind_sensor": Fault(
        "device",
        "from the next launch, the sensor of that ball's hole is blind for VALUE seconds",
        60.0,
        of=BOULE,
    ),
    "weak_push": Fault("device", "the next launch makes less than two turns", of=FORTUNE),
    "turned_back": Fault(
        "device", "the wheel is turned back VALUE cells before it stops", 6.0, of=FORTUNE
    ),
    "on_pin": Fault("device", "the wheel stops with its tongue on a pin", of=FORTUNE),
    "encoder": Fault(
        "device", "from the next launch, the encoder fails for VALUE seconds", 30.0, of=FORTUNE
    ),
    "unreadable": Fault("device", "a die of the next throw cannot be read", of=DICE),
    "cocked": Fault("device", "a die of the next throw is cocked", of=DICE),
    "unmoved": Fault("device", "the next throw is counted, but the dice do not move", of=DICE),
    "die_missing": Fault("device", "a die of the next throw falls off the table", of=DICE),
    "die_extra": Fault("device", "there is an extra die after the next throw", of=DICE),
    "reader": Fault(
        "device", "from the next throw, the reader fails for VALUE seconds", 20.0, of=DICE
    ),
    "jam": Fault(
        "device", "a card jams before the next packet, for VALUE seconds", 5.0, of=SHUFFLER
    ),
    "door_open": Fault(
        "device", "the door is opened before the next packet, for VALUE seconds", 5.0, of=SHUFFLER
    ),
    "count_wrong": Fault(
        "device",
        "a card is missing from the next deck; the deck is changed after VALUE seconds",
        5.0,
        of=SHUFFLER,
    ),
    "set_wrong": Fault(
        "device",
        "the next deck has a duplicate card; the deck is changed after VALUE seconds",
        5.0,
        of=SHUFFLER,
    ),
    "service": Fault(
        "device", "it needs service before the next deck, for VALUE seconds", 5.0, of=SHUFFLER
    ),
    "coins": Fault("device", "the players insert their coins of a round now", of=SLOT),
    "blocked": Fault(
        "device", "from the next round, no coin is inserted for VALUE seconds", 20.0, of=SLOT
    ),
    "no_echo": Fault(
        "device", "what the host sends does not come back for VALUE seconds", 5.0, of=CCTALK
    ),
    "collision": Fault(
        "device", "another device speaks during the next request, which nobody can read", of=CCTALK
    ),
    "lost_answer": Fault("device", "the next answer is never sent", of=CCTALK),
    "counter_jump": Fault(
        "device", "the acceptor of box 1 takes VALUE coins between two requests", 9.0, of=CCTALK
    ),
    "acceptor_reset": Fault(
        "device",
        "the acceptor of box 1 loses power for VALUE seconds, and its counter",
        1.0,
        of=CCTALK,
    ),
    "dead_acceptor": Fault(
        "device", "the acceptor of box 1 answers nothing for VALUE seconds", 10.0, of=CCTALK
    ),
    "coin_held": Fault(
        "device", "a coin is held in the acceptor of box 1 for VALUE seconds", 10.0, of=CCTALK
    ),
    "coin_return": Fault("device", "somebody opens the coin return of box 1", of=CCTALK),
    "unplug": Fault(
        "port", "the port disappears for VALUE seconds and returns under the same link", 3.0
    ),
}


class Switch(NamedTuple):
    """A fault to trigger, ``times`` times."""

    name: str
    value: float
    times: int = 1


_SWITCH = re.compile(
    r"(?:fault\s+)?(?P<name>[a-z_]+)(?:[ "
    r"=]\s*(?P<value>\d+(?:\.\d+)?))?(?:\s*x\s*(?P<times>[1-9]\d*))?"
)
_SCHEDULED = re.compile(r"(?P<at>\d+(?:\.\d+)?):(?P<switch>.+)")


def faults_of(protocol: str) -> dict[str, Fault]:
    """The faults of a device, its line and its port."""
    return {name: fault for name, fault in FAULTS.items() if not fault.of or protocol in fault.of}


def read_switch(text: str, known: Mapping[str, Fault] = FAULTS) -> Switch:
    """Parse a fault as a person writes it. Raises ``ValueError``, which lists what is valid."""
    match = _SWITCH.fullmatch(text.strip())
    if match is None:
        raise ValueError(
            f"{text.strip()!r} is not a fault; write NAME, NAME SECONDS or NAME xTIMES"
        )
    name = match["name"]
    if name not in known:
        raise ValueError(f"no fault {name!r}; {instead_of(name, known)}")
    value = known[name].value if match["value"] is None else float(match["value"])
    return Switch(name, value, int(match["times"] or 1))


def read_scheduled(text: str, known: Mapping[str, Fault] = FAULTS) -> tuple[float, Switch]:
    """Parse a scheduled fault, ``SECONDS:FAULT``. Raises ``ValueError``."""
    match = _SCHEDULED.fullmatch(text.strip())
    if match is None:
        raise ValueError(
            f"{text!r} is not a scheduled fault; write SECONDS:NAME=VALUE, as in 12.5:silence=5"
        )
    return float(match["at"]), read_switch(match["switch"], known)
