"""The parts of one step of any game: the new state, the events, alerts, evidence."""

from __future__ import annotations

from abc import ABC
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec
from msgspec.structs import replace

from controller.contract.commands import SessionOpen
from controller.contract.events import AlertCleared, AlertRaised, AnyEvent, Frame, SessionOpened
from controller.games.roles import allow_minimum
from devices.readings import Reading


class GameState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The base of each game's ``State``.

    ``session`` and ``round`` count from 1; ``round`` is the last one that began. ``alerts``: the
    raised alerts.
    """

    session: int = 0
    open: bool = False
    minimum: int | None = None
    currency: str | None = None
    round: int = 0
    alerts: tuple[str, ...] = ()

    if TYPE_CHECKING:
        entries: tuple[Any, ...] = ()
        """The outcomes of its rounds; each state declares its own field."""


Book = TypeVar("Book")
Settings = TypeVar("Settings")
State = TypeVar("State", bound=GameState)


class Moves(ABC, Generic[Book, Settings, State]):
    """The base of each game's ``Turn``: a move changes the state and emits its event together, so
    that the two cannot diverge.
    """

    def __init__(self, book: Book, settings: Settings, state: State) -> None:
        self.book = book
        self.settings = settings
        self.state = state
        self.events: list[AnyEvent] = []

    def emit(self, event: AnyEvent) -> None:
        """Add an event of the present session."""
        self.events.append(replace(event, session=self.state.session))

    def change(self, **fields: Any) -> None:
        """Replace these fields of the state."""
        self.state = replace(self.state, **fields)

    def after_input(self) -> None:
        """Make the moves that follow from an input without another one."""

    def open_session(self, command: SessionOpen) -> None:
        """Open a session, which has no round yet. Raises ``RejectedError`` if its minimum is not
        allowed.
        """
        before = self.state
        if command.minimum is not None:
            allow_minimum(command.minimum)
            self.require_highest(command.minimum)
        self.change(
            session=before.session + 1,
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
        """Reject a minimum with which the decree does not allow the table's highest stakes."""

    def raise_alert(
        self, alert: str, reading: Reading | None = None, detail: str | None = None
    ) -> None:
        """Raise an alert unless it is raised already."""
        if alert not in self.state.alerts:
            self.change(alerts=(*self.state.alerts, alert))
            self.emit(
                AlertRaised(
                    alert=alert,
                    what=alert,
                    device=reading.device or None if reading else None,
                    detail=detail,
                )
            )

    def clear_alert(self, alert: str) -> None:
        """Clear an alert if it is raised."""
        if alert in self.state.alerts:
            self.change(alerts=tuple(other for other in self.state.alerts if other != alert))
            self.emit(AlertCleared(alert=alert))


def frames_of(reading: Reading | None) -> tuple[Frame, ...]:
    """The frame behind a reading of a wheel or of dice, as evidence."""
    if reading is None or reading.frame is None:
        return ()
    return (Frame(at=reading.at, frame=reading.frame, device=reading.device),)


def readings_of(reading: Reading) -> tuple[int, ...]:
    """The number of a reading of a card, as evidence."""
    return () if reading.reading is None else (reading.reading,)
