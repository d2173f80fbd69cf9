"""Readings of the wheels of boule and the wheel of fortune, besides those of every wheel.

The board reports when the wheel is set going, when it is about to stop, and the place where it
stopped; the table's map of the wheel gives the place's worth.
"""

from __future__ import annotations

from msgspec.structs import replace

from common.readings import WheelCell, WheelFault, WheelNumber, WheelPhase
from controller.games.cells.turn import OUTCOMES, CellsTurn
from controller.games.moves import frames_of
from controller.games.wheels import readings as wheel
from controller.games.wheels.readings import WheelCourses, WheelSeen
from controller.games.wheels.state import WheelEntry, WheelState
from controller.games.wheels.turn import DECISIONS


def on_phase(turn: CellsTurn, reading: WheelPhase) -> None:
    """Handle the wheel's phase. It has no effect while the wheel still runs in a round that has its
    outcome.
    """
    entry, before = turn.over(reading.spin), turn.state.phase
    set_going = reading.phase == "launched" and before not in (
        None,
        "launched",
        "settling",
        "no_more_bets",
    )
    if _another_launch(turn, reading):
        wheel.lost(turn, reading)
    if (
        entry is None
        or reading.late
        or set_going
        or reading.phase not in ("launched", "settling", "no_more_bets")
    ):
        wheel.on_phase(turn, reading, COURSES)
        return
    turn.change(phase=reading.phase, spin=reading.spin)
    if (
        reading.phase == "launched"
        and before is None
        and entry.kind == "result"
        and turn.state.current
    ):
        turn.change_current(
            launched=True
        )  # after a silence; the same spin still, or another with its count: a person will say


def _another_launch(turn: CellsTurn, reading: WheelPhase) -> bool:
    """Whether the wheel counts a live launch while one that it did not count is in progress."""
    current = turn.state.current
    uncounted = current is not None and current.launched and current.spin is None
    return (
        uncounted
        and reading.phase == "launched"
        and reading.spin is not None
        and not reading.late
        and turn.settings.phases == "device"
    )


def on_place(turn: CellsTurn, reading: WheelCell | WheelNumber) -> None:
    """Handle a reported place. While the wheel still moves, the place is not final and is held
    back.
    """
    if entry := turn.over(reading.spin):
        _afterwards(turn, entry, reading)
    elif turn.state.current and turn.moving and not reading.late:
        turn.change(held=reading)
    else:
        _land(turn, reading)


def on_fault(turn: CellsTurn, reading: WheelFault) -> None:
    """Handle a fault of the wheel. If a spin produced only the fault, it also proves a spin that a
    silence hid.
    """
    current = turn.state.current
    hidden = (
        turn.state.gap
        and turn.settings.phases == "device"
        and current
        and not current.begun
        and turn.over(reading.spin) is None
    )
    wheel.on_fault(turn, reading)
    if (
        hidden
        and current
        and reading.active
        and reading.fault in turn.course.breaches
        and reading.fault in OUTCOMES
    ):
        turn.irregular(reading.fault, reading=reading, asks=DECISIONS)
        turn.unresolved(
            replace(current, spin=reading.spin, frames=current.frames + frames_of(reading)),
            "silence",
        )


def _seen(turn: CellsTurn, reading: WheelCell | WheelNumber) -> WheelSeen:
    """The value of the place, or the value that the device claims."""
    if isinstance(reading, WheelNumber):
        return wheel.seen_number(reading)
    number = turn.symbols().get(reading.cell)
    conflict = next((claimed for claimed in reading.claimed if claimed != number), None)
    return WheelSeen(reading, number, f"cell {reading.cell}", reading.cell, conflict)


def _land(turn: CellsTurn, reading: WheelCell | WheelNumber) -> None:
    turn.change(held=None)
    current = turn.state.current
    turns = reading.turns if isinstance(reading, WheelCell) else None
    if (
        turns is not None
        and turns < turn.settings.turns
        and current
        and turn.course.concerns("too_few_turns", current)
        and not reading.late
    ):
        turn.breach("too_few_turns", reading)
    wheel.on_place(turn, _seen(turn, reading))


