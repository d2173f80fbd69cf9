"""One report of a sensor board: the line ``$NB,<number>,<ms>,<kind>,<word>[,<field>...]*<check>``
with CR LF.

``docs/engineer/board.md`` defines the format. The check is CRC-16/XMODEM (polynomial 1021, initial
value 0) over the characters between ``$`` and ``*``, as four upper-case hexadecimal digits.
"""

from __future__ import annotations

import re
from binascii import crc_hqx

import msgspec

SEQUENCE_NUMBERS = 1 << 16
"""Number of sequence numbers: 0 to 65535, then from 0 again."""
CLOCK_WRAP_MS = 1 << 32
"""Milliseconds at which a board's clock wraps to 0: 49.7 days."""
HEARTBEAT_SECONDS = 1.0
"""Maximum time between two state reports of a board."""
FORMAT_VERSION = "1"
"""Version of the format, which a board sends when it starts."""
MAX_LINE_BYTES = 160
"""Maximum size of a line, including its end."""

FRAME = re.compile(rb"\$(NB,[ -#%-)+-~]*)\*([0-9A-F]{4})")
"""Pattern of a possible report, anywhere in a line."""
_BODY = re.compile(
    r"NB,(?P<number>0|[1-9]\d{0,4}),(?P<ms>0|[1-9]\d{0,9}),(?P<kind>[a-z]{1,16}),(?P<word>[a-z]{1,16})(?:,(?P<fields>.*))?"
)


class Report(msgspec.Struct, frozen=True):
    """``number``: sequence number; ``ms``: the board's clock since it was started; ``fields``:
    everything after the word, as one string; ``line``: as received, without the line end.
    """

    number: int
    ms: int
    kind: str
    word: str
    fields: str
    line: bytes


def check(body: bytes) -> int:
    """Return the CRC-16 of the bytes between ``$`` and ``*``.

    >>> f"{check(b'123456789'):04X}"
    '31C3'
    """
    return crc_hqx(body, 0)


def read_report(line: bytes) -> Report | None:
    """Parse a complete line (without its end). None: the check or the format is wrong."""
    frame = FRAME.fullmatch(line)
    if frame is None or check(frame[1]) != int(frame[2], 16):
        return None
    body = _BODY.fullmatch(frame[1].decode("ascii"))
    if body is None or int(body["number"]) >= SEQUENCE_NUMBERS or int(body["ms"]) >= CLOCK_WRAP_MS:
        return None
    return Report(
        int(body["number"]), int(body["ms"]), body["kind"], body["word"], body["fields"] or "", line
    )


def write_report(number: int, ms: int, kind: str, word: str, *fields: object) -> bytes:
    """Format a report as a line with its end: ``write_report(7, 1500, "slot", "coins", 2)``."""
    body = ",".join(
        map(str, ("NB", number % SEQUENCE_NUMBERS, ms % CLOCK_WRAP_MS, kind, word, *fields))
    ).encode("ascii")
    return b"$%b*%04X\r\n" % (body, check(body))
