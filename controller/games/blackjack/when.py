"""When a table of black jack takes a command, whatever the command says, besides what a closed
table refuses.
"""

from __future__ import annotations

from functools import partial

from controller.contract import commands as person
from controller.contract.commands import BetsClose, BetsOpen, Command
from controller.games.blackjack import course
from controller.games.blackjack.course import between_plays
from controller.games.blackjack.decisions import DECISION_MOVES
from controller.games.blackjack.turn import BlackjackTurn
from controller.games.when import (
    Whens,
    bets_open,
    every,
    is_closed,
    is_open,
    last_rounds_unsaid,
    rounds_left,
)


def _free(turn: BlackjackTurn) -> bool:
    """No round is in progress that must be ended first."""
    deal = turn.state.current
    return deal is None or between_plays(deal) or not deal.begun or not turn.settings.keys


def _with_shoe(turn: BlackjackTurn) -> bool:
    return turn.state.shoe is not None


def _may_begin(kind: type[Command], turn: BlackjackTurn) -> bool:
    """A round may begin with this command, or its bets are still to be settled."""
    state, deal = turn.state, turn.state.current
    if state.shoe is None or state.last_shoe == 0:
        return False
    unbegun = deal is not None and not deal.begun
    if kind is BetsOpen and unbegun:
        return False
    if deal is not None and unbegun and not (deal.closed and kind is BetsClose):
        return True
    if deal is not None and not between_plays(deal):
        last = deal.last or state.last == 1
        if turn.settings.keys or last:
            return False
    return not state.shoe.over and state.doubt is None


def _shoe_left(turn: BlackjackTurn) -> bool:
    """Another shoe may be started: the last one is not announced, or has not begun."""
    state = turn.state
    running = state.shoe is not None and not state.shoe.over and state.doubt != "shoe_reset"
    return state.last_shoe is None or (state.last_shoe == 1 and not running)


def _not_closing(turn: BlackjackTurn) -> bool:
    return last_rounds_unsaid(turn) and turn.state.last_shoe is None


def _takes_bets(turn: BlackjackTurn) -> bool:
    deal = turn.state.current
    return bets_open(turn) or (deal is not None and bool(deal.insurance))


def _bets_placed(turn: BlackjackTurn) -> bool:
    deal = turn.state.current
    return deal is not None and bool(deal.bets)


def _has_key(kind: type[Command], turn: BlackjackTurn) -> bool:
    state, rules, deal = turn.state, turn.rules, turn.state.current
    if not turn.settings.keys or deal is None or state.doubt == "hands_too_few":
        return False
    to_act = course.turn(rules, deal)
    any_hand = issubclass(kind, person.HandSurrender | person.HandEvenMoney)
    seats = deal.seats if any_hand else () if to_act is None else (to_act,)
    return any(course.refusal(rules, deal, seat, kind) is None for seat in seats)


def _card_waits(turn: BlackjackTurn) -> bool:
    deal = turn.state.current
    return turn.question() is not None or (
        bool(turn.state.held) or (deal is not None and deal.latest is not None)
    )


def _in_round(turn: BlackjackTurn) -> bool:
    return turn.state.current is not None


def _unconfirmed(turn: BlackjackTurn) -> bool:
    deal = turn.state.current
    begun = deal is not None and not turn.settings.keys and deal.begun
    return turn.state.doubt == "hands_too_few" or begun


def _limit_may_change(turn: BlackjackTurn) -> bool:
    allowed, state = turn.book.limit_change, turn.state
    rises = allowed != "upward" or state.minimum is not None
    return allowed != "none" and rises and state.limit is None


WHEN: Whens = {
    person.SessionOpen: is_closed,
    person.ShoeStart: every(_free, _shoe_left),
    person.ShoeEnd: every(_with_shoe, _free),
    person.BoxesSet: every(rounds_left, partial(_may_begin, person.BoxesSet)),
    person.BetsOpen: every(rounds_left, partial(_may_begin, person.BetsOpen)),
    person.BetsClose: every(rounds_left, partial(_may_begin, person.BetsClose)),
    person.BetPlace: _takes_bets,
    person.BetWithdraw: every(_takes_bets, _bets_placed),
    person.RoundVoid: every(is_open, _in_round),
    person.RoundConfirm: every(is_open, _in_round, _unconfirmed),
    person.LimitAnnounce: every(is_open, _limit_may_change),
    person.LastRoundsAnnounce: _not_closing,
    person.CardDecide: every(is_open, _with_shoe, _card_waits),
    **{kind: every(is_open, partial(_has_key, kind)) for kind in DECISION_MOVES},
}
