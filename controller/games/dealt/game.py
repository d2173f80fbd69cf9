"""The state machine of every dealt game: its retained state, and the refusals of its phase."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from controller.contract.commands import AnyCommand, Command
from controller.contract.history import AnyLine
from controller.games.dealt.state import HISTORY_ROUNDS, DealtState
from controller.games.dealt.turn import DealtTurn
from controller.games.machine import Decree, Machine
from controller.games.rounds import line
from devices.readings import AnyReading

B = TypeVar("B", bound=Decree)
S = TypeVar("S")
T = TypeVar("T", bound=DealtState[Any])
M = TypeVar("M", bound=DealtTurn[Any, Any, Any])


class DealtGame(Machine[B, S, T, M]):
    """A dealt game under one decree with one table's settings."""

    def handler(
        self, turn: M, received: AnyReading | AnyCommand
    ) -> Callable[[M, Any], None] | None:
        """The handler of this input. Raises ``RejectedError`` for a command that the phase
        refuses.
        """
        if isinstance(received, Command) and type(received) not in self.inputs.commands:
            turn.accept(received)
        return super().handler(turn, received)

    def is_taken(self, turn: M, kind: type[Command]) -> bool:
        """Whether both the phase and the game accept commands of this type now."""
        return (kind in self.inputs.commands or turn.refusal(kind) is None) and super().is_taken(
            turn, kind
        )

    def common(self, state: T) -> dict[str, Any]:
        """The retained state of every dealt table."""
        turn = self.turn(state)
        return {
            "phase": turn.phase(),
            "session": state.session,
            "round": state.round,
            "asks": turn.asks(),
            "expected": state.expected,
            "unresolved": tuple(entry.round for entry in state.unresolved()),
            "last_rounds": state.last,
            "minimum": state.minimum,
            "currency": state.currency,
            "settings": msgspec.to_builtins(self.settings),
        }

    def history(self, state: T) -> list[AnyLine]:
        """The latest rounds of the session, oldest first."""
        turn = self.turn(state)
        return [
            line(
                entry,
                turn.outcome_of(entry) if entry.kind == "result" else None,
                corrected=entry.corrected,
            )
            for entry in state.entries[-HISTORY_ROUNDS:]
        ]
