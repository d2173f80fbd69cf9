"""Differences of ``mono_ns``, which counts modulo 2^53."""

from __future__ import annotations

from devices.readings import MAX_EXACT_INTEGER

MONO_WRAP = MAX_EXACT_INTEGER + 1
"""Where the count begins again at 0. Most readers of JSON hold numbers as doubles: a larger one
would lose digits. A count from the start of the machine got there after 104 days.
"""


def elapsed_ns(earlier: int, later: int) -> int:
    """Nanoseconds between two ``mono_ns`` of one ``boot``, less than 104 days apart."""
    return (later - earlier) % MONO_WRAP
