"""Readings of a roulette wheel beyond those of every wheel: the rotor and the running ball."""

from __future__ import annotations

from controller.games.moves import frames_of
from controller.games.roulette.state import RouletteLaunch, WheelRound
from controller.games.roulette.turn import RouletteTurn
from controller.games.wheels import readings as wheel
from controller.games.wheels.readings import WheelCourses, WheelSeen
from controller.games.wheels.state import WheelState
from devices.readings import WheelCell, WheelNumber, WheelPhase


def take_phase(turn: RouletteTurn, given: WheelPhase) -> None:
    """The wheel reports its phase."""
    wheel.take_phase(turn, given, COURSES)


def take_number(turn: RouletteTurn, given: WheelNumber) -> None:
    """The wheel reports where the ball came to rest."""
    wheel.take_number(
        turn, WheelSeen(given, given.number, f"number {given.number}", conflict=given.conflict)
    )


def take_cell(turn: RouletteTurn, given: WheelCell) -> None:
    """A place without a number at roulette: the device belongs to another game."""
    wheel.take_foreign(turn, given, f"cell {given.cell}")


def _ball_in_rim(turn: RouletteTurn, given: WheelPhase, _was: WheelState) -> None:
    """The ball is running in the rim; bets are still open."""
    wheel.opened_unseen(turn, given)
    if current := turn.state.current:
        _launched(turn, current, given)
    _standstill(turn, given)


def _ball_in_rim_by_person(turn: RouletteTurn, given: WheelPhase, was: WheelState) -> None:
    if was.current:
        if not was.current.launched and not was.gap and turn.over(given.spin):
            turn.change_current(
                spin=given.spin
            )  # a separate launch, though the wheel counts it to the previous round
        _launched(turn, turn.state.current or was.current, given)


def _no_more_bets(turn: RouletteTurn, given: WheelPhase, _was: WheelState) -> None:
    """The ball is about to fall."""
    wheel.no_more_bets(turn, given, "ball_in_rim")
    _standstill(turn, given)


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


def _standstill(turn: RouletteTurn, given: WheelPhase) -> None:
    """The rotor is at rest though the ball has not fallen, which only some decrees deal with."""
    if given.rpm == 0 and "cylinder_stopped" in turn.book.void:
        turn.breach("cylinder_stopped", given)


def _launched(turn: RouletteTurn, current: WheelRound, given: WheelPhase) -> None:
    """The ball is running in the rim: the rotor must turn against its direction at the launch
    before, the ball against the rotor.
    """
    if not current.launched:
        before, heard = turn.state.rotor, turn.state.heard
        turn.change_current(launched=True, frames=current.frames + frames_of(given))
        launch = RouletteLaunch(given.direction, given.spin) if given.direction else None
        turn.change(rotor=launch, rotor_before=before, heard=True)
        if (
            before
            and before.direction == given.direction
            and (heard or before.just_before(given.spin))
        ):
            turn.breach("rotor_not_reversed", given)
    if "ball_with_rotor" in turn.state.faults:
        turn.breach("ball_with_rotor", given)
