"""Access to the outcome in a result, a correction or a line of the history."""

from __future__ import annotations

from typing import Any

Fields = dict[str, Any]


def outcome_of(fields: Fields) -> Fields:
    """Return the outcome, or an empty mapping."""
    outcome = fields.get("outcome")
    return outcome if isinstance(outcome, dict) else {}
