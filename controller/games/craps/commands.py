"""Handlers of commands about sessions, bets and results at a table of craps."""

from __future__ import annotations

from msgspec.structs import replace

from controller.contract.commands import (
    BetsClose,
    BetsOpen,
    DiceTell,
    LastRoundsAnnounce,
    ResultCorrect,
    RoundConfirm,
    RoundVoid,
    SessionClose,
    SessionOpen,
)
from controller.contract.events import LastRounds, ResultCorrected, SessionClosed
from controller.contract.refusals import Field, RejectedError
from controller.games.craps.bets import Dice, sevens_out
from controller.games.craps.readings import land
from controller.games.craps.state import CrapsEntry, CrapsRound
from controller.games.craps.turn import DECISIONS, CrapsTurn, are_dice
from controller.games.session import confirmer, corrects, named, sent, session
from controller.rulebooks.law import Law

# Sessions


def open_session(turn: CrapsTurn, command: SessionOpen) -> None:
    """Open the table, with new dice, no point, no shooter, and a minimum that fits its highest
    stake.
    """
    highest, (low, high) = turn.settings.highest_simple, turn.book.simple_limits
    if (
        command.minimum
        and highest is not None
        and not low * command.minimum <= highest <= high * command.minimum
    ):
        raise refuse(
            turn, "bet_maximum_simple", "highest_stake", highest=highest, low=low, high=high
        )
    turn.open_session(command)
    turn.change(
        current=None,
        before=None,
        shooter=None,
        thrown=None,
        taken_over=False,
        bets=(),
        last=None,
        moved=False,
        gap=False,
        airborne=None,
        stray=False,
        relaunch=False,
    )


def close_session(turn: CrapsTurn, command: SessionClose) -> None:
    """Close the table. A throw without a result stays unresolved; the dice are not used in the next
    session.
    """
    session(turn)
    current, dice = turn.state.current, turn.state.set
    if current and (current.closed or current.asks):
        turn.unresolved(current, "undecided", current.dice)
    if (point := turn.point) is not None:
        turn.change(current=None)
        turn.irregular("series_unfinished", detail=f"point {point}")
    past = (
        *turn.state.used,
        *(dice.serials if dice else ()),
    ) or turn.state.past  # a session without dice used none
    turn.change(open=False, current=None, set=None, used=(), past=past, relaunch=False)
    turn.emit(SessionClosed(by=command.by, role=command.role, locked=command.locked))


# Bets, if a person opens and closes them


def open_bets(turn: CrapsTurn, command: BetsOpen) -> None:
    """Open bets for the next throw."""
    session(turn)
    _person(turn)
    state = turn.state
    if state.current:
        raise RejectedError("round_in_progress", round=state.current.round)
    if waiting := state.unresolved():
        raise RejectedError("round_without_result", round=waiting[0].round)
    if state.last == 0:
        raise RejectedError("last_shooter_thrown")
    if lacking := turn.lacking():
        raise refuse(turn, "dice_unregistered", "dice_not_ready", command=sent((lacking,))[0])
    turn.change(gap=False, airborne=None, moved=False)
    turn.open_bets(by=command.by)


def close_bets(turn: CrapsTurn, command: BetsClose) -> None:
    """Close the bets: the shooter throws at once."""
    session(turn)
    _person(turn)
    current = turn.state.current
    if current is None or current.closed:
        raise RejectedError("bets_not_open")
    turn.change(gap=False, airborne=None)
    if turn.settings.early_throw == "ignored" and turn.state.dice != "moving":
        turn.change(moved=False)
        turn.change_current(throw=None, frames=())
    turn.close_bets(by=command.by)


# Throws


def tell_dice(turn: CrapsTurn, command: DiceTell) -> None:
    """Record the dice as the croupier reports them."""
    session(turn)
    dice, current = _dice(command.values), turn.state.current
    if current is None:
        raise RejectedError("dice_not_due")
    _in_order(turn, current.round)
    if current.dice is not None:
        raise RejectedError("round_has_dice", round=current.round, commands=sent(current.asks))
    if not current.closed:
        if not turn.by_itself:
            raise refuse(turn, "throw_before_close", "bets_still_open")
        turn.close_bets(by=command.by)
    if turn.state.current and turn.state.current.asks != DECISIONS:
        turn.change_current(asks=())
    land(turn, dice, confirmer(command))


def void(turn: CrapsTurn, command: RoundVoid) -> None:
    """Void the throw, for a reason of the decree or by decision of the person in charge."""
    round_ = _undecided(turn, command.round, "round.void")
    law = turn.book.void.get(command.reason)
    if law is None:
        raise RejectedError(
            "void_reason_not_allowed", reason=command.reason, reasons=tuple(turn.book.void)
        )
    turn.void(round_, command.reason, law, command)


