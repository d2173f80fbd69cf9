"""Commands of boule and the wheel of fortune, besides those of every wheel."""

from __future__ import annotations

from common.contract.commands import BetsOpen
from controller.games.cells.turn import CellsTurn
from controller.games.wheels import commands as wheel_commands


def open_bets(turn: CellsTurn, command: BetsOpen) -> None:
    """Open bets for a new round, before the wheel is set going."""
    moving = turn.moving
    wheel_commands.open_bets(turn, command)
    if moving:
        turn.change_current(launched=True, spin=turn.state.spin)
        turn.irregular("out_of_order", detail="bets opened after the launch")
