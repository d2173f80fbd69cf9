"""The bets reported to a table of trente et quarante: on the chances, and their insurance against
31-31.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import ceil, floor

from common.contract.commands import BetPlace, BetWithdraw
from common.contract.refusals import RejectedError
from controller.games import stakes
from controller.games.stakes import Stake
from controller.games.trente.course import TrenteTurn


def place_bet(turn: TrenteTurn, command: BetPlace) -> None:
    """Place a bet. Insurance is a fixed part of its player's placed bets."""
    if command.bet == "insurance":
        current = turn.state.current
        assert current is not None
        part, law = "{}/{}".format(*turn.book.insurance), turn.book.insurance_law
        if not _insures(turn, current.bets, command.who, command.amount):
            raise RejectedError("insurance_of_part", who=command.who, part=part, law=law.cited)
    stakes.place_bet(turn, command)
    _end_insurance(turn, command)


def withdraw_bet(turn: TrenteTurn, command: BetWithdraw) -> None:
    """Withdraw a bet, and an insurance that no bet is left for."""
    stakes.withdraw_bet(turn, command)
    _end_insurance(turn, command)


def _insures(turn: TrenteTurn, bets: tuple[Stake, ...], who: str, amount: int | None) -> bool:
    """Whether this amount insures one or several bets of this player, to the minor unit."""
    own = [bet.amount for bet in bets if bet.who == who and bet.bet != "insurance"]
    if amount is None or None in own:
        return bool(own)
    part = Fraction(*turn.book.insurance)
    sums = (
        sum(amount for amount in insured if amount is not None) * part
        for count in range(1, len(own) + 1)
        for insured in combinations(own, count)
    )
    return any(amount in (floor(whole), ceil(whole)) for whole in sums)


def _end_insurance(turn: TrenteTurn, command: BetPlace | BetWithdraw) -> None:
    """Return an insurance that is no longer a part of its player's bets."""
    current = turn.state.current
    assert current is not None
    for bet in current.bets:
        if (bet.who, bet.bet) == (command.who, "insurance") and not _insures(
            turn, current.bets, bet.who, bet.amount
        ):
            back = BetWithdraw(
                at=command.at, by=command.by, role=command.role, who=bet.who, bet=bet.bet
            )
            stakes.withdraw_bet(turn, back)
