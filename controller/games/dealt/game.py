"""The state machine of every dealt game: its retained state."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from common.contract.history import AnyLine
from controller.games.dealt.state import HISTORY_ROUNDS, DealtState
from controller.games.dealt.turn import DealtTurn
from controller.games.machine import AnyMachine, Decree
from controller.games.rounds import line

B = TypeVar("B", bound=Decree)
S = TypeVar("S")
T = TypeVar("T", bound=DealtState[Any])
M = TypeVar("M", bound=DealtTurn[Any, Any, Any])


def common(game: AnyMachine, state: Any) -> dict[str, Any]:
    """The retained state of every dealt table."""
    turn = game.turn(state)
    return {
        "phase": turn.phase(),
        "session": state.session,
        "round": state.round,
        "asks": turn.asks(),
        "expected": state.expected,
        "unresolved": state.unresolved_rounds,
        "last_rounds": state.last,
        "minimum": state.minimum,
        "currency": state.currency,
        "settings": msgspec.to_builtins(game.settings),
    }


def history(turn: DealtTurn[Any, Any, Any]) -> list[AnyLine]:
    """The latest rounds of the session, oldest first."""
    return [
        line(
            entry,
            turn.course.outcome_of(turn, entry) if entry.kind == "result" else None,
            corrected=entry.corrected,
        )
        for entry in turn.state.entries[-HISTORY_ROUNDS:]
    ]
