"""The base of every exception that Novamás raises itself."""

from __future__ import annotations


class NovamasError(Exception):
    """Something is wrong that Novamás knows of. The message says what, and then what to do."""
