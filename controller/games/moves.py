"""The parts of one step of any game: the new state, the events, alerts, evidence."""

from __future__ import annotations

from abc import ABC
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec
from msgspec.structs import replace

from controller.contract.commands import SessionOpen
from controller.contract.events import AlertCleared, AlertRaised, AnyEvent, Frame, SessionOpened
from controller.contract.refusals import RejectedError
from controller.games.roles import allow_minimum
from devices.readings import Reading


class GameState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What every game's state has: the base of each ``State``.

    ``session`` and ``round`` count from 1; ``round`` is the last that was begun. ``alerts``: those
    that are raised.
    """

    session: int = 0
    open: bool = False
    minimum: int | None = None
    currency: str | None = None
    round: int = 0
    alerts: tuple[str, ...] = ()

    if TYPE_CHECKING:
        entries: tuple[Any, ...] = ()
        """The outcomes of its rounds, which each state has for itself."""


Book = TypeVar("Book")
Settings = TypeVar("Settings")
State = TypeVar("State", bound=GameState)


class Moves(ABC, Generic[Book, Settings, State]):
    """The base of each game's ``Turn``: its moves change the state and say their event in one go,
    so that the two cannot part.
    """

    def __init__(self, book: Book, settings: Settings, state: State) -> None:
        self.book = book
        self.settings = settings
        self.state = state
        self.events: list[AnyEvent] = []

    def emit(self, event: AnyEvent) -> None:
        """Add an event; it belongs to the session."""
        self.events.append(replace(event, session=self.state.session))

    def change(self, **fields: Any) -> None:
        """Change the state."""
        self.state = replace(self.state, **fields)

    def after_input(self) -> None:
        """Moves that follow by themselves after an input."""

    def open_session(self, command: SessionOpen) -> None:
        """The table opens, with no round so far. Rejects what cannot be opened."""
        was = self.state
        if was.open:
            raise RejectedError("session_already_open", session=was.session)
        if command.minimum is not None:
            allow_minimum(command.minimum)
            self.require_highest(command.minimum)
        self.change(
            session=was.session + 1,
            open=True,
            minimum=command.minimum,
            currency=command.currency,
            round=0,
            entries=(),
        )
        self.emit(
            SessionOpened(
                by=command.by, role=command.role, minimum=command.minimum, currency=command.currency
            )
        )

    def require_highest(self, minimum: int) -> None:
        """Reject a minimum with which the table's highest stakes are not what the decree allows."""

    def raise_alert(
        self, what: str, reading: Reading | None = None, detail: str | None = None
    ) -> None:
        """Raise an alert, once until it is cleared."""
        if what not in self.state.alerts:
            self.change(alerts=(*self.state.alerts, what))
            self.emit(
                AlertRaised(
                    alert=what,
                    what=what,
                    device=reading.device or None if reading else None,
                    detail=detail,
                )
            )

    def clear_alert(self, what: str) -> None:
        """Clear an alert if it is raised."""
        if what in self.state.alerts:
            self.change(alerts=tuple(alert for alert in self.state.alerts if alert != what))
            self.emit(AlertCleared(alert=what))


def frames_of(reading: Reading | None) -> tuple[Frame, ...]:
    """The frame behind a reading of a wheel or of dice, as evidence."""
    if reading is None or reading.frame is None:
        return ()
    return (Frame(at=reading.at, frame=reading.frame, device=reading.device),)


def readings_of(reading: Reading) -> tuple[int, ...]:
    """The number of a reading where cards are dealt, as evidence."""
    return () if reading.reading is None else (reading.reading,)
