"""Numbers on the command line: a wrong one is told as what it should have been."""

from __future__ import annotations

import argparse
import math


def seconds(text: str) -> float:
    """Seconds above 0."""
    return _number(text, math.inf, "a number of seconds above 0")


def speed(text: str) -> float:
    """How many times faster than real devices."""
    return _number(text, 1000, "a number above 0 and at most 1000")


def count(text: str) -> int:
    """How many, at least one."""
    if not text.isascii() or not text.isdigit() or not int(text):
        raise argparse.ArgumentTypeError(f"{text} is not a whole number from 1")
    return int(text)


def _number(text: str, most: float, what: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value <= most or math.isinf(value):
        raise argparse.ArgumentTypeError(f"{text} is not {what}")
    return value
