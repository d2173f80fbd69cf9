"""The jackpot that a table is linked with: whether bets on it may be taken now. Pure.

Its controller reports so, or is silent: each change comes as a reading. A table that never had one
is not linked, and takes the bets that its decree has.
"""

from __future__ import annotations

from typing import Any, Protocol

from controller.contract.events import JackpotInPlay
from controller.contract.refusals import RejectedError
from controller.contract.shown import LinkedJackpot
from controller.games.stakes import cited
from devices.readings import JackpotStanding, OutOfPlay


class LinkedState(Protocol):
    """The part of a table's state that concerns its jackpot."""

    @property
    def jackpot(self) -> LinkedJackpot | None:
        """The jackpot that it is linked with."""
        ...


class JackpotTurn(Protocol):
    """A game's turn, as far as its jackpot concerns it."""

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
    """The jackpot is in play from here on, or is not. Bets that are placed stay as they are."""
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
    """Why bets on the jackpot are not in play; None if they are."""
    return state.jackpot.why if state.jackpot is not None else None


def refused(turn: JackpotTurn) -> OutOfPlay | None:
    """Why a bet on the jackpot is not taken now; None if it is, be it marked."""
    return None if turn.settings.out_of_play == "mark" else out_of_play(turn.state)


def require_in_play(turn: JackpotTurn) -> None:
    """Reject a bet on the jackpot that is not taken now."""
    why = refused(turn)
    if why is not None:
        law = cited(turn.book.laws.get("jackpot_not_in_play"))
        raise RejectedError("jackpot_not_in_play", why=why, law=law)