def confirm(turn: CrapsTurn, command: RoundConfirm) -> None:
    """Confirm the result of a throw, or let the round in progress continue."""
    round_ = _undecided(turn, command.round, "round.confirm")
    _in_order(turn, round_.round)
    who = confirmer(command)
    seen = round_.dice if isinstance(round_, CrapsRound) else round_.candidate
    dice = seen if command.dice is None else _dice(command.dice)
    if isinstance(round_, CrapsRound):
        if not round_.asks:
            raise RejectedError("nothing_to_confirm", round=round_.round)
        if dice is None:
            turn.change_current(asks=(), confirmed_by=who)
            return
        if not round_.closed:
            turn.close_bets(unobserved=True)
            round_ = turn.state.current or round_
    if dice is None:
        raise RejectedError("dice_unknown", round=round_.round)
    turn.result(round_, dice, confirmed_by=who)


def correct(turn: CrapsTurn, command: ResultCorrect) -> None:
    """Correct a published result and every later one that depended on its point. They are replaced,
    never erased.
    """
    corrects(command, "dice")
    entry = turn.state.entry(command.round)
    if entry is None:
        raise RejectedError("round_not_remembered", round=command.round)
    if entry.kind != "result":
        raise RejectedError("no_result_to_correct", round=command.round)
    if command.dice is None:
        raise RejectedError("dice_missing")
    dice = _dice(command.dice)
    if dice == entry.dice:
        raise RejectedError("dice_unchanged")
    before, latest = turn.point, turn.state.results()[-1]
    _replace(turn, replace(entry, dice=dice, corrected=True), command)
    for later in turn.state.results():
        point = turn.state.point(turn.book.points, before_round=later.round)
        if later.round > entry.round and later.point != point:
            _replace(turn, replace(later, point=point), command)
    turn.emit_point(latest.round, before, turn.point)
    now = turn.state.entry(latest.round)
    assert now is not None
    if now != latest and turn.state.open:
        since = [bet for bet in turn.state.bets if bet not in turn.left_lying(latest)]
        turn.change(bets=(*turn.left_lying(now), *since))
        _give_back(turn, latest, now, command)


def _replace(turn: CrapsTurn, entry: CrapsEntry, command: ResultCorrect) -> None:
    turn.state = turn.state.after(entry, turn.book.points)
    turn.emit(
        ResultCorrected(
            round=entry.round,
            replaces=None,
            replaces_boot=None,
            outcome=entry.outcome,
            bets=turn.settled(entry),
            by=command.by,
            role=command.role,
        )
    )


def _give_back(turn: CrapsTurn, was: CrapsEntry, now: CrapsEntry, command: ResultCorrect) -> None:
    """Pass the dice on after all, or give them back, after a correction of the last throw."""
    assert was.dice is not None
    assert now.dice is not None
    before, after = sevens_out(was.point, sum(was.dice)), sevens_out(now.point, sum(now.dice))
    if after and not before:
        turn.pass_dice(now.round)
    elif before and not after:
        if turn.state.last is not None:
            turn.change(last=turn.state.last + 1)
            turn.emit(
                LastRounds(
                    round=now.round, purpose="close", left=turn.state.last or 0, by=command.by
                )
            )
        turn.give_dice(now.shooter, "corrected", number=now.round, by=command.by)


# Announcements


def announce_last_rounds(turn: CrapsTurn, command: LastRoundsAnnounce) -> None:
    """Announce the present shooter as the last one before closing."""
    session(turn)
    left = turn.book.last_rounds
    if left is None:
        raise RejectedError("last_shooter_none")
    if turn.state.last is not None:
        raise RejectedError("last_shooter_announced")
    turn.change(last=left)
    call = turn.book.announcements.get("last_rounds")
    turn.emit(LastRounds(purpose="close", left=left, by=command.by, announcement=call))


# Preconditions of commands


def refuse(turn: CrapsTurn, what: str, key: str, **fields: Field) -> RejectedError:
    """A refusal that cites the law of this name."""
    law: Law = turn.book.laws[what]
    return RejectedError(key, law=law.cited, **fields)


def _person(turn: CrapsTurn) -> None:
    if turn.by_itself:
        raise RejectedError("bets_by_dice")


def _dice(values: Dice) -> Dice:
    if not are_dice(values):
        raise RejectedError("dice_values_wrong", dice=2)
    return values


def _in_order(turn: CrapsTurn, number: int) -> None:
    """Require that earlier throws are decided: a throw is decided against the point before it."""
    if (waiting := turn.state.unresolved()) and waiting[0].round < number:
        raise RejectedError("round_comes_first", round=waiting[0].round)


def _undecided(turn: CrapsTurn, number: int | None, command: str) -> CrapsRound | CrapsEntry:
    """The round of a decision: the one in progress, else the first unresolved one, else the one
    that is named.
    """
    current, waiting = turn.state.current, turn.state.unresolved()
    if number is None:
        if current and not waiting and (command == "round.void" or current.asks):
            return current
        if len(waiting) == 1 and not (current and current.asks):
            return waiting[0]
        if not waiting:
            if current:
                raise RejectedError("nothing_to_confirm", round=current.round)
            raise RejectedError("no_round_to_decide")
        candidates = (*waiting, *((current,) if current else ()))
        raise RejectedError(
            "say_round", rounds=tuple(str(undecided.round) for undecided in candidates)
        )
    return named(
        turn.state,
        current,
        number,
    )
