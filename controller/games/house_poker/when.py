"""When a table of poker against the dealer takes a command, whatever the command says, besides what
its phase refuses.
"""

from __future__ import annotations

from controller.contract import commands as person
from controller.games.dealt.cards import dealt, is_known, is_up
from controller.games.dealt.phases import Phase
from controller.games.house_poker import course
from controller.games.house_poker.decisions import may_be_face_up
from controller.games.house_poker.state import DEALER
from controller.games.house_poker.turn import HousePokerTurn
from controller.games.when import (
    Whens,
    bets_closed,
    bets_open,
    between_rounds,
    every,
    has_result,
    is_closed,
    last_rounds_unsaid,
    rounds_left,
    voidable,
)


def _bets_placed(turn: HousePokerTurn) -> bool:
    hand = turn.state.current
    return hand is not None and bool(hand.bets or any(hand.amounts.values()))


def _may_close(turn: HousePokerTurn) -> bool:
    """A box is in play, and the deck may be dealt."""
    state = turn.state
    return bool(turn.current.seats) and state.shuffler is None and state.deck is not False


def _in_round(turn: HousePokerTurn) -> bool:
    return turn.state.current is not None


def _stopped(turn: HousePokerTurn) -> bool:
    return _in_round(turn) and turn.state.stop is not None


def _running(turn: HousePokerTurn) -> bool:
    return _in_round(turn) and turn.state.stop is None


def _hands_act(turn: HousePokerTurn) -> bool:
    """A hand must still decide, or may withdraw its decision."""
    rules, hand = turn.rules, turn.current
    deciding = turn.going() in (Phase.DECISIONS, Phase.DISCARDS)
    plays = any(not seat.told for seat in hand.seats)
    open_still = deciding or not course.begun_to_show(rules, hand)
    return plays and course.is_dealt(rules, hand) and open_still


def _cards_due(turn: HousePokerTurn) -> bool:
    stop = turn.state.stop
    stopped = stop is not None and stop.what != "silence"
    return not stopped and bool(course.to_come(turn.rules, turn.current))


def _names(turn: HousePokerTurn) -> tuple[str, ...]:
    return (DEALER, *(seat.who for seat in turn.current.seats))


def _places(turn: HousePokerTurn, who: str) -> tuple[int | None, ...]:
    """A whole hand, and each of its cards."""
    return (None, *range(1, len(dealt(turn.current.cards, who)) + 1))


def _to_turn(turn: HousePokerTurn) -> bool:
    hand = turn.current
    return any(
        is_known(hand.cards, who)
        and not is_up(hand.cards, who)
        and not course.unseen_discards(hand, who)
        and any(may_be_face_up(turn, who, index) for index in _places(turn, who))
        for who in _names(turn)
    )


def _to_show(turn: HousePokerTurn) -> bool:
    state, hand = turn.state, turn.state.current
    if hand is None or (state.stop is not None and state.shown is None):
        return False
    reshown = hand.discards is not None and len(dealt(hand.cards, DEALER)) <= turn.book.hand
    return reshown or any(
        may_be_face_up(turn, who, index) for who in _names(turn) for index in _places(turn, who)
    )


def _unconfirmed(turn: HousePokerTurn) -> bool:
    hand = turn.state.current
    over = hand is not None and turn.going() in (Phase.DEALER, Phase.SHOWDOWN)
    return over or bool(turn.state.unresolved())


WHEN: Whens = {
    person.SessionOpen: is_closed,
    person.RoundVoid: voidable,
    person.DealError: _in_round,
    person.RoundConfirm: _unconfirmed,
    person.ResultCorrect: has_result,
    person.CardDecide: _stopped,
    person.LastRoundsAnnounce: last_rounds_unsaid,
    person.BetsOpen: every(between_rounds, rounds_left),
    person.BoxesSet: bets_open,
    person.BetPlace: bets_open,
    person.BetWithdraw: every(bets_open, _bets_placed),
    person.BetsClose: every(bets_open, _may_close),
    person.HandAct: every(_running, _hands_act),
    person.CardsDeal: every(bets_closed, _cards_due),
    person.CardsTurn: every(_running, _to_turn),
    person.CardsShow: _to_show,
}
