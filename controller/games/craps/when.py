"""When a table of craps takes a command, whatever the command says."""

from __future__ import annotations

from controller.contract import commands as person
from controller.games.craps.turn import CrapsTurn
from controller.games.when import (
    Whens,
    bets_closed,
    bets_open,
    between_rounds,
    every,
    has_result,
    is_closed,
    is_open,
    last_rounds_unsaid,
    rounds_left,
    voidable,
)


def _by_person(turn: CrapsTurn) -> bool:
    """A person opens and closes the bets."""
    return not turn.by_itself


def _all_resolved(turn: CrapsTurn) -> bool:
    return not turn.state.unresolved()


def _dice_ready(turn: CrapsTurn) -> bool:
    return turn.lacking() is None


def _not_thrown(turn: CrapsTurn) -> bool:
    return not bets_closed(turn)


def _may_change_dice(turn: CrapsTurn) -> bool:
    """Not within a series, unless they are no longer fit for it."""
    return turn.point is None or turn.lacking() == "dice.set" or turn.state.set is None


def _may_choose(turn: CrapsTurn) -> bool:
    """The dice are registered and fit; within a series, two are not in play or one broke."""
    dice, last = turn.state.set, turn.state.entries[-1:]
    if dice is None or dice.unfit:
        return False
    broken = bool(last) and last[0].reason == "die_broken"
    chosen = turn.point is not None and len(dice.playing) == 2 and not broken
    return not chosen and len(turn.on_offer(dice)) >= 2


def _has_dice(turn: CrapsTurn) -> bool:
    """A die can be lost or found."""
    dice = turn.state.set
    return dice is None or bool(dice.playing or dice.lost or dice.reserve)


def _untold(turn: CrapsTurn) -> bool:
    """The dice of the round in progress are not known, and no earlier throw is undecided."""
    current = turn.state.current
    if current is None or current.dice is not None or turn.state.unresolved():
        return False
    return bool(current.closed or turn.by_itself)


def _bets_placed(turn: CrapsTurn) -> bool:
    """A bet may be withdrawn."""
    return any(not turn.bets[bet.bet.split(":")[0]].locked for bet in turn.state.bets)


def _unconfirmed(turn: CrapsTurn) -> bool:
    current = turn.state.current
    return bool(turn.state.unresolved()) or (current is not None and bool(current.asks))


WHEN: Whens = {
    person.SessionOpen: is_closed,
    person.SessionClose: is_open,
    person.RoundVoid: voidable,
    person.RoundConfirm: _unconfirmed,
    person.ResultCorrect: has_result,
    person.DiceSet: every(is_open, _not_thrown, _may_change_dice),
    person.DiceChoose: every(is_open, _not_thrown, _may_choose),
    person.DieReport: every(is_open, _has_dice),
    person.DiceTell: every(is_open, _untold),
    person.BoxesSet: is_open,
    person.ShooterSet: every(is_open, _not_thrown, rounds_left),
    person.BetPlace: every(is_open, _not_thrown, _all_resolved),
    person.BetWithdraw: every(is_open, _not_thrown, _all_resolved, _bets_placed),
    person.BetsOpen: every(
        is_open, _by_person, between_rounds, _all_resolved, rounds_left, _dice_ready
    ),
    person.BetsClose: every(bets_open, _by_person),
    person.LastRoundsAnnounce: last_rounds_unsaid,
}
