"""The lines of a wheel in one round, short or of ordinary length."""

from __future__ import annotations

PERIOD = 0.5
"""Seconds between two status lines."""
PUSHES = {2: 18, 3: 8, 4: 53, 5: 11}
"""Status lines in each state of a typical round."""


def spin(number: int) -> list[bytes]:
    """Return the lines of one short round, one every ``PERIOD``; the last one has the result."""
    count = f"{(number - 1) % 256 + 1:03d}"
    before, result = f"{(number - 1) * 7 % 37:2d}", f"{number * 7 % 37:2d}"
    turn = number % 2
    statuses = [
        f"*X;{state};{count};{before};0;165;{turn}\r\n".encode() for state in (2, 2, 3, 3, 4)
    ]
    # the bare number comes just before the status that shows it
    statuses[-1] += f"{result}\r\n".encode()
    return [*statuses, f"*X;5;{count};{result};0;165;{turn}\r\n".encode()]


def whole_round(number: int) -> list[bytes]:
    """Return the lines of a round of ordinary length, one every ``PERIOD``."""
    *begin, settled = spin(number)
    by_state = {line[3:4]: line for line in begin}
    return [
        *(by_state[b"2"] for _ in range(PUSHES[2])),
        *(by_state[b"3"] for _ in range(PUSHES[3])),
        *(by_state[b"4"].partition(b"\n")[0] + b"\n" for _ in range(PUSHES[4] - 1)),
        by_state[b"4"],
        *(settled for _ in range(PUSHES[5])),
    ]


def until_result(number: int) -> list[bytes]:
    """Return the lines of a round of ordinary length up to its result."""
    return whole_round(number)[: 1 - PUSHES[5]]


def uneventful(index: int) -> bytes:
    """Return a status line of a wheel that waits for bets in the second spin: only its speed
    varies, by a tenth of a turn per minute, as that of a real wheel does.
    """
    return f"*X;2;002; 7;0;{165 + index % 2};0\r\n".encode()
