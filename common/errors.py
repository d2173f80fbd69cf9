"""Base of the exceptions that Novamás raises deliberately."""

from __future__ import annotations


class NovamasError(Exception):
    """An expected error. The message states what is wrong, then what to do."""
