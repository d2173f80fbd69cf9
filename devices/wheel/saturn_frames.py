"""Frames of the TCS John Huxley Saturn, as two public programs send them: requests, check byte,
format of an answer.

A frame is SOH, two digits, STX, text, ETX, a check byte, EOT. The meaning of the digits is unknown.
An answer is text up to EOT.
"""

from __future__ import annotations

SOH, STX, ETX, EOT = b"\x01", b"\x02", b"\x03", b"\x04"

ERROR_FLAG = 48
"""Position of the error flag in the answer to SR2, counted from 0 at SOH."""
ERROR_SET = "1"
ERROR_TEXT = slice(5, 12)
"""Position of the error text in the answer to SR3."""


def check(body: bytes) -> int:
    """Return the check byte over everything from SOH to ETX.

    >>> hex(check(bytes.fromhex("01303202535232 03")))
    '0x7f'
    """
    return (sum(body) & 0x3F) | 0x40


def frame(digits: str, text: str) -> bytes:
    """Build a frame with its check byte."""
    body = SOH + digits.encode("ascii") + STX + text.encode("ascii") + ETX
    return body + bytes([check(body)]) + EOT


STATUS = frame("02", "SR2")
"""Request for the status, which includes the error flag."""
ERROR = frame("04", "SR3")
"""Request for the error text."""
FIRE = frame("04", "RC03")
"""Command that launches the ball."""


def has_valid_check(answer: bytes) -> bool:
    """Return whether an answer (SOH to EOT) has a correct check byte."""
    return len(answer) >= 4 and answer[-3:-2] == ETX and answer[-2] == check(answer[:-2])
