"""The commands about sessions, bets and results at a table of craps: moves and guards."""

from __future__ import annotations

from msgspec.structs import replace

from common.contract.commands import (
    BetsClose,
    BetsOpen,
    DiceTell,
    LastRoundsAnnounce,
    ResultCorrect,
    RoundConfirm,
    RoundVoid,
    SessionClose,
    SessionOpen,
    WitnessReport,
)
from common.contract.events import LastRounds, ResultCorrected, SessionClosed
from common.contract.refusals import Field, RejectedError
from controller.games.craps.bets import Dice, sevens_out
from controller.games.craps.readings import land
from controller.games.craps.state import CrapsEntry, CrapsRound
from controller.games.craps.turn import DECISIONS, CrapsTurn, are_dice
from controller.games.guards import Refused, has_unresolved
from controller.games.session import confirmer, named, result_to_correct, sent

# Sessions


def open_session(turn: CrapsTurn, command: SessionOpen) -> None:
    """Open the table, with new dice, no point, no shooter, and a minimum that fits its highest
    stake.
    """
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
    turn.change(gap=False, airborne=None, moved=False)
    turn.open_bets(by=command.by)


def close_bets(turn: CrapsTurn, command: BetsClose) -> None:
    """Close the bets: the shooter throws at once."""
    turn.change(gap=False, airborne=None)
    turn.change_current(uncounted=False, quiet_since=None)
    if turn.settings.early_throw == "ignored" and turn.state.dice != "moving":
        turn.change(moved=False)
        turn.change_current(throw=None, frames=())
    turn.close_bets(by=command.by)


# Throws


def tell_dice(turn: CrapsTurn, command: DiceTell) -> None:
    """Record the dice as the croupier reports them."""
    current = turn.state.current
    if current is not None and not current.closed:
        turn.close_bets(by=command.by)
    if turn.state.current and turn.state.current.asks != DECISIONS:
        turn.change_current(asks=())
    land(turn, command.values, confirmer(command))


def void(turn: CrapsTurn, command: RoundVoid) -> None:
    """Void the throw, for a reason of the decree or by decision of the person in charge."""
    round_ = round_to_void(turn, command)
    law = turn.book.void.get(command.reason)
    if law is None:
        raise RejectedError(
            "void_reason_not_allowed", reason=command.reason, reasons=tuple(turn.book.void)
        )
    turn.void(round_, command.reason, law, command)


def confirm(turn: CrapsTurn, command: RoundConfirm) -> None:
    """Confirm the result of a throw, or let the round in progress continue."""
    round_ = round_to_confirm(turn, command)
    who = confirmer(command)
    seen = round_.dice if isinstance(round_, CrapsRound) else round_.candidate
    dice = seen if command.dice is None else command.dice
    if isinstance(round_, CrapsRound):
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
    entry = result(turn, command)
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
    left = turn.book.last_rounds
    assert left is not None
    turn.change(last=left)
    call = turn.book.announcements.get("last_rounds")
    turn.emit(LastRounds(purpose="close", left=left, by=command.by, announcement=call))


# Guards


def refuse(turn: CrapsTurn, what: str, key: str, **fields: Field) -> Refused:
    """A refusal that cites the law of this name."""
    return Refused(key, fields, turn.book.laws[what])


def fits_highest(turn: CrapsTurn, command: SessionOpen) -> None:
    """Reject a minimum that does not fit the table's highest stake."""
    highest, (low, high) = turn.settings.highest_simple, turn.book.simple_limits
    if (
        command.minimum
        and highest is not None
        and not low * command.minimum <= highest <= high * command.minimum
    ):
        raise refuse(
            turn, "bet_maximum_simple", "highest_stake", highest=highest, low=low, high=high
        ).error()


def by_person(turn: CrapsTurn) -> Refused | None:
    """A person opens and closes the bets."""
    return Refused("bets_by_dice") if turn.by_itself else None


