"""The begin and end of a shoe of rounds and the shoe's other reports, for every game dealt from
one.
"""

from __future__ import annotations

from typing import Any, Protocol

from common.contract.commands import CardDecide, SessionClose, ShoeStart
from common.contract.events import Announcement, AnyEvent, SessionClosed, ShoeCut
from common.contract.refusals import RejectedError
from common.readings import CardDrawn, Reading, ShoeFault
from controller.games import shoe
from controller.games.cards import is_card
from controller.games.dealt.turn import Turn
from controller.games.shoe import Past, Shoe, ShoeSettings


class AtTheShoe(Protocol):
    """The part of a game's turn that concerns its shoe. ``book.shoe``: the decree's rules.
    ``state.past``: earlier shoes.
    """

    book: Any
    state: Any

    @property
    def settings(self) -> ShoeSettings:
        """The site's settings for shoes."""
        ...

    def change(
        self,
        *,
        shoe: Shoe | None = ...,
        past: Past = ...,
        current: None = ...,
        open: bool = ...,  # noqa: A002 - a field of the state
    ) -> None:
        """Change the state."""
        ...

    def emit(self, event: AnyEvent) -> None:
        """Add an event."""
        ...

    def irregular(
        self, what: str, *, asks: tuple[str, ...] = (), detail: str | None = None
    ) -> None:
        """Report an irregularity."""
        ...

    def raise_alert(
        self, alert: str, reading: Reading | None = None, detail: str | None = None
    ) -> None:
        """Raise an alert unless it is raised already."""
        ...

    def clear_alert(self, alert: str) -> None:
        """Clear an alert if it is raised."""
        ...


def begin(turn: AtTheShoe, command: ShoeStart, call: Announcement | None = None) -> None:
    """Begin a shoe, announce it, and report breaches of the decree by the shoe or its cards."""
    past, sessions = turn.state.past, turn.settings.same_shoe_sessions
    current = turn.state.current
    first = turn.state.round + 1 if current is None else current.round
    now = shoe.put_in(turn.book.shoe, turn.settings, command, first)
    fresh = command.shoe not in (past or ((),))[-1]
    past = shoe.assign(past, command.shoe)
    turn.change(shoe=now, past=past)
    turn.clear_alert("shoe_missing")
    turn.emit(shoe.started(now, command, call))
    for what in shoe.objections(turn.book.shoe, turn.settings, command):
        turn.irregular(what)
    if fresh and shoe.systematic(past, command.shoe, sessions):
        turn.irregular(
            "shoe_systematic", detail=f"shoe {command.shoe}, {sessions} sessions running"
        )


def numbered(command: ShoeStart, where: str) -> None:
    """Reject a shoe without a number. ``where``: the law that is cited."""
    if not command.shoe.strip():
        raise RejectedError("shoe_unnumbered", law=where)


def close_session(turn: Turn, command: SessionClose) -> None:
    """Close the table, from which the round and the shoe have gone."""
    turn.clear_alert("shoe_missing")
    turn.change(open=False)
    turn.course.expect(turn)
    turn.emit(SessionClosed(by=command.by, role=command.role, locked=command.locked))


def missing(turn: AtTheShoe, drawn: CardDrawn) -> None:
    """Report a card that came while no shoe is at the table."""
    if "shoe_missing" not in turn.state.alerts:
        turn.irregular("shoe_missing", asks=("shoe.start",))
    turn.raise_alert("shoe_missing", drawn)


def cut(turn: AtTheShoe, number: int, rounds_left: int, call: Announcement | None = None) -> None:
    """Announce that the cut card came in round ``number``; 0 between rounds."""
    now = turn.state.shoe
    turn.emit(
        ShoeCut(
            round=number, drawn=now.drawn, left=now.left, rounds_left=rounds_left, announcement=call
        )
    )
    if shoe.cut_misplaced(turn.book.shoe, now):
        turn.irregular("cut_card", detail=f"{now.left} cards are behind it by the count")


def read_card(command: CardDecide) -> str:
    """The card that a person has read. Raises ``RejectedError`` if it is missing or no card."""
    if command.card is None:
        raise RejectedError("card_missing")
    if not is_card(command.card):
        raise RejectedError("not_a_card", card=command.card)
    return command.card


def on_fault(turn: AtTheShoe, reading: ShoeFault) -> None:
    """Handle a fault of the shoe or its end; two cards at once are also an irregularity."""
    if reading.active and reading.fault == "overdraw":
        turn.irregular("overdraw")
    report_fault(turn, reading)


def report_fault(turn: AtTheShoe, reading: ShoeFault) -> None:
    """Raise the alert of a fault of the shoe, or clear it. A card that it names is not
    published.
    """
    alert = f"shoe_{reading.fault}"
    if reading.active:
        turn.raise_alert(alert, reading, shoe.own_word(reading))
    else:
        turn.clear_alert(alert)
