"""Commands of a person at a table of black jack. One that cannot be followed is rejected with the
reason.

Hands' decisions and a person's decisions about a card are in ``blackjack.decisions``.
"""

from __future__ import annotations

from controller.contract.commands import (
    BetsClose,
    BetsOpen,
    BoxesSet,
    Command,
    LastRoundsAnnounce,
    LimitAnnounce,
    RoundConfirm,
    RoundVoid,
    SessionClose,
    SessionOpen,
    ShoeEnd,
    ShoeStart,
)
from controller.contract.events import LastRounds, SessionClosed
from controller.contract.refusals import RejectedError
from controller.games import shoe, talla
from controller.games.blackjack.course import between_plays
from controller.games.blackjack.state import BlackjackDeal, BlackjackLimit, BlackjackSeat
from controller.games.blackjack.turn import BlackjackTurn
from controller.games.roles import allow_minimum
from controller.games.session import another_round, confirmer, session, void_law

# Sessions


def open_session(turn: BlackjackTurn, command: SessionOpen) -> None:
    """Open the table, without a shoe."""
    turn.open_session(command)
    turn.change(past=shoe.new_session(turn.state.past), limit=None, last=None, last_shoe=None)


def close_session(turn: BlackjackTurn, command: SessionClose) -> None:
    """Close the table. A round that was dealt and has no result is left unresolved, and the shoe is
    over.
    """
    _leave_round(turn)
    _end_talla(turn)
    turn.clear_alert("shoe_missing")
    turn.change(open=False)
    turn.settle()
    turn.emit(SessionClosed(by=command.by, role=command.role, locked=command.locked))


# The shoe


def start_shoe(turn: BlackjackTurn, command: ShoeStart) -> None:
    """Start a shoe; its burn cards come first."""
    _no_round(turn)
    talla.numbered(command, turn.book.article)
    _end_talla(turn)
    _another_shoe(turn)
    burned = not turn.settings.continuous or turn.settings.burn_continuous == "yes"
    assert isinstance(turn.book.shoe.burn, int)
    burn = turn.book.shoe.burn if burned else 0
    turn.change(burn=burn, held=(), doubt=None)
    talla.begin(turn, command, turn.book.announcements.get("shoe"))


def end_shoe(turn: BlackjackTurn, command: ShoeEnd) -> None:
    """End the shoe; if the cards left in it were counted, check the count."""
    _no_round(turn)
    if turn.state.shoe is None:
        raise RejectedError("no_shoe")
    _end_talla(turn, command.left)


def _end_talla(turn: BlackjackTurn, left: int | None = None) -> None:
    now = turn.state.shoe
    if now is None:
        return
    if shoe.miscounted(now, left):
        turn.irregular("shoe_count", detail=f"{left} cards are left, by the count {now.left}")
    if not now.over:
        reset = turn.state.doubt == "shoe_reset"
        turn.emit(shoe.ended(now, "reset" if reset else "person", left))
        if not reset:  # else the same cards may be put in again
            turn.count_shoe()
    turn.change(shoe=None, burn=0, held=(), doubt=None)
    limit = turn.state.limit
    if limit is not None and limit.left is None:
        turn.change_limit()


# Rounds


def set_boxes(turn: BlackjackTurn, command: BoxesSet) -> None:
    """Set the boxes with a bet in this round. They may be set again until its first card is
    dealt.
    """
    boxes, most, least = tuple(sorted(command.boxes)), turn.rules.boxes, turn.book.least_hands
    if not boxes or len(set(boxes)) < len(boxes) or not set(boxes) <= set(range(1, most + 1)):
        raise RejectedError("boxes_out_of_range", most=most)
    _begin(turn, command)
    turn.change_current(hands=tuple(BlackjackSeat(who=f"box:{box}") for box in boxes))
    if len(boxes) < least:
        turn.change(doubt="hands_too_few")
    elif turn.state.doubt == "hands_too_few":
        turn.change(doubt=None)


def open_bets(turn: BlackjackTurn, command: BetsOpen) -> None:
    """Open bets for a new round."""
    deal = turn.state.current
    if deal is not None and not deal.begun:
        raise RejectedError("bets_open_already", round=deal.round)
    _begin(turn, command)


def close_bets(turn: BlackjackTurn, command: BetsClose) -> None:
    """Close the bets: the cards may come."""
    deal = turn.state.current
    if deal is not None and deal.closed and turn.settings.keys and not between_plays(deal):
        raise RejectedError("bets_closed_already", round=deal.round)
    _begin(turn, command)
    turn.close_bets(command.by)


