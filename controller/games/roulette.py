"""Roulette, French and American: one state machine; the rulebook makes the difference.

A spin is a round. The wheel opens its bets (``round.opened``), launches, closes them (``bets.closed``) and tells where
the ball lies (``round.result``), or the round ends as ``round.void`` or ``round.unresolved``. Each launch has an outcome of
its own, so a relaunch after a null spin is a new round. Round numbers count from 1 in each session and are never used twice.

Where to read on: ``roulette_readings`` for what the wheel says, ``roulette_commands`` for what a person says,
``roulette_turn`` for the moves that both are made of, ``roulette_state`` for what is remembered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from controller.commands import (
    AnyCommand,
    BetsClose,
    BetsOpen,
    Command,
    LastRoundsAnnounce,
    LimitAnnounce,
    ResultCorrect,
    RoundConfirm,
    RoundVoid,
    SessionClose,
    SessionOpen,
)
from controller.events import AnyEvent
from controller.games import roulette_commands as commands
from controller.games import roulette_readings as readings
from controller.games.roles import allow
from controller.games.roulette_chances import chances
from controller.games.roulette_settings import RouletteSettings
from controller.games.roulette_state import SHOWN, Entry, State
from controller.games.roulette_turn import Turn
from controller.games.roulette_wheel import faults
from controller.games.roulette_zero import choices
from controller.rulebook import Roulette
from devices.readings import (
    AnyReading,
    LinkLate,
    LinkLost,
    LinkStale,
    LinkUnintelligible,
    LinkUp,
    WheelFault,
    WheelNumber,
    WheelPhase,
)

TAKE: Mapping[type[Any], Callable[[Turn, Any], None]] = {
    WheelPhase: readings.take_phase,
    WheelNumber: readings.take_number,
    WheelFault: readings.take_fault,
    LinkUp: readings.take_silence,  # frames come in again, so there was a silence
    LinkStale: readings.take_silence,
    LinkLost: readings.take_silence,
    LinkUnintelligible: readings.take_silence,
    LinkLate: readings.take_silence,
    SessionOpen: commands.open_session,
    SessionClose: commands.close_session,
    BetsOpen: commands.open_bets,
    BetsClose: commands.close_bets,
    RoundVoid: commands.void,
    RoundConfirm: commands.confirm,
    ResultCorrect: commands.correct,
    LimitAnnounce: commands.announce_limit,
    LastRoundsAnnounce: commands.announce_last_rounds,
}
"""Who takes which input. What is not here does not concern the game."""


class RouletteGame:
    """Roulette under one decree with one table's settings. Raises ``ValueError`` for settings that the decree does not allow."""

    state_type = State
    face_down = False

    def __init__(self, book: Roulette, settings: RouletteSettings) -> None:
        wrong = faults(settings.pocket_order, book)
        if wrong:
            raise ValueError(f"pocket_order: {'; '.join(wrong[:3])}")
        self.book = book
        self.settings = settings

    def begin(self) -> State:
        """A table that never played."""
        return State()

    def step(self, state: State, given: AnyReading | AnyCommand) -> tuple[State, tuple[AnyEvent, ...]]:
        """Take one input."""
        take = TAKE.get(type(given))
        if take is None:
            return state, ()
        turn = Turn(self.book, self.settings, state)
        if isinstance(given, Command):
            allow(given, commands.MAY, self.book.void_by)
        take(turn, given)
        return turn.state, tuple(turn.events)

    def confidential(self, state: State, given: AnyReading | AnyCommand) -> bool:  # noqa: ARG002 - a ball hides nothing
        """Nothing that a wheel says is confidential."""
        return False

    def show(self, state: State) -> dict[str, Any]:
        """What the retained state tells. ``phase`` is the table's, not the wheel's."""
        hand, tally = state.hand, state.tally()
        number = tally.number
        return {
            "phase": _phase(state),
            "session": state.session,
            "round": state.round,
            "spin": hand.spin if hand else state.spin,
            "relaunch": hand.relaunch if hand else state.relaunch,
            "last_of_session": hand.last if hand else False,
            "asks": list(hand.asks) if hand else [],
            "unresolved": [entry.round for entry in state.unresolved()],
            "last_number": number,
            "last_colour": None if number is None else chances(number, self.book).colour,
            "zeros": tally.zeros,
            "zero_choices": list(choices(self.book, last_of_session=bool(hand and hand.last))),
            "last_rounds": state.left("close"),
            "rounds_at_this_minimum": state.left("limit"),
            "minimum": state.minimum,
            "currency": state.currency,
            "settings": msgspec.to_builtins(self.settings),
        }

    def history(self, state: State) -> list[dict[str, Any]]:
        """The latest rounds of the session, oldest first: results, null spins and unresolved ones."""
        return [self._line(entry) for entry in state.entries[-SHOWN:]]

    def _line(self, entry: Entry) -> dict[str, Any]:
        line: dict[str, Any] = {"round": entry.round, "kind": entry.kind, "spin": entry.spin}
        if entry.number is not None:
            line |= {"number": entry.number, "colour": chances(entry.number, self.book).colour, "corrected": entry.corrected}
        if entry.kind == "void":
            line |= {"reason": entry.reason, "article": entry.article}
        if entry.kind == "unresolved":
            line |= {"candidate": entry.candidate}
        return line


def _phase(state: State) -> str:
    """``closed``, ``waiting`` for bets to open, ``relaunch`` after a null spin, ``bets_open``, ``bets_closed``, ``decision``."""
    if not state.open:
        return "closed"
    if state.hand is None:
        return "relaunch" if state.relaunch else "waiting"
    if state.hand.asks:
        return "decision"
    return "bets_closed" if state.hand.closed else "bets_open"
