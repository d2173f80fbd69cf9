"""Parameters of a Cammegh Slingshot 2: how each is requested, and the values that make sense.

Sources: the vendor's guide (V2.10) for meanings and defaults; a public dump of one wheel of 13 and
14 November 2025, firmware 2.50. Neither states bounds. The bounds here are the project's own: wide
around the default and the dump, so that only a value that no wheel can play with is outside.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

import msgspec


class ParameterRange(msgspec.Struct, frozen=True):
    """A parameter of ``count`` numbers, each from ``low`` to ``high``, in ascending order.

    ``bits``: the only bits that may be set, for a sum of bits. ``meaning``, ``default`` and
    ``seen``, in the dump: for the reader of this table.
    """

    request: bytes
    meaning: str
    default: str
    seen: str
    low: float | None = None
    high: float | None = None
    count: int = 1
    bits: int | None = None


FIRMWARE, MODE, POCKETS = "firmware", "mode", "z"

PARAMETERS: Mapping[str, ParameterRange] = MappingProxyType(
    {
        FIRMWARE: ParameterRange(b"*S", "version of the firmware", "", "V2.50"),
        MODE: ParameterRange(b"*O", "sum of mode bits", "1157", "1158", bits=0xBD97),
        POCKETS: ParameterRange(b"*T Z", "number of pockets", "38", "37", 37, 40),
        "n": ParameterRange(
            b"*T N", "no more bets: time of a ball turn, s x 2048", "2920", "2920", 1024, 8192
        ),
        "s": ParameterRange(
            b"*T S", "slowest and fastest rotor, rpm", "14.0 17.5", "16.0 18.0", 5, 40, count=2
        ),
        "m": ParameterRange(
            b"*T M", "change of speed after no more bets, rpm", "1.5", "2.0; 20000.0", 0, 5
        ),
        "h": ParameterRange(b"*T H", "games per hour", "60", "161", 1, 240),
        "g": ParameterRange(
            b"*T G", "sum of bits: 8 no retry, 16 directions, 32 state 7", "0", "0", bits=0x38
        ),
        "i": ParameterRange(b"*T I", "sensors off in state 4, 0.5 s each", "10", "10", 0, 40),
    }
)
"""Every parameter whose meaning is known, in the order of the requests. ``m`` was 20000.0 in the
dump for at least ten minutes; a person corrected it.
"""

_VALUE = re.compile(rb"\*T ([a-z]) ([!-)+-~][ -)+-~]*)")
_MODE = re.compile(rb"\*O [1-7] \d+ \d+ (\d+)|\*o (\d+)")
_FIRMWARE = re.compile(rb"\*S ?(?!OK$|NO$|BUSY$)([!-)+-~][ -)+-~]*)")
_DECIMAL = re.compile(r"\d{1,9}(\.\d{1,9})?")


def read_parameter(line: bytes) -> tuple[str, str] | None:
    """Return the name and value in a reply, or None. The letter in the reply names the parameter,
    whatever was requested last.
    """
    if match := _VALUE.fullmatch(line):
        name = match[1].decode("ascii")
        return (name, match[2].decode("ascii").strip()) if name in PARAMETERS else None
    if match := _MODE.fullmatch(line):
        return MODE, (match[1] or match[2]).decode("ascii")
    if match := _FIRMWARE.fullmatch(line):
        return FIRMWARE, match[1].decode("ascii").strip()
    return None


def expected(name: str, value: str, pockets: int) -> str | None:
    """Return what was expected in place of the value; None if it makes sense on a wheel that is
    configured with ``pockets``.
    """
    parameter = PARAMETERS[name]
    if name == POCKETS:
        return None if value == str(pockets) else f"{pockets}, as configured"
    if parameter.bits is not None:
        known = value.isdecimal() and len(value) <= 9 and not int(value) & ~parameter.bits
        return None if known else f"a sum of the bits {_bits(parameter.bits)}"
    if parameter.low is None or parameter.high is None:
        return None
    words = value.split()
    numbers = [float(word) for word in words if _DECIMAL.fullmatch(word)]
    fits = (
        len(words) == len(numbers) == parameter.count
        and numbers == sorted(numbers)
        and all(parameter.low <= number <= parameter.high for number in numbers)
    )
    if fits:
        return None
    span = f"{parameter.low:g} to {parameter.high:g}"
    return span if parameter.count == 1 else f"{parameter.count} numbers, {span}, ascending"


def _bits(mask: int) -> str:
    return ", ".join(str(1 << bit) for bit in range(mask.bit_length()) if mask >> bit & 1)
