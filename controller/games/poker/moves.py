"""The moves that every table of poker makes in the same way: irregularities, null rounds, the last rounds of a session."""

from __future__ import annotations

from abc import abstractmethod
from typing import Protocol, TypeVar

from controller.commands import Command, VoidReason
from controller.events import Announcement, Irregularity, LastRounds, RoundVoid
from controller.games.moves import Moves
from controller.games.poker.state import Entry, PokerState
from controller.rulebooks.law import Law


class Lawful(Protocol):
    """A rulebook, as far as it is needed here."""

    @property
    def laws(self) -> dict[str, Law]:
        """The law behind each irregularity."""
        ...


B = TypeVar("B", bound=Lawful)
S = TypeVar("S")
T = TypeVar("T", bound=PokerState)


class PokerMoves(Moves[B, S, T]):
    """The base of the ``Turn`` of each family of poker."""

    @property
    @abstractmethod
    def number(self) -> int:
        """The round in hand; 0 without one."""

    @abstractmethod
    def record(self, entry: Entry) -> None:
        """Keep an outcome; the round in hand, if it is that one, is over."""

    def annul(self, number: int, reason: VoidReason, law: Law, by: Command | None, call: Announcement | None = None) -> None:
        """A round is null: by the rules, or by a person's word."""
        self.record(Entry(round=number, kind="void", reason=reason, article=law.article))
        self.say(
            RoundVoid(
                round=number,
                reason=reason,
                law=law.rule,
                article=law.article,
                last_number=None,
                by=by.by if by else None,
                role=by.role if by else None,
                announcement=call,
            )
        )

    def count_down(self, number: int) -> None:
        """One of the last rounds is over, if they are announced."""
        if self.state.last and number >= self.state.last_since:
            self.change(last=self.state.last - 1)
            self.say(LastRounds(round=number, purpose="close", left=self.state.last or 0))

    def irregular(self, what: str, *, asks: tuple[str, ...] = (), detail: str | None = None) -> None:
        """Say what the decree does not allow or does not foresee, and where it stands."""
        law = self.book.laws[what]
        self.say(Irregularity(round=self.number, what=what, law=law.rule, article=law.article, detail=detail, asks=asks))
