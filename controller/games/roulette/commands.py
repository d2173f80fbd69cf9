"""What a roulette table makes of a person's commands besides what every wheel does."""

from __future__ import annotations

from controller.contract.commands import BetPlace, BetsClose, BetWithdraw
from controller.games import stakes
from controller.games.roulette.turn import RouletteTurn
from controller.games.wheels import commands as wheel_commands


def close_bets(turn: RouletteTurn, given: BetsClose) -> None:
    """No more bets: the ball was launched and is about to fall, whether or not the wheel could
    tell.
    """
    wheel_commands.close_bets(turn, given)
    turn.change_current(launched=True)


def place_bet(turn: RouletteTurn, given: BetPlace) -> None:
    """A bet that the table is told of. What stands behind a colon says where it lies
    (``straight:17``), and is not judged.
    """
    stakes.place_bet(turn, given, given.bet.partition(":")[0])


def withdraw_bet(turn: RouletteTurn, given: BetWithdraw) -> None:
    """A bet is taken back, as long as bets are open."""
    stakes.withdraw_bet(turn, given, given.bet.partition(":")[0])
