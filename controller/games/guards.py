"""Guards of commands: the one place where a table says which commands it accepts now, and why not.

A game has one table of its commands (``Inputs.commands``). A row has the roles that may give the
command, its guards, and the moves that it makes. ``takes`` in the retained ``state`` and the
refusal of a command come from the same guards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from common.contract.commands import Command, Role
from common.contract.refusals import RejectedError
from controller.rulebooks.law import Law


class Refused(NamedTuple):
    """Why a guard refuses. The refusal is made of it only when a command is given: ``takes`` needs
    none.
    """

    key: str
    """The text ``refusal.<key>`` of the messages."""
    fields: Mapping[str, Any] = MappingProxyType({})
    """The values to fill in the text."""
    law: Law | str | None = None
    """The law that forbids the command; a string as it is cited."""

    def error(self) -> RejectedError:
        """The refusal."""
        law = self.law.cited if isinstance(self.law, Law) else self.law
        return RejectedError(self.key, law=law, **self.fields)


Guard = Callable[[Any], Refused | None]
"""Looks at the table alone: returns why it refuses the command now, whatever its fields; or
None.
"""


class FieldCheck(NamedTuple):
    """A check of a command's fields against the table."""

    check: Callable[[Any, Any], object]
    """Raises ``RejectedError``."""
    possible: Callable[[Any], bool] | None = None
    """Whether some command passes now, whatever this one's fields; None: at any time."""


def unchecked(turn: Any, command: Any) -> None:
    """Leave the check of the fields to the moves."""


def by_moves(possible: Callable[[Any], bool]) -> FieldCheck:
    """A check that is part of the moves. ``possible``: whether some command passes now."""
    return FieldCheck(unchecked, possible)


def require(turn: Any, *guards: Guard) -> None:
    """Raise the refusal of the first guard that refuses."""
    for guard in guards:
        if (refused := guard(turn)) is not None:
            raise refused.error()


class Row(NamedTuple):
    """A command of a game."""

    roles: tuple[Role, ...]
    """Those that may give it; ``VOIDERS``: those that may void a round by the rulebook."""
    guards: tuple[Guard | FieldCheck, ...]
    """In the order in which they refuse."""
    apply: Callable[[Any, Any], None] | None
    """Makes the moves. Raises ``RejectedError`` for fields that no guard checks. None: the game
    knows the command and always refuses it, with its last guard.
    """

    def after(self, *guards: Guard | FieldCheck) -> Row:
        """The row with these guards before its own."""
        return self._replace(guards=(*guards, *self.guards))

    def require(self, turn: Any, command: Command) -> None:
        """Raise the refusal of the first guard that refuses the command."""
        for guard in self.guards:
            if isinstance(guard, FieldCheck):
                guard.check(turn, command)
            elif (refused := guard(turn)) is not None:
                raise refused.error()


Rows = Mapping[type[Command], Row]


def allow_role(role: Role, roles: tuple[Role, ...]) -> None:
    """Reject a role that is not one of these."""
    if role not in roles:
        raise RejectedError("role_not_allowed", role=role, roles=roles)


def accepted(rows: Iterable[tuple[Row, str]], turn: Any) -> tuple[str, ...]:
    """The names of the commands that no guard refuses now, whatever their fields. Each guard is
    called once, however many rows have it.
    """
    passes: dict[Guard | FieldCheck, bool] = {}
    names = []
    for row, name in rows:
        for guard in row.guards:
            if guard not in passes:
                if isinstance(guard, FieldCheck):
                    passes[guard] = guard.possible is None or guard.possible(turn)
                else:
                    passes[guard] = guard(turn) is None
            if not passes[guard]:
                break
        else:
            names.append(name)
    return tuple(names)


def is_open(turn: Any) -> Refused | None:
    """A session is open."""
    return None if turn.state.open else Refused("no_session")


def is_closed(turn: Any) -> Refused | None:
    """No session is open."""
    return (
        Refused("session_already_open", {"session": turn.state.session})
        if turn.state.open
        else None
    )


def above_zero(turn: Any, command: Any) -> None:  # noqa: ARG001 - at any table
    """Reject a minimum that is not above 0."""
    if command.minimum is not None and command.minimum <= 0:
        raise RejectedError("minimum_above_zero", minimum=command.minimum)


def lawful_minimum(turn: Any, command: Any) -> None:
    """Reject also a minimum with which the decree does not allow the table's highest stakes."""
    above_zero(turn, command)
    if command.minimum is not None:
        turn.require_highest(command.minimum)


def another_minimum(turn: Any, command: Any) -> None:
    """Reject the present minimum."""
    if command.minimum == turn.state.minimum:
        raise RejectedError("minimum_already", minimum=command.minimum)


def between_rounds(turn: Any) -> Refused | None:
    """No round is in progress."""
    current = turn.state.current
    return None if current is None else Refused("round_in_progress", {"round": current.round})


def has_round(turn: Any) -> Refused | None:
    """A round is in progress."""
    return Refused("no_round_in_progress") if turn.state.current is None else None


def bets_closed(turn: Any) -> Refused | None:
    """The bets of the round in progress are closed."""
    return None if turn.state.current.closed else Refused("bets_still_open")


def bets_open(turn: Any) -> Refused | None:
    """A round is in progress, and its bets are open."""
    current = turn.state.current
    return Refused("bets_not_open") if current is None or current.closed else None


DEALING = (is_open, has_round, bets_closed)
"""Guards: a round is in progress, and its bets are closed."""


def rounds_left(turn: Any) -> Refused | None:
    """The last rounds are not announced, or not all played."""
    return Refused("last_rounds_played") if turn.state.last == 0 else None


def has_last_rounds(turn: Any) -> Refused | None:
    """The decree has last rounds."""
    return Refused("no_last_rounds") if turn.book.last_rounds is None else None


def last_rounds_unannounced(turn: Any) -> Refused | None:
    """The last rounds are not announced."""
    return Refused("last_rounds_already_announced") if turn.state.last is not None else None


def has_unresolved(turn: Any) -> bool:
    """A round is unresolved."""
    return any(entry.kind == "unresolved" for entry in turn.state.entries)


def to_void(turn: Any) -> bool:
    """A round is in progress or unresolved."""
    return turn.state.current is not None or has_unresolved(turn)


def voidable(turn: Any) -> bool:
    """A round is in progress or unresolved, and the decree knows void rounds."""
    return bool(turn.book.void) and to_void(turn)


def has_result(turn: Any) -> bool:
    """A result is remembered."""
    return any(entry.kind == "result" for entry in turn.state.entries)
