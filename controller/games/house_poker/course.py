"""The course of a round of poker against the dealer: to whom cards go, what it waits for, which
hands have to be face up.

Pure functions of the rules and of the round in progress; they never look at a face-down card.
"""

from __future__ import annotations

from collections.abc import Mapping

from controller.games.dealt.cards import dealt, is_known, is_up, up
from controller.games.dealt.phases import Phase
from controller.games.decks import deck
from controller.games.hands.evaluator import value
from controller.games.house_poker.pays import qualifies
from controller.games.house_poker.settings import HousePokerSettings
from controller.games.house_poker.state import DEALER, HousePokerRound, HousePokerSeat
from controller.games.poker.deal import Order, deal, due
from controller.rulebooks.house_poker import HousePayouts, HousePoker

PAY_RANKINGS: Mapping[str, str] = {"five-52-flush": "five-52"}
"""The ranking by the pay table, where it is not the one by the list."""


class HousePokerRules:
    """A decree's rules with a table's settings: what follows from both."""

    def __init__(self, book: HousePoker, settings: HousePokerSettings) -> None:
        self.book = book
        self.settings = settings
        by_pay = settings.ranking == "paid"
        self.ranking = PAY_RANKINGS.get(book.ranking, book.ranking) if by_pay else book.ranking
        self.deck = deck(book.ranking)
        self.boxes = settings.boxes or book.boxes
        self.tables: dict[str, HousePayouts] = {
            name: side.tables[min(settings.pay_table, len(side.tables)) - 1]
            for name, side in book.sides.items()
            if side.tables
        }
        """What each side bet pays."""
        choices = book.exposed[settings.dealt]
        exposed = settings.exposed if settings.exposed in choices else next(iter(choices), None)
        self.exposed = {"first": 1, "last": book.hand, None: None}[exposed]
        """Which of the bank's cards is exposed, from 1."""
        bought = book.purchase.up if book.purchase else None
        self.bought_up = settings.bought_card == "up" if bought is None else bought
        forfeits = book.purchase.forfeits if book.purchase else None
        self.bought_loses = settings.bought_bets == "lose" if forfeits is None else forfeits
        self.limit = settings.limit or max(book.limits)


# The deal


def first(rules: HousePokerRules, hand: HousePokerRound) -> Order:
    """The order of the first deal: the boxes clockwise from the croupier's left, the bank last."""
    return deal([*(seat.who for seat in hand.seats), DEALER], rules.book.hand, rules.settings.dealt)


def requested(hand: HousePokerRound) -> Order:
    """The cards requested after the first deal: box by box, then the bank's. A hand that has lost
    gets none.
    """
    return tuple(seat.who for seat in hand.seats if not seat.told for _ in range(seat.dropped)) + (
        DEALER,
    ) * (hand.discards or 0)


def to_come(rules: HousePokerRules, hand: HousePokerRound) -> Order:
    """The hands that cards are still due to, in order; none before bets close."""
    return due(first(rules, hand) + requested(hand), hand.cards) if hand.closed else ()


def is_dealt(rules: HousePokerRules, hand: HousePokerRound) -> bool:
    """Whether the first deal is complete."""
    return hand.closed and not due(first(rules, hand), hand.cards)


def faces_up(rules: HousePokerRules, hand: HousePokerRound, who: str) -> bool:
    """Whether the next card of this hand is face up."""
    index = len(dealt(hand.cards, who)) + 1
    if who == DEALER:
        return index == rules.exposed or index > rules.book.hand
    seat = hand.seat(who)
    return rules.bought_up and seat is not None and seat.bought and index > rules.book.hand


# Phases


def stage(rules: HousePokerRules, hand: HousePokerRound) -> Phase | None:
    """The phase of the round; None if it waits for nothing."""
    going = [seat for seat in hand.seats if seat.decision == "go" and not seat.told]
    if not hand.closed:
        return Phase.BETS_OPEN
    if to_come(rules, hand):
        return Phase.DRAWING if is_dealt(rules, hand) else Phase.DEALING
    if undecided(hand):
        return Phase.DECISIONS
    if going and rules.book.discards and any(seat.discards is None for seat in going):
        return Phase.DISCARDS
    if going and (not is_up(hand.cards, DEALER) or to_discard(rules, hand)):
        return Phase.DEALER
    return Phase.SHOWDOWN if to_show(rules, hand) else None


def to_discard(rules: HousePokerRules, hand: HousePokerRound) -> bool:
    """Whether the bank must still discard by its rule."""
    return bool(rules.book.discards) and hand.discards is None


def undecided(hand: HousePokerRound) -> list[HousePokerSeat]:
    """The hands that have not decided to go or pass."""
    return [seat for seat in hand.seats if seat.decision is None and not seat.told]


def plays(rules: HousePokerRules, hand: HousePokerRound) -> bool | None:
    """Whether the bank plays by the hand that it shows; None if its cards are not all face up, or
    may still change.
    """
    if to_discard(rules, hand) or DEALER in to_come(rules, hand) or not is_up(hand.cards, DEALER):
        return None
    return qualifies(
        value(up(hand.cards, DEALER), rules.ranking), rules.ranking, rules.book.qualifies
    )


def side_bets(
    rules: HousePokerRules, hand: HousePokerRound, seat: HousePokerSeat
) -> tuple[str, ...]:
    """The side bets of a box that its cards decide, without those that are lost already."""
    lost = seat.told or (seat.bought and rules.bought_loses)
    lost = lost or (seat.decision == "pass" and rules.settings.folded_bets == "lose")
    return () if lost else tuple(bet for bet in rules.book.sides if hand.has_bet(seat.who, bet))


def to_show(rules: HousePokerRules, hand: HousePokerRound) -> list[HousePokerSeat]:
    """The hands that must still be turned face up: those that are compared, and those with a bet on
    their own cards.
    """
    compared = plays(rules, hand) or bool(rules.book.bonus)
    return [
        seat
        for seat in hand.seats
        if ((seat.decision == "go" and not seat.told and compared) or side_bets(rules, hand, seat))
        and not is_open(rules, hand, seat)
    ]


def begun_to_show(rules: HousePokerRules, hand: HousePokerRound) -> bool:
    """Whether more of the hands is face up than after the deal."""
    return any(
        card.up and index <= rules.book.hand and (who, index) != (DEALER, rules.exposed)
        for who in (DEALER, *(seat.who for seat in hand.seats))
        for index, card in enumerate(dealt(hand.cards, who), 1)
    )


def is_open(rules: HousePokerRules, hand: HousePokerRound, seat: HousePokerSeat) -> bool:
    """Whether all cards that a hand must have are face up."""
    return len(up(hand.cards, seat.who)) == rules.book.hand and is_up(hand.cards, seat.who)


def unseen_discards(hand: HousePokerRound, who: str) -> bool:
    """Whether a hand discarded cards that are still unknown."""
    seat = hand.seat(who)
    return (
        seat is not None
        and seat.dropped > 0
        and not any(card.gone for card in dealt(hand.cards, who))
    )


def shows_unknown(rules: HousePokerRules, hand: HousePokerRound) -> bool:
    """True if a hand must be shown now whose cards are unknown."""
    match stage(rules, hand):
        case Phase.DEALER:
            names = [DEALER]
        case Phase.SHOWDOWN:
            names = [seat.who for seat in to_show(rules, hand)]
        case _:
            return False
    return any(not is_known(hand.cards, who) or unseen_discards(hand, who) for who in names)
