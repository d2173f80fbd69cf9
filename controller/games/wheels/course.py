"""What the games of a wheel, roulette, boule and the wheel of fortune, are made of alike.

A spin is a round. Bets open (``round.opened``), the ball or the wheel is set going, bets close (``bets.closed``), and it is
told where it lies (``round.result``), or the round ends as ``round.void`` or ``round.unresolved``. Each launch has an outcome
of its own, so a relaunch after a null spin is a new round. Round numbers count from 1 in each session and are never used twice.

Where to read on: ``wheels.readings`` for what a wheel says, ``wheels.commands`` for what a person says, ``wheels.turn`` for the
moves that both are made of, ``wheels.state`` for what is remembered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from controller.commands import (
    AnyCommand,
    Command,
    LastRoundsAnnounce,
    LimitAnnounce,
    ResultCorrect,
    RoundConfirm,
    RoundVoid,
    SessionClose,
    SessionOpen,
)
from controller.games.wheels import commands, readings
from controller.games.wheels.state import Entry, WheelState
from controller.games.wheels.turn import WheelTurn
from devices.readings import AnyReading, LinkGap, LinkLate, LinkLost, LinkStale, LinkUnintelligible, LinkUp, WheelFault

TAKE: Mapping[type[Any], Callable[[WheelTurn, Any], None]] = {
    WheelFault: readings.take_fault,
    LinkUp: readings.take_silence,  # frames come in again, so there was a silence
    LinkStale: readings.take_silence,
    LinkLost: readings.take_silence,
    LinkUnintelligible: readings.take_silence,
    LinkLate: readings.take_silence,
    LinkGap: readings.take_silence,
    SessionOpen: commands.open_session,
    SessionClose: commands.close_session,
    RoundVoid: commands.void,
    RoundConfirm: commands.confirm,
    ResultCorrect: commands.correct,
    LimitAnnounce: commands.announce_limit,
    LastRoundsAnnounce: commands.announce_last_rounds,
}
"""Who takes which input, at every such table. Its own phases and numbers, and who opens and closes bets, each game adds."""


def listens(state: WheelState, given: AnyReading | AnyCommand) -> bool:
    """Whether the table listens to who speaks: to everybody but a device that turned out to be one for another game."""
    return isinstance(given, Command) or given.device not in state.foreign


def phase(state: WheelState) -> str:
    """The table's, not the wheel's: ``closed``, ``waiting`` for bets to open, ``relaunch`` after a null spin, ``bets_open``,
    ``bets_closed``, ``decision``.
    """
    if not state.open:
        return "closed"
    if state.hand is None:
        return "relaunch" if state.relaunch else "waiting"
    if state.hand.asks:
        return "decision"
    return "bets_closed" if state.hand.closed else "bets_open"


def course(state: WheelState) -> dict[str, Any]:
    """Where the table stands, as the retained state begins."""
    hand = state.hand
    return {
        "phase": phase(state),
        "session": state.session,
        "round": state.round,
        "spin": hand.spin if hand else state.spin,
        "relaunch": hand.relaunch if hand else state.relaunch,
        "last_of_session": hand.last if hand else False,
        "asks": list(hand.asks) if hand else [],
        "unresolved": [entry.round for entry in state.unresolved()],
    }


def limits(state: WheelState) -> dict[str, Any]:
    """Announced last balls and the minimum, as the retained state has them."""
    return {
        "last_rounds": state.left("close"),
        "rounds_at_this_minimum": state.left("limit"),
        "minimum": state.minimum,
        "currency": state.currency,
    }


def line(entry: Entry, tells: Mapping[str, Any]) -> dict[str, Any]:
    """One round in the retained history; ``tells``: what the game says of its number there."""
    told: dict[str, Any] = {"round": entry.round, "kind": entry.kind, "spin": entry.spin}
    if entry.number is not None:
        told |= {"number": entry.number, **tells, "corrected": entry.corrected}
    if entry.kind == "void":
        told |= {"reason": entry.reason, "article": entry.article}
    if entry.kind == "unresolved":
        told |= {"candidate": entry.candidate}
    return told
