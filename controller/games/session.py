"""What commands stand on at every table: an open session, its last hands, and the round that a
decision is about.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from controller.contract.commands import Command, LastRoundsAnnounce, ResultCorrect, RoundVoid
from controller.contract.events import LastRounds
from controller.contract.refusals import RejectedError
from controller.rulebooks.law import Law


class Numbered(Protocol):
    """A round, by its number."""

    @property
    def round(self) -> int:
        """It counts from 1 in a session."""
        ...


class Decided(Numbered, Protocol):
    """The outcome of a round."""

    @property
    def kind(self) -> str:
        """``result``, ``void`` or ``unresolved``."""
        ...


Round = TypeVar("Round", bound=Numbered)
Entry = TypeVar("Entry", bound=Decided)
E_co = TypeVar("E_co", bound=Decided, covariant=True)


class Outcomes(Protocol[E_co]):
    """A table's state, as far as it remembers outcomes."""

    def unresolved(self) -> list[Any]:
        """The rounds whose result a person may still give."""
        ...

    def entry(self, number: int) -> E_co | None:
        """The outcome of a round of this session, if it is remembered."""
        ...


class LastRoundsTable(Protocol):
    """A game's turn, as far as the last rounds before closing concern it."""

    state: Any
    book: Any

    @property
    def number(self) -> int:
        """The round in progress; 0 without one."""
        ...

    def change(self, *, last: int, last_since: int = ...) -> None:
        """Change the state."""
        ...

    def say(self, event: LastRounds) -> None:
        """Add an event."""
        ...


def session(turn: Any) -> None:
    """Reject what needs an open session."""
    if not turn.state.open:
        raise RejectedError("no session is open")


def another_round(turn: Any, left: int | None) -> None:
    """Reject a round outside a session, and after the last of those that were announced before
    closing; ``left``: of these.
    """
    session(turn)
    if left == 0:
        raise RejectedError(
            "the last rounds that were announced have been played: the table closes, say "
            "session.close"
        )


def announce_last_rounds(
    turn: LastRoundsTable, given: LastRoundsAnnounce, unsaid: int | None = None
) -> None:
    """The last hands before closing; the round in hand is one of them. ``book.last_rounds``: how
    many, where the decree says; ``unsaid``: how many where it does not.
    """
    session(turn)
    state, left = turn.state, turn.book.last_rounds or unsaid
    if left is None:
        raise RejectedError("the decree has no announcement of the last hands for this game")
    if state.last is not None:
        raise RejectedError("the last hands are announced already")
    turn.change(last=left, last_since=turn.number or state.round + 1)
    turn.say(
        LastRounds(
            purpose="close",
            left=left,
            by=given.by,
            announcement=turn.book.announcements.get("last_rounds"),
        )
    )


def count_down(turn: LastRoundsTable, number: int) -> None:
    """One of the last rounds is over, if they are announced."""
    left = turn.state.last
    if left and number >= turn.state.last_since:
        turn.change(last=left - 1)
        turn.say(LastRounds(round=number, purpose="close", left=left - 1))


def undecided(
    state: Outcomes[Entry],
    current: Round | None,
    number: int | None,
    *,
    first: bool = True,
    has: str = "has its result",
) -> Round | Entry:
    """The round that a decision is about: the one in hand, else the one unresolved round, else it
    must be named.

    ``first``: whether the round in hand is meant where others wait too; ``has``: what is said of a
    round that has its result.
    """
    if number is not None:
        return named(state, current, number, has=has)
    waiting: list[Entry] = state.unresolved()
    if current is not None and (first or not waiting):
        return current
    if len(waiting) == 1:
        return waiting[0]
    if not waiting:
        raise RejectedError("no round is in hand, and none waits for a decision")
    raise RejectedError(
        f"say which round: {', '.join(str(entry.round) for entry in waiting)} are unresolved"
    )


def named(
    state: Outcomes[Entry],
    current: Round | None,
    number: int,
    *,
    rounds: str = "rounds",
    has: str = "has its result",
) -> Round | Entry:
    """The round of this number, in hand or unresolved. ``rounds``: what the game calls them."""
    if current is not None and current.round == number:
        return current
    entry = state.entry(number)
    if entry is None:
        raise RejectedError(f"round {number} is not among the {rounds} remembered of this session")
    if entry.kind != "unresolved":
        raise RejectedError(
            f"round {number} {has if entry.kind == 'result' else 'is null already'}"
        )
    return entry


CORRECTED = ("number", "winner", "dice", "hands", "decisions")
"""What a correction of a result may say, over all games."""


def corrects(given: ResultCorrect, own: str) -> None:
    """Reject a correction that says what results of this game do not have; ``own``: the one field
    that says what came out.
    """
    others = [name for name in CORRECTED if name != own and getattr(given, name) is not None]
    if others:
        raise RejectedError(
            f"a result of this game is corrected by its {own} alone, not by {' or '.join(others)}"
        )


def no_round(turn: Any) -> None:
    """Reject what can only be between two rounds."""
    if turn.state.current is not None:
        raise RejectedError(f"round {turn.state.current.round} is in hand; it has no result yet")


def void_law(turn: Any, given: RoundVoid) -> Law:
    """Where it stands that a round is null for this reason. Rejects another."""
    law: Law | None = turn.book.void.get(given.reason)
    if law is None:
        raise RejectedError(
            f"a round is not null for {given.reason}; it may be for {', '.join(turn.book.void)}"
        )
    return law


def confirmer(given: Command) -> str:
    """Who stands for it."""
    return f"{given.by} ({given.role})"
