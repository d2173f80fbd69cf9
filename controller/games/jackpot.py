"""The jackpot that a table is linked with, and whether bets on it are accepted now. Pure.

Each change comes as a reading: the jackpot's controller reports it, or is silent. A table that was
never linked accepts all bets of its decree.
"""

from __future__ import annotations

from typing import Any, Protocol

from common.contract.events import JackpotInPlay
from common.contract.refusals import RejectedError
from common.contract.shown import LinkedJackpot
from common.readings import JackpotStanding, OutOfPlay
from controller.games.stakes import cited


class LinkedState(Protocol):
    """The part of a table's state that concerns its jackpot."""

    @property
    def jackpot(self) -> LinkedJackpot | None:
        """The jackpot that the table is linked with; None without one."""
        ...


class JackpotTurn(Protocol):
    """The part of a game's turn that concerns its jackpot."""

    state: Any
    book: Any
    settings: Any

    @property
    def number(self) -> int:
        """The round in progress; 0 without one."""
        ...

    def change(self, *, jackpot: LinkedJackpot | None) -> None:
        """Change the state."""
        ...

    def emit(self, event: JackpotInPlay) -> None:
        """Add an event."""
        ...


def on_standing(turn: JackpotTurn, reading: JackpotStanding) -> None:
    """Record that the jackpot is in play from now on, or no longer. Placed bets do not change."""
    now = None
    if reading.in_play is not None:
        why = None if reading.in_play else reading.why or "unheard"
        now = LinkedJackpot(reading.jackpot, reading.in_play, why)
    if now == turn.state.jackpot:
        return
    turn.change(jackpot=now)
    turn.emit(
        JackpotInPlay(
            round=turn.number,
            jackpot=reading.jackpot,
            in_play=reading.in_play,
            why=now.why if now else None,
        )
    )


def out_of_play(state: LinkedState) -> OutOfPlay | None:
    """Why bets on the jackpot are out of play; None if they are in play."""
    return state.jackpot.why if state.jackpot is not None else None


def refused(turn: JackpotTurn) -> OutOfPlay | None:
    """Why a bet on the jackpot is refused now; None if it is accepted, marked or not."""
    return None if turn.settings.out_of_play == "mark" else out_of_play(turn.state)


def require_in_play(turn: JackpotTurn) -> None:
    """Reject a bet on the jackpot while such bets are refused."""
    why = refused(turn)
    if why is not None:
        law = cited(turn.book.laws.get("jackpot_not_in_play"))
        raise RejectedError("jackpot_not_in_play", why=why, law=law)
