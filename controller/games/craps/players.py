"""The reported players of a table of craps: the shooter and the bets."""

from __future__ import annotations

import re

from msgspec.structs import replace

from common.contract.commands import BetPlace, BetWithdraw, BoxesSet, ShooterSet
from common.contract.refusals import RejectedError
from controller.games import stakes
from controller.games.craps.bets import all_names, highest, highest_alone, parse
from controller.games.craps.commands import refuse
from controller.games.craps.turn import CrapsTurn
from controller.games.guards import Refused
from controller.games.roles import IN_CHARGE
from controller.games.stakes import Bounds
from controller.rulebooks.craps import CrapsBet

_SEAT = re.compile("seat:[1-9][0-9]{0,2}")


def set_seats(turn: CrapsTurn, command: BoxesSet) -> None:
    """Set the seats in play, numbered clockwise from the croupiers' left."""
    if not command.boxes or len(set(command.boxes)) != len(command.boxes) or min(command.boxes) < 1:
        raise RejectedError("boxes_not_seats")
    turn.change(seats=tuple(sorted(command.boxes)))


def set_shooter(turn: CrapsTurn, command: ShooterSet) -> None:
    """Give the dice to a seat: the next one clockwise, if the seats are known."""
    state, now = turn.state, turn.state.shooter
    if state.seats and command.seat not in state.seats:
        raise RejectedError(
            "not_seated",
            who=f"seat:{command.seat}",
            seated=tuple(f"seat:{seat}" for seat in state.seats),
        )
    if command.seat < 1:
        raise RejectedError("seat_wrong")
    if now is not None and command.why is None:
        raise RejectedError("shooter_has_dice", seat=now)
    if command.why == "withdrawn" and command.role not in IN_CHARGE:
        raise refuse(turn, "shooter_withdrawn", "shooter_not_withdrawn", role=command.role).error()
    if turn.point is not None and command.why == "refused" and now is not None:
        raise RejectedError("dice_refused_in_series")
    due = turn.next_seat()
    why = command.why or ("first" if state.thrown is None else "seven")
    if due is not None and command.seat != due:
        turn.irregular("shooter_order", detail=f"seat {command.seat} before seat {due}")
    turn.give_dice(command.seat, why, by=command.by)
    turn.change(taken_over=turn.point is not None)


def place_bet(turn: CrapsTurn, command: BetPlace) -> None:
    """Place a bet. It replaces an earlier one of the same player and name."""
    bet, number = known(turn, command)
    point = turn.point
    if bet.kind == "simple" and bet.on == "own" and number is not None:
        raise RejectedError("bet_moved_by_throw", bet=command.bet, base=command.bet.split(":")[0])
    if bet.when != "any" and (bet.when == "come_out") != (point is None):
        key = "bet_before_first_throw" if bet.when == "come_out" else "bet_after_first_throw"
        raise refuse(turn, _time(bet), key, bet=command.bet).error()
    stakes.within(
        command.bet, command.amount, Bounds(turn.state.minimum), turn.book.laws["bet_minimum"]
    )
    if bet.base:
        _beside_its_base(turn, command, bet.base, number)
    else:
        _not_above(turn, command, bet, number)
    placed = turn.holds(command.who, command.bet)
    if (
        bet.locked
        and placed
        and placed.amount is not None
        and (command.amount or 0) < placed.amount
    ):
        raise refuse(
            turn, "bet_locked", "bet_locked_lower", bet=command.bet, amount=placed.amount
        ).error()
    turn.change(bets=stakes.with_bet(turn.state.bets, command))
    turn.emit(stakes.bet_event(turn.number, command))


def withdraw_bet(turn: CrapsTurn, command: BetWithdraw) -> None:
    """Withdraw a bet, which may not be one on Win. Bets associated with it go too."""
    word, colon, number = command.bet.partition(":")
    gone = {
        command.bet,
        *(f"{other}{colon}{number}" for other, bet in turn.bets.items() if bet.base == word),
    }
    for placed in turn.state.bets:
        if placed.who == command.who and placed.bet in gone:
            turn.emit(stakes.bet_event(turn.number, replace(command, bet=placed.bet)))
    turn.change(
        bets=tuple(
            placed
            for placed in turn.state.bets
            if placed.who != command.who or placed.bet not in gone
        )
    )


def _time(bet: CrapsBet) -> str:
    """The law on when such a bet may be placed."""
    if bet.base:
        return "bet_time_associated"
    return "bet_time" if bet.when == "come_out" else "bet_time_come"


def _beside_its_base(turn: CrapsTurn, command: BetPlace, base: str, number: int | None) -> None:
    beside = base if number is None else f"{base}:{number}"
    placed = turn.holds(command.who, beside)
    if placed is None:
        raise refuse(
            turn,
            "bet_time_associated",
            "bet_beside",
            bet=command.bet,
            base=beside,
            who=command.who,
        ).error()
    if placed.amount is not None:
        most = highest(turn.bets, command.bet, turn.point, placed.amount)
        stakes.within(
            command.bet,
            command.amount,
            Bounds(None, most),
            turn.book.laws["bet_maximum"],
        )


def _not_above(turn: CrapsTurn, command: BetPlace, bet: CrapsBet, number: int | None) -> None:
    simple = turn.settings.highest_simple
    if simple is None and turn.state.minimum is not None:
        simple = turn.state.minimum * turn.book.simple_limits[1]
    most = (
        None if simple is None else highest_alone(bet, number, simple, turn.book.multiple_gain[1])
    )
    stakes.within(
        command.bet, command.amount, Bounds(None, most), turn.book.laws[f"bet_maximum_{bet.kind}"]
    )


# Guards


def known(turn: CrapsTurn, command: BetPlace | BetWithdraw) -> tuple[CrapsBet, int | None]:
    """The bet, and the number that it is on. Raises ``RejectedError`` for an unknown one."""
    try:
        return parse(turn.bets, command.bet)
    except ValueError:
        names = tuple(all_names(turn.bets))
        raise RejectedError("unknown_bet", bet=command.bet, bets=names) from None


def of_a_seat(turn: CrapsTurn, command: BetPlace) -> None:  # noqa: ARG001 - at any table
    """Reject a bet of nobody's."""
    if not _SEAT.fullmatch(command.who):
        raise RejectedError("seat_required")


def bets_not_closed(turn: CrapsTurn) -> Refused | None:
    """No throw is in progress."""
    if (current := turn.state.current) and current.closed:
        return refuse(turn, "bet_after_close", "bets_closed")
    return None


def unlocked(turn: CrapsTurn, command: BetWithdraw) -> None:
    """Reject a bet that is not placed, and one that must stay."""
    bet, _ = known(turn, command)
    if turn.holds(command.who, command.bet) is None:
        raise RejectedError("bet_not_placed", who=command.who, bet=command.bet)
    if bet.locked:
        raise refuse(turn, "bet_locked", "bet_locked", bet=command.bet).error()


def any_unlocked(turn: CrapsTurn) -> bool:
    """A bet may be withdrawn."""
    return any(not turn.bets[bet.bet.split(":")[0]].locked for bet in turn.state.bets)
