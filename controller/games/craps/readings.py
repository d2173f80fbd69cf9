"""Readings of the dice at craps.

Only what is live and complete becomes a result. A throw that a silence has hidden is unresolved,
and a person decides.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from common.readings import (
    AnyReading,
    DiceFault,
    DiceFaultName,
    DiceRead,
    DiceState,
    LinkGarbage,
)
from controller.games.craps.state import CrapsEntry, CrapsRound, CrapsState
from controller.games.craps.turn import DECISIONS, DICE_DECISIONS, CrapsTurn, are_dice
from controller.games.moves import frames_of
from controller.games.silences import is_brief, quiet_since_of

FAULT_TROUBLES: Mapping[DiceFaultName, str] = {
    "no_read": "dice_unread",
    "cocked": "die_cocked",
    "unchanged": "dice_unchanged",
    "missing": "dice_count",
    "extra": "dice_count",
}
"""The faults that leave a throw without a reading, and the irregularity of each."""


def on_state(turn: CrapsTurn, reading: DiceState) -> None:
    """Handle the state of the dice: at rest, moving, or settled."""
    if reading.late:
        on_silence(turn, reading)
        return
    before = turn.state
    turn.change(dice=reading.state, tells=True)
    if before.gap and _nothing_missed(turn, reading):
        turn.change(gap=False, airborne=None, throw=reading.throw)
    if reading.state == "idle" and before.open:
        _on_dice_removed(turn, reading, before)
    if (
        reading.state != "moving"
        or not before.open
        or (
            before.dice == "moving"
            and reading.throw in (None, before.current and before.current.throw)
        )
    ):
        return
    turn.change(moved=True)
    if _is_rethrow(turn, reading):
        _leave_undecided(turn, reading)
        turn.change(moved=True)
    current = turn.state.current
    if current is None or current.dice is not None:
        return
    reported_faults = {*FAULT_TROUBLES.values(), "dice_invalid"} & set(current.said)
    if (
        current.closed
        and current.throw is not None
        and reading.throw not in (None, current.throw)
        and not reported_faults
    ):
        turn.ask("dice_unread", DICE_DECISIONS, reading=reading, detail=f"throw {current.throw}")
    early = current.early or (not current.closed and not turn.by_itself)
    turn.change_current(
        throw=reading.throw, early=early, frames=current.frames + frames_of(reading)
    )
    if not current.closed and turn.by_itself:
        turn.close_bets(unobserved=True)


def _on_dice_removed(turn: CrapsTurn, reading: DiceState, before: CrapsState) -> None:
    """Ask a person for the dice if the device counted a throw and they were removed unread."""
    current = before.current
    thrown = (
        before.moved
        if reading.throw is None
        else reading.throw != before.throw and before.throw is not None
    )
    if current and current.closed and current.dice is None and not current.asks and thrown:
        turn.ask(
            "dice_unread",
            DICE_DECISIONS,
            reading=reading,
            detail=None if reading.throw is None else f"throw {reading.throw}",
        )


def on_read(turn: CrapsTurn, reading: DiceRead) -> None:
    """Handle a total. It is a result only if a round is in progress, its bets are closed and
    nothing is in doubt.
    """
    if not reading.late:
        turn.change(dice="settled")
    state = turn.state
    if not state.open:
        return
    if not are_dice(reading.values):
        _invalid(turn, reading)
    elif reading.late:
        _late_read(turn, reading)
    elif not _is_repeat(turn, reading):
        if _is_rethrow(turn, reading):
            _leave_undecided(turn, reading)
        current = turn.state.current
        if current is None and _behind_others(turn):
            current = turn.begin()
        if current is None:
            _stray(turn, reading)
        elif current.dice is None:
            _thrown(turn, current, reading)


def on_fault(turn: CrapsTurn, reading: DiceFault) -> None:
    """Handle a fault of the reader or its end. The round waits for a person if its throw is
    affected.
    """
    current, trouble = turn.state.current, FAULT_TROUBLES.get(reading.fault)
    if trouble is None:
        if reading.active:
            turn.raise_alert(reading.fault, reading, detail=reading.detail)
        else:
            turn.clear_alert(reading.fault)
    elif reading.active and current and current.closed and current.dice is None:
        turn.change_current(frames=current.frames + frames_of(reading))
        turn.ask(trouble, DICE_DECISIONS, reading=reading, detail=reading.detail or reading.fault)
    elif reading.active and current is None and turn.state.moved and _behind_others(turn):
        turn.begin()
        turn.change_current(throw=reading.throw)
        turn.close_bets(frames_of(reading), unobserved=True)
        _leave_undecided(turn, reading, trouble)


def on_silence(turn: CrapsTurn, reading: AnyReading) -> None:
    """Record a silence of the device: what the dice did meanwhile is unknown."""
    state, current = turn.state, turn.state.current
    now = None if current is None else current.throw
    turn.change(gap=True, airborne=state.airborne if state.gap else now, dice=None)
    if current is not None:
        turn.change_current(
            uncounted=current.uncounted or not is_brief(reading, current.quiet_since),
            quiet_since=quiet_since_of(reading),
        )


def on_garbage(turn: CrapsTurn, reading: LinkGarbage) -> None:
    """Handle bytes that are no report: the throw of the round in progress may have been among
    them.
    """
    current = turn.state.current
    if current and current.dice is None and (current.closed or turn.by_itself):
        on_silence(turn, reading)


def _thrown(turn: CrapsTurn, current: CrapsRound, reading: DiceRead) -> None:
    """Handle the total of a throw whose dice have come to rest."""
    if not current.closed and not turn.by_itself and turn.settings.early_throw == "ignored":
        turn.change(moved=False)
        return
    in_doubt = turn.state.gap and not _next(turn, current, reading)
    throw = current.throw if reading.throw is None else reading.throw
    early = (current.early or not current.closed) and not turn.by_itself
    turn.change_current(throw=throw, early=early, frames=current.frames + frames_of(reading))
    if not current.closed and turn.by_itself:
        turn.close_bets(unobserved=True)
    now = turn.state.current
    assert now is not None
    if turn.state.unresolved():
        turn.unresolved(now, "undecided", reading.values)
    elif in_doubt and now.closed:
        turn.unresolved(now, "silence", reading.values)
    elif early and turn.settings.early_throw == "void":
        turn.irregular("throw_before_close", reading=reading)
        turn.void(now, "bad_throw", turn.book.void["bad_throw"])
    else:
        if early and turn.settings.early_throw == "ask":
            turn.ask("throw_before_close", reading=reading)
        if reading.conflict is not None:
            values, others = (
                " ".join(map(str, dice)) for dice in (reading.values, reading.conflict)
            )
            turn.ask("witnesses_disagree", reading=reading, detail=f"{values} and {others}")
        land(turn, reading.values)


def _is_rethrow(turn: CrapsTurn, reading: DiceState | DiceRead) -> bool:
    """Whether the dice are thrown again before the throw in progress has a result. Only where bets
    open by themselves: elsewhere none are open then.
    """
    current = turn.state.current
    counted = (
        current is not None
        and current.throw is not None
        and reading.throw not in (None, current.throw)
    )
    return turn.by_itself and current is not None and current.closed and counted


def _behind_others(turn: CrapsTurn) -> bool:
    """Whether a throw is a new round that waits behind unresolved ones. False if it would push one
    of them out of memory.
    """
    return turn.by_itself and bool(turn.state.unresolved()) and not turn.state.full


def _leave_undecided(
    turn: CrapsTurn, reading: DiceState | DiceRead | DiceFault, what: str = "dice_unread"
) -> None:
    """Leave the throw in progress, and those after it, for a person to decide."""
    current = turn.state.current
    assert current is not None
    hidden = turn.state.gap and not current.asks
    if not current.asks and not hidden:
        turn.irregular(
            what,
            reading=reading,
            asks=DECISIONS,
            detail=None if current.throw is None else f"throw {current.throw}",
        )
    turn.unresolved(current, "silence" if hidden else "undecided", current.dice)


def land(turn: CrapsTurn, dice: tuple[int, ...], reported_by: str | None = None) -> None:
    """Publish the result of dice at rest, or hold it back while a person must decide."""
    current = turn.state.current
    assert current is not None
    if current.asks:
        turn.change_current(dice=dice)
    else:
        turn.result(current, dice, reported_by or current.confirmed_by)


def _nothing_missed(turn: CrapsTurn, reading: DiceState) -> bool:
    """Whether the device's report shows that no throw that counts was missed in the silence: it is
    at rest before any bets were open, or has the count of before. Its count shows nothing after a
    silence in which the device may have been switched off, nor while throws wait for a person: one
    more may have come behind them.
    """
    state, current = turn.state, turn.state.current
    uncounted = bool(state.unresolved()) if current is None else current.uncounted
    if reading.state == "moving" or reading.throw is None or uncounted:
        return False
    before_bets = current is None and not state.entries and reading.state == "idle"
    return before_bets or reading.throw == state.throw


def _next(turn: CrapsTurn, current: CrapsRound, reading: DiceRead) -> bool:
    """Whether the device's own count shows that the silence hid no throw. It does not after a
    silence in which the device may have been switched off, nor if it had counted none before: one
    that was switched on again counts its first throw alike.
    """
    before, airborne = turn.state.throw or 0, turn.state.airborne
    if current.uncounted or reading.throw is None:
        return False
    return reading.throw == airborne or 0 < before == reading.throw - 1


def _is_repeat(turn: CrapsTurn, reading: DiceRead) -> bool:
    """Whether this repeats the dice of the last throw. If they differ from its result, a person
    must check it.
    """
    state = turn.state
    last = state.entries[-1] if state.entries else None
    same = (
        last is not None and last.dice is not None and sorted(last.dice) == sorted(reading.values)
    )
    counted = (
        reading.throw is not None
        and reading.throw == state.throw
        and not (state.current and state.current.throw == reading.throw)
    )
    lying = not state.moved and state.tells and (same or not state.gap)
    if not counted and not lying:
        return False
    if last and last.dice and not same:
        turn.irregular(
            "dice_reread",
            reading=reading,
            asks=("result.correct",),
            detail=" ".join(map(str, reading.values)),
        )
    return True


def _stray(turn: CrapsTurn, reading: DiceRead) -> None:
    """Report a throw for which no bets were open; it does not count."""
    turn.change(moved=False, throw=turn.state.throw if reading.throw is None else reading.throw)
    handled = turn.settings.early_throw == "ignored" and not turn.by_itself
    if not turn.state.stray and not handled:
        turn.change(stray=True)
        lacking = turn.lacking()
        what = "dice_unregistered" if lacking else "throw_out_of_round"
        turn.irregular(
            what,
            reading=reading,
            asks=(lacking,) if lacking else (),
            detail=" ".join(map(str, reading.values)),
        )


def _late_read(turn: CrapsTurn, reading: DiceRead) -> None:
    """Make dice that are known only after a silence a candidate for their round."""
    round_ = _round_of_late(turn, reading)
    if round_ is not None:
        throw = round_.throw if reading.throw is None else reading.throw
        round_ = replace(round_, frames=round_.frames + frames_of(reading), throw=throw)
        if isinstance(round_, CrapsRound):
            turn.change(current=round_)
        turn.unresolved(round_, "silence", reading.values)
    on_silence(turn, reading)


def _round_of_late(turn: CrapsTurn, reading: DiceRead) -> CrapsRound | CrapsEntry | None:
    """The round of a late throw, begun now if it was unknown; None if it has its dice already, or
    the throw belongs to no round.
    """
    state, current = turn.state, turn.state.current
    if reading.throw is not None and reading.throw == state.throw:
        return None
    if current and (current.closed or turn.by_itself):
        return current if current.dice is None else None
    if (waiting := state.unresolved()) and waiting[-1].candidate is None:
        return waiting[-1]
    if turn.by_itself and not turn.lacking() and not turn.state.full:
        return turn.begin()
    _stray(turn, reading)
    return None


def _invalid(turn: CrapsTurn, reading: DiceRead) -> None:
    detail = " ".join(map(str, reading.values))
    current = turn.state.current
    if current and current.closed and current.dice is None:
        turn.ask("dice_invalid", DICE_DECISIONS, reading=reading, detail=detail)
    else:
        turn.irregular("dice_invalid", reading=reading, detail=detail)
