"""Computes differences of ``mono_ns``, which counts modulo 2^53."""

from __future__ import annotations

MONO_WRAP = 2**53
"""The modulus: most JSON readers store numbers as doubles, in which a larger one would lose digits
(:data:`common.readings.MAX_EXACT_INTEGER`). A count from the start of the machine reached it after
104 days.
"""


def elapsed_ns(earlier: int, later: int) -> int:
    """Return the nanoseconds between two ``mono_ns`` of one ``boot``, less than 104 days apart."""
    return (later - earlier) % MONO_WRAP
