"""Readings of a roulette wheel beyond those of every wheel: the rotor and the running ball."""

from __future__ import annotations

from common.readings import WheelCell, WheelPhase
from controller.games.moves import frames_of
from controller.games.roulette.state import RouletteLaunch, WheelRound
from controller.games.roulette.turn import RouletteTurn
from controller.games.wheels import readings as wheel
from controller.games.wheels.readings import WheelCourses
from controller.games.wheels.state import WheelState


def on_phase(turn: RouletteTurn, reading: WheelPhase) -> None:
    """The wheel reports its phase."""
    wheel.on_phase(turn, reading, COURSES)


def on_cell(turn: RouletteTurn, reading: WheelCell) -> None:
    """Report a device of another game: at roulette no wheel reports places."""
    wheel.report_foreign(turn, reading, f"cell {reading.cell}")


def _ball_in_rim(turn: RouletteTurn, reading: WheelPhase, _before: WheelState) -> None:
    """The ball is running in the rim; bets are still open."""
    wheel.opened_unseen(turn, reading)
    if current := turn.state.current:
        _launched(turn, current, reading)
    _standstill(turn, reading)


def _ball_in_rim_by_person(turn: RouletteTurn, reading: WheelPhase, before: WheelState) -> None:
    if before.current:
        if not before.current.launched and not before.gap and turn.over(reading.spin):
            turn.change_current(
                spin=reading.spin
            )  # a separate launch, though the wheel counts it to the previous round
        _launched(turn, turn.state.current or before.current, reading)


def _no_more_bets(turn: RouletteTurn, reading: WheelPhase, _before: WheelState) -> None:
    wheel.no_more_bets(turn, reading, "ball_in_rim")
    _standstill(turn, reading)


COURSES = WheelCourses(
    device={
        "closed": wheel.starting,
        "idle": wheel.starting,
        "bets_open": wheel.starting,
        "ball_in_rim": _ball_in_rim,
        "no_more_bets": _no_more_bets,
        "settled": wheel.settled,
    },
    person={"ball_in_rim": _ball_in_rim_by_person},
)


def _standstill(turn: RouletteTurn, reading: WheelPhase) -> None:
    """Report a rotor at rest before the ball has fallen, if the decree voids such a spin."""
    if reading.rpm == 0 and "cylinder_stopped" in turn.book.void:
        turn.breach("cylinder_stopped", reading)


def _launched(turn: RouletteTurn, current: WheelRound, reading: WheelPhase) -> None:
    """Record the launch. The rotor must turn against its direction at the previous launch, and the
    ball against the rotor.
    """
    if not current.launched:
        before, was_reported = turn.state.rotor, turn.state.heard
        turn.change_current(launched=True, frames=current.frames + frames_of(reading))
        launch = RouletteLaunch(reading.direction, reading.spin) if reading.direction else None
        turn.change(rotor=launch, rotor_before=before, heard=True)
        if (
            before
            and before.direction == reading.direction
            and (was_reported or before.just_before(reading.spin))
        ):
            turn.breach("rotor_not_reversed", reading)
    if "ball_with_rotor" in turn.state.faults:
        turn.breach("ball_with_rotor", reading)
