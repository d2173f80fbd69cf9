"""One step of a table whose wheel reports places: what boule and the wheel of fortune add to the
moves of every wheel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, ClassVar

from common.contract.events import AnyOutcome, BetsLastCall, Settled
from common.readings import Number, Reading
from controller.games.cells.settings import CellsSettings
from controller.games.cells.state import CellsState
from controller.games.stakes import Bounds, Stake
from controller.games.wheels.settings import WheelBreach
from controller.games.wheels.state import WheelEntry
from controller.games.wheels.turn import WheelCourse, WheelTurn

OUTCOMES = frozenset({"between", "ball_out", "number_unknown"})
"""Faults that end a spin: the ball or the wheel rests, and no place is reported."""


class CellsTurn(WheelTurn):
    """One step of such a table. The wheel has no phase in which bets are open: they open when the
    previous spin is over.
    """

    settings: CellsSettings
    state: CellsState
    symbols_of: ClassVar[Callable[[Any], Iterable[Number]]]
    """The symbol of each place of the wheel, in order."""

    @cached_property
    def _symbols(self) -> Mapping[int, Number]:
        return dict(enumerate(self.symbols_of(), 1))

    def symbols(self) -> Mapping[int, Number]:
        """The symbol of each place of the wheel, counted from 1."""
        return self._symbols

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

    def last_call(self) -> None:
        """Announce the last call once, if the decree words it: the wheel is about to stop."""
        current, call = self.state.current, self.book.announcements.get("last_call")
        if current and not current.closed and call and "last_call" not in current.said:
            self.change_current(said=(*current.said, "last_call"))
            self.emit(BetsLastCall(round=current.round, spin=current.spin, announcement=call))


def opens(turn: CellsTurn) -> bool:
    """Whether bets open by themselves: the wheel rests, or a fault ended the spin and no silence
    hid the rest. Not after the last of the announced rounds.
    """
    state = turn.state
    rests = state.phase in turn.course.opening or (
        not state.gap and not OUTCOMES.isdisjoint(state.faults)
    )
    free = state.open and state.current is None and state.left("close") != 0
    return turn.settings.phases == "device" and rests and free


def silent(turn: CellsTurn, reading: Reading) -> None:  # noqa: ARG001 - any silence
    """Forget the movement of the wheel."""
    turn.change(phase=None)


def drop_held(turn: CellsTurn) -> None:
    """Drop a report of the wheel that was held back before."""
    turn.change(held=None)


def open_next(turn: CellsTurn) -> None:
    """If the wheel opens the bets, the next round begins with the end of this one."""
    if turn.bets_open_at_wheel:
        turn.open_bets(None)


def cells_course(
    breaches: Mapping[str, WheelBreach],
    outcome: Callable[[Any, WheelEntry], AnyOutcome],
    offered: Callable[[Any], Mapping[str, Bounds]],
    allow_highest: Callable[[Any, int], None],
    settled: Callable[[Any, Number, tuple[Stake, ...]], tuple[Settled, ...]],
) -> WheelCourse:
    """The course of a game of this family. Faults concern a round also once bets are closed, since
    not every such wheel reports that it was set going; and then a person may give the number, if
    the wheel stops between two places.
    """
    return WheelCourse(
        opening=("idle", "bets_open", "settled"),
        breaches=breaches,
        put_back=False,
        numbers=lambda turn: set(turn.symbols().values()),
        numbers_in_words=lambda turn: ", ".join(map(str, dict.fromkeys(turn.symbols().values()))),
        outcome=outcome,
        offered=offered,
        allow_highest=allow_highest,
        settled=settled,
        concerns=lambda _, current: current.launched or current.closed,
        may_be_stated=lambda current: current.closed,
        opens=opens,
        silent=silent,
        forget=drop_held,
        begins=drop_held,
        ended=open_next,
    )
