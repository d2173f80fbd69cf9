"""Commands of a person that only roulette takes, besides those of every wheel."""

from __future__ import annotations

from common.contract.commands import BetPlace, BetsClose, BetWithdraw
from controller.games import stakes
from controller.games.guards import FieldCheck, Row, Rows, is_open
from controller.games.roles import AT_THE_TABLE
from controller.games.roulette.turn import RouletteTurn
from controller.games.wheels import commands as wheel_commands


def close_bets(turn: RouletteTurn, command: BetsClose) -> None:
    """No more bets: the ball was launched and is about to fall, also if the wheel is silent."""
    wheel_commands.close_bets(turn, command)
    turn.change_current(launched=True)


def place_bet(turn: RouletteTurn, command: BetPlace) -> None:
    """Record a bet. What follows the colon says where it is placed (``straight:17``) and is not
    checked.
    """
    stakes.place_bet(turn, command, command.bet.partition(":")[0])


def on_offer(turn: RouletteTurn, command: BetPlace | BetWithdraw) -> None:
    """Reject an unknown kind of bet."""
    stakes.limits_of(command.bet.partition(":")[0], turn.offered())


COMMANDS: Rows = {
    BetsClose: wheel_commands.COMMANDS[BetsClose]._replace(apply=close_bets),
    BetPlace: Row(AT_THE_TABLE, (is_open, FieldCheck(on_offer), stakes.in_time), place_bet),
    BetWithdraw: Row(
        AT_THE_TABLE,
        (
            is_open,
            FieldCheck(on_offer),
            stakes.in_time_to_withdraw,
            FieldCheck(stakes.is_placed, stakes.any_placed),
        ),
        stakes.withdraw_bet,
    ),
}
