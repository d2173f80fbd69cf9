"""The base of every exception that Novamás raises itself."""

from __future__ import annotations


class NovamasError(Exception):
    """An error that Novamás knows. The message says what is wrong, then what to do."""
