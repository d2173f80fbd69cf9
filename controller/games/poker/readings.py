"""What every table of poker makes of the words of its shuffler about itself and the deck, and of
those of who counts it.
"""

from __future__ import annotations

from typing import Any

from controller.contract.commands import DeckCheck
from controller.contract.events import DeckChecked
from controller.games.moves import Moves
from devices.readings import ShufflerState, ShufflerVerdict

UNREADY_STATES = ("door_open", "jam", "recovering", "count_wrong", "set_wrong", "needs_service")
"""Shuffler states that need a person."""


def heed_shuffler(turn: Moves[Any, Any, Any], given: ShufflerState) -> str | None:
    """Raise or clear its alerts; gives what it cannot deal for now, None where it is ready."""
    for state in UNREADY_STATES:
        if state != given.state:
            turn.clear_alert(f"shuffler_{state}")
    if given.state not in UNREADY_STATES:
        return None
    turn.raise_alert(
        f"shuffler_{given.state}", given
    )  # its own text is not published: it knows the cards
    return given.state


def verdict(given: ShufflerVerdict, whole: int) -> DeckChecked:
    """A shuffler has counted a deck of ``whole`` cards and looked at it: two facts."""
    count_right = (
        given.count_right
        if given.count is None
        else given.count == whole and given.count_right is not False
    )
    there = not (given.missing or given.extra)
    return DeckChecked(
        right=there and False not in (count_right, given.set_right),
        count=given.count,
        count_right=count_right,
        set_right=given.set_right,
        device=given.device or None,
    )


def counted(given: DeckCheck, whole: int) -> DeckChecked:
    """A person has counted a deck of ``whole`` cards and looked at it."""
    count_right = given.cards == whole
    return DeckChecked(
        right=count_right and given.right,
        count=given.cards,
        count_right=count_right,
        set_right=given.right,
        by=given.by,
    )
