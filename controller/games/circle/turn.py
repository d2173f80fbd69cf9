"""One step of a table of circle poker, and what differs between the families of variants."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import msgspec
from msgspec.structs import replace

from common.contract.commands import (
    Command,
    DealError,
)
from common.contract.refusals import RejectedError
from common.contract.shown import CirclePokerShown
from controller.games.circle.settings import CircleSettings
from controller.games.circle.state import (
    CirclePlace,
    CircleRound,
    CircleState,
)
from controller.games.circle.streets import pack
from controller.games.dealt.state import DealtEntry
from controller.games.dealt.turn import DealtTurn
from controller.rulebooks.circle import Circle


class CircleDealError(msgspec.Struct, frozen=True, kw_only=True):
    """An error of the deal. ``by``: the command that reported it, None if a device saw it."""

    name: str
    who: str | None = None
    index: int | None = None
    count: int = 1
    seen: bool = False
    by: DealError | None = None

    @property
    def what(self) -> str:
        """The irregularity."""
        return f"deal_{self.name}"


class CircleVariant(NamedTuple):
    """What differs between the families of variants, besides the course. Each function gets the
    turn first.
    """

    remedies: Mapping[str, Callable[[Any, Any], None]]
    """The remedies for errors of the deal, by the rulebook's name."""
    coming: Callable[[Any, int], tuple[CirclePlace, ...]]
    """The places of the cards of a street, in order."""
    next_street: Callable[[Any], None]
    """Begins the next street, or the showdown after the last one."""
    check_shortage: Callable[[Any], None]
    """Voids the round if the deck has too few cards left."""
    deal: Callable[..., None]
    """Deals a card where the next one is due."""
    dealt: Callable[[Any], None]
    """Opens betting once all cards of the street are dealt."""
    believed: Callable[..., str | None]
    """The card as read; None if it is impossible."""
    open_betting: Callable[[Any], None]
    """Begins a betting interval, unless at most one player has anything left to bet."""
    close_betting: Callable[[Any, str | None], None]
    """Closes the betting interval, by this person."""
    win: Callable[..., None]
    """Lets the last player win without showing."""
    takes: Mapping[type[Command], Callable[[Any, Any], None]] = MappingProxyType({})
    """The moves of commands that a variant handles in its own way."""
    view: Callable[..., CirclePokerShown] = lambda _, **fields: CirclePokerShown(**fields)
    """The retained state: these fields, and those of the variant."""
    noted: Callable[[Any, DealtEntry], None] = lambda *_: None
    """Before the result of the round in progress is recorded."""


class CircleTurn(DealtTurn[Circle, CircleSettings, CircleState]):
    """One step of a table of circle poker. Each family of variants supplies its course."""

    variant: ClassVar[CircleVariant]
    resumed: int | None = None
    """The street that continues in this step, after a card of it had waited."""

    @property
    def current(self) -> CircleRound:
        """The round in progress. Raises ``RejectedError`` without one."""
        if self.state.current is None:
            raise RejectedError("no_round_in_progress")
        return self.state.current

    @property
    def pack(self) -> tuple[str, ...]:
        """The cards that are played with."""
        hand = self.state.current
        return pack(self.book, hand.players if hand is not None else len(self.state.seated))

    def change_seat(self, who: str, **fields: Any) -> None:
        """Change the state of a player of the round in progress."""
        self.change_current(
            seats=tuple(
                replace(seat, **fields) if seat.who == who else seat for seat in self.current.seats
            )
        )

    def change_card(self, who: str, index: int, **fields: Any) -> None:
        """Change a card of the round in progress."""
        cards, place = self.current.cards, self.current.positions(who)[index]
        self.change_current(
            cards=(*cards[:place], replace(cards[place], **fields), *cards[place + 1 :])
        )
