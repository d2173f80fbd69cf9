"""The parts of one step of any game: the new state, the events, alerts, evidence."""

from __future__ import annotations

from abc import ABC
from typing import Any, Generic, TypeVar

from msgspec.structs import replace

from common.contract import commands as person
from common.contract.commands import Command, SessionOpen, VoidReason
from common.contract.events import (
    AlertCleared,
    AlertRaised,
    Announcement,
    AnyEvent,
    Frame,
    Irregularity,
    RoundVoid,
    SessionOpened,
)
from common.readings import Number, Reading
from controller.games.rounds import Lawful, Rounds
from controller.rulebooks.law import Law

Book = TypeVar("Book", bound=Lawful)
Settings = TypeVar("Settings")
State = TypeVar("State", bound=Rounds[Any])


class Moves(ABC, Generic[Book, Settings, State]):
    """The base of each game's ``Turn``: a move changes the state and emits its event together, so
    that the two cannot diverge. ``rules``: what the game derives from decree and settings, if
    anything.
    """

    def __init__(self, book: Book, settings: Settings, state: State, rules: Any = None) -> None:
        self.book = book
        self.settings = settings
        self.state = state
        self.rules = rules
        self.events: list[AnyEvent] = []

    def emit(self, event: AnyEvent) -> None:
        """Add an event of the present session."""
        self.events.append(replace(event, session=self.state.session))

    def change(self, **fields: Any) -> None:
        """Replace these fields of the state."""
        self.state = replace(self.state, **fields)

    def open_session(self, command: SessionOpen) -> None:
        """Open a session, which has no round yet."""
        self.change(
            session=self.state.session + 1,
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

    @property
    def number(self) -> int:
        """The round in progress; 0 without one."""
        return self.state.current.round if self.state.current else 0

    def change_current(self, **fields: Any) -> None:
        """Replace these fields of the round in progress."""
        assert self.state.current is not None
        self.change(current=replace(self.state.current, **fields))

    def irregular(
        self,
        what: str,
        law: Law | None = None,
        *,
        reading: Reading | None = None,
        asks: tuple[str, ...] = (),
        detail: str | None = None,
        readings: tuple[int, ...] = (),
    ) -> None:
        """Report an irregularity and the law behind it, by default the one under its own name.

        ``reading``: the reading whose frame is evidence, of a wheel or of dice; ``readings``: the
        evidence where cards are dealt.
        """
        law = law or self.book.laws[what]
        self.emit(
            Irregularity(
                round=self.number,
                what=what,
                law=law.rule,
                article=law.article,
                detail=detail,
                asks=asks,
                frames=frames_of(reading),
                readings=readings,
                spin=getattr(self.state.current or reading, "spin", None),  # at a wheel
            )
        )

    def emit_void(
        self,
        number: int,
        reason: VoidReason,
        law: Law,
        by: Command | None,
        call: Announcement | None = None,
        last_number: Number | None = None,
        spin: int | None = None,
    ) -> None:
        """Report that a round is void, by the rules or by a person's decision (``by``)."""
        self.emit(
            RoundVoid(
                round=number,
                reason=reason,
                law=law.rule,
                article=law.article,
                last_number=last_number,
                by=by.by if by else None,
                role=by.role if by else None,
                alone=isinstance(by, person.RoundVoid) and by.alone,
                spin=spin,
                announcement=call,
            )
        )

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
