"""The outcome of a round of poker against the dealer, by the face-up cards. Pure.

It is asked when the round ends, and again when a person corrects what was published.
"""

from __future__ import annotations

from collections.abc import Mapping

from common.contract.events import AwardQualified, Hand, Settled
from controller.games.hands.evaluator import Value, value
from controller.games.house_poker import course, pays
from controller.games.house_poker.course import HousePokerRules
from controller.games.house_poker.state import DEALER, HousePokerRound, HousePokerSeat
from controller.games.poker.correction import PokerOutcome

Open = Mapping[str, tuple[str, ...]]
"""The cards of the hands that are face up, by hand."""


def outcome(
    rules: HousePokerRules, hand: HousePokerRound, lie: Open, *, judged: bool
) -> PokerOutcome:
    """The outcome of every bet of the round. ``judged``: all cards of the bank are face up, so that
    it is known whether it plays.
    """
    bank = value(lie[DEALER], rules.ranking) if judged else None
    plays = pays.qualifies(bank, rules.ranking, rules.book.qualifies) if bank else None
    values = {
        seat.who: value(lie[seat.who], rules.ranking) for seat in hand.seats if lie.get(seat.who)
    }
    boxes = tuple(
        _box(rules, hand, seat, lie, values.get(seat.who), bank, plays) for seat in hand.seats
    )
    dealer = Hand(
        who=DEALER,
        cards=lie.get(DEALER, ()),
        kind=bank.category if bank else None,
        best=bank.cards if bank else (),
    )
    marks = () if plays is None else ("dealer_qualifies",) if plays else ("dealer_not_qualified",)
    return PokerOutcome(hands=(*boxes, dealer), marks=marks, awards=_awards(rules, hand, values))


def _box(
    rules: HousePokerRules,
    hand: HousePokerRound,
    seat: HousePokerSeat,
    lie: Open,
    player: Value | None,
    bank: Value | None,
    plays: bool | None,
) -> Hand:
    """The outcome of one box and its bets. A hand that must be compared and is not face up has no
    outcome.
    """
    result: pays.Outcome | None
    if seat.told or seat.decision == "pass":
        lost = ("ante", "second") if seat.decision == "go" else ("ante",)
        result, bets = "lose", tuple(Settled(bet, "lose") for bet in lost)
    elif plays is None or (plays and player is None):
        result, bets = None, ()
    else:
        result, bets = pays.settle(rules.book, player, bank if plays else None)
    live = course.side_bets(rules, hand, seat)
    for bet in (bet for bet in rules.book.sides if hand.has_bet(seat.who, bet)):
        if bet not in live:
            bets += (Settled(bet, "lose"),)
        elif player is not None:
            bets += (_side(rules, bet, seat, player),)
    if player is None:
        return Hand(who=seat.who, cards=(), outcome=result, settled=bets)
    return Hand(
        who=seat.who,
        cards=lie[seat.who],
        kind=player.category,
        outcome=result,
        best=player.cards,
        settled=bets,
    )


def _side(rules: HousePokerRules, bet: str, seat: HousePokerSeat, player: Value) -> Settled:
    if bet in rules.tables:
        return pays.side(bet, rules.tables[bet], player)
    return Settled(bet, "win" if player.category in _shares(rules, seat) else "lose")


def _shares(rules: HousePokerRules, seat: HousePokerSeat) -> Mapping[str, tuple[int, int]]:
    """The part of the meter that a hand may win."""
    jackpot = rules.book.jackpot
    if jackpot is None:
        return {}
    if seat.dropped == 0 or seat.bought:
        return jackpot.shares
    return jackpot.discarded if rules.settings.discarded_jackpot else {}


def _awards(
    rules: HousePokerRules, hand: HousePokerRound, values: Mapping[str, Value]
) -> tuple[AwardQualified, ...]:
    jackpot = rules.book.jackpot
    if jackpot is None:
        return ()
    seats = [
        seat
        for seat in hand.seats
        if seat.who in values and "jackpot" in course.side_bets(rules, hand, seat)
    ]
    won = {
        seat.who: values[seat.who]
        for seat in seats
        if values[seat.who].category in _shares(rules, seat)
    }
    discarded = [seat.who for seat in seats if seat.dropped and not seat.bought]
    return tuple(
        AwardQualified(
            round=hand.round,
            award=jackpot.award,
            box=prize.who,
            hand=prize.hand.category,
            cards=prize.hand.cards,
            share=prize.share,
            of="all_tables" if rules.settings.linked else jackpot.of,
            out_of_play=prize.who in hand.marked,
        )
        for prize in pays.prizes(
            jackpot, won, discarded, of_whole=rules.settings.later_prizes == "of_whole"
        )
    )
