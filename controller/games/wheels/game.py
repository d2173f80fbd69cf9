"""What roulette, boule and the wheel of fortune have in common.

A spin is a round. Bets open (``round.opened``), the ball or the wheel is set going, bets close
(``bets.closed``), and the place where it stops is reported (``round.result``); or the round ends as
``round.void`` or ``round.unresolved``. Each launch has its own outcome, so a relaunch after a void
spin is a new round. Round numbers count from 1 in each session and are never used twice.

Where to read on: ``wheels.readings`` for what a wheel reports, ``wheels.commands`` for what a
person commands, ``wheels.turn`` for the moves that both consist of, ``wheels.state`` for what is
remembered.
"""

from __future__ import annotations

from typing import Any

import msgspec

from common.contract import commands as person
from common.contract.history import AnyLine
from common.contract.refusals import RejectedError
from common.readings import LinkGarbage, LinkOpen, Number, WheelFault
from controller.games.machine import SILENCES, AnyMachine, Choices, Inputs
from controller.games.rounds import line
from controller.games.wheels import commands, readings
from controller.games.wheels.state import HISTORY_ROUNDS, WheelState
from controller.games.wheels.turn import WheelTurn

INPUTS = Inputs(
    readings={
        WheelFault: readings.on_fault,
        **dict.fromkeys(SILENCES, readings.on_silence),
        LinkOpen: readings.on_open,
        LinkGarbage: readings.on_garbage,
    },
    commands=commands.COMMANDS,
    leaves_out={
        person.RoundConfirm: ("winner", "dice"),
        person.ResultCorrect: ("winner", "dice", "hands", "decisions"),
        person.BetsClose: ("banco",),
        person.WitnessReport: ("dice",),
    },
)
"""Who may give which input at every such table. Each game adds its own phases and numbers."""


def hide_nothing(*_: Any) -> bool:
    """Nothing that a wheel reports is confidential."""
    return False


def read_witness_report(game: AnyMachine, command: person.WitnessReport) -> Number:
    """Return the number. Reject one that the wheel does not have."""
    if command.number is None:
        raise RejectedError("number_missing")
    turn: WheelTurn = game.turn(game.begin())
    return turn.pocket(command.number)


def choices(game: AnyMachine) -> Choices:
    """Besides the decree's reasons, what the person in charge decides; and the bets."""
    bets = tuple(game.turn(game.begin()).offered())
    return {
        person.RoundVoid: {"reason": tuple(dict.fromkeys((*game.book.void, "inspector")))},
        person.BetPlace: {"bet": bets},
        person.BetWithdraw: {"bet": bets},
    }


def common(game: AnyMachine, state: Any) -> dict[str, Any]:
    """What every table with a wheel shows in the retained state: fields of ``WheelShown``, but for
    ``last_number``, which the game reads from its own tally.
    """
    return {
        **course(state),
        "bets": state.current.bets if state.current else (),
        "last_rounds": state.left("close"),
        "rounds_at_this_minimum": state.left("limit"),
        "next_minimum": state.next_minimum,
        "minimum": state.minimum,
        "currency": state.currency,
        "settings": msgspec.to_builtins(game.settings),
    }


def history(turn: WheelTurn) -> list[AnyLine]:
    """The latest rounds of the session, oldest first: results, void spins and unresolved
    ones.
    """
    return [
        line(
            entry,
            None if entry.number is None else turn.outcome(entry),
            corrected=entry.corrected,
            spin=entry.spin,
            candidate=entry.candidate,
        )
        for entry in turn.state.entries[-HISTORY_ROUNDS:]
    ]


def phase(state: WheelState) -> str:
    """The table's phase, not the wheel's: ``closed``, ``waiting`` for bets to open, ``relaunch``
    after a void spin, ``bets_open``, ``bets_closed``, ``decision``.
    """
    if not state.open:
        return "closed"
    if state.current is None:
        return "relaunch" if state.relaunch else "waiting"
    if state.current.asks:
        return "decision"
    return "bets_closed" if state.current.closed else "bets_open"


def course(state: WheelState) -> dict[str, Any]:
    """The fields with which the retained state begins."""
    current = state.current
    return {
        "phase": phase(state),
        "session": state.session,
        "round": state.round,
        "spin": current.spin if current else state.spin,
        "relaunch": current.relaunch if current else state.relaunch,
        "last_of_session": current.last if current else False,
        "asks": current.asks if current else (),
        "unresolved": state.unresolved_rounds,
    }
