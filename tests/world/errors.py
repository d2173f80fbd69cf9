"""Errors of a simulated world."""

from __future__ import annotations


class WorldStuckError(Exception):
    """Nothing is scheduled any more."""


class PropertyViolatedError(Exception):
    """A checker has found something that must never be. The message says what, where and when."""
