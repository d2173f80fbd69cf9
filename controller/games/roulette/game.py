"""Roulette, French and American: one state machine; the rulebook makes the difference.

It is a game of a wheel (see ``wheel``). The wheel opens its bets, launches, closes them and tells where the ball lies; where
it cannot, a person opens and closes them. What roulette has of its own: the rotor that is to be reversed and the ball that
runs against it (``roulette.readings``), the chances (``roulette.chances``), zero (``roulette.zero``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from controller.commands import AnyCommand, BetsClose, BetsOpen, Command
from controller.events import AnyEvent, Colour
from controller.games.roles import allow
from controller.games.roulette import commands, readings
from controller.games.roulette.chances import chances
from controller.games.roulette.settings import RouletteSettings
from controller.games.roulette.state import SHOWN, Entry, State
from controller.games.roulette.turn import Turn
from controller.games.roulette.wheel import faults
from controller.games.roulette.zero import choices
from controller.games.wheels import commands as wheel_commands
from controller.games.wheels import course as wheel
from controller.rulebooks.rulebook import Roulette
from devices.readings import AnyReading, Number, WheelCell, WheelNumber, WheelPhase

TAKE: Mapping[type[Any], Callable[[Turn, Any], None]] = {
    **wheel.TAKE,
    WheelPhase: readings.take_phase,
    WheelNumber: readings.take_number,
    WheelCell: readings.take_cell,
    BetsOpen: wheel_commands.open_bets,
    BetsClose: commands.close_bets,
}
"""Who takes which input. A reading that is not here does not concern the game; a command is refused."""


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
        turn = Turn(self.book, self.settings, state)
        if isinstance(given, Command):
            allow(given, wheel_commands.MAY, self.book.void_by)
        take = TAKE.get(type(given))
        if take is not None and wheel.listens(state, given):
            take(turn, given)
        return turn.state, tuple(turn.events)

    def confidential(self, state: State, given: AnyReading | AnyCommand) -> bool:  # noqa: ARG002 - a ball hides nothing
        """Nothing that a wheel says is confidential."""
        return False

    def show(self, state: State) -> dict[str, Any]:
        """What the retained state tells. ``phase`` is the table's, not the wheel's."""
        hand, tally = state.hand, state.tally()
        return {
            **wheel.course(state),
            "last_number": tally.number,
            "last_colour": self._colour(tally.number),
            "zeros": tally.zeros,
            "zero_choices": list(choices(self.book, last_of_session=bool(hand and hand.last))),
            **wheel.limits(state),
            "settings": msgspec.to_builtins(self.settings),
        }

    def history(self, state: State) -> list[dict[str, Any]]:
        """The latest rounds of the session, oldest first: results, null spins and unresolved ones."""
        return [self._line(entry) for entry in state.entries[-SHOWN:]]

    def _line(self, entry: Entry) -> dict[str, Any]:
        return wheel.line(entry, {"colour": self._colour(entry.number)})

    def _colour(self, number: Number | None) -> Colour | None:
        return None if number is None else chances(int(number), self.book).colour
