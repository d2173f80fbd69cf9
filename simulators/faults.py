"""Faults that can be triggered while a simulator runs: the table of all faults, and their notation.

``silence 5`` is five seconds of silence; ``damaged x3`` damages the next three lines;
``12.5:silence=5`` is a scheduled fault, 12.5 seconds after the start. A fault ends by itself after
its time or number of uses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

from common.suggestions import suggest


class FaultKind(NamedTuple):
    """A kind of fault, on the line, in the device, or at the port. ``does``: its effect; ``value``:
    its default value; ``protocols``: the protocols of the devices that have it; empty: all.
    """

    where: Literal["line", "device", "port"]
    does: str
    value: float = 0.0
    protocols: tuple[str, ...] = ()


WHEEL, SATURN = ("cammegh-ss2",), ("saturn",)
DECK_MATE, SHAKER, CAMERA = ("deck-mate-1",), ("sicbo-shaker",), ("idp-camera",)
ANGEL_EYE, BEE_TEK, BARCODE = ("angel-eye",), ("bee-tek",), ("barcode-serial",)
BOULE, FORTUNE, DICE = ("boule-board",), ("fortune-board",), ("dice-board",)
SHUFFLER, SLOT, CCTALK = ("shuffler-board",), ("slot-board",), ("cctalk-acceptor",)
BOARDS = BOULE + FORTUNE + DICE + SHUFFLER + SLOT
SHOES = ANGEL_EYE + BEE_TEK + BARCODE


FAULTS: dict[str, FaultKind] = {
    "silence": FaultKind(
        "line", "nothing arrives for VALUE seconds; bytes sent meanwhile are lost", 5.0
    ),
    "burst": FaultKind("line", "nothing arrives for VALUE seconds, then everything at once", 10.0),
    "split": FaultKind("line", "the next line arrives in small pieces"),
    "damaged": FaultKind("line", "the next line loses a character, or noise replaces one"),
    "spliced": FaultKind(
        "line", "the next two lines run together, as for a receiver that lost bytes"
    ),
    "duplicate": FaultKind("line", "the next line is repeated"),
    "wrong_baud": FaultKind("line", "the host uses twice the baud rate for VALUE seconds", 10.0),
    "failed_launch": FaultKind(
        "device",
        "the next launch of the ball fails, warning 8; the wheel tries again",
        protocols=WHEEL,
    ),
    "ball_removed": FaultKind(
        "device",
        (
            "the ball is missing from state 4 of the next game for VALUE seconds; at 75 the "
            "wheel stops"
        ),
        75.0,
        protocols=WHEEL,
    ),
    "ball_with_rotor": FaultKind(
        "device",
        "the next ball runs in the same direction as the rotor, warning 2 in state 3",
        protocols=WHEEL,
    ),
    "rotor_not_reversed": FaultKind(
        "device", "the rotor does not reverse for the next game", protocols=WHEEL
    ),
    "sensor": FaultKind(
        "device",
        "warning 4 at once and state 6; the cause ends after VALUE seconds",
        20.0,
        protocols=WHEEL,
    ),
    "error": FaultKind("device", "the error flag is set for VALUE seconds", 20.0, protocols=SATURN),
    "wrong_number": FaultKind(
        "device", "the next bare number differs from that of the status line", protocols=WHEEL
    ),
    "parameter": FaultKind(
        "device", "a person sets m, the change of the rotor's speed, to VALUE", 20000.0, WHEEL
    ),
    "log_cleared": FaultKind("device", "the log of the wheel's results is erased", protocols=WHEEL),
    "power_cycle": FaultKind(
        "device",
        "power is off for VALUE seconds; counters are lost",
        2.0,
        protocols=WHEEL + DECK_MATE,
    ),
    "no_shake": FaultKind(
        "device", "the next command is accepted, but nothing moves", protocols=SHAKER
    ),
    "motion": FaultKind(
        "device", "the shaker's motion fails for VALUE seconds", 5.0, protocols=SHAKER
    ),
    "not_sure": FaultKind(
        "device", "the camera sees no number for VALUE seconds", 10.0, protocols=CAMERA
    ),
    "history": FaultKind("device", "the operator requests the stored history", protocols=DECK_MATE),
    "unread": FaultKind(
        "device",
        "the next card of a hand cannot be read; a person resolves it after VALUE seconds",
        5.0,
        protocols=SHOES,
    ),
    "overdraw": FaultKind(
        "device",
        ("an extra card is drawn after the coup; after VALUE seconds it is kept for the next coup"),
        5.0,
        protocols=SHOES,
    ),
    "lost_report": FaultKind("device", "the next report is never sent", protocols=SHOES + BOARDS),
    "bad_bcc": FaultKind(
        "device", "VALUE copies of the next report have a wrong check", 3.0, protocols=ANGEL_EYE
    ),
    "repeated": FaultKind(
        "device", "the last character of the next line is repeated several times", protocols=BEE_TEK
    ),
    "wrong_mode": FaultKind(
        "device",
        "the key is turned before the next card, for VALUE seconds",
        20.0,
        protocols=BEE_TEK,
    ),
    "read_twice": FaultKind(
        "device", "the next card is read twice, VALUE seconds apart", 0.3, protocols=BARCODE
    ),
    "foreign_code": FaultKind(
        "device", "a code that is not a card is read before the next card", protocols=BARCODE
    ),
    "reset": FaultKind(
        "device",
        "power is off for VALUE seconds in the middle of a coup, which is abandoned",
        2.0,
        protocols=SHOES,
    ),
    "cut_card": FaultKind("device", "the cut card comes before the next card", protocols=SHOES),
    "alarm": FaultKind(
        "device", "an alarm before the next card, for VALUE seconds", 5.0, protocols=SHOES
    ),
    "restart": FaultKind(
        "device",
        "the board loses power for VALUE seconds, and its counts",
        2.0,
        protocols=BOARDS,
    ),
    "between_holes": FaultKind(
        "device", "the next ball comes to rest between two holes", protocols=BOULE
    ),
    "ball_out": FaultKind("device", "the next ball leaves the plate", protocols=BOULE),
    "flicker": FaultKind(
        "device",
        "the sensor of the next ball's hole flickers for VALUE seconds",
        3.0,
        protocols=BOULE,
    ),
    "stuck_sensor": FaultKind(
        "device",
        "from the next launch, a sensor reports a ball for VALUE seconds",
        60.0,
        protocols=BOULE,
    ),
    "blind_sensor": FaultKind(
        "device",
        "from the next launch, the sensor of that ball's hole is blind for VALUE seconds",
        60.0,
        protocols=BOULE,
    ),
    "weak_push": FaultKind(
        "device", "the next launch makes less than two turns", protocols=FORTUNE
    ),
    "turned_back": FaultKind(
        "device", "the wheel is turned back VALUE cells before it stops", 6.0, protocols=FORTUNE
    ),
    "on_pin": FaultKind("device", "the wheel stops with its tongue on a pin", protocols=FORTUNE),
    "encoder": FaultKind(
        "device",
        "from the next launch, the encoder fails for VALUE seconds",
        30.0,
        protocols=FORTUNE,
    ),
    "unreadable": FaultKind("device", "a die of the next throw cannot be read", protocols=DICE),
    "cocked": FaultKind("device", "a die of the next throw is cocked", protocols=DICE),
    "unmoved": FaultKind(
        "device", "the next throw is counted, but the dice do not move", protocols=DICE
    ),
    "die_missing": FaultKind(
        "device", "a die of the next throw falls off the table", protocols=DICE
    ),
    "die_extra": FaultKind("device", "there is an extra die after the next throw", protocols=DICE),
    "reader": FaultKind(
        "device", "from the next throw, the reader fails for VALUE seconds", 20.0, protocols=DICE
    ),
    "jam": FaultKind(
        "device", "a card jams before the next packet, for VALUE seconds", 5.0, protocols=SHUFFLER
    ),
    "door_open": FaultKind(
        "device",
        "the door is opened before the next packet, for VALUE seconds",
        5.0,
        protocols=SHUFFLER,
    ),
    "count_wrong": FaultKind(
        "device",
        "a card is missing from the next deck; the deck is changed after VALUE seconds",
        5.0,
        protocols=SHUFFLER,
    ),
    "set_wrong": FaultKind(
        "device",
        "the next deck has a duplicate card; the deck is changed after VALUE seconds",
        5.0,
        protocols=SHUFFLER,
    ),
    "service": FaultKind(
        "device",
        "it needs service before the next deck, for VALUE seconds",
        5.0,
        protocols=SHUFFLER,
    ),
    "coins": FaultKind("device", "the players insert their coins of a round now", protocols=SLOT),
    "blocked": FaultKind(
        "device", "from the next round, no coin is inserted for VALUE seconds", 20.0, protocols=SLOT
    ),
    "no_echo": FaultKind(
        "device", "the host's bytes are not echoed for VALUE seconds", 5.0, protocols=CCTALK
    ),
    "collision": FaultKind(
        "device",
        "another device sends during the next request, which becomes unreadable",
        protocols=CCTALK,
    ),
    "lost_answer": FaultKind("device", "the next answer is never sent", protocols=CCTALK),
    "counter_jump": FaultKind(
        "device",
        "the acceptor of box 1 takes VALUE coins between two requests",
        9.0,
        protocols=CCTALK,
    ),
    "acceptor_reset": FaultKind(
        "device",
        "the acceptor of box 1 loses power for VALUE seconds, and its counter",
        1.0,
        protocols=CCTALK,
    ),
    "dead_acceptor": FaultKind(
        "device", "the acceptor of box 1 answers nothing for VALUE seconds", 10.0, protocols=CCTALK
    ),
    "coin_held": FaultKind(
        "device",
        "a coin is held in the acceptor of box 1 for VALUE seconds",
        10.0,
        protocols=CCTALK,
    ),
    "coin_return": FaultKind("device", "a person opens the coin return of box 1", protocols=CCTALK),
    "unplug": FaultKind(
        "port", "the port disappears for VALUE seconds and returns under the same link", 3.0
    ),
}


class FaultTrigger(NamedTuple):
    """A fault to trigger ``times`` times."""

    name: str
    value: float
    times: int = 1


_TRIGGER = re.compile(
    r"(?:fault\s+)?(?P<name>[a-z_]+)(?:[ "
    r"=]\s*(?P<value>\d+(?:\.\d+)?))?(?:\s*x\s*(?P<times>[1-9]\d*))?"
)
_SCHEDULED = re.compile(r"(?P<at>\d+(?:\.\d+)?):(?P<switch>.+)")


def protocol_faults(protocol: str) -> dict[str, FaultKind]:
    """Return the faults of a protocol: of the device, its line and its port."""
    return {
        name: fault
        for name, fault in FAULTS.items()
        if not fault.protocols or protocol in fault.protocols
    }


def read_trigger(text: str, known: Mapping[str, FaultKind] = FAULTS) -> FaultTrigger:
    """Parse a fault in its notation. Raises ``ValueError`` with the correct notation or a
    suggestion.
    """
    match = _TRIGGER.fullmatch(text.strip())
    if match is None:
        raise ValueError(
            f"{text.strip()!r} is not a fault; write NAME, NAME SECONDS or NAME xTIMES"
        )
    name = match["name"]
    if name not in known:
        raise ValueError(f"no fault {name!r}; {suggest(name, known)}")
    value = known[name].value if match["value"] is None else float(match["value"])
    return FaultTrigger(name, value, int(match["times"] or 1))


def read_scheduled(
    text: str, known: Mapping[str, FaultKind] = FAULTS
) -> tuple[float, FaultTrigger]:
    """Parse a scheduled fault, ``SECONDS:FAULT``. Raises ``ValueError``."""
    match = _SCHEDULED.fullmatch(text.strip())
    if match is None:
        raise ValueError(
            f"{text!r} is not a scheduled fault; write SECONDS:NAME=VALUE, as in 12.5:silence=5"
        )
    return float(match["at"]), read_trigger(match["switch"], known)