def _afterwards(turn: CellsTurn, entry: WheelEntry, reading: WheelCell | WheelNumber) -> None:
    """Handle a place of a spin that has its outcome: it repeats it, is the candidate of a round
    without a result, or, once the count has wrapped, belongs to another spin.
    """
    seen, current, gap = _seen(turn, reading), turn.state.current, turn.state.gap
    begun = current is not None and current.begun
    if entry.kind == "unresolved" and entry.candidate is None and turn.has_number(seen.number):
        entry = replace(entry, frames=entry.frames + frames_of(reading))
        turn.unresolved(entry, "silence", seen.number, seen.cell)
    elif (gap and begun) if entry.kind == "void" else (gap or begun or reading.late):
        turn.change(held=None)
        wheel.on_place(turn, seen)
    else:
        wheel.another_number(turn, entry, seen)


# Phases where the wheel says when bets open and close


def _launched(turn: CellsTurn, reading: WheelPhase, before: WheelState) -> None:
    """Record the launch; bets are still open."""
    if (reading.phase, reading.spin) == (before.phase, before.spin):
        return
    current = turn.state.current
    if current and reading.spin is None and (current.launched or current.closed):
        wheel.lost(turn, reading)
    turn.change(spent=False, held=None)
    wheel.opened_unseen(turn, reading)
    _set_going(turn, reading)
    turn.change(gap=False)


def _settling(turn: CellsTurn, reading: WheelPhase, _before: WheelState) -> None:
    """Announce the last call and close the bets, unless a silence has hidden the time for them."""
    if not turn.state.gap:
        turn.last_call()
    wheel.no_more_bets(turn, reading, "launched", unobserved=turn.state.gap)


def _settled(turn: CellsTurn, reading: WheelPhase, _before: WheelState) -> None:
    """Use the place reported before the wheel stopped. If its round was void, the next one
    begins.
    """
    _release(turn, reading)
    if turn.bets_open_at_wheel and (turn.state.spent or turn.over(reading.spin)):
        turn.open_bets(None)


def _no_more_bets(turn: CellsTurn, reading: WheelPhase, _before: WheelState) -> None:
    wheel.no_more_bets(turn, reading, "launched", unobserved=turn.state.gap)


# Phases where a person does


def _launched_by_person(turn: CellsTurn, reading: WheelPhase, before: WheelState) -> None:
    """Record the launch. Bets that were closed before it were closed too early, before the last
    call.
    """
    if (reading.phase, reading.spin) == (before.phase, before.spin):
        return
    turn.change(spent=False, held=None)
    current = turn.state.current
    if current is None:
        return
    if current.launched and (reading.spin is None or reading.spin != current.spin):
        turn.breach("launched_again", reading)
    _set_going(turn, reading)
    if current.closed and not current.launched and not turn.state.gap:
        turn.irregular("out_of_order", reading=reading, detail="bets closed before the launch")
    turn.change(gap=False)


def _settling_by_person(turn: CellsTurn, reading: WheelPhase, _before: WheelState) -> None:
    """Announce the last call, after which the croupier closes the bets. Bets closed since the
    launch were closed without it.
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
        turn.irregular("out_of_order", reading=reading, detail="bets closed without the last call")


def _settled_by_person(turn: CellsTurn, reading: WheelPhase, _before: WheelState) -> None:
    _release(turn, reading)


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


def _set_going(turn: CellsTurn, reading: WheelPhase) -> None:
    if current := turn.state.current:
        spin = current.spin if current.missed else reading.spin
        turn.change_current(launched=True, spin=spin, frames=current.frames + frames_of(reading))


def _release(turn: CellsTurn, reading: WheelPhase) -> None:
    """Use the place that was held back, in the round in which it was reported, if no silence and no
    spin came between.
    """
    held, current = turn.state.held, turn.state.current
    if held is None:
        return
    turn.change(held=None)
    if entry := turn.over(held.spin):
        _afterwards(turn, entry, held)
    elif current and turn.state.gap:
        wheel.candidate(turn, current, _seen(turn, held), "silence")
    elif current and None not in (held.spin, reading.spin) and held.spin != reading.spin:
        turn.irregular("not_definitive", reading=reading, asks=DECISIONS)
        wheel.candidate(turn, current, _seen(turn, held), "undecided")
    elif current:
        _land(turn, held)
