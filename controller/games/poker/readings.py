"""What every table of poker makes of the words of its devices about themselves: a shuffler's state, a shoe's complaints."""

from __future__ import annotations

from typing import Any

from controller.games.poker.moves import PokerMoves
from controller.games.shoe import OF_A_CARD
from devices.readings import ShoeFault, ShufflerState

UNREADY = ("door_open", "jam", "recovering", "count_wrong", "set_wrong", "needs_service")
"""What a shuffler cannot deal for: a person sees to it."""


def heed_shuffler(turn: PokerMoves[Any, Any, Any], given: ShufflerState) -> str | None:
    """Raise or clear its alerts; gives what it cannot deal for now, None where it is ready."""
    for state in UNREADY:
        if state != given.state:
            turn.clear_alert(f"shuffler_{state}")
    if given.state not in UNREADY:
        return None
    turn.raise_alert(f"shuffler_{given.state}", given)  # its own word is not told: it knows the cards
    return given.state


def take_fault(turn: PokerMoves[Any, Any, Any], given: ShoeFault) -> None:
    """The shoe complains, or does so no longer. What it says of a card is not told."""
    alert = f"shoe_{given.fault}"
    if given.active:
        turn.raise_alert(alert, given, None if given.fault in OF_A_CARD else given.detail)
    else:
        turn.clear_alert(alert)
