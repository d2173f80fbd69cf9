"""Silences and restarts of the shoe at a table of coups."""

from __future__ import annotations

from common.readings import AnyReading, LinkGap, LinkLate, LinkUp, ShoeReset
from controller.games import shoe
from controller.games.coups import moves
from controller.games.coups.moves import Turn


def on_silence(turn: Turn, reading: AnyReading) -> None:
    """Handle a silence of the shoe: a card may be missing."""
    if not isinstance(reading, LinkLate | LinkGap):
        turn.change(
            silent=() if isinstance(reading, LinkUp) else turn.state.silent or (reading.device,)
        )
    if turn.state.shoe is not None and not isinstance(reading, LinkUp):
        turn.change(shoe=shoe.lose_count(turn.state.shoe))
        turn.coup.missed(turn)
        turn.course.lose_place(turn)


def on_reset(turn: Turn, _reading: ShoeReset) -> None:
    """Handle a restart of the shoe: a person decides about the round in progress and the shoe's
    content.
    """
    state = turn.state
    if state.shoe is None or state.reset or not (state.shoe.drawn or state.current):
        return
    if state.current is not None:
        moves.unresolved(turn, state.current, "undecided")
    moves.restart(turn)
    if turn.state.reset:
        turn.irregular("shoe_reset", asks=turn.state.asks)
