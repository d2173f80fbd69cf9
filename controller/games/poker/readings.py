"""The alerts of a table of poker about its shuffler, and the results of deck checks."""

from __future__ import annotations

from typing import Any

from common.contract.commands import DeckCheck
from common.contract.events import DeckChecked
from common.readings import ShufflerState, ShufflerVerdict
from controller.games.moves import Moves

UNREADY_STATES = ("door_open", "jam", "recovering", "count_wrong", "set_wrong", "needs_service")
"""Shuffler states that need a person."""


def track_shuffler(turn: Moves[Any, Any, Any], reading: ShufflerState) -> str | None:
    """Raise and clear the shuffler's alerts. Returns the state in which it cannot deal, None if it
    is ready.
    """
    for state in UNREADY_STATES:
        if state != reading.state:
            turn.clear_alert(f"shuffler_{state}")
    if reading.state not in UNREADY_STATES:
        return None
    turn.raise_alert(
        f"shuffler_{reading.state}", reading
    )  # its own text is not published: it knows the cards
    return reading.state


def verdict(reading: ShufflerVerdict, whole: int) -> DeckChecked:
    """The result of a shuffler's check of a deck of ``whole`` cards: count and cards are two
    facts.
    """
    count_right = (
        reading.count_right
        if reading.count is None
        else reading.count == whole and reading.count_right is not False
    )
    there = not (reading.missing or reading.extra)
    return DeckChecked(
        right=there and False not in (count_right, reading.set_right),
        count=reading.count,
        count_right=count_right,
        set_right=reading.set_right,
        device=reading.device or None,
    )


def counted(command: DeckCheck, whole: int) -> DeckChecked:
    """The result of a person's check of a deck of ``whole`` cards."""
    count_right = command.cards == whole
    return DeckChecked(
        right=count_right and command.right,
        count=command.cards,
        count_right=count_right,
        set_right=command.right,
        by=command.by,
    )
