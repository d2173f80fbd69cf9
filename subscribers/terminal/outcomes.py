"""Where a result, a correction and a line of the history say what a round came to."""

from __future__ import annotations

from typing import Any

Fields = dict[str, Any]


def outcome_of(fields: Fields) -> Fields:
    """The outcome; empty without one."""
    outcome = fields.get("outcome")
    return outcome if isinstance(outcome, dict) else {}
