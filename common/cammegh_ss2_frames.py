"""Frames of the Cammegh Slingshot 2: patterns and tables.

RS-232, 9600 8N1, ASCII lines ending with CR LF. There is no checksum, so a line is accepted only if
its complete format fits. Source: the vendor's guide (V2.10) and recordings of two wheels.
"""

from __future__ import annotations

import re
from functools import lru_cache
from types import MappingProxyType
from typing import Literal

import msgspec

from common.readings import Direction, Number, Phase, WheelFaultName

MAX_SPIN = 256
"""Maximum of the spin counter, which is followed by 1. After power-on it is 1 too."""

IDLE = 1
BETS_OPEN = 2
BALL_IN_RIM = 3
NO_MORE_BETS = 4
SETTLED = 5
CLOSED = 6
BALL_NOT_IN_TRACK = 7

PHASES: MappingProxyType[int, Phase] = MappingProxyType(
    {
        IDLE: "idle",
        BETS_OPEN: "bets_open",
        BALL_IN_RIM: "ball_in_rim",
        NO_MORE_BETS: "no_more_bets",
        SETTLED: "settled",
        CLOSED: "closed",
    }
)
"""State 7 is a fault and does not change the phase."""

DIRECTIONS: tuple[Direction, Direction] = ("clockwise", "anticlockwise")

BLANK_NUMBER = b"  "
"""The number field before the first result after power-on."""

NUMBERS: MappingProxyType[bytes, Number] = MappingProxyType(
    {b"%2d" % n: n for n in range(38)} | {b"00": "00", b"38": "000", b"39": "0000"}
)
"""The two characters as sent -> pocket. A leading space distinguishes zero from double zero, so it
is never stripped.
"""


def pockets_of(count: int) -> frozenset[Number]:
    """Return the numbers on a wheel of 37, 38, 39 or 40 pockets: 0 to 36, then the extra zeros."""
    zeros: tuple[Number, ...] = ("00", "000", "0000")
    return frozenset(range(37)) | frozenset(zeros[: count - 37])


class Status(msgspec.Struct, frozen=True, gc=False):
    """A status line ``*X;S;NNN;WW;F;VVV;D``.

    ``number``: in state 5 the result of this spin, in every other state that of the previous spin;
    None before the first. ``speed``: the rotor's, in tenths of a revolution per minute;
    ``direction``: 0 is clockwise.
    """

    state: int
    spin: int
    number: Number | None
    warnings: int
    speed: int
    direction: int


_STATUS = re.compile(
    rb"\*X;([1-7]);((?!000)(?:[01][0-9]{2}|2[0-4][0-9]|25[0-6]));(  | "
    rb"[0-9]|00|[123][0-9]);([0-9A-Fa-f]);([0-9]{3});([01])"
)


@lru_cache(maxsize=256)
def read_status(line: bytes) -> Status | None:
    """Parse a complete status line (without its end). None: the format, a width or a range does not
    fit.

    Colons instead of all semicolons are accepted. The wheel repeats itself, so results are cached.
    """
    match = _STATUS.fullmatch(line)
    if match is None:
        if line[2:3] != b":" or b";" in line:
            return None
        match = _STATUS.fullmatch(line.replace(b":", b";"))
        if match is None:
            return None
    state, spin, number, warnings, speed, direction = match.groups()
    return Status(
        int(state), int(spin), NUMBERS.get(number), int(warnings, 16), int(speed), int(direction)
    )


_NUMBER_FIELDS = {number: field.decode() for field, number in NUMBERS.items()}


def write_status(status: Status) -> bytes:
    """Return the status line without its end."""
    number = BLANK_NUMBER.decode() if status.number is None else _NUMBER_FIELDS[status.number]
    return (
        f"*X;{status.state};{status.spin:03d};{number};{status.warnings:X};{status.speed:03d};"
        f"{status.direction}"
    ).encode()


class WarningBit(msgspec.Struct, frozen=True):
    """When a warning bit is a fault: in which state, and how many seconds after the state began or
    the bit was set (``since``).
    """

    bit: int
    state: int
    fault: WheelFaultName
    after: float = 0.0
    since: Literal["state", "bit"] = "bit"


