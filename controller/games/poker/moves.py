"""The outcome of a round where each hand plays for itself against the bank."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from msgspec.structs import replace

from common.contract.events import (
    AnyEvent,
    Hand,
    HousePokerOutcome,
    RoundResult,
    RoundUnresolved,
)
from controller.games.dealt.cards import readings, seen, up
from controller.games.dealt.state import DealtEntry, DealtRound
from controller.games.dealt.turn import DealtTurn
from controller.games.poker.correction import PokerOutcome
from controller.games.poker.state import PokerState
from controller.games.session import count_down

P = TypeVar("P", bound=PokerState)


def outcome_of(_turn: Any, entry: DealtEntry) -> HousePokerOutcome:
    """The outcome of a round that has a result: each hand for itself, against the bank."""
    return HousePokerOutcome(hands=entry.hands, marks=entry.marks)


def result(
    turn: DealtTurn[Any, Any, P],
    outcome: PokerOutcome,
    stored: DealtRound,
    by: str | None = None,
    payments: Iterable[AnyEvent] = (),
) -> None:
    """Publish the result hand by hand, and end the round. ``stored``: the part of the round that a
    correction of its result needs; ``by``: who confirmed it; ``payments``: other payments of a
    round with this result.
    """
    deal = turn.state.current
    assert deal is not None
    entry = DealtEntry(round=deal.round, kind="result", hands=outcome.hands, marks=outcome.marks)
    turn.emit(
        RoundResult(
            round=deal.round,
            outcome=outcome_of(turn, entry),
            frames=(),
            readings=readings(deal.cards),
            confirmed_by=by or deal.confirmed_by,
        )
    )
    for payment in payments:
        turn.emit(payment)
    shown = [card for hand in outcome.hands for card in hand.cards]
    stored = replace(stored, cards=seen(deal.cards, shown), gap=False, confirmed_by=None)
    turn.change(played=(*turn.state.played, stored))
    turn.record(entry)
    count_down(turn, deal.round)


def unresolved(turn: DealtTurn[Any, Any, P], *names: str) -> None:
    """End the round without a result. The face-up cards of these hands are stored for the person
    who decides.
    """
    deal = turn.state.current
    assert deal is not None
    own = names or dict.fromkeys(card.to for card in deal.cards)
    lying = (Hand(who=who, cards=up(deal.cards, who)) for who in own)
    hands = tuple(hand for hand in lying if hand.cards)
    evidence = readings(deal.cards)
    turn.record(DealtEntry(round=deal.round, kind="unresolved", hands=hands, readings=evidence))
    turn.emit(RoundUnresolved(round=deal.round, why="undecided", candidate=None, readings=evidence))


def confirmed(turn: DealtTurn[Any, Any, P], entry: DealtEntry, by: str) -> None:
    """Publish the result of an unresolved round that was settled at the table, by its face-up
    cards.
    """
    evidence = entry.readings
    entry = DealtEntry(round=entry.round, kind="result", hands=entry.hands)
    turn.record(entry)
    turn.emit(
        RoundResult(
            round=entry.round,
            outcome=outcome_of(turn, entry),
            frames=(),
            readings=evidence,
            confirmed_by=by,
        )
    )
