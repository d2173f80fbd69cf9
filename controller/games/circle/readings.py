"""Devices at a table of circle poker, beside the cards that come: silences, a shuffler that counts,
faults.
"""

from __future__ import annotations

from common.contract.events import DeckChecked
from common.readings import (
    AnyReading,
    LinkGap,
    LinkLate,
    LinkUp,
    ShoeFault,
    ShoeReset,
    ShufflerState,
    ShufflerVerdict,
)
from controller.games.circle import moves
from controller.games.circle.turn import CircleTurn
from controller.games.poker.readings import track_shuffler, verdict


def on_silence(turn: CircleTurn, reading: AnyReading) -> None:
    """Handle a silence or restart of the device: a card may have come unseen."""
    silent = turn.state.silent
    if not isinstance(reading, LinkLate | LinkGap | ShoeReset):
        others = tuple(device for device in silent if device != reading.device)
        turn.change(silent=others if isinstance(reading, LinkUp) else (*others, reading.device))
    if not isinstance(reading, LinkUp) or reading.device in silent:
        moves.lose_place(turn)


def on_verdict(turn: CircleTurn, reading: ShufflerVerdict) -> None:
    """Handle the shuffler's count of the pack."""
    if not reading.late:
        record_deck_check(turn, verdict(reading, len(turn.pack)))


def record_deck_check(turn: CircleTurn, found: DeckChecked) -> None:
    """Publish a check of the deck, and report a defective one."""
    turn.emit(found)
    turn.change(deck=found.right, unchecked=0)
    if found.right:
        turn.clear_alert("deck_defective")
    else:
        turn.irregular("deck_defective", asks=("deck.check",))
        turn.raise_alert("deck_defective")


def on_shuffler(turn: CircleTurn, reading: ShufflerState) -> None:
    """Handle the shuffler's state."""
    track_shuffler(turn, reading)


def on_fault(turn: CircleTurn, reading: ShoeFault) -> None:
    """Handle a fault of a reader, or its end. Card details in it are not published."""
    alert = f"shoe_{reading.fault}"
    if reading.active:
        turn.raise_alert(alert, reading)
    else:
        turn.clear_alert(alert)
