"""Texas against the house: two cards of one's own and five common ones against the bank's hand.

After the flop each player makes the second bet or gives up (``hand.act go``, ``pass``); then turn
and river, and the hands are face up (``cards.turn``, ``cards.show``): those with a bonus before the
turn, the bank's last. The result comes by itself. Where to read on: ``texas_house.turn`` for the
rules, ``banked`` for what the game shares with others.
"""

from __future__ import annotations

import msgspec

from controller.contract.commands import BetPlace, BetWithdraw, HandAct, ResultCorrect
from controller.contract.refusals import RejectedError
from controller.contract.shown import TexasHouseShown
from controller.games.banked import game as banked
from controller.games.banked.commands import dealing
from controller.games.banked.game import BankedGame
from controller.games.banked.readings import deal_waiting
from controller.games.banked.when import running
from controller.games.machine import Choices
from controller.games.session import sent, session
from controller.games.texas_house.turn import TexasHouseState, TexasHouseTurn
from controller.games.when import bets_open


def act(turn: TexasHouseTurn, command: HandAct) -> None:
    """Record that a player makes the second bet or folds, or undo that."""
    dealing(turn)
    if turn.state.stop is not None:
        raise RejectedError("table_waits_for", commands=sent(turn.state.asks))
    if command.action not in ("go", "pass"):
        raise RejectedError("action_not_allowed", action=command.action, actions=("go", "pass"))
    (turn.act if command.valid else turn.take_back)(command.who, command.action, command.by)
    deal_waiting(turn)


def bet(turn: TexasHouseTurn, command: BetPlace | BetWithdraw) -> None:
    """The supplementary bet."""
    session(turn)
    if turn.state.current is None:
        raise RejectedError("bets_not_open")
    if command.bet != "txb":
        raise RejectedError("unknown_bet", bet=command.bet, bets=("txb",))
    turn.bet(command)


def may_act(turn: TexasHouseTurn) -> bool:
    """Whether a player may decide, or undo that."""
    if not running(turn):
        return False
    deal = turn.current
    undecided = not deal.due and len(deal.spoke) < len(turn.boxes)
    return undecided or (bool(deal.spoke) and turn.takes_back())


def has_bonus(turn: TexasHouseTurn) -> bool:
    """Whether a supplementary bet may be withdrawn."""
    return bets_open(turn) and bool(turn.current.bonus)


INPUTS = banked.INPUTS.also(
    at_the_table={HandAct: act, BetPlace: bet, BetWithdraw: bet},
    when={HandAct: may_act, BetPlace: bets_open, BetWithdraw: has_bonus},
    withdrawn=(HandAct,),
    leaves_out={
        HandAct: ("count", "amount"),
        ResultCorrect: ("number", "winner", "dice"),
    },
)


class TexasHouseGame(BankedGame):
    """The game under one decree with one table's settings."""

    state_type = TexasHouseState
    turn_type = TexasHouseTurn
    inputs = INPUTS

    def choices(self) -> Choices:
        """The choices of a hand."""
        return {
            **super().choices(),
            HandAct: {"action": ("go", "pass")},
            BetPlace: {"bet": ("txb",)},
            BetWithdraw: {"bet": ("txb",)},
        }

    def show(self, state: TexasHouseState) -> TexasHouseShown:
        """The retained state."""
        deal, pays = state.current, ("ante", "second", "bonus")
        return TexasHouseShown(
            **self.common(state),
            spoke=dict(deal.spoke) if deal else {},
            bonus=deal.bonus if deal else (),
            pays={name: msgspec.to_builtins(getattr(self.book, name)) for name in pays},
            limits=tuple(self.book.limits),
        )
