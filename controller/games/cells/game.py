"""Boule and the wheel of fortune: the games of a wheel that tells places, each worth what the table's map of it says.

They are games of a wheel (see ``wheel``). The head of the table or the croupier opens the bets, the wheel is set going, the
last call follows where it is about to settle, the croupier closes the bets, and where it lies is the result. No decree knows
a null spin here: what goes wrong is for the person in charge to decide.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import msgspec

from controller.commands import AnyCommand, BetPlace, BetsClose, BetsOpen, Command
from controller.events import AnyEvent
from controller.games.cells import commands, readings
from controller.games.cells.settings import CellsSettings
from controller.games.cells.state import CellsState
from controller.games.cells.turn import CellsTurn
from controller.games.roles import allow
from controller.games.wheels import commands as wheel_commands
from controller.games.wheels import course as wheel
from controller.games.wheels.state import SHOWN, Entry
from controller.rulebooks.wheels import WheelBook
from devices.readings import AnyReading, WheelCell, WheelNumber, WheelPhase

TAKE: Mapping[type[Any], Callable[[CellsTurn, Any], None]] = {
    **wheel.TAKE,
    WheelPhase: readings.take_phase,
    WheelNumber: readings.take_place,
    WheelCell: readings.take_place,
    BetsOpen: commands.open_bets,
    BetsClose: wheel_commands.close_bets,
    BetPlace: commands.place_bet,
}
"""Who takes which input. A reading that is not here does not concern the game; a command is refused."""


class CellsGame(ABC):
    """What both games are made of; each adds its own ``turn`` and what it shows."""

    face_down = False
    take: ClassVar[Mapping[type[Any], Callable[[Any, Any], None]]] = TAKE
    state_type: type[CellsState]
    book: WheelBook
    settings: CellsSettings

    @abstractmethod
    def turn(self, state: Any) -> CellsTurn:
        """One step of the game from this state."""

    def begin(self) -> CellsState:
        """A table that never played."""
        return self.state_type()

    def step(self, state: CellsState, given: AnyReading | AnyCommand) -> tuple[CellsState, tuple[AnyEvent, ...]]:
        """Take one input."""
        turn = self.turn(state)
        if isinstance(given, Command):
            allow(given, commands.MAY, self.book.void_by)
        take = self.take.get(type(given))
        if take is not None and wheel.listens(state, given):
            take(turn, given)
        return turn.state, tuple(turn.events)

    def confidential(self, state: CellsState, given: AnyReading | AnyCommand) -> bool:  # noqa: ARG002 - a wheel hides nothing
        """Nothing that a wheel says is confidential."""
        return False

    def own(self, state: Any) -> dict[str, Any]:  # noqa: ARG002 - a game may have nothing of its own
        """What the retained state tells of this game alone."""
        return {}

    def tells(self, entry: Entry) -> dict[str, Any]:  # noqa: ARG002 - a game may have nothing of its own
        """What the history tells of a result besides its number."""
        return {}

    def show(self, state: CellsState) -> dict[str, Any]:
        """What the retained state tells. ``counts``: how often each number came in this session."""
        tally = state.tally()
        return {
            **wheel.course(state),
            "last_number": tally.number,
            **self.own(state),
            "counts": tally.counts,
            **wheel.limits(state),
            "settings": msgspec.to_builtins(self.settings),
        }

    def history(self, state: CellsState) -> list[dict[str, Any]]:
        """The latest rounds of the session, oldest first: results, null spins and unresolved ones."""
        return [wheel.line(entry, self.tells(entry)) for entry in state.entries[-SHOWN:]]