def all_resolved(turn: CrapsTurn) -> Refused | None:
    """No throw is without a result."""
    waiting = turn.state.unresolved()
    return Refused("round_without_result", {"round": waiting[0].round}) if waiting else None


def shooter_left(turn: CrapsTurn) -> Refused | None:
    """The last shooter is not announced, or still throws."""
    return Refused("last_shooter_thrown") if turn.state.last == 0 else None


def dice_ready(turn: CrapsTurn) -> Refused | None:
    """The dice are registered and chosen."""
    if lacking := turn.lacking():
        return refuse(turn, "dice_unregistered", "dice_not_ready", command=sent((lacking,))[0])
    return None


def values_right(turn: CrapsTurn, command: DiceTell) -> None:  # noqa: ARG001 - at any table
    """Reject values that two dice cannot show."""
    _dice(command.values)


def read_witness_report(_: object, command: WitnessReport) -> tuple[int, ...]:
    """Return the dice. Reject values that two dice cannot show."""
    return tuple(_dice(command.dice or ()))


def throw_due(turn: CrapsTurn) -> Refused | None:
    """A throw is in progress."""
    return Refused("dice_not_due") if turn.state.current is None else None


def in_order(turn: CrapsTurn) -> Refused | None:
    """Earlier throws than the one in progress are decided."""
    return _out_of_order(turn, turn.number)


def dice_unknown(turn: CrapsTurn) -> Refused | None:
    """The dice of the throw in progress are not known."""
    current = turn.state.current
    if current is None or current.dice is None:
        return None
    return Refused("round_has_dice", {"round": current.round, "commands": sent(current.asks)})


def may_be_thrown(turn: CrapsTurn) -> Refused | None:
    """Bets are closed, or close with the throw."""
    current = turn.state.current
    if current is None or current.closed or turn.by_itself:
        return None
    return refuse(turn, "throw_before_close", "bets_still_open")


def round_to_void(turn: CrapsTurn, command: RoundVoid) -> CrapsRound | CrapsEntry:
    """The throw that is to be void. Raises ``RejectedError`` unless exactly one matches."""
    return _undecided(turn, command.round, "round.void")


def round_to_confirm(turn: CrapsTurn, command: RoundConfirm) -> CrapsRound | CrapsEntry:
    """The throw that waits for a person. Raises ``RejectedError`` unless exactly one matches, and
    for values that two dice cannot show.
    """
    round_ = _undecided(turn, command.round, "round.confirm")
    if refused := _out_of_order(turn, round_.round):
        raise refused.error()
    if command.dice is not None:
        _dice(command.dice)
    if isinstance(round_, CrapsRound) and not round_.asks:
        raise RejectedError("nothing_to_confirm", round=round_.round)
    return round_


def unconfirmed(turn: CrapsTurn) -> bool:
    """A throw waits for a person, or is unresolved."""
    current = turn.state.current
    return has_unresolved(turn) or (current is not None and bool(current.asks))


def result(turn: CrapsTurn, command: ResultCorrect) -> CrapsEntry:
    """The result that is to be corrected."""
    entry: CrapsEntry = result_to_correct(turn, command, "dice")
    return entry


def has_last_shooter(turn: CrapsTurn) -> Refused | None:
    """The decree has a last shooter."""
    return Refused("last_shooter_none") if turn.book.last_rounds is None else None


def last_unannounced(turn: CrapsTurn) -> Refused | None:
    """The last shooter is not announced."""
    return Refused("last_shooter_announced") if turn.state.last is not None else None


def _dice(values: Dice) -> Dice:
    if not are_dice(values):
        raise RejectedError("dice_values_wrong", dice=2)
    return values


def _out_of_order(turn: CrapsTurn, number: int) -> Refused | None:
    """Why this throw may not be decided: a throw is decided against the point before it."""
    waiting = turn.state.unresolved()
    if waiting and waiting[0].round < number:
        return Refused("round_comes_first", {"round": waiting[0].round})
    return None


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
