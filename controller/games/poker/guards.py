"""Guards of commands at every game of poker against the bank."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from common.contract.commands import DealError, HandAct
from common.contract.refusals import RejectedError
from controller.games.guards import FieldCheck, Refused


def shuffler_ready(turn: Any) -> Refused | None:
    """The shuffler reports nothing that needs a person."""
    state = turn.state.shuffler
    return None if state is None else Refused("shuffler_not_ready", {"state": state})


def not_withdrawn(turn: Any, command: DealError) -> None:  # noqa: ARG001 - at any table
    """Reject the withdrawal of an error."""
    if not command.valid:
        raise RejectedError("deal_error_not_withdrawn")


def one_of(*actions: str, possible: Callable[[Any], bool]) -> FieldCheck:
    """A check that a hand's action is one of these. ``possible``: whether some hand may act."""

    def check(_turn: Any, command: HandAct) -> None:
        if command.action not in actions:
            raise RejectedError("action_not_allowed", action=command.action, actions=actions)

    return FieldCheck(check, possible)
