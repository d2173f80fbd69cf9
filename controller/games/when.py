"""Preconditions of commands, regardless of their fields: the source of ``takes`` in the retained
``state``.

The conditions depend on the table's state, never on a command's fields nor on its sender. A game
has them in ``Inputs.when``; what is not there it takes at any time. They refuse nothing themselves:
each says of its command what that command's own checks say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from controller.contract.commands import Command
from controller.contract.refusals import RejectedError

When = Callable[[Any], bool]
"""Whether the table takes it, as its game's turn has it."""
Whens = Mapping[type[Command], When]


def every(*conditions: When) -> When:
    """All of these."""
    return lambda turn: all(condition(turn) for condition in conditions)


def never(turn: Any) -> bool:  # noqa: ARG001 - any command
    """The game knows the command, and always refuses it."""
    return False


def passes(check: Callable[..., object], *given: Any) -> bool:
    """Whether a check that commands share rejects nothing."""
    try:
        check(*given)
    except RejectedError:
        return False
    return True


def is_open(turn: Any) -> bool:
    """A session is open."""
    return bool(turn.state.open)


def is_closed(turn: Any) -> bool:
    """None is."""
    return not turn.state.open


def between_rounds(turn: Any) -> bool:
    """No round is in progress."""
    return turn.state.current is None


def bets_open(turn: Any) -> bool:
    """A round is in progress, and its bets are open."""
    current = turn.state.current
    return turn.state.open and current is not None and not current.closed


def bets_closed(turn: Any) -> bool:
    """A round is in progress, and its bets are closed."""
    current = turn.state.current
    return turn.state.open and current is not None and current.closed


def bets_placed(turn: Any) -> bool:
    """Bets are open, and one is placed."""
    return bets_open(turn) and bool(turn.state.current.bets)


def rounds_left(turn: Any) -> bool:
    """The last rounds are not announced, or not all played."""
    return bool(turn.state.last != 0)


def last_rounds_unsaid(turn: Any) -> bool:
    """The last rounds are not announced, and the decree has them."""
    return turn.state.open and turn.state.last is None and turn.book.last_rounds is not None


def to_void(turn: Any) -> bool:
    """A round is in progress or unresolved."""
    return turn.state.current is not None or bool(turn.state.unresolved())


def voidable(turn: Any) -> bool:
    """The same, and the decree knows a void round."""
    return bool(turn.book.void) and to_void(turn)


def has_result(turn: Any) -> bool:
    """A result is remembered."""
    return any(entry.kind == "result" for entry in turn.state.entries)
