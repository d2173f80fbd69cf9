"""Roulette, French and American: one state machine; the rulebook makes the difference.

It is a game of a wheel (see ``wheels``). The wheel reports that bets open, the launch, that bets
close, and where the ball comes to rest; where it cannot, a person opens and closes the bets. Its
own: the rotor that must be reversed and the ball that runs against it (``roulette.readings``), the
chances (``roulette.chances``), zero (``games.zero``).
"""

from __future__ import annotations

from common.contract.shown import RouletteShown
from common.readings import WheelCell, WheelNumber, WheelPhase
from controller.games import stakes
from controller.games.machine import Kind, Machine
from controller.games.roulette import commands, readings
from controller.games.roulette.chances import chances
from controller.games.roulette.settings import RouletteSettings
from controller.games.roulette.state import RouletteState
from controller.games.roulette.turn import RouletteTurn, bands
from controller.games.roulette.wheel import faults
from controller.games.wheels import game as wheels
from controller.games.wheels import readings as wheel_readings
from controller.games.zero import choices
from controller.rulebooks.wheels import Roulette

INPUTS = wheels.INPUTS.also(
    readings={
        WheelPhase: readings.on_phase,
        WheelNumber: wheel_readings.on_number,
        WheelCell: readings.on_cell,
    },
    commands=commands.COMMANDS,
)


def prepare(book: Roulette, settings: RouletteSettings) -> Roulette:
    """Return the page. Raise ``ValueError`` for settings that the decree does not allow."""
    wrong = faults(settings.pocket_order, book)
    if wrong:
        raise ValueError(f"pocket_order: {'; '.join(wrong[:3])}")
    stakes.refuse_unlawful(settings.highest, bands(book))
    return book


def show(game: RouletteGame, state: RouletteState) -> RouletteShown:
    """The colour of the last number, consecutive zeros, and the choices that a player has at
    zero.
    """
    current, tally = state.current, state.tally()
    last = tally.number
    return RouletteShown(
        **wheels.common(game, state),
        last_number=last,
        last_colour=None if last is None else chances(int(last), game.book).colour,
        zeros=tally.zeros,
        zero_choices=choices(game.book.zero, last_of_session=bool(current and current.last)),
    )


class RouletteGame(Machine[Roulette, RouletteSettings, RouletteState, RouletteTurn]):
    """Roulette under one decree with one table's settings. Raises ``ValueError`` for settings that
    the decree does not allow.
    """

    kind = Kind(
        state_type=RouletteState,
        turn_type=RouletteTurn,
        inputs=INPUTS,
        show=show,
        history=wheels.history,
        prepare=prepare,
        choices=wheels.choices,
        read_witness_report=wheels.read_witness_report,
        face_down=False,
        confidential=wheels.hide_nothing,
        hears=wheel_readings.hears,
    )
