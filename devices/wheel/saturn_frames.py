"""Frames of the TCS John Huxley Saturn, as two public programs send them: requests, check byte,
shape of an answer.

A frame is SOH, two digits, STX, text, ETX, a check byte, EOT. The meaning of the digits is unknown.
An answer is text up to EOT.
"""

from __future__ import annotations

SOH, STX, ETX, EOT = b"\x01", b"\x02", b"\x03", b"\x04"

ERROR_FLAG = 48
"""Position of the error flag in the answer to SR2, counted from 0 at SOH."""
ERROR_SET = "1"
ERROR_TEXT = slice(5, 12)
"""Position of the error's text in the answer to SR3."""


def check(body: bytes) -> int:
    """The check byte over everything from SOH to ETX.

    >>> hex(check(bytes.fromhex("01303202535232 03")))
    '0x7f'
    """
    return (sum(body) & 0x3F) | 0x40


def frame(digits: str, text: str) -> bytes:
    """A frame with its check byte."""
    body = SOH + digits.encode("ascii") + STX + text.encode("ascii") + ETX
    return body + bytes([check(body)]) + EOT


STATUS = frame("02", "SR2")
"""Requests the status, which includes the error flag."""
ERROR = frame("04", "SR3")
"""Requests the text of the error."""
FIRE = frame("04", "RC03")
"""Launches the ball."""


def has_valid_check(answer: bytes) -> bool:
    """Whether an answer (SOH to EOT) has the same check byte as requests."""
    return len(answer) >= 4 and answer[-3:-2] == ETX and answer[-2] == check(answer[:-2])
