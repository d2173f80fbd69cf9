"""Readings of the wheels of boule and the wheel of fortune, besides those of every wheel.

The board reports when the wheel is set going, when it is about to stop, and the place where it
stopped; the table's map of the wheel gives the place's worth.
"""

from __future__ import annotations

from msgspec.structs import replace

from controller.games.cells.turn import OUTCOMES, CellsTurn
from controller.games.moves import frames_of
from controller.games.wheels import readings as wheel
from controller.games.wheels.readings import WheelCourses, WheelSeen
from controller.games.wheels.state import WheelEntry, WheelState
from controller.games.wheels.turn import DECISIONS
from devices.readings import WheelCell, WheelFault, WheelNumber, WheelPhase


def take_phase(turn: CellsTurn, given: WheelPhase) -> None:
    """The wheel says what it is doing. While it still runs in a round that has its outcome, nothing
    follows from it.
    """
    entry, was = turn.over(given.spin), turn.state.phase
    set_going = given.phase == "launched" and was not in (
        None,
        "launched",
        "settling",
        "no_more_bets",
    )
    if _another_launch(turn, given):
        wheel.lost(turn, given)
    if (
        entry is None
        or given.late
        or set_going
        or given.phase not in ("launched", "settling", "no_more_bets")
    ):
        wheel.take_phase(turn, given, COURSES)
        return
    turn.change(phase=given.phase, spin=given.spin)
    if given.phase == "launched" and was is None and entry.kind == "result" and turn.state.current:
        turn.change_current(
            launched=True
        )  # after a silence; the same spin still, or another with its count: a person will say


def _another_launch(turn: CellsTurn, given: WheelPhase) -> bool:
    """Whether the wheel counts a launch, live, while one that it did not count is in hand."""
    current = turn.state.current
    uncounted = current is not None and current.launched and current.spin is None
    return (
        uncounted
        and given.phase == "launched"
        and given.spin is not None
        and not given.late
        and turn.settings.phases == "device"
    )


def take_place(turn: CellsTurn, given: WheelCell | WheelNumber) -> None:
    """The wheel reports a place; while it still moves, the place is not final and waits."""
    if entry := turn.over(given.spin):
        _afterwards(turn, entry, given)
    elif turn.state.current and turn.moving and not given.late:
        turn.change(held=given)
    else:
        _land(turn, given)


def take_fault(turn: CellsTurn, given: WheelFault) -> None:
    """The wheel reports a fault. If a spin produced only the fault, the fault also proves that a
    spin hidden by a silence took place.
    """
    current = turn.state.current
    hidden = (
        turn.state.gap
        and turn.settings.phases == "device"
        and current
        and not current.begun
        and turn.over(given.spin) is None
    )
    wheel.take_fault(turn, given)
    if (
        hidden
        and current
        and given.active
        and given.fault in turn.breaches
        and given.fault in OUTCOMES
    ):
        turn.irregular(given.fault, given=given, asks=DECISIONS)
        turn.unresolved(
            replace(current, spin=given.spin, frames=current.frames + frames_of(given)), "silence"
        )


def _seen(turn: CellsTurn, given: WheelCell | WheelNumber) -> WheelSeen:
    """The value of the place, or the value that the device claims."""
    if isinstance(given, WheelNumber):
        return WheelSeen(given, given.number, f"number {given.number}", conflict=given.conflict)
    return WheelSeen(given, turn.symbols().get(given.cell), f"cell {given.cell}", given.cell)


def _land(turn: CellsTurn, given: WheelCell | WheelNumber) -> None:
    """The result."""
    turn.change(held=None)
    current = turn.state.current
    turns = given.turns if isinstance(given, WheelCell) else None
    if (
        turns is not None
        and turns < turn.settings.turns
        and current
        and turn.concerns("too_few_turns", current)
        and not given.late
    ):
        turn.breach("too_few_turns", given)
    wheel.take_number(turn, _seen(turn, given))


def _afterwards(turn: CellsTurn, entry: WheelEntry, given: WheelCell | WheelNumber) -> None:
    """A place of a spin that has its outcome: it repeats it, or it is the candidate of a round
    without one; or, after the count has wrapped, it may belong to another spin.
    """
    seen, current, gap = _seen(turn, given), turn.state.current, turn.state.gap
    begun = current is not None and current.begun
    if entry.kind == "unresolved" and entry.candidate is None and turn.has(seen.number):
        entry = replace(entry, frames=entry.frames + frames_of(given))
        turn.unresolved(entry, "silence", seen.number, seen.cell)
    elif (gap and begun) if entry.kind == "void" else (gap or begun or given.late):
        turn.change(held=None)
        wheel.take_number(turn, seen)
    else:
        wheel.another_number(turn, entry, seen)


