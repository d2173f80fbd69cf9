"""One step of a table whose wheel reports places: what boule and the wheel of fortune add to the
moves of every wheel.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TypeGuard

from controller.contract.events import BetsLastCall
from controller.games.cells.settings import CellsSettings
from controller.games.cells.state import CellsState
from controller.games.wheels.state import WheelEntry, WheelRound
from controller.games.wheels.turn import WheelTurn, Why
from devices.readings import Number, Reading

OUTCOMES = frozenset({"between", "ball_out", "number_unknown"})
"""Faults that end a spin: the ball or the wheel rests, and no place is reported."""


class CellsTurn(WheelTurn):
    """One step of such a table. The wheel has no phase in which bets are open: they open when the
    previous spin is over.
    """

    settings: CellsSettings
    state: CellsState
    opening = ("idle", "bets_open", "settled")
    put_back = False

    @abstractmethod
    def symbols(self) -> Mapping[int, Number]:
        """The symbol of each place of the wheel, counted from 1."""

    def has_number(self, number: Number | None) -> TypeGuard[Number]:
        """Whether the wheel has this number."""
        return number is not None and number in set(self.symbols().values())

    def numbers(self) -> str:
        """The numbers of the wheel, in words."""
        return ", ".join(str(number) for number in dict.fromkeys(self.symbols().values()))

    def concerns(self, fault: str, current: WheelRound) -> bool:  # noqa: ARG002 - all faults alike
        """Also once bets are closed: not every such wheel reports that it was set going."""
        return current.launched or current.closed

    def may_be_stated(self, current: WheelRound) -> bool:
        """Once bets are closed: if the wheel stops between two places, only a person can give the
        number.
        """
        return current.closed

    @property
    def bets_open_at_wheel(self) -> bool:
        """Whether bets open by themselves: the wheel rests, or a fault ended the spin and no
        silence hid the rest. Not after the last of the announced rounds.
        """
        state = self.state
        rests = state.phase in self.opening or (
            not state.gap and not OUTCOMES.isdisjoint(state.faults)
        )
        free = state.open and state.current is None and state.left("close") != 0
        return self.settings.phases == "device" and rests and free

    @property
    def moving(self) -> bool:
        """True if the wheel reports that it was set going and has not settled, and that spin is not
        decided.
        """
        state = self.state
        return (
            state.phase in ("launched", "settling")
            and not state.spent
            and self.over(state.spin) is None
        )

    def silence(self, reading: Reading) -> None:
        """Forget the movement of the wheel."""
        super().silence(reading)
        self.change(phase=None)

    def forget(self) -> None:
        """Drop a report of the wheel from before the session."""
        self.change(held=None)

    def begin(self, spin: int | None) -> WheelRound:
        """Begin the next round, without a report held back in the previous one."""
        self.change(held=None)
        return super().begin(spin)

    def last_call(self) -> None:
        """Announce the last call once, if the decree words it: the wheel is about to stop."""
        current, call = self.state.current, self.book.announcements.get("last_call")
        if current and not current.closed and call and "last_call" not in current.said:
            self.change_current(said=(*current.said, "last_call"))
            self.emit(BetsLastCall(round=current.round, spin=current.spin, announcement=call))

    def result(
        self,
        round_: WheelRound | WheelEntry,
        number: Number,
        confirmed_by: str | None = None,
        cell: int | None = None,
    ) -> None:
        """Give the result; if the wheel opens the bets, the next round begins with it."""
        super().result(round_, number, confirmed_by, cell)
        self._next()

    def unresolved(
        self,
        round_: WheelRound | WheelEntry,
        why: Why,
        candidate: Number | None = None,
        cell: int | None = None,
    ) -> None:
        """End without a result; if the wheel opens the bets, the next round begins all the same."""
        super().unresolved(round_, why, candidate, cell)
        self._next()

    def _next(self) -> None:
        if self.bets_open_at_wheel:
            self.open_bets(None)
