"""The moves that every table of poker makes in the same way: irregularities, void rounds, the last
rounds of a session.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TypeVar

from controller.contract.commands import Command, VoidReason
from controller.contract.events import Announcement, AnyOutcome, HousePokerOutcome
from controller.games.dealt.state import Entry
from controller.games.poker.state import PokerState
from controller.games.rounds import Lawful, LawfulMoves
from controller.games.session import count_down
from controller.rulebooks.law import Law

B = TypeVar("B", bound=Lawful)
S = TypeVar("S")
T = TypeVar("T", bound=PokerState)


class PokerMoves(LawfulMoves[B, S, T]):
    """The base of the ``Turn`` of each family of poker."""

    @abstractmethod
    def record(self, entry: Entry) -> None:
        """Keep an outcome; if it is that of the round in progress, the round is over."""

    def outcome_of(self, entry: Entry) -> AnyOutcome:
        """What a round that has a result came to: each hand for itself, against the bank."""
        return HousePokerOutcome(hands=entry.hands, marks=entry.marks)

    def annul(
        self,
        number: int,
        reason: VoidReason,
        law: Law,
        by: Command | None,
        call: Announcement | None = None,
    ) -> None:
        """A round is void: by the rules, or by a person's decision."""
        self.record(Entry(round=number, kind="void", reason=reason, article=law.article))
        self.say_void(number, reason, law, by, call)

    def count_down(self, number: int) -> None:
        """Count down the announced last rounds."""
        count_down(self, number)
