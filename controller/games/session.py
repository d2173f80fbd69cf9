"""What commands share at every table: the last rounds, and the round that a decision is about."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol, TypeVar

from common.contract.commands import Command, LastRoundsAnnounce, ResultCorrect, RoundVoid
from common.contract.events import LastRounds
from common.contract.refusals import RejectedError
from common.contract.topics import level
from controller.games.guards import Row, has_last_rounds, is_open, last_rounds_unannounced
from controller.games.roles import AT_THE_TABLE
from controller.rulebooks.law import Law


class NumberedRound(Protocol):
    """A round with its number."""

    @property
    def round(self) -> int:
        """Its number, from 1 in each session."""
        ...


class Decided(NumberedRound, Protocol):
    """The outcome of a round."""

    @property
    def kind(self) -> str:
        """``result``, ``void`` or ``unresolved``."""
        ...


Round = TypeVar("Round", bound=NumberedRound)
Entry = TypeVar("Entry", bound=Decided)
E_co = TypeVar("E_co", bound=Decided, covariant=True)


class Outcomes(Protocol[E_co]):
    """A table's state that remembers outcomes."""

    def unresolved(self) -> list[Any]:
        """The rounds whose result a person may still give."""
        ...

    def entry(self, number: int) -> E_co | None:
        """The outcome of a round of this session, if it is remembered."""
        ...


class LastRoundsTable(Protocol):
    """The part of a game's turn that counts the last rounds before closing."""

    state: Any
    book: Any

    @property
    def number(self) -> int:
        """The round in progress; 0 without one."""
        ...

    def change(self, *, last: int, last_since: int = ...) -> None:
        """Change the state."""
        ...

    def emit(self, event: LastRounds) -> None:
        """Add an event."""
        ...


def announce_last_rounds(
    turn: LastRoundsTable, command: LastRoundsAnnounce, default: int | None = None
) -> None:
    """Announce the last rounds before closing; the round in progress is one of them.
    ``book.last_rounds``: their number by the decree; ``default``: their number if the decree has
    none.
    """
    left = turn.book.last_rounds or default
    assert left is not None
    turn.change(last=left, last_since=turn.number or turn.state.round + 1)
    turn.emit(
        LastRounds(
            purpose="close",
            left=left,
            by=command.by,
            announcement=turn.book.announcements.get("last_rounds"),
        )
    )


LAST_ROUNDS = Row(
    AT_THE_TABLE, (is_open, has_last_rounds, last_rounds_unannounced), announce_last_rounds
)


def count_down(turn: LastRoundsTable, number: int) -> None:
    """Count down the announced last rounds."""
    left = turn.state.last
    if left and number >= turn.state.last_since:
        turn.change(last=left - 1)
        turn.emit(LastRounds(round=number, purpose="close", left=left - 1))


def undecided(
    state: Outcomes[Entry],
    current: Round | None,
    number: int | None,
    *,
    first: bool = True,
) -> Round | Entry:
    """The round that a decision is about: the round in progress, or the only unresolved one.

    ``number`` names it. ``first``: without a number, prefer the round in progress to unresolved
    ones. Raises ``RejectedError`` unless exactly one round matches.
    """
    if number is not None:
        return named(state, current, number)
    waiting: list[Entry] = state.unresolved()
    if current is not None and (first or not waiting):
        return current
    if len(waiting) == 1:
        return waiting[0]
    if not waiting:
        raise RejectedError("no_round_to_decide")
    raise RejectedError("say_round", rounds=tuple(str(entry.round) for entry in waiting))


def named(
    state: Outcomes[Entry],
    current: Round | None,
    number: int,
) -> Round | Entry:
    """The round of this number, in progress or unresolved. Raises ``RejectedError`` for any
    other.
    """
    if current is not None and current.round == number:
        return current
    entry = state.entry(number)
    if entry is None:
        raise RejectedError("round_not_remembered", round=number)
    if entry.kind != "unresolved":
        raise RejectedError(
            "round_has_result" if entry.kind == "result" else "round_already_void", round=number
        )
    return entry


CORRECTION_FIELDS = ("number", "winner", "dice", "hands", "decisions")
"""The fields that correct a result, over all games."""


def corrects(command: ResultCorrect, own: str) -> None:
    """Reject correction fields of other games. ``own``: the field that corrects this game."""
    others = [
        name for name in CORRECTION_FIELDS if name != own and getattr(command, name) is not None
    ]
    if others:
        raise RejectedError("correct_one_field", own=own, others=tuple(others))


def round_to_void(turn: Any, command: RoundVoid) -> Any:
    """The round that is to be void. Raises ``RejectedError`` unless exactly one matches."""
    return undecided(turn.state, turn.state.current, command.round)


def result_to_correct(turn: Any, command: ResultCorrect, own: str) -> Any:
    """The named result. ``own``: the field that corrects this game. Raises ``RejectedError`` for
    any other round.
    """
    corrects(command, own)
    entry = turn.state.entry(command.round)
    if entry is None:
        raise RejectedError("round_not_remembered", round=command.round)
    if entry.kind != "result":
        raise RejectedError("no_result_to_correct", round=command.round)
    return entry


def void_law(turn: Any, command: RoundVoid) -> Law:
    """The law that voids a round for this reason. Raises ``RejectedError`` for any other reason."""
    law: Law | None = turn.book.void.get(command.reason)
    if law is None:
        raise RejectedError(
            "void_reason_not_allowed", reason=command.reason, reasons=tuple(turn.book.void)
        )
    return law


def sent(commands: Iterable[str]) -> tuple[str, ...]:
    """The commands as their topics name them."""
    return tuple(map(level, commands))


def confirmer(command: Command) -> str:
    """The person who gave a command, as ``name (role)``."""
    return f"{command.by} ({command.role})"
