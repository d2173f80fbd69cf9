"""The inputs and the retained state of a table of coups."""

from __future__ import annotations

from typing import Any, TypeVar

from common import readings as device
from common.contract import commands as person
from controller.games import shoe, talla
from controller.games.coups import commands, readings
from controller.games.coups.moves import CoupTurn
from controller.games.coups.state import CoupState
from controller.games.dealt import game as dealt
from controller.games.dealt.arrivals import on_card
from controller.games.machine import SILENCES, AnyMachine, Choices, Inputs

INPUTS = Inputs(
    readings={
        device.CardDrawn: on_card,
        device.ShoeReset: readings.on_reset,
        device.ShoeFault: talla.on_fault,
        **dict.fromkeys(SILENCES, readings.on_silence),
    },
    commands=commands.COMMANDS,
    leaves_out={
        person.RoundConfirm: ("number", "dice"),
        person.ResultCorrect: ("number", "dice", "hands", "decisions"),
        person.BetsClose: ("banco",),
        person.RoundVoid: ("alone",),
        person.CardDecide: ("fault",),
    },
)

T = TypeVar("T", bound=CoupState[Any])
M = TypeVar("M", bound=CoupTurn[Any, Any, Any])


def choices(game: AnyMachine) -> Choices:
    """The bets, and who can win."""
    turn = game.turn(game.begin())
    bets, winners = tuple(turn.offered()), tuple(turn.coup.winners)
    return {
        person.BetPlace: {"bet": bets},
        person.BetWithdraw: {"bet": bets},
        person.RoundConfirm: {"winner": winners},
        person.ResultCorrect: {"winner": winners},
    }


def common(game: AnyMachine, state: Any) -> dict[str, Any]:
    """The retained state of every such table."""
    current, last = state.current, state.last_result()
    return dealt.common(game, state) | {
        "bets": current.bets if current else (),
        "last_winner": last.winner if last else None,
        "shoe": shoe.show(state.shoe),
    }
