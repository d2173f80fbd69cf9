"""Numbers on the command line; an error says what was expected."""

from __future__ import annotations

import argparse
import math


def seconds(text: str) -> float:
    """Seconds, above 0."""
    return _number(text, math.inf, "a number of seconds above 0")


def speed(text: str) -> float:
    """How many times faster than real time."""
    return _number(text, 1000, "a number above 0 and at most 1000")


def count(text: str) -> int:
    """A count, at least 1."""
    if not text.isascii() or not text.isdigit() or not int(text):
        raise argparse.ArgumentTypeError(f"{text} is not a whole number from 1 up")
    return int(text)


def _number(text: str, most: float, what: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value <= most or math.isinf(value):
        raise argparse.ArgumentTypeError(f"{text} is not {what}")
    return value
