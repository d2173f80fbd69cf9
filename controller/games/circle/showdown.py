"""Who wins by the cards. All pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec
from msgspec.structs import replace

from common.contract.events import Hand, Settled
from controller.games.circle.state import CircleRound
from controller.games.circle.streets import ranking
from controller.games.dealt.cards import TableCard
from controller.games.hands.evaluator import RANKINGS, Value, best_of
from controller.rulebooks.circle import Circle

Outcome = Literal["win", "lose", "tie"]
LOW_COMMON = 3
"""Common cards up to 8 that a low hand needs."""
TIE = "tie"
"""The winner of a pot that several share."""


class CircleShown(msgspec.Struct, frozen=True):
    """The end of a round. ``hands``: the best first, then the common cards; ``winner``: ``tie`` if
    several share the pot, None if it has no winner.
    """

    hands: tuple[Hand, ...]
    winner: str | None
    marks: tuple[str, ...]


def compare(book: Circle, hand: CircleRound) -> CircleShown:
    """The hands that were shown, and what each of them wins."""
    own = {seat.who: cards_of(hand, seat.who) for seat in hand.live}
    rows = hand.boards or ("",)
    found: list[Hand] = []
    wins: list[frozenset[str]] = []
    marks: list[str] = []
    sitting_out = [seat for seat in hand.live if seat.status == "side"]
    able = [seat.who for seat in hand.live if seat.status == "in"]
    all_in = any(seat.status == "all_in" for seat in hand.live)
    for row in rows:
        common = cards_of(hand, row)
        high = {
            who: _high(book, ranking(book, hand.players), cards, common)
            for who, cards in own.items()
        }
        top = max(value.key for value in high.values())
        best = frozenset(who for who, value in high.items() if value.key == top)
        lows = {
            who: value
            for who, cards in own.items()
            if (value := _low(book, cards, common)) is not None
        }
        lowest = max((value.key for value in lows.values()), default=None)
        least = frozenset(who for who, value in lows.items() if value.key == lowest)
        wins += [best, least] if least else [best]
        if book.low is not None:
            marks.append("low" if least else "no_low")
        beside = {
            who: value.key for who, value in high.items() if hand.seat(who) not in sitting_out
        }
        bet = (
            "pot"
            if len(rows) == 1 and book.low is None
            else "high"
            if book.low is not None
            else row
        )
        for who in sorted(high, key=lambda who: high[who].key, reverse=True):
            settled = [Settled(bet, _outcome(who, best))]
            if least:
                settled.append(Settled("low", _outcome(who, least)))
            if len(beside) < len(high) and who in beside:
                first = frozenset(name for name in beside if beside[name] == max(beside.values()))
                settled.append(Settled("side_pot", _outcome(who, first)))
            aside = all_in and not all(
                _beaten(who, values, able) for values in (high, lows) if who in values
            )
            found.append(_hand(who, own[who], high[who], lows.get(who), tuple(settled), aside))
    shared = len(frozenset().union(*wins)) > 1
    marks += ["split"] if shared else []
    marks += ["all_in"] if any(seat.status == "all_in" for seat in hand.seats) else []
    marks += ["side_pot"] if sitting_out else []
    return CircleShown(
        (*found, *open_boards(hand)), TIE if shared else next(iter(wins[0])), tuple(marks)
    )


def cards_of(hand: CircleRound, who: str) -> tuple[str, ...]:
    """The cards of a hand or a board that are face up."""
    return tuple(card.face for card in hand.cards_of(who) if card.face is not None)


def open_hands(hand: CircleRound) -> tuple[Hand, ...]:
    """Who plays for the pot, with what is face up of each hand."""
    return tuple(Hand(who=seat.who, cards=cards_of(hand, seat.who)) for seat in hand.live)


def open_boards(hand: CircleRound) -> tuple[Hand, ...]:
    """The common cards, as far as they are face up."""
    return tuple(Hand(who=row, cards=cards_of(hand, row)) for row in hand.boards)


def remembered(hand: CircleRound, hands: tuple[Hand, ...]) -> CircleRound:
    """The part of a round with its result that is kept: the players' states, and of cards beside
    ``hands`` those that are face up.
    """
    shown = {card for hand in hands for card in hand.cards}
    rest = (
        replace(card, card=card.face, reading=None) for card in hand.lying if card.face not in shown
    )
    remaining = tuple(card for card in rest if card.card is not None or card.to.startswith("board"))
    return replace(hand, cards=remaining, due=())


def laid_open(hand: CircleRound, lie: Mapping[str, tuple[str, ...]]) -> CircleRound:
    """A round that is kept, with these cards face up."""
    cards = (TableCard(to=who, up=True, card=card) for who, own in lie.items() for card in own)
    return replace(hand, cards=(*hand.cards, *cards))


def _high(book: Circle, ranking_id: str, own: tuple[str, ...], common: tuple[str, ...]) -> Value:
    value = best_of(own, common, ranking_id, book.own_exactly)
    assert value is not None
    return value


def _low(book: Circle, own: tuple[str, ...], common: tuple[str, ...]) -> Value | None:
    """The low hand; none where fewer than three common cards are an 8 or lower."""
    if book.low is None or sum(card[0] in RANKINGS["low-8"].ranks for card in common) < LOW_COMMON:
        return None
    return best_of(own, common, book.low, book.own_exactly)


def _outcome(who: str, best: frozenset[str]) -> Outcome:
    if who not in best:
        return "lose"
    return "win" if len(best) == 1 else "tie"


def _beaten(who: str, values: Mapping[str, Value], able: list[str]) -> bool:
    """Whether a player beats a hand who has put in as much as anybody, so that he beats it in every
    part of the pot.
    """
    return any(values[other].key > values[who].key for other in able if other in values)


def _hand(
    who: str,
    cards: tuple[str, ...],
    high: Value,
    low: Value | None,
    settled: tuple[Settled, ...],
    aside: bool,
) -> Hand:
    """``aside``: only players who were all in beat it, so it may have won a side pot, which is not
    reported.
    """
    outcomes = {bet.outcome for bet in settled}
    alone: Outcome = "win" if outcomes == {"win"} else "lose" if outcomes == {"lose"} else "tie"
    return Hand(
        who=who,
        cards=cards,
        kind=high.category,
        best=high.cards,
        low=low.cards if low else (),
        low_kind=low.category if low else None,
        outcome=None if aside and alone == "lose" else alone,
        settled=settled,
    )
