"""Handlers of a wheel's readings. Only a live and complete spin has a result; one that a silence
has hidden is unresolved, and a person decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from msgspec.structs import replace

from common.readings import (
    AnyReading,
    LinkGarbage,
    LinkOpen,
    LinkUp,
    Number,
    Phase,
    Reading,
    WheelCell,
    WheelFault,
    WheelNumber,
    WheelPhase,
)
from controller.games.moves import frames_of
from controller.games.wheels.state import WheelEntry, WheelRound, WheelState
from controller.games.wheels.turn import DECISIONS, WRONG_DEVICE, WheelTurn, Why

FINISHED_PHASES: tuple[Phase | None, ...] = ("closed", "idle", "bets_open")
"""The phases in which the wheel has finished the spin before."""


class WheelCourses(NamedTuple):
    """The handlers of a wheel's phases, for tables where the wheel reports when bets open and close
    and for those where a person does. A wheel of this game has no other phases.
    """

    device: Mapping[Phase, Callable[[Any, WheelPhase, WheelState], None]]
    person: Mapping[Phase, Callable[[Any, WheelPhase, WheelState], None]]


class WheelSeen(NamedTuple):
    """A number as the wheel reported it. ``number``: None if the reported place does not exist on
    this wheel. ``place``: the reported place, in words.
    """

    reading: WheelNumber | WheelCell
    number: Number | None
    place: str
    cell: int | None = None
    conflict: Number | None = None


def on_phase(turn: WheelTurn, reading: WheelPhase, courses: WheelCourses) -> None:
    """The wheel reports its phase."""
    if reading.phase not in courses.device:
        report_foreign(turn, reading, f"phase {reading.phase}")
        return
    before = turn.state
    if reading.late:
        turn.silence(reading)
        if (
            before.open
            and turn.settings.phases == "device"
            and reading.phase not in FINISHED_PHASES
            and reading.spin is not None
        ):
            _ran(turn, reading, reading.spin)
        return
    fresh = (reading.phase, reading.spin) != (before.phase, before.spin)
    turn.change(phase=reading.phase, spin=reading.spin)
    if not before.open:
        if (
            fresh
            and reading.phase not in FINISHED_PHASES
            and "movement_after_close" not in before.alerts
        ):
            _moved_after_close(turn, reading, reading.phase)
        return
    if turn.settings.phases == "person":
        if handle := courses.person.get(reading.phase):
            handle(turn, reading, before)
        return
    if fresh and (
        reading.phase in FINISHED_PHASES
        or before.phase in FINISHED_PHASES
        or reading.spin != before.spin
    ):
        turn.change(spent=False)
    _follow(turn, reading.spin, reading)
    courses.device[reading.phase](turn, reading, before)


def hears(turn: WheelTurn, reading: AnyReading) -> bool:
    """Listen to every device but one that turned out to belong to another game."""
    return reading.device not in turn.state.foreign


def on_number(turn: WheelTurn, reading: WheelNumber) -> None:
    """The wheel reports the number where the ball came to rest."""
    on_place(turn, seen_number(reading))


def seen_number(reading: WheelNumber) -> WheelSeen:
    """The number that the wheel reported, as the place where the ball came to rest."""
    return WheelSeen(reading, reading.number, f"number {reading.number}", conflict=reading.conflict)


def on_place(turn: WheelTurn, seen: WheelSeen) -> None:
    """Handle the place where the ball came to rest. It is a result only if a round is in progress,
    its bets are closed and nothing is in doubt.
    """
    if not turn.state.open:
        _moved_after_close(turn, seen.reading, seen.place)
    elif seen.reading.late:
        _late_number(turn, seen)
    elif not _of_round_before(turn, seen) and not _put_back(turn, seen):
        _follow(turn, seen.reading.spin, seen.reading)
        current = _hand_for_number(turn, seen)
        if current is None:
            if turn.state.entries:  # of a wheel that does not count its spins
                another_number(turn, turn.state.entries[-1], seen)
        elif current.landed is None:
            _live_number(turn, current, seen)


def on_fault(turn: WheelTurn, reading: WheelFault) -> None:
    """Handle a fault of the wheel, or its end."""
    others = tuple(fault for fault in turn.state.faults if fault != reading.fault)
    if not reading.active:
        turn.change(faults=others)
        turn.clear_alert(reading.fault)
        return
    turn.change(faults=(*others, reading.fault))
    current = turn.state.current
    if turn.over(reading.spin):
        current = None  # of the spin before, which has its outcome
    if reading.fault in turn.course.breaches:
        if current and turn.course.concerns(reading.fault, current):
            turn.breach(reading.fault, reading)
        return
    turn.raise_alert(reading.fault, reading, detail=reading.detail)
    if reading.fault == "number_changed" and turn.state.open:
        asks = ("result.correct",)
        turn.irregular("number_changed", reading=reading, asks=asks, detail=reading.detail)
    if (
        reading.fault == "number_unknown"
        and current
        and (current.begun or turn.state.gap or turn.settings.phases == "person")
    ):
        turn.irregular("number_invalid", reading=reading, asks=DECISIONS, detail=reading.detail)
        turn.unresolved(
            replace(current, frames=current.frames + frames_of(reading)), "number_unknown"
        )


def on_silence(turn: WheelTurn, reading: AnyReading) -> None:
    """Handle a silence of the device, or its end."""
    if isinstance(reading, LinkUp) and reading.device in turn.state.opened:
        return  # the silence ended when the link was opened
    turn.change(opened=tuple(name for name in turn.state.opened if name != reading.device))
    turn.silence(reading)


def on_open(turn: WheelTurn, reading: LinkOpen) -> None:
    """Handle the end of the silence of a device that sends only when something happens."""
    if reading.device not in turn.state.opened:
        turn.change(opened=(*turn.state.opened, reading.device))
    turn.silence(reading)


def on_garbage(turn: WheelTurn, reading: LinkGarbage) -> None:
    """Handle bytes that are no report: a number may have been among them."""
    turn.miss(reading)


def report_foreign(turn: WheelTurn, reading: Reading, detail: str) -> None:
    """Raise the alert of a device that reports what no wheel of this game reports, and ignore it
    for the rest of the session.
    """
    turn.raise_alert(WRONG_DEVICE, reading, detail=detail)
    if reading.device:
        turn.change(foreign=(*turn.state.foreign, reading.device))


# Phases


def starting(turn: WheelTurn, reading: WheelPhase, before: WheelState) -> None:
    """End the previous spin; if the wheel has bets open, begin the next round."""
    current = turn.state.current
    if current and current.begun:
        lost(turn, reading)
    turn.change(gap=False)
    fresh = (reading.phase, reading.spin) != (before.phase, before.spin)
    if (
        reading.phase in turn.course.opening
        and turn.state.current is None
        and (fresh or not turn.state.spent)
    ):
        turn.open_bets(reading.spin, frames_of(reading))


def opened_unseen(turn: WheelTurn, reading: WheelPhase) -> None:
    """Open the bets of a round whose opening was not seen: the ball is running."""
    if turn.state.current is None and not turn.state.spent:
        turn.open_bets(reading.spin)
        unseen("bets_open", turn, reading)


def no_more_bets(
    turn: WheelTurn, reading: WheelPhase, launching: Phase, *, unobserved: bool = False
) -> None:
    """Close the bets: the ball is about to fall. ``launching``: the phase that precedes this one on
    such a wheel. ``unobserved``: the ball may have fallen earlier than was seen.
    """
    if turn.state.current is None and not turn.state.spent:
        turn.begin(reading.spin)
        unseen("bets_open", turn, reading)
    elif (current := turn.state.current) and not (current.begun or current.relaunch):
        unseen(launching, turn, reading)
    if (current := turn.state.current) and not current.closed:
        turn.close_bets(frames_of(reading), unobserved=unobserved)


def settled(_turn: WheelTurn, _reading: WheelPhase, _before: WheelState) -> None:
    """Do nothing: the ball has come to rest, or the wheel has stopped, and the number follows."""


def unseen(phase: Phase, turn: WheelTurn, reading: WheelPhase) -> None:
    """Report a phase that the wheel left out, unless a silence may have hidden it."""
    if not turn.state.gap:
        turn.irregular("phase_skipped", reading=reading, detail=phase)


def _follow(turn: WheelTurn, spin: int | None, reading: Reading) -> None:
    """Follow the wheel to another spin than that of the round in progress, which was never played,
    or whose end was not seen.
    """
    current = turn.state.current
    if (
        current is None
        or spin is None
        or spin == current.spin
        or (current.spin is None and turn.over(spin))
    ):
        return
    by_person = turn.settings.phases == "person"
    if by_person and current.missed:
        return  # the spin that the round has tells whether the number is of it
    if current.spin is None or by_person or not (current.begun or turn.state.gap):
        turn.change_current(spin=spin)
    else:
        lost(turn, reading)
        turn.change(spent=False)


def lost(turn: WheelTurn, reading: Reading) -> None:
    """Leave the round in progress unresolved: the wheel began another spin."""
    current = turn.state.current
    assert current is not None
    if current.landed is None and turn.state.gap:
        turn.unresolved(current, "silence")
        return
    if current.landed is None and not current.asks:
        what = "not_definitive" if current.closed else "phase_skipped"
        turn.irregular(what, reading=reading, asks=DECISIONS)
    turn.unresolved(current, "undecided", current.landed, current.cell)


def _moved_after_close(turn: WheelTurn, reading: Reading, detail: str) -> None:
    """Report movement while no session is open, if the decree requires a locked wheel."""
    if "movement_after_close" in turn.book.laws:
        turn.irregular("movement_after_close", reading=reading, detail=detail)
        turn.raise_alert("movement_after_close", reading)


def _ran(turn: WheelTurn, reading: WheelPhase, spin: int) -> None:
    """Record a spin that was reported late as a round; it is unresolved if its number never
    comes.
    """
    if turn.over(spin):
        return
    _follow(turn, spin, reading)
    current = turn.state.current or turn.begin(spin)
    if not current.launched:
        turn.change_current(launched=True, frames=current.frames + frames_of(reading))


# Numbers


def _of_round_before(turn: WheelTurn, seen: WheelSeen) -> bool:
    """Whether the wheel still counts the spin of the last round: its number is reported again, or a
    person is asked. A device restarts its count, so after a silence, or in a round that was played,
    the same count may mean another spin.
    """
    entry, current, gap = turn.over(seen.reading.spin), turn.state.current, turn.state.gap
    if entry is None:
        return False
    begun = current is not None and current.begun
    if (current and current.landed is not None) or _is_repeat(entry, current, seen):
        another_number(turn, entry, seen)
        return True
    if (begun and entry.kind != "void") or (gap and (begun or entry.kind == "result")):
        candidate(
            turn,
            replace(current or turn.begin(None), spin=seen.reading.spin),
            seen,
            "silence" if gap else "undecided",
        )
        return True
    another_number(turn, entry, seen)
    return entry.kind == "result"


def another_number(turn: WheelTurn, entry: WheelEntry, seen: WheelSeen) -> None:
    """Report, once for each, another number of a spin whose result was published. Not for a
    corrected result: a person has seen the wheel.
    """
    repeated = turn.state.second == (entry.round, seen.place)
    same_cell = None in (seen.cell, entry.cell) or seen.cell == entry.cell
    same = seen.number == entry.number and same_cell
    if entry.kind != "result" or entry.corrected or repeated or same or seen.number is None:
        return
    turn.change(second=(entry.round, seen.place))
    detail = f"{entry.number}, then {seen.place}"
    turn.irregular("number_changed", reading=seen.reading, asks=("result.correct",), detail=detail)


def _is_repeat(entry: WheelEntry, current: WheelRound | None, seen: WheelSeen) -> bool:
    """Whether this repeats the number of the round before, with no sign of a spin since."""
    return (
        seen.number is not None
        and seen.number == entry.reported
        and not (current and current.begun)
    )


def _put_back(turn: WheelTurn, seen: WheelSeen) -> bool:
    """Whether the ball was put back after a void spin, as the decree requires, and not launched
    yet.
    """
    state, current = turn.state, turn.state.current
    unlaunched = _unlaunched(turn, current) if current else turn.course.put_back and state.relaunch
    return unlaunched and not _gap(turn) and seen.number == state.tally().number


def _unlaunched(turn: WheelTurn, current: WheelRound) -> bool:
    """Whether the ball, as far as is known, still rests where it was put after a void spin."""
    return turn.course.put_back and current.relaunch and not current.launched


def _gap(turn: WheelTurn) -> bool:
    """Whether a silence may have hidden events before this number. Not if a person opens and closes
    the bets.
    """
    return turn.state.gap and turn.settings.phases == "device"


def _hand_for_number(turn: WheelTurn, seen: WheelSeen) -> WheelRound | None:
    """The round that a live number belongs to. None if the spin is already settled, or was void and
    no bets have opened since.
    """
    state, spin = turn.state, seen.reading.spin
    if state.current:
        return state.current
    if turn.settings.phases == "person":
        return None if state.relaunch else turn.begin(spin)
    return None if state.spent and spin in (None, state.spin) else turn.begin(spin)


def _live_number(turn: WheelTurn, current: WheelRound, seen: WheelSeen) -> None:
    """Handle a live number."""
    reading, number = seen.reading, seen.number
    gap, unlaunched = _gap(turn), _unlaunched(turn, current)
    current = replace(current, frames=current.frames + frames_of(reading))
    turn.change(current=current)
    if not turn.has_number(number):
        _number_invalid(turn, seen)
        turn.unresolved(current, "number_unknown")
        return
    turn.clear_alert("number_unknown")
    if current.missed and (
        current.uncounted or reading.spin is None or reading.spin != current.spin
    ):
        candidate_round = replace(current, spin=reading.spin)
        turn.unresolved(candidate_round, "silence", number, seen.cell)
    elif seen.conflict is not None:
        detail = f"{number} and {seen.conflict}"
        turn.irregular("witnesses_disagree", reading=reading, asks=DECISIONS, detail=detail)
        turn.unresolved(current, "witnesses_disagree", number, seen.cell)
    elif unlaunched and gap:
        turn.unresolved(current, "silence", number, seen.cell)
    elif unlaunched:
        turn.irregular("no_launch", reading=reading, asks=DECISIONS)
        turn.unresolved(current, "no_launch", number, seen.cell)
    elif not current.closed and not gap:
        turn.irregular("before_no_more_bets", reading=reading, asks=DECISIONS)
        turn.unresolved(current, "before_no_more_bets", number, seen.cell)
    else:
        _landed(turn, current, number, seen.cell)


def _landed(turn: WheelTurn, current: WheelRound, number: Number, cell: int | None) -> None:
    """Publish the final number as the result, or hold it back while a person must decide."""
    if not current.closed:
        turn.close_bets(unobserved=True)
    if current.asks:
        turn.change_current(landed=number, cell=cell)
    else:
        turn.result(current, number, confirmed_by=current.confirmed_by, cell=cell)
        turn.change(gap=False)


def _late_number(turn: WheelTurn, seen: WheelSeen) -> None:
    """Make a number known only after a silence the candidate of its round, whose end was not
    seen.
    """
    round_ = _round_of_late(turn, seen)
    if round_ is not None:
        candidate(turn, round_, seen, "silence")
    if turn.state.current is None:
        turn.silence(seen.reading)


def candidate(turn: WheelTurn, round_: WheelRound | WheelEntry, seen: WheelSeen, why: Why) -> None:
    """Leave the round unresolved with this number as its candidate; a person decides."""
    round_ = replace(round_, frames=round_.frames + frames_of(seen.reading))
    if not turn.has_number(seen.number):
        _number_invalid(turn, seen)
        turn.unresolved(round_, "number_unknown")
    else:
        turn.unresolved(
            round_, why if seen.conflict is None else "witnesses_disagree", seen.number, seen.cell
        )


def _round_of_late(turn: WheelTurn, seen: WheelSeen) -> WheelRound | WheelEntry | None:
    """The round of a late number, begun now if it was unknown. None if it has its number
    already.
    """
    reading, current, entry = seen.reading, turn.state.current, turn.over(seen.reading.spin)
    if entry and _is_repeat(entry, current, seen):
        return None
    if current and (reading.spin is None or current.spin in (None, reading.spin)):
        return None if current.landed is not None else current
    if entry and entry.kind == "unresolved" and entry.candidate is None:
        return entry
    if (
        current and not turn.state.gap
    ):  # opened and seen since the silence: the number is of an earlier spin
        return turn.aside(reading.spin)
    if current:
        turn.unresolved(current, "silence")
    return turn.aside(reading.spin) if turn.state.current else turn.begin(reading.spin)


def _number_invalid(turn: WheelTurn, seen: WheelSeen) -> None:
    turn.irregular("number_invalid", reading=seen.reading, asks=DECISIONS, detail=seen.place)
    turn.raise_alert("number_unknown", seen.reading, detail=seen.place)
