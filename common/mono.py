"""Computes differences of ``mono_ns``, which counts modulo 2^53."""

from __future__ import annotations

from common.readings import MAX_EXACT_INTEGER

MONO_WRAP = MAX_EXACT_INTEGER + 1
"""The modulus. Most JSON readers store numbers as doubles, in which a larger one would lose digits.
A count from the start of the machine reached it after 104 days.
"""


def elapsed_ns(earlier: int, later: int) -> int:
    """Return the nanoseconds between two ``mono_ns`` of one ``boot``, less than 104 days apart."""
    return (later - earlier) % MONO_WRAP
