"""What every table of poker makes of the words of its shuffler about itself."""

from __future__ import annotations

from typing import Any

from controller.games.moves import Moves
from devices.readings import ShufflerState

UNREADY = ("door_open", "jam", "recovering", "count_wrong", "set_wrong", "needs_service")
"""Shuffler states that need a person."""


def heed_shuffler(turn: Moves[Any, Any, Any], given: ShufflerState) -> str | None:
    """Raise or clear its alerts; gives what it cannot deal for now, None where it is ready."""
    for state in UNREADY:
        if state != given.state:
            turn.clear_alert(f"shuffler_{state}")
    if given.state not in UNREADY:
        return None
    turn.raise_alert(
        f"shuffler_{given.state}", given
    )  # its own word is not told: it knows the cards
    return given.state
