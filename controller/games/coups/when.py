"""When a table of coups takes a command, whatever the command says, besides what its phase
refuses.
"""

from __future__ import annotations

from controller.contract import commands as person
from controller.games.coups.turn import Turn
from controller.games.when import (
    Whens,
    bets_open,
    bets_placed,
    has_result,
    is_closed,
    last_rounds_unsaid,
    passes,
    rounds_left,
    voidable,
)


def _card_waits(turn: Turn) -> bool:
    stop = turn.stop
    return stop is not None and "card.decide" in stop.asks


def _unconfirmed(turn: Turn) -> bool:
    coup = turn.state.current
    return bool(turn.state.unresolved()) or (coup is not None and passes(turn.require_gap, coup))


WHEN: Whens = {
    person.SessionOpen: is_closed,
    person.CardDecide: _card_waits,
    person.RoundVoid: voidable,
    person.RoundConfirm: _unconfirmed,
    person.ResultCorrect: has_result,
    person.BetsOpen: rounds_left,
    person.BetPlace: bets_open,
    person.BetWithdraw: bets_placed,
    person.LastRoundsAnnounce: last_rounds_unsaid,
}
