"""When a table with a wheel takes a command, whatever the command says."""

from __future__ import annotations

from controller.contract import commands as person
from controller.games.wheels.turn import WheelTurn
from controller.games.when import (
    Whens,
    bets_open,
    bets_placed,
    between_rounds,
    every,
    has_result,
    is_closed,
    is_open,
    to_void,
)


def _by_person(turn: WheelTurn) -> bool:
    """A person opens and closes the bets."""
    return bool(turn.settings.phases != "device")


def _rounds_left(turn: WheelTurn) -> bool:
    return turn.state.left("close") != 0


def _unconfirmed(turn: WheelTurn) -> bool:
    current = turn.state.current
    return (current is not None and bool(current.asks)) or bool(turn.state.unresolved())


def _limit_may_change(turn: WheelTurn) -> bool:
    rises = turn.book.limit_change != "upward" or turn.state.minimum is not None
    return turn.book.limit_change != "none" and rises and turn.state.left("limit") is None


def _last_rounds_unsaid(turn: WheelTurn) -> bool:
    return turn.state.left("close") is None


WHEN: Whens = {
    person.SessionOpen: is_closed,
    person.SessionClose: is_open,
    person.BetsOpen: every(is_open, _by_person, _rounds_left, between_rounds),
    person.BetsClose: every(bets_open, _by_person),
    person.BetPlace: bets_open,
    person.BetWithdraw: bets_placed,
    person.RoundVoid: to_void,
    person.RoundConfirm: _unconfirmed,
    person.ResultCorrect: has_result,
    person.LimitAnnounce: every(is_open, _limit_may_change),
    person.LastRoundsAnnounce: every(is_open, _last_rounds_unsaid),
}
