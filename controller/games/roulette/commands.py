"""What a roulette table makes of a person's commands besides what every wheel does."""

from __future__ import annotations

from controller.commands import BetsClose
from controller.games.roulette.turn import Turn
from controller.games.wheels import commands as wheel_commands


def close_bets(turn: Turn, given: BetsClose) -> None:
    """No more bets: the ball was launched and is about to fall, whether or not the wheel could tell."""
    wheel_commands.close_bets(turn, given)
    turn.change_hand(launched=True)
