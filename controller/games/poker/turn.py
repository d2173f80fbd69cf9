"""One step of a table where each hand plays for itself against the bank."""

from __future__ import annotations

from typing import TypeVar

from msgspec.structs import replace

from common.contract.events import Hand, HousePokerOutcome, RoundResult, RoundUnresolved
from controller.games.dealt.cards import readings, seen, up
from controller.games.dealt.inherited import InheritedTurn
from controller.games.dealt.state import DealtEntry, DealtRound
from controller.games.dealt.turn import DealtBook
from controller.games.poker.correction import PokerOutcome
from controller.games.poker.state import PokerState
from controller.games.session import count_down

B = TypeVar("B", bound=DealtBook)
S = TypeVar("S")
T = TypeVar("T", bound=PokerState)


class AgainstBankTurn(InheritedTurn[B, S, T]):
    """The outcome of a round where each hand plays for itself against the bank."""

    def outcome_of(self, entry: DealtEntry) -> HousePokerOutcome:
        """The outcome of a round that has a result: each hand for itself, against the bank."""
        return HousePokerOutcome(hands=entry.hands, marks=entry.marks)

    def result(self, outcome: PokerOutcome, by: str | None = None) -> None:
        """Publish the result hand by hand, and end the round. ``by``: who confirmed it."""
        deal = self.state.current
        assert deal is not None
        entry = DealtEntry(
            round=deal.round, kind="result", hands=outcome.hands, marks=outcome.marks
        )
        self.emit(
            RoundResult(
                round=deal.round,
                outcome=self.outcome_of(entry),
                frames=(),
                readings=readings(deal.cards),
                confirmed_by=by or deal.confirmed_by,
            )
        )
        self.emit_payments(outcome)
        shown = [card for hand in outcome.hands for card in hand.cards]
        stored = replace(self.behind(), cards=seen(deal.cards, shown), gap=False, confirmed_by=None)
        self.change(played=(*self.state.played, stored))
        self.record(entry)
        count_down(self, deal.round)

    def emit_payments(self, outcome: PokerOutcome) -> None:
        """Report the other payments of a round with this result."""

    def behind(self) -> DealtRound:
        """The round in progress: the part that a correction of its result needs."""
        assert self.state.current is not None
        return self.state.current

    def unresolved(self, *names: str) -> None:
        """End the round without a result. The face-up cards of these hands are stored for the
        person who decides.
        """
        deal = self.state.current
        assert deal is not None
        own = names or dict.fromkeys(card.to for card in deal.cards)
        lying = (Hand(who=who, cards=up(deal.cards, who)) for who in own)
        hands = tuple(hand for hand in lying if hand.cards)
        evidence = readings(deal.cards)
        self.record(DealtEntry(round=deal.round, kind="unresolved", hands=hands, readings=evidence))
        self.emit(
            RoundUnresolved(round=deal.round, why="undecided", candidate=None, readings=evidence)
        )

    def confirmed(self, entry: DealtEntry, by: str) -> None:
        """Publish the result of an unresolved round that was settled at the table, by its face-up
        cards.
        """
        evidence = entry.readings
        entry = DealtEntry(round=entry.round, kind="result", hands=entry.hands)
        self.record(entry)
        self.emit(
            RoundResult(
                round=entry.round,
                outcome=self.outcome_of(entry),
                frames=(),
                readings=evidence,
                confirmed_by=by,
            )
        )
