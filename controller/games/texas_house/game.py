"""Texas against the house: two cards of one's own and five common ones against the bank's hand.

After the flop each player makes the second bet or gives up (``hand.act go``, ``pass``); then turn
and river, and the hands are face up (``cards.turn``, ``cards.show``): those with a bonus before the
turn, the bank's last. The result comes by itself. Where to read on: ``texas_house.turn`` for the
rules, ``banked`` for what the game shares with others.
"""

from __future__ import annotations

import msgspec

from common.contract.commands import BetPlace, BetWithdraw, HandAct, ResultCorrect
from common.contract.refusals import RejectedError
from common.contract.shown import TexasHouseShown
from controller.games.banked import game as banked
from controller.games.banked.readings import deal_waiting
from controller.games.dealt import game as dealt
from controller.games.dealt.guards import unstopped
from controller.games.guards import DEALING, FieldCheck, Refused, Row, is_open
from controller.games.machine import Choices, Kind, Machine
from controller.games.poker.guards import one_of
from controller.games.poker.machine import named
from controller.games.roles import AT_THE_TABLE
from controller.games.stakes import in_time, in_time_to_withdraw
from controller.games.texas_house import turn as moves
from controller.games.texas_house.settings import TexasHouseSettings
from controller.games.texas_house.turn import TexasHouseState, TexasHouseTurn
from controller.rulebooks.common_poker import TexasHouse


def act(turn: TexasHouseTurn, command: HandAct) -> None:
    """Record that a player makes the second bet or folds, or undo that."""
    assert command.action in ("go", "pass")
    (moves.act if command.valid else moves.take_back)(turn, command.who, command.action, command.by)
    deal_waiting(turn)


def bet(turn: TexasHouseTurn, command: BetPlace | BetWithdraw) -> None:
    """The supplementary bet."""
    moves.bet(turn, command)


def may_act(turn: TexasHouseTurn) -> bool:
    """Whether a player may decide, or undo that."""
    deal = turn.current
    undecided = not deal.due and len(deal.spoke) < len(moves.boxes(turn))
    return undecided or (bool(deal.spoke) and moves.takes_back(turn))


def has_begun(turn: TexasHouseTurn) -> Refused | None:
    """The bets of a round were opened."""
    return Refused("bets_not_open") if turn.state.current is None else None


def is_supplementary(turn: TexasHouseTurn, command: BetPlace | BetWithdraw) -> None:  # noqa: ARG001
    """Reject any other bet."""
    if command.bet != "txb":
        raise RejectedError("unknown_bet", bet=command.bet, bets=("txb",))


def has_bonus(turn: TexasHouseTurn, command: BetWithdraw) -> None:
    """Reject a bet that is not placed."""
    moves.require_bettor(turn, command)


def any_bonus(turn: TexasHouseTurn) -> bool:
    """A supplementary bet is placed."""
    return bool(turn.current.bonus)


INPUTS = banked.INPUTS.also(
    commands={
        HandAct: Row(
            AT_THE_TABLE, (*DEALING, unstopped, one_of("go", "pass", possible=may_act)), act
        ),
        BetPlace: Row(
            AT_THE_TABLE,
            (is_open, has_begun, FieldCheck(is_supplementary), in_time),
            bet,
        ),
        BetWithdraw: Row(
            AT_THE_TABLE,
            (
                is_open,
                has_begun,
                FieldCheck(is_supplementary),
                in_time_to_withdraw,
                FieldCheck(has_bonus, any_bonus),
            ),
            bet,
        ),
    },
    withdrawn=(HandAct,),
    leaves_out={
        HandAct: ("count", "amount"),
        ResultCorrect: ("number", "winner", "dice"),
    },
)


def choices(_game: TexasHouseGame) -> Choices:
    """The choices of a hand."""
    return {
        HandAct: {"action": ("go", "pass")},
        BetPlace: {"bet": ("txb",)},
        BetWithdraw: {"bet": ("txb",)},
    }


def show(game: TexasHouseGame, state: TexasHouseState) -> TexasHouseShown:
    """The retained state."""
    deal, pays = state.current, ("ante", "second", "bonus")
    return TexasHouseShown(
        **banked.common(game, state),
        spoke=dict(deal.spoke) if deal else {},
        bonus=deal.bonus if deal else (),
        pays={name: msgspec.to_builtins(getattr(game.book, name)) for name in pays},
        limits=tuple(game.book.limits),
    )


class TexasHouseGame(Machine[TexasHouse, TexasHouseSettings, TexasHouseState, TexasHouseTurn]):
    """The game under one decree with one table's settings."""

    kind = Kind(
        state_type=TexasHouseState,
        turn_type=TexasHouseTurn,
        inputs=INPUTS,
        show=show,
        history=dealt.history,
        choices=choices,
        named=named,
    )
