"""Guards of commands at every dealt table, by its phase."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from common.contract.commands import BetsOpen, CardsTurn, tag_of
from common.contract.refusals import RejectedError
from controller.games.dealt.phases import Phase
from controller.games.dealt.turn import Turn
from controller.games.guards import Refused
from controller.games.session import sent

BETWEEN_ROUNDS = (Phase.CLOSED, Phase.NO_SHOE, Phase.BURNING, Phase.WAITING, Phase.SHOE_OVER)
UNDEALT = ("burn", "dead")
"""Places of cards that are in no hand and on no board."""


def has_shoe(turn: Turn) -> Refused | None:
    """A shoe is at the table."""
    return Refused("no_shoe") if turn.current_stage() is Phase.NO_SHOE else None


def is_burned(turn: Turn) -> Refused | None:
    """The first cards of the shoe are burned."""
    return Refused("cards_not_burned") if turn.current_stage() is Phase.BURNING else None


def shoe_lasts(turn: Turn) -> Refused | None:
    """The cut card of the shoe has not come."""
    if turn.current_stage() is Phase.SHOE_OVER:
        return Refused("cut_card_came", law=turn.book.laws["shoe_over"])
    return None


def between_rounds(turn: Turn) -> Refused | None:
    """No round is in progress."""
    if turn.current_stage() not in BETWEEN_ROUNDS:
        return Refused("round_in_progress", {"round": turn.number})
    return None


def nothing_to_decide(turn: Turn) -> Refused | None:
    """Nothing stops the table that a person must decide before the next bets."""
    stop = turn.stop
    if stop is None or tag_of(BetsOpen) in stop.asks:
        return None
    asks = turn.state.stop
    fields: Mapping[str, Any] = {}
    if stop.refusal == "table_waits_for":
        fields = {"commands": sent(turn.state.asks)}
    elif stop.refusal == "decide_first" and asks is not None:
        fields = {"what": asks.what, "commands": sent(asks.asks)}
    return Refused(stop.refusal, fields)


def unstopped(turn: Turn) -> Refused | None:
    """Nothing stops the table."""
    if turn.state.stop is None:
        return None
    return Refused("table_waits_for", {"commands": sent(turn.state.asks)})


def decided_first(turn: Turn) -> Refused | None:
    """Nothing stops the table, or a person has decided about it."""
    stop = turn.stop
    if stop is None:
        return None
    return Refused("decide_first", {"what": stop.what, "commands": sent(stop.asks)})


def bets_open(turn: Turn) -> Refused | None:
    """The bets of a round are open, or its antes are being put in."""
    is_open = turn.current_stage() in (Phase.BETS_OPEN, Phase.ANTES)
    return None if is_open else Refused("bets_not_open")


def cards_as_seen(turn: Turn, command: CardsTurn) -> None:
    """Reject a command about another round or about other cards than lie there now."""
    if command.round not in (None, turn.number):
        raise RejectedError("round_not_in_progress", round=command.round)
    lying = sum(
        card.to == command.who if command.who else card.to not in UNDEALT
        for card in turn.state.current.cards
        if not card.gone
    )
    if command.count not in (None, lying):
        raise RejectedError("cards_not_as_seen", count=command.count, cards=lying)
