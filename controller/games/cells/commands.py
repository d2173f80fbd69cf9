"""What boule and the wheel of fortune make of a person's commands besides what every wheel does."""

from __future__ import annotations

from controller.commands import BetPlace, BetsOpen
from controller.events import BetPlaced
from controller.games.cells.turn import CellsTurn
from controller.games.game import Rejected
from controller.games.wheels import commands as wheel_commands


def open_bets(turn: CellsTurn, given: BetsOpen) -> None:
    """Bets open for a new round. That comes before it is set going."""
    moving = turn.moving
    wheel_commands.open_bets(turn, given)
    if moving:
        turn.change_hand(launched=True, spin=turn.state.spin)
        turn.irregular("out_of_order", detail="bets opened after the launch")


def place_bet(turn: CellsTurn, given: BetPlace) -> None:
    """A bet that the table is told of. One that comes after no more bets is refused, and the chips go back."""
    hand = turn.state.hand
    if given.bet not in turn.bets():
        raise Rejected(f"there is no bet {given.bet!r}; there are: {', '.join(turn.bets())}")
    if hand is None or hand.closed:
        law = turn.book.laws["bet_after_close"]
        raise Rejected(f"no bets are open; the chips go back: {law.rule}, {law.article}")
    turn.say(BetPlaced(round=hand.round, who=given.who, bet=given.bet, amount=given.amount, by=given.by))
