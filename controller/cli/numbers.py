"""Parsers for numbers on the command line; an error states what was expected."""

from __future__ import annotations

import argparse
import math

MAX_PORT = 65535


def seconds(text: str) -> float:
    """Parse seconds, above 0."""
    return _number(text, math.inf, "a number of seconds above 0")


def speed(text: str) -> float:
    """Parse a speed factor relative to real time."""
    return _number(text, 1000, "a number above 0 and at most 1000")


def count(text: str) -> int:
    """Parse a whole number from 1 up."""
    if not text.isascii() or not text.isdigit() or not int(text):
        raise argparse.ArgumentTypeError(f"{text} is not a whole number from 1 up")
    return int(text)


def port(text: str) -> int:
    """Parse the number of a TCP port."""
    if not text.isascii() or not text.isdigit() or not 0 < int(text) <= MAX_PORT:
        raise argparse.ArgumentTypeError(f"{text} is not a port, 1 to {MAX_PORT}")
    return int(text)


def _number(text: str, maximum: float, expected: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value <= maximum or math.isinf(value):
        raise argparse.ArgumentTypeError(f"{text} is not {expected}")
    return value