WARNINGS: tuple[WarningBit, ...] = (
    WarningBit(8, 2, "failed_launch"),
    WarningBit(8, 3, "failed_launch", after=3.0, since="state"),
    WarningBit(2, 3, "ball_with_rotor"),
    WarningBit(1, 4, "ball_removed", after=5.0),
    *(WarningBit(4, state, "sensor") for state in range(1, 8)),
)
"""The device's ignore times. A bit in a state that is not listed has no meaning, for example bit 2
in state 2.
"""

SELF_TEST_FAULTS = MappingProxyType(
    {
        1: "hardware",
        2: "no ball",
        3: "no ball position",
        4: "ball direction wrong",
        5: "motor",
        6: "encoder",
        7: "clockwise play impossible",
        8: "anticlockwise play impossible",
        11: "sensor 1 stuck",
        12: "sensor 2 stuck",
        13: "sensor 3 stuck",
        21: "sensor 1 blind",
        22: "sensor 2 blind",
        23: "sensor 3 blind",
        100: "timeout",
    }
)
"""The codes of ``*F``; 0 means no fault."""

SELF_TEST_CODE = re.compile(rb"\*F (\d{1,3})")
REFUSED = re.compile(rb"\*?(?!P NO)(.) (NO|BUSY)")
"""A refusal echoes the letter of the request. ``*P NO`` is not a refusal: the power is already on,
or off.
"""

REPORTS: tuple[re.Pattern[bytes], ...] = tuple(
    re.compile(shape)
    for shape in (
        rb"\*?(?P<accepted>[A-Za-z]) OK",
        rb"\*?(?P<already>P) NO",
        rb"\*K (?P<maker>CAM)",
        rb"\*O (?P<state>[1-7]) (?P<enabled>\d+) (?P<games_per_hour>\d+) (?P<mode>\d+)",
        rb"\*o (?P<mode>\d+)",
        rb"\*S ?(?P<firmware>[ -)+-~]+)",
        rb"\*V ?(?P<version>[ -)+-~]+)",
        rb"\*v ?(?P<components>[ -)+-~]+)",
        rb"\*A (?P<pockets_since_datum>-?\d+)",
        rb"\*d g (?P<clock>\d\d:\d\d:\d\d - \d\d/\d\d/\d\d)",
        rb"\*T (?P<parameter>[A-Za-z] [ -)+-~]+)",
        rb"\*Y;(?P<bonus>[1-6];(?:[01]\d\d|2[0-4]\d|25[0-5]|999))(?:;(?P<bonus_licence_days>\d\d))?",
        rb"\*I (?P<ball_events>\d)",
        rb"\*?bs (?P<ball_sensor>\d+)",
        rb"\*?bn (?P<ball_pocket>[ \d]\d)",
        rb"\*w (?P<chi_square>[ -)+-~]+)",
        rb"\*s t (?P<log_pages>\d+)",
        rb"\*C (?P<calibration>(?:OK|BALL|FAIL)(?: [ -)+-~]*)?)",
    )
)
"""Lines in which the wheel describes itself. Each named group becomes a report of that name; the
first match is used.
"""


def read_reports(line: bytes) -> list[tuple[str, str]]:
    """Return the reports in a line, as (name, value); empty if it is not documented."""
    for shape in REPORTS:
        if match := shape.fullmatch(line):
            return [
                (name, value.decode("ascii"))
                for name, value in match.groupdict().items()
                if value is not None
            ]
    return []


COMMANDS: MappingProxyType[str, bytes] = MappingProxyType(
    {
        "start": b"*u 1",
        "start_anticlockwise": b"*u 3",
        "restart": b"*R",
        "power_on": b"*P 1",
        "power_off": b"*P 0",
    }
)
"""All commands that change the wheel. Erasing its log and calibration are left out on purpose."""

PROBES: tuple[bytes, ...] = (b"*O", b"*V", b"*S", b"*v")
"""Requests that change nothing: mode and settings, versions."""
POLL = b"*X"
LINE_END = b"\r\n"