def _begin(turn: BlackjackTurn, command: Command) -> None:
    """Ensure that a round without cards is in progress; begin one if necessary."""
    another_round(turn, turn.state.last)
    _another_shoe(turn)
    state, deal = turn.state, turn.state.current
    if state.shoe is None:
        raise RejectedError("no_shoe")
    if deal is not None and not deal.begun and not (deal.closed and isinstance(command, BetsClose)):
        return
    if deal is not None and between_plays(deal):
        turn.change(current=None)
    elif deal is not None and turn.settings.keys:
        raise RejectedError("round_in_progress", round=deal.round)
    elif deal is not None and (deal.last or turn.state.last == 1):
        raise RejectedError(
            "last_round_of_shoe" if deal.last else "last_round_running", round=deal.round
        )
    if state.shoe.over:
        law = turn.book.laws["shoe_over"]
        raise RejectedError("shoe_over", law=law.cited)
    if state.doubt is not None:
        raise RejectedError("table_in_doubt", doubt=state.doubt)
    if turn.state.current is not None:
        turn.conclude_unkeyed()
    turn.open_bets(command.by)


def void(turn: BlackjackTurn, command: RoundVoid) -> None:
    """Void the round in progress. The decrees list no reasons: the person in charge decides, for a
    reason that can come up at this game.
    """
    session(turn)
    _in_progress(turn, command.round)
    law = void_law(turn, command)
    turn.change(held=() if turn.state.burn == 0 else turn.state.held)
    turn.void(turn.number, command.reason, law, command)


def confirm(turn: BlackjackTurn, command: RoundConfirm) -> None:
    """Let a round begin with too few hands, or end a round whose course was not reported."""
    session(turn)
    deal = _in_progress(turn, command.round)
    if command.number is not None or command.winner is not None:
        raise RejectedError("result_from_cards")
    if turn.state.doubt == "hands_too_few":
        turn.change(doubt="silence" if turn.state.silent else None)
        turn.change_current(confirmed_by=confirmer(command))
    elif not turn.settings.keys and deal.begun:
        turn.change_current(confirmed_by=confirmer(command))
        turn.conclude_unkeyed()
    else:
        raise RejectedError("nothing_to_confirm", round=deal.round)


def _leave_round(turn: BlackjackTurn) -> None:
    deal = turn.state.current
    if deal is not None and deal.begun and not between_plays(deal):
        turn.unresolved("undecided")
    turn.change(current=None, held=())


# Announcements


def announce_limit(turn: BlackjackTurn, command: LimitAnnounce) -> None:
    """Announce a new minimum. It applies after the last rounds, or the last shoe, at the old one,
    as the decree requires.
    """
    session(turn)
    state, allowed, now = turn.state, turn.book.limit_change, turn.state.minimum
    allow_minimum(command.minimum)
    turn.require_highest(command.minimum)
    if allowed == "none":
        raise RejectedError("minimum_fixed", law=turn.book.article)
    if state.limit is not None:
        raise RejectedError("minimum_announced", minimum=state.limit.minimum)
    if command.minimum == now:
        raise RejectedError("minimum_already", minimum=now)
    if allowed == "upward" and now is None:
        raise RejectedError("minimum_not_given", law=turn.book.article)
    if allowed == "upward" and now is not None and command.minimum < now:
        raise RejectedError("minimum_may_only_rise", minimum=now, law=turn.book.article)
    left = turn.book.last_rounds if turn.book.limit_after == "rounds" else None
    turn.change(limit=BlackjackLimit(minimum=command.minimum, left=left))
    if left is not None:
        turn.emit(LastRounds(purpose="limit", left=left, by=command.by))
    elif state.shoe is None:
        turn.change_limit()


def announce_last_rounds(turn: BlackjackTurn, command: LastRoundsAnnounce) -> None:
    """Announce the last rounds before closing or, if the decree provides for it, the last shoe: the
    current one, or else the next.
    """
    session(turn)
    if turn.state.last is not None or turn.state.last_shoe is not None:
        raise RejectedError("last_rounds_already_announced")
    by_shoe = turn.book.close_after == "shoe" and not turn.settings.continuous
    left = 1 if by_shoe else turn.book.last_rounds
    if by_shoe:
        turn.change(last_shoe=left)
    else:
        turn.change(last=left)
    call = turn.book.announcements.get("last_shoe" if by_shoe else "last_rounds")
    turn.emit(LastRounds(purpose="close", left=left, by=command.by, announcement=call))


# Preconditions of commands


def _another_shoe(turn: BlackjackTurn) -> None:
    """Reject another shoe after the announced last one."""
    if turn.state.last_shoe == 0:
        raise RejectedError("last_shoe_announced")


def _in_progress(turn: BlackjackTurn, number: int | None) -> BlackjackDeal:
    """The round in progress. Rejects the number of another one."""
    deal = turn.state.current
    if deal is None:
        raise RejectedError("no_round_in_progress")
    if number not in (None, deal.round):
        raise RejectedError("round_not_in_progress", round=number)
    return deal


def _no_round(turn: BlackjackTurn) -> None:
    deal = turn.state.current
    if deal is None or between_plays(deal) or not deal.begun:
        turn.change(current=None)
    elif turn.settings.keys:
        raise RejectedError("round_in_progress", round=deal.round)
    else:
        turn.conclude_unkeyed()
