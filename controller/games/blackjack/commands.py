"""The commands of a table of black jack: their moves, their guards, and the table of both.

Hands' decisions and a person's decisions about a card are in ``blackjack.decisions``, bets in
``blackjack.bets``.
"""

from __future__ import annotations

from common.contract.commands import (
    BetPlace,
    BetsClose,
    BetsOpen,
    BetWithdraw,
    BoxesSet,
    CardDecide,
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
from common.contract.events import LastRounds, SessionClosed
from common.contract.refusals import RejectedError
from controller.games import shoe, talla
from controller.games.blackjack import bets, decisions, moves
from controller.games.blackjack.course import between_plays
from controller.games.blackjack.moves import BlackjackTurn
from controller.games.blackjack.state import BlackjackDeal, BlackjackLimit, BlackjackSeat
from controller.games.dealt.guards import has_shoe
from controller.games.guards import (
    FieldCheck,
    Refused,
    Row,
    Rows,
    another_minimum,
    has_round,
    is_closed,
    is_open,
    lawful_minimum,
    rounds_left,
)
from controller.games.roles import AT_THE_TABLE, IN_CHARGE, VOIDERS
from controller.games.session import confirmer, void_law

# Sessions


def open_session(turn: BlackjackTurn, command: SessionOpen) -> None:
    """Open the table, without a shoe."""
    turn.open_table(command)
    turn.change(past=shoe.new_session(turn.state.past), limit=None, last=None, last_shoe=None)


def close_session(turn: BlackjackTurn, command: SessionClose) -> None:
    """Close the table. A round whose bets are closed and that has no result is left unresolved, and
    the shoe is over.
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
    _end_round(turn)
    _end_talla(turn)
    burned = not turn.settings.continuous or turn.settings.burn_continuous == "yes"
    assert isinstance(turn.book.shoe.burn, int)
    burn = turn.book.shoe.burn if burned else 0
    turn.change(burn=burn, held=(), doubt=None)
    talla.begin(turn, command, turn.book.announcements.get("shoe"))


def end_shoe(turn: BlackjackTurn, command: ShoeEnd) -> None:
    """End the shoe; if the cards left in it were counted, check the count."""
    _end_round(turn)
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
            moves.count_shoe(turn)
    turn.change(shoe=None, burn=0, held=(), doubt=None)
    limit = turn.state.limit
    if limit is not None and limit.left is None:
        moves.change_limit(turn)


# Rounds


def set_boxes(turn: BlackjackTurn, command: BoxesSet) -> None:
    """Set the boxes with a bet in this round. They may be set again until its first card is
    dealt.
    """
    boxes, least = tuple(sorted(command.boxes)), turn.book.least_hands
    _begin(turn, command)
    turn.change_current(hands=tuple(BlackjackSeat(who=f"box:{box}") for box in boxes))
    if len(boxes) < least:
        turn.change(doubt="hands_too_few")
    elif turn.state.doubt == "hands_too_few":
        turn.change(doubt=None)


def open_bets(turn: BlackjackTurn, command: BetsOpen) -> None:
    """Open bets for a new round."""
    _begin(turn, command)


def close_bets(turn: BlackjackTurn, command: BetsClose) -> None:
    """Close the bets: the cards may come."""
    _begin(turn, command)
    turn.close_bets(command.by)


def _begin(turn: BlackjackTurn, command: Command) -> None:
    """Ensure that a round without cards is in progress; begin one if necessary."""
    if _is_unbegun(turn, closes=isinstance(command, BetsClose)):
        return
    deal = turn.state.current
    if deal is not None and between_plays(deal):
        turn.change(current=None)
    elif deal is not None:
        moves.conclude_unkeyed(turn)
    moves.open_bets(turn, command.by)


def _is_unbegun(turn: BlackjackTurn, *, closes: bool) -> bool:
    """Whether a round without cards is in progress. ``closes``: whose bets may be closed."""
    deal = turn.state.current
    return deal is not None and not deal.begun and not (deal.closed and closes)


def void(turn: BlackjackTurn, command: RoundVoid) -> None:
    """Void the round in progress. The decrees list no reasons: the person in charge decides, for a
    reason that can come up at this game.
    """
    law = void_law(turn, command)
    turn.change(held=() if turn.state.burn == 0 else turn.state.held)
    moves.void(turn, turn.number, command.reason, law, command)


def confirm(turn: BlackjackTurn, command: RoundConfirm) -> None:
    """Let a round begin with too few hands, or end a round whose course was not reported."""
    if turn.state.doubt == "hands_too_few":
        turn.change(doubt="silence" if turn.state.silent else None)
        turn.change_current(confirmed_by=confirmer(command))
    else:
        turn.change_current(confirmed_by=confirmer(command))
        moves.conclude_unkeyed(turn)


def _leave_round(turn: BlackjackTurn) -> None:
    deal = turn.state.current
    if deal is not None and _needs_outcome(deal):
        moves.unresolved(turn, "undecided")
    turn.change(current=None, held=())


# Announcements


def announce_limit(turn: BlackjackTurn, command: LimitAnnounce) -> None:
    """Announce a new minimum. It applies after the last rounds, or the last shoe, at the old one,
    as the decree requires.
    """
    left = turn.book.last_rounds if turn.book.limit_after == "rounds" else None
    turn.change(limit=BlackjackLimit(minimum=command.minimum, left=left))
    if left is not None:
        turn.emit(LastRounds(purpose="limit", left=left, by=command.by))
    elif turn.state.shoe is None:
        moves.change_limit(turn)


def announce_last_rounds(turn: BlackjackTurn, command: LastRoundsAnnounce) -> None:
    """Announce the last rounds before closing or, if the decree provides for it, the last shoe: the
    current one, or else the next.
    """
    by_shoe = turn.book.close_after == "shoe" and not turn.settings.continuous
    left = 1 if by_shoe else turn.book.last_rounds
    if by_shoe:
        turn.change(last_shoe=left)
    else:
        turn.change(last=left)
    call = turn.book.announcements.get("last_shoe" if by_shoe else "last_rounds")
    turn.emit(LastRounds(purpose="close", left=left, by=command.by, announcement=call))


def _end_round(turn: BlackjackTurn) -> None:
    """End the round in progress, which has no cards left to come."""
    deal = turn.state.current
    if deal is not None and _needs_outcome(deal):
        moves.conclude_unkeyed(turn)
    else:
        turn.change(current=None)


def _needs_outcome(deal: BlackjackDeal) -> bool:
    """Whether players can no longer withdraw from the round: its bets are closed or a card came,
    and its result is not published.
    """
    return (deal.closed or deal.begun) and not between_plays(deal)


# Guards


def is_free(turn: BlackjackTurn) -> Refused | None:
    """No round is in progress that must be ended first."""
    deal = turn.state.current
    if deal is None or not _needs_outcome(deal) or not turn.settings.keys:
        return None
    return Refused("round_in_progress", {"round": deal.round})


def is_numbered(turn: BlackjackTurn, command: ShoeStart) -> None:
    """Reject a shoe without a number."""
    talla.numbered(command, turn.book.article)


def shoe_left(turn: BlackjackTurn) -> Refused | None:
    """Another shoe may be started: the last one is not announced, or has not begun."""
    state = turn.state
    running = state.shoe is not None and not state.shoe.over and state.doubt != "shoe_reset"
    left = state.last_shoe is None or (state.last_shoe == 1 and not running)
    return None if left else Refused("last_shoe_announced")


def last_shoe_lasts(turn: BlackjackTurn) -> Refused | None:
    """The announced last shoe is not over."""
    return Refused("last_shoe_announced") if turn.state.last_shoe == 0 else None


def boxes_in_range(turn: BlackjackTurn, command: BoxesSet) -> None:
    """Reject boxes that the table does not have, and any named twice."""
    boxes, most = command.boxes, turn.rules.boxes
    if not boxes or len(set(boxes)) < len(boxes) or not set(boxes) <= set(range(1, most + 1)):
        raise RejectedError("boxes_out_of_range", most=most)


def bets_unopened(turn: BlackjackTurn) -> Refused | None:
    """No round without cards is in progress."""
    deal = turn.state.current
    if deal is not None and not deal.begun:
        return Refused("bets_open_already", {"round": deal.round})
    return None


def bets_unclosed(turn: BlackjackTurn) -> Refused | None:
    """The bets of the round in progress are not closed by a key."""
    deal = turn.state.current
    if deal is not None and deal.closed and turn.settings.keys and not between_plays(deal):
        return Refused("bets_closed_already", {"round": deal.round})
    return None


def may_begin(turn: BlackjackTurn) -> Refused | None:
    """A round without cards is in progress, or may begin."""
    return _unplayable(turn, closes=False)


def may_begin_closed(turn: BlackjackTurn) -> Refused | None:
    """A round whose bets are not closed is in progress, or may begin."""
    return _unplayable(turn, closes=True)


def _unplayable(turn: BlackjackTurn, *, closes: bool) -> Refused | None:
    """Why no other round may begin; None also if one without cards is in progress."""
    state, deal = turn.state, turn.state.current
    if _is_unbegun(turn, closes=closes):
        return None
    if deal is not None and not between_plays(deal):
        if turn.settings.keys:
            return Refused("round_in_progress", {"round": deal.round})
        if deal.last or state.last == 1:
            key = "last_round_of_shoe" if deal.last else "last_round_running"
            return Refused(key, {"round": deal.round})
    if state.shoe is not None and state.shoe.over:
        return Refused("shoe_over", law=turn.book.laws["shoe_over"])
    if state.doubt is not None:
        return Refused("table_in_doubt", {"doubt": state.doubt})
    return None


def of_this_round(turn: BlackjackTurn, command: RoundVoid | RoundConfirm) -> None:
    """Reject the number of another round."""
    if command.round not in (None, turn.number):
        raise RejectedError("round_not_in_progress", round=command.round)


def without_result(turn: BlackjackTurn, command: RoundConfirm) -> None:  # noqa: ARG001 - at any table
    """Reject a result: the cards give it."""
    if command.number is not None or command.winner is not None:
        raise RejectedError("result_from_cards")


def unconfirmed(turn: BlackjackTurn) -> Refused | None:
    """Too few hands play, or the course of the round was not reported."""
    deal = turn.current
    waits = turn.state.doubt == "hands_too_few" or (not turn.settings.keys and deal.begun)
    return None if waits else Refused("nothing_to_confirm", {"round": deal.round})


def limit_may_change(turn: BlackjackTurn) -> Refused | None:
    """The decree allows another minimum."""
    if turn.book.limit_change == "none":
        return Refused("minimum_fixed", law=turn.book.article)
    return None


def limit_unannounced(turn: BlackjackTurn) -> Refused | None:
    """No new minimum is announced."""
    limit = turn.state.limit
    return None if limit is None else Refused("minimum_announced", {"minimum": limit.minimum})


def limit_known(turn: BlackjackTurn) -> Refused | None:
    """The present minimum is known, where it may only rise."""
    if turn.book.limit_change == "upward" and turn.state.minimum is None:
        return Refused("minimum_not_given", law=turn.book.article)
    return None


def rises(turn: BlackjackTurn, command: LimitAnnounce) -> None:
    """Reject a lower minimum, where it may only rise."""
    now = turn.state.minimum
    if turn.book.limit_change == "upward" and now is not None and command.minimum < now:
        raise RejectedError("minimum_may_only_rise", minimum=now, law=turn.book.article)


def not_closing(turn: BlackjackTurn) -> Refused | None:
    """Neither the last rounds nor the last shoe is announced."""
    announced = turn.state.last is not None or turn.state.last_shoe is not None
    return Refused("last_rounds_already_announced") if announced else None


BEGINS = (rounds_left, last_shoe_lasts, has_shoe)

COMMANDS: Rows = {
    SessionOpen: Row(IN_CHARGE, (is_closed, FieldCheck(lawful_minimum)), open_session),
    SessionClose: Row(IN_CHARGE, (is_open,), close_session),
    RoundVoid: Row(VOIDERS, (is_open, has_round, FieldCheck(of_this_round)), void),
    RoundConfirm: Row(
        IN_CHARGE,
        (
            is_open,
            has_round,
            FieldCheck(of_this_round),
            FieldCheck(without_result),
            unconfirmed,
        ),
        confirm,
    ),
    LimitAnnounce: Row(
        IN_CHARGE,
        (
            is_open,
            FieldCheck(lawful_minimum),
            limit_may_change,
            limit_unannounced,
            FieldCheck(another_minimum),
            limit_known,
            FieldCheck(rises),
        ),
        announce_limit,
    ),
    CardDecide: decisions.CARD_DECIDE,
    ShoeStart: Row(
        AT_THE_TABLE, (is_open, is_free, FieldCheck(is_numbered), shoe_left), start_shoe
    ),
    ShoeEnd: Row(AT_THE_TABLE, (is_open, is_free, has_shoe), end_shoe),
    BoxesSet: Row(
        AT_THE_TABLE, (FieldCheck(boxes_in_range), is_open, *BEGINS, may_begin), set_boxes
    ),
    BetsOpen: Row(AT_THE_TABLE, (is_open, bets_unopened, *BEGINS, may_begin), open_bets),
    BetsClose: Row(AT_THE_TABLE, (is_open, bets_unclosed, *BEGINS, may_begin_closed), close_bets),
    BetPlace: bets.PLACE,
    BetWithdraw: bets.WITHDRAW,
    LastRoundsAnnounce: Row(AT_THE_TABLE, (is_open, not_closing), announce_last_rounds),
    **decisions.KEYS,
}
"""The commands of every table of black jack."""
