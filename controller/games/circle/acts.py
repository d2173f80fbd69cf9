"""Actions of players: in a betting interval, at the showdown, or between two rounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from common.contract.commands import BettingClose, HandAct
from common.contract.events import HandDecided
from common.contract.refusals import RejectedError
from controller.games.circle import doubts, moves
from controller.games.circle.state import CirclePlace, CircleSeat, SeatStatus
from controller.games.circle.turn import CircleTurn
from controller.games.guards import Refused


def act(turn: CircleTurn, command: HandAct) -> None:
    """Handle an action of a player, reported by the croupier."""
    does = ACTS.get(command.action)
    if does is None:
        raise RejectedError("action_not_allowed", action=command.action, actions=tuple(ACTS))
    allow_no_return(command)
    does(turn, command)


def allow_no_return(command: HandAct) -> None:
    """Reject the withdrawal of an action; a wrong one is corrected by reporting the right one."""
    if not command.valid:
        raise RejectedError("action_not_withdrawn")


def close(turn: CircleTurn, command: BettingClose) -> None:
    """Close the betting interval: the bets are equal, or all others folded and ``winner`` takes the
    pot without showing.
    """
    hand = turn.current
    if command.winner is None:
        turn.variant.close_betting(turn, command.by)
        return
    seat = moves.player(turn, command.winner)
    for other in hand.live:
        if other != seat:
            turn.change_seat(other.who, status="folded")
    turn.variant.win(turn, seat.who)


def betting_open(turn: CircleTurn) -> Refused | None:
    """A betting interval is open."""
    hand = turn.state.current
    return Refused("betting_not_open") if hand is None or not hand.open else None


def any_player(turn: CircleTurn) -> bool:
    """A seat is taken, or a round is in progress."""
    return bool(turn.state.seated) or turn.state.current is not None


def _bets(turn: CircleTurn, command: HandAct) -> None:
    """Record an action in the betting interval. It counts even if the player acts out of turn."""
    seat = _speaker(turn, command)
    hand = turn.current
    if command.action == "check" and hand.bet:
        raise RejectedError("check_after_bet", who=seat.who)
    if command.action == "bet" and hand.bet:
        raise RejectedError("bet_after_bet")
    turn.change_current(bets_begun=True, spoken=True)
    if command.action == "raise":
        turn.change_seat(seat.who, raises=seat.raises + 1)
    if command.action == "all_in":
        turn.change_seat(seat.who, status="all_in")
    if command.action in ("bet", "raise", "all_in"):
        turn.change_current(bet=True, bettor=seat.number)
    _emit_action(turn, command)
    most = turn.book.raises
    if (
        command.action == "raise"
        and most is not None
        and seat.raises >= most
        and len(hand.live) > 2
    ):
        turn.irregular(
            "raise_limit", detail=f"{seat.who}, {seat.raises + 1} raises; {most} are allowed"
        )


def _folds(turn: CircleTurn, command: HandAct) -> None:
    """Fold a player, also if betting was closed too early. The last live player wins."""
    hand = turn.state.current
    if hand is not None and hand.showdown:
        raise RejectedError("fold_at_showdown")
    if hand is None or hand.open or not hand.bets_begun:
        _speaker(turn, command)
        turn.change_current(bets_begun=True, spoken=True)
    moves.player(turn, command.who)
    leave_round(turn, command.who, "folded")
    _emit_action(turn, command)
    settle(turn)


def leave_round(turn: CircleTurn, who: str, status: SeatStatus) -> None:
    """Take a player out of the round: no card is due to him, and no decision of his is pending."""
    turn.change_seat(who, status=status)
    if any(place.to == who for place in turn.current.due):
        doubts.mistrust(turn)
    moves.none_due(turn, who)
    doubts.resolve(
        turn,
        *(doubt for doubt in turn.state.doubts if doubt.who == who and "hand.act" in doubt.asks),
    )


def settle(turn: CircleTurn) -> None:
    """Publish the result, or continue the deal, after a player left the round."""
    turn.course.advance(turn)
    hand = turn.state.current
    if hand is not None and not (hand.open or hand.showdown):
        turn.variant.dealt(turn)


def _mucks(turn: CircleTurn, command: HandAct) -> None:
    """Record that a player mucks: he does not show and has no share of the pot."""
    hand = turn.state.current
    if hand is None or not hand.showdown:
        raise RejectedError("muck_before_showdown")
    seat = moves.player(turn, command.who)
    if seat.shown:
        raise RejectedError("cards_already_up", who=seat.who)
    turn.change_seat(seat.who, status="mucked")
    _emit_action(turn, command)
    turn.course.advance(turn)


def _sits_out(turn: CircleTurn, command: HandAct) -> None:
    """Record that a player sits out from the next round on and keeps the seat."""
    number = _place(turn, command.who)
    if str(number) in turn.state.resting:
        raise RejectedError("already_sitting_out", who=command.who)
    turn.change(resting={**turn.state.resting, str(number): 0})
    _emit_action(turn, command)


def _is_back(turn: CircleTurn, command: HandAct) -> None:
    """Let a player who sat out play from the next round on; otherwise restore a hand of this round
    that was wrongly reported as folded.
    """
    hand = turn.state.current
    seat = hand.seat(command.who) if hand is not None else None
    rests = command.who.removeprefix("seat:") in turn.state.resting
    if (
        not rests
        and hand is not None
        and seat is not None
        and seat.status in ("folded", "mucked", "all_in")
    ):
        cards = {len(hand.cards_of(player.who)) - player.discards for player in (seat, *hand.live)}
        due = [place for place in hand.due if place.to.startswith("seat:")]
        if len(cards) > 1 or (
            due
            and [(place.to, place.turn) for place in due]
            != [(seat.who, False) for seat in hand.live]
        ):
            raise RejectedError("cannot_return", who=seat.who)
        turn.change_seat(seat.who, status="in")
        if due:
            _is_due(turn, seat.who, all(place.up for place in due))
        _emit_action(turn, command)
        return
    number = str(_place(turn, command.who))
    if number not in turn.state.resting:
        raise RejectedError("not_sitting_out", who=command.who)
    turn.change(
        resting={name: rounds for name, rounds in turn.state.resting.items() if name != number}
    )
    _emit_action(turn, command)


def _is_due(turn: CircleTurn, who: str, up: bool) -> None:
    """Deal this player in on the current street, of which no card has come."""
    due = turn.current.due
    before = [seat.who for seat in turn.current.live]
    before = before[: before.index(who)]
    others = [index for index, place in enumerate(due) if place.to.startswith("seat:")]
    at = others[0] + len(before)
    turn.change_current(due=(*due[:at], CirclePlace(to=who, up=up), *due[at:]))
    moves.expect(turn)


ACTS: Mapping[str, Callable[[CircleTurn, HandAct], None]] = {
    "check": _bets,
    "bet": _bets,
    "call": _bets,
    "raise": _bets,
    "all_in": _bets,
    "fold": _folds,
    "muck": _mucks,
    "out": _sits_out,
    "in": _is_back,
}
"""The function for each action."""


def _speaker(turn: CircleTurn, command: HandAct) -> CircleSeat:
    hand = turn.state.current
    if hand is None or not hand.open:
        raise RejectedError("betting_not_open")
    seat = moves.player(turn, command.who)
    if seat.status != "in":
        raise RejectedError("nothing_left_to_bet", who=seat.who)
    return seat


def _place(turn: CircleTurn, who: str) -> int:
    number = next((number for number in turn.state.seated if who == f"seat:{number}"), None)
    if number is None:
        raise RejectedError(
            "not_seated", who=who, seated=tuple(f"seat:{seat}" for seat in turn.state.seated)
        )
    return number


def _emit_action(turn: CircleTurn, command: HandAct) -> None:
    number = turn.state.current.round if turn.state.current is not None else 0
    call = turn.book.announcements.get(command.action)
    turn.emit(
        HandDecided(
            round=number, who=command.who, decision=command.action, by=command.by, announcement=call
        )
    )
