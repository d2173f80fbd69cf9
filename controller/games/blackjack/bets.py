"""The bets reported to a table of black jack: on hands, their insurance, and what the casino offers
beside them.
"""

from __future__ import annotations

from fractions import Fraction

from msgspec.structs import replace

from common.contract.commands import BetPlace, BetWithdraw
from common.contract.refusals import RejectedError
from controller.games import stakes
from controller.games.blackjack.moves import BlackjackTurn
from controller.games.guards import FieldCheck, Row, is_open, require
from controller.games.jackpot import out_of_play, require_in_play
from controller.games.roles import AT_THE_TABLE
from controller.games.stakes import Bounds


def place(turn: BlackjackTurn, command: BetPlace) -> None:
    """Place a bet. All bets on a box together must keep within the limits of one hand."""
    box, deal = _box(turn, command), turn.current
    between = stakes.limits_of(command.bet, offered(turn, command.who))
    if command.bet == "accumulated":
        require_in_play(turn)
    beside = [
        bet for bet in deal.bets if bet.bet == command.bet == "bet" and bet.who != command.who
    ]
    others = sum(bet.amount or 0 for bet in beside if bet.who.partition("/")[0] == f"box:{box}")
    most = None if between.most is None else between.most - others
    laws, insurance = turn.book.laws, command.bet == "insurance"
    stakes.within(
        command.bet,
        command.amount,
        between._replace(most=most),
        laws["insurance_limit" if insurance else "bet_limit"],
        minimum=laws["insurance_limit" if insurance else "bet_minimum"],
        box=f"box:{box}",
    )
    if command.bet == "accumulated":
        _agreed(turn, command.amount)
    turn.change_current(bets=stakes.with_bet(deal.bets, command))
    marked = command.bet == "accumulated" and out_of_play(turn.state) is not None
    if command.bet == "accumulated":
        _mark(turn, command.who, marked=marked)
    turn.emit(replace(stakes.bet_event(deal.round, command), out_of_play=marked))


def _mark(turn: BlackjackTurn, who: str, *, marked: bool) -> None:
    """Record whether an accumulated bet was accepted while the jackpot was out of play."""
    deal = turn.state.current
    assert deal is not None
    others = tuple(bettor for bettor in deal.marked if bettor != who)
    turn.change_current(marked=(*others, who) if marked else others)


def _agreed(turn: BlackjackTurn, amount: int | None) -> None:
    """Reject an accumulated bet without an amount or of another than agreed: the accumulated sum
    rises by it.
    """
    stake = turn.settings.accumulated_stake
    if stake is not None and amount is None:
        raise RejectedError("jackpot_stake_required", stake=stake)
    if stake is not None and amount is not None and amount != stake:
        raise RejectedError("jackpot_stake_wrong", amount=amount, stake=stake)
    if amount is None:
        raise RejectedError("jackpot_amount_required")


def withdraw(turn: BlackjackTurn, command: BetWithdraw) -> None:
    """Withdraw a bet while it may be placed."""
    deal = turn.current
    turn.change_current(bets=stakes.without_bet(deal.bets, command))
    if command.bet == "accumulated":
        _mark(turn, command.who, marked=False)
    turn.emit(stakes.bet_event(deal.round, command))


def _box(turn: BlackjackTurn, command: BetPlace | BetWithdraw) -> int:
    return stakes.bettor(
        command.who, turn.rules.boxes, turn.book.bets_per_box, turn.book.laws.get("box_bettors")
    )


def is_accepted(turn: BlackjackTurn, command: BetPlace | BetWithdraw) -> None:
    """Reject a bet that the table does not have, and one that is not accepted now: bets are before
    the cards, insurance is while it is offered.
    """
    _box(turn, command)
    stakes.limits_of(command.bet, offered(turn, command.who))
    deal = turn.state.current
    if command.bet != "insurance":
        in_time = stakes.in_time if isinstance(command, BetPlace) else stakes.in_time_to_withdraw
        require(turn, in_time)
    elif deal is None or not deal.insurance:
        raise RejectedError("insurance_not_offered", law=turn.book.article)
    elif (seat := deal.seat(command.who.partition("/")[0])) is not None and seat.even_money:
        law = turn.book.laws["even_money"]
        raise RejectedError("insurance_paid_at_par", who=seat.who, law=law.cited)


def accepts_any(turn: BlackjackTurn) -> bool:
    """Bets are open, or insurance is offered."""
    deal = turn.state.current
    return deal is not None and (not deal.closed or bool(deal.insurance))


PLACE = Row(AT_THE_TABLE, (is_open, FieldCheck(is_accepted, accepts_any)), place)
WITHDRAW = Row(
    AT_THE_TABLE,
    (
        is_open,
        FieldCheck(is_accepted, accepts_any),
        FieldCheck(stakes.is_placed, stakes.any_placed),
    ),
    withdraw,
)


def offered(turn: BlackjackTurn, who: str) -> dict[str, Bounds]:
    """The bets of this table, and the limits of each."""
    book, settings, minimum = turn.book, turn.settings, turn.state.minimum
    hands = stakes.bounds(minimum, book.limits, settings.highest.get("hands"))
    found = {"bet": hands, "insurance": _insurance(turn, who, hands)}
    own = book.side_bet_limits
    if settings.pair_bets:
        least = None if minimum is None else minimum * Fraction(*own["pairs_least"])
        found["pairs"] = stakes.bounds(
            minimum, own["pairs_most"], settings.highest.get("pairs")
        )._replace(least=least)
    if settings.accumulated_bets:
        found["accumulated"] = Bounds(
            None, None if minimum is None else minimum * Fraction(*own["accumulated_most"])
        )
    return found


def _insurance(turn: BlackjackTurn, who: str, hands: Bounds) -> Bounds:
    """The limits of an insurance: at most a part of the insured bet, if known, and at least a part
    of the minimum, if the decree requires it.
    """
    limits, minimum = turn.book.insurance_limits, turn.state.minimum
    bets = turn.state.current.bets if turn.state.current else ()
    insured = next((bet.amount for bet in bets if (bet.who, bet.bet) == (who, "bet")), None)
    base = hands.most if insured is None else insured
    least = (
        minimum * Fraction(*limits["least"]) if minimum is not None and "least" in limits else None
    )
    return Bounds(least, None if base is None else base * Fraction(*limits["most"]))
