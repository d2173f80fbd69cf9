"""When a table of chemin de fer or of two cloths takes a command, whatever the command says,
besides what its phase refuses.
"""

from __future__ import annotations

from functools import partial

from controller.contract import commands as person
from controller.games.chemin.course import CheminTurn
from controller.games.chemin.state import BANK_EARLY
from controller.games.when import (
    Whens,
    bets_closed,
    bets_open,
    bets_placed,
    every,
    last_rounds_unsaid,
    never,
    rounds_left,
    voidable,
)


def _shoe_lasts(turn: CheminTurn) -> bool:
    now = turn.state.shoe
    return now is not None and not now.over


def _unasked(turn: CheminTurn) -> bool:
    return not turn.asks()


def _bank_silent(turn: CheminTurn) -> bool:
    return turn.book.bank not in turn.current.words


def _speaks(word: str, turn: CheminTurn) -> bool:
    """The hand has this decision to make, or has made the other one."""
    if asks := turn.asks():
        return f"hand.{word}" in asks
    coup = turn.current
    otherwise = any(coup.words.get(who) in {"draw", "stand"} - {word} for who in turn.book.hands)
    return otherwise or turn.to_act() is not None or (word == "draw" and turn.bank_stood())


def _to_turn(turn: CheminTurn) -> bool:
    """A card lies face down or waits, and none is in doubt."""
    down = any(not card.up and not card.gone for card in turn.current.cards)
    return (down or bool(turn.state.held)) and turn.state.doubt is None


def _card_waits(turn: CheminTurn) -> bool:
    """A question is asked; or the round has cards of which people may have seen something."""
    return "card.decide" in turn.asks() or (
        bets_closed(turn) and bool(turn.current.cards or turn.state.held)
    )


def _unconfirmed(turn: CheminTurn) -> bool:
    return bool(turn.state.unresolved()) or "round.confirm" in turn.asks()


def _may_withdraw(turn: CheminTurn) -> bool:
    coup = turn.state.current
    early = coup is not None and BANK_EARLY in coup.said and bool(coup.bets)
    return bets_placed(turn) or early


WHEN: Whens = {
    person.CardDecide: _card_waits,
    person.RoundVoid: voidable,
    person.RoundConfirm: _unconfirmed,
    person.ResultCorrect: never,
    person.BetsOpen: every(rounds_left, _shoe_lasts),
    person.BetsClose: _unasked,
    person.BetPlace: bets_open,
    person.BetWithdraw: _may_withdraw,
    person.TableFollow: every(bets_closed, _bank_silent),
    person.HandDraw: every(bets_closed, partial(_speaks, "draw")),
    person.HandStand: every(bets_closed, partial(_speaks, "stand")),
    person.CardsTurn: every(bets_closed, _to_turn),
    person.LastRoundsAnnounce: last_rounds_unsaid,
}
