"""Frames of the TCS John Huxley Saturn, as two public programs send them: what is asked, the check
byte, what an answer looks like.

A frame is SOH, two digits, STX, text, ETX, a check byte, EOT. What the digits mean nobody says. An
answer is text up to EOT.
"""

from __future__ import annotations

SOH, STX, ETX, EOT = b"\x01", b"\x02", b"\x03", b"\x04"

ERROR_FLAG = 48
"""Where the answer to SR2 has its error flag, counted from 0 at SOH."""
ERROR_SET = "1"
ERROR_TEXT = slice(5, 12)
"""Where the answer to SR3 has the text of the error."""


def check(body: bytes) -> int:
    """The check byte of everything from SOH to ETX.

    >>> hex(check(bytes.fromhex("01303202535232 03")))
    '0x7f'
    """
    return (sum(body) & 0x3F) | 0x40


def frame(digits: str, text: str) -> bytes:
    """A frame with its check byte."""
    body = SOH + digits.encode("ascii") + STX + text.encode("ascii") + ETX
    return body + bytes([check(body)]) + EOT


STATUS = frame("02", "SR2")
"""Asks for the status, the error flag in it."""
ERROR = frame("04", "SR3")
"""Asks for the text of the error."""
FIRE = frame("04", "RC03")
"""Fires the ball."""


def is_checked(answer: bytes) -> bool:
    """Whether an answer (SOH to EOT) has the check byte that requests have."""
    return len(answer) >= 4 and answer[-3:-2] == ETX and answer[-2] == check(answer[:-2])
