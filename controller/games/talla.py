"""How a talla begins, for every game that is dealt from a shoe."""

from __future__ import annotations

from typing import Any, Protocol

from controller.commands import ShoeStart
from controller.events import Announcement, AnyEvent
from controller.games import shoe
from controller.games.shoe import ShoeSettings


class AtTheShoe(Protocol):
    """A game's turn, as far as it is needed here: ``book.shoe`` are the decree's rules, ``state.past`` the shoes of before."""

    book: Any
    state: Any

    @property
    def settings(self) -> ShoeSettings:
        """What the site says of shoes."""
        ...

    def change(self, **fields: Any) -> None:
        """Change the state."""
        ...

    def say(self, event: AnyEvent) -> None:
        """Add an event."""
        ...

    def irregular(self, what: str, *, detail: str | None = None) -> None:
        """Say what is not as it should be."""
        ...

    def clear_alert(self, what: str) -> None:
        """Clear an alert if it is raised."""
        ...


def begin(turn: AtTheShoe, given: ShoeStart, call: Announcement | None = None, **fields: Any) -> None:
    """The cards are in the shoe: say so, and what is wrong with shoe and cards. ``fields``: what else begins with it."""
    past, sessions = turn.state.past, turn.settings.same_shoe_sessions
    now = shoe.put_in(turn.book.shoe, turn.settings, given)
    fresh = given.shoe not in (past or ((),))[-1]
    past = shoe.assign(past, given.shoe)
    turn.change(shoe=now, past=past, **fields)
    turn.clear_alert("shoe_missing")
    turn.say(shoe.started(now, given, call))
    for what in shoe.objections(turn.book.shoe, turn.settings, given):
        turn.irregular(what)
    if fresh and shoe.systematic(past, given.shoe, sessions):
        turn.irregular("shoe_systematic", detail=f"shoe {given.shoe}, {sessions} sessions running")
