"""A game for tests of the table: it counts numbers, waits on request, and can be made to fail."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from msgspec.structs import replace

from common.contract.commands import (
    AnyCommand,
    BetsClose,
    BetsOpen,
    ResultCorrect,
    Role,
    RoundVoid,
    SessionClose,
    SessionOpen,
    WitnessReport,
)
from common.contract.events import (
    AlertCleared,
    AlertRaised,
    AnyEvent,
    FortuneOutcome,
    ResultCorrected,
    RoundResult,
    SessionClosed,
    SessionOpened,
)
from common.contract.events import RoundVoid as Void
from common.contract.history import AnyLine, ResultLine
from common.contract.refusals import RejectedError
from common.contract.shown import Shown
from common.readings import AnyReading, LinkLost, WheelFault, WheelNumber
from controller.games.game import GameView
from controller.games.rounds import GameState

FAILING_NUMBER = 666
"""A number on which the game fails."""


class Count(GameState, frozen=True, kw_only=True):
    entries: tuple[int, ...] = ()
    """The latest numbers."""
    gaps: int = 0
    waits: bool = False

    @property
    def unresolved_rounds(self) -> tuple[int, ...]:
        """Every round has a number."""
        return ()


class CountShown(Shown, frozen=True, kw_only=True, tag="count"):
    gaps: int


class Counting:
    state_type = Count
    face_down = False
    jackpot_bet: str | None = None
    settled_by: Mapping[str, tuple[Role, ...]] = {}

    def read_witness_report(self, command: WitnessReport) -> int:
        raise RejectedError("unknown_command", command=str(command.round))

    def begin(self) -> Count:
        return Count()

    def step(
        self, state: Count, given: AnyReading | AnyCommand
    ) -> tuple[Count, tuple[AnyEvent, ...]]:
        at: dict[str, Any] = {"session": state.session, "round": state.round}
        match given:
            case SessionOpen(by=by, role=role):
                return Count(session=state.session + 1), (
                    SessionOpened(by=by, role=role, session=state.session + 1),
                )
            case SessionClose(by=by, role=role) if state.session:
                return replace(state, waits=False), (
                    SessionClosed(by=by, role=role, session=state.session),
                )
            case WheelNumber(number=number) if isinstance(number, int):
                if number == FAILING_NUMBER:
                    raise ZeroDivisionError("a defect")
                after = replace(state, round=state.round + 1, entries=(*state.entries, number)[-3:])
                return after, (_result(number, session=state.session, round=after.round),)
            case WheelFault(fault=fault, active=active):
                return state, (
                    AlertRaised(alert=fault, what=fault) if active else AlertCleared(alert=fault),
                )
            case ResultCorrect(number=number, by=by, role=role, round=wanted) if isinstance(
                number, int
            ):
                if not 1 <= wanted <= state.round:
                    raise RejectedError("round_not_remembered", round=wanted)
                return state, (_corrected(number, by, role, session=state.session, round=wanted),)
            case RoundVoid(by=by):
                void = Void(reason="inspector", law="", article="", last_number=None, by=by, **at)
                return state, (void,)
            case BetsOpen():
                return replace(state, waits=True), ()
            case BetsClose():
                raise ZeroDivisionError("a defect")
            case LinkLost():
                return replace(state, gaps=state.gaps + 1), ()
        return state, ()

    def confidential(
        self,
        state: Count,  # noqa: ARG002
        given: AnyReading | AnyCommand,  # noqa: ARG002
        events: tuple[AnyEvent, ...],  # noqa: ARG002
    ) -> bool:
        return False

    def view(self, state: Count) -> GameView:
        shown: Any = CountShown(
            phase="",
            session=state.session,
            round=state.round,
            asks=("bets.open",) if state.waits else (),
            minimum=None,
            currency=None,
            settings={},
            gaps=state.gaps,
        )
        return GameView(shown, (), partial(self._history, state))

    def _history(self, state: Count) -> list[AnyLine]:
        return [
            ResultLine(round=round_, outcome=_outcome(number), corrected=False)
            for round_, number in enumerate(state.entries, 1)
        ]


def _outcome(number: int) -> FortuneOutcome:
    return FortuneOutcome(number=number, cell=None, last_of_session=False)


def _result(number: int, **fields: Any) -> RoundResult:
    return RoundResult(outcome=_outcome(number), frames=(), **fields)


def _corrected(number: int, by: str, role: Any, **fields: Any) -> ResultCorrected:
    return ResultCorrected(
        replaces=None,
        replaces_boot=None,
        outcome=_outcome(number),
        was=0,
        by=by,
        role=role,
        **fields,
    )