# Phases where the wheel says when bets open and close


def _launched(turn: CellsTurn, given: WheelPhase, was: WheelState) -> None:
    """The ball or the wheel is set going: bets are open still."""
    if (given.phase, given.spin) == (was.phase, was.spin):
        return
    current = turn.state.current
    if current and given.spin is None and (current.launched or current.closed):
        wheel.lost(turn, given)
    turn.change(spent=False, held=None)
    wheel.opened_unseen(turn, given)
    _set_going(turn, given)
    turn.change(gap=False)


def _settling(turn: CellsTurn, given: WheelPhase, _was: WheelState) -> None:
    """It is about to come to rest: the last call, and no more bets; or a silence has hidden when
    both would have been in time.
    """
    if not turn.state.gap:
        turn.last_call()
    wheel.no_more_bets(turn, given, "launched", unobserved=turn.state.gap)


def _settled(turn: CellsTurn, given: WheelPhase, _was: WheelState) -> None:
    """The wheel has stopped: the place reported before counts now. If its round was void, the next
    one begins.
    """
    _release(turn, given)
    if turn.bets_open_at_wheel and (turn.state.spent or turn.over(given.spin)):
        turn.open_bets(None)


def _no_more_bets(turn: CellsTurn, given: WheelPhase, _was: WheelState) -> None:
    wheel.no_more_bets(turn, given, "launched", unobserved=turn.state.gap)


# Phases where a person does


def _launched_by_person(turn: CellsTurn, given: WheelPhase, was: WheelState) -> None:
    """The wheel is set going. That comes before the last call, so bets closed before it were closed
    too early.
    """
    if (given.phase, given.spin) == (was.phase, was.spin):
        return
    turn.change(spent=False, held=None)
    current = turn.state.current
    if current is None:
        return
    if current.launched and (given.spin is None or given.spin != current.spin):
        turn.breach("launched_again", given)
    _set_going(turn, given)
    if current.closed and not current.launched and not turn.state.gap:
        turn.irregular("out_of_order", given=given, detail="bets closed before the launch")
    turn.change(gap=False)


def _settling_by_person(turn: CellsTurn, given: WheelPhase, _was: WheelState) -> None:
    """The wheel is about to stop: the last call, and after it the croupier closes the bets. Bets
    that were closed since the launch were closed without it.
    """
    turn.last_call()
    current = turn.state.current
    if (
        current is not None
        and current.closed
        and current.launched
        and "last_call" in turn.book.announcements
        and "last_call" not in current.said
        and not turn.state.gap
    ):
        turn.change_current(said=(*current.said, "last_call"))
        turn.irregular("out_of_order", given=given, detail="bets closed without the last call")


def _settled_by_person(turn: CellsTurn, given: WheelPhase, _was: WheelState) -> None:
    _release(turn, given)


COURSES = WheelCourses(
    device={
        "closed": wheel.starting,
        "idle": wheel.starting,
        "bets_open": wheel.starting,
        "launched": _launched,
        "settling": _settling,
        "no_more_bets": _no_more_bets,
        "settled": _settled,
    },
    person={
        "launched": _launched_by_person,
        "settling": _settling_by_person,
        "settled": _settled_by_person,
    },
)


def _set_going(turn: CellsTurn, given: WheelPhase) -> None:
    if current := turn.state.current:
        turn.change_current(
            launched=True, spin=given.spin, frames=current.frames + frames_of(given)
        )


def _release(turn: CellsTurn, given: WheelPhase) -> None:
    """A place reported while the wheel moved counts now, in the round in which it was reported, if
    no silence and no spin came between.
    """
    held, current = turn.state.held, turn.state.current
    if held is None:
        return
    turn.change(held=None)
    if entry := turn.over(held.spin):
        _afterwards(turn, entry, held)
    elif current and turn.state.gap:
        wheel.candidate(turn, current, _seen(turn, held), "silence")
    elif current and None not in (held.spin, given.spin) and held.spin != given.spin:
        turn.irregular("not_definitive", given=given, asks=DECISIONS)
        wheel.candidate(turn, current, _seen(turn, held), "undecided")
    elif current:
        _land(turn, held)
