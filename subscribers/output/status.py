"""What an output sends of a table, as the display port of a Cammegh Slingshot 2 would: a status
line, twice a second. Pure.

An old display knows only states and *the* number. So the number is sent for a live result alone,
and for as long as the table itself has it as its last number. Whatever else happens, the output
becomes like a wheel that was just switched on: no number, spin 1. Then no number is shown that does
not apply, and nothing looks like another spin.
"""

from __future__ import annotations

import msgspec

from common.cammegh_ss2_frames import (
    BALL_IN_RIM,
    BETS_OPEN,
    CLOSED,
    DIRECTIONS,
    IDLE,
    MAX_SPIN,
    NO_MORE_BETS,
    SETTLED,
    Status,
)
from common.contract.retained import State
from subscribers.feed.motion import ReceivedMotion
from subscribers.feed.wheel_result import WheelResult, still_stands

MIN_SETTLED_LINES = 4
"""Minimum number of lines in state 5, so that a display gets it even if the next round opens at
once. Recorded wheels send about eleven.
"""
MAX_SPEED = 999
STATES = {
    "waiting": IDLE,
    "relaunch": IDLE,
    "bets_open": BETS_OPEN,
    "bets_closed": NO_MORE_BETS,
    "decision": NO_MORE_BETS,
}
"""Phase of the table -> state of the wheel. Any other phase is closed."""


class WheelMemory(msgspec.Struct, frozen=True):
    """What the emulated wheel remembers. ``settled_lines``: lines that were sent in state 5 for its
    result; None once the next round began.
    """

    spin: int = 1
    result: WheelResult | None = None
    settled_lines: int | None = None


SWITCHED_ON = WheelMemory()


def shows_on_roulette(result: WheelResult) -> bool:
    """Return whether a roulette display can show a result. Those of boule and of the wheel of
    fortune have other colours, or are no numbers.
    """
    return result.family == "roulette" and result.number in range(37)


def on_result(memory: WheelMemory, result: WheelResult) -> WheelMemory:
    """Return the memory after a live result: state 5 of the spin in progress."""
    settled = memory.settled_lines is not None
    return WheelMemory(_next_spin(memory.spin) if settled else memory.spin, result, 0)


def next_status(
    memory: WheelMemory, state: State | None, motion: ReceivedMotion | None
) -> tuple[WheelMemory, Status]:
    """Return the next status to send, and the memory after it. ``state``: of the table, None if it
    is not current; ``motion``: of the wheel, None if unknown.
    """
    phase = "closed" if state is None else state.shown.phase
    if state is None or phase not in STATES:
        return SWITCHED_ON, Status(CLOSED, 1, None, 0, 0, 0)
    result = memory.result
    if result is not None and not still_stands(result, state):
        memory = SWITCHED_ON
    if result is not None and memory.settled_lines is not None:
        moved_on = (state.shown.session, state.shown.round) > (result.session, result.round)
        if not moved_on or memory.settled_lines < MIN_SETTLED_LINES:
            lines = memory.settled_lines + 1
            memory = WheelMemory(memory.spin, result, lines)
            return memory, _status(memory, SETTLED, motion)
        memory = WheelMemory(_next_spin(memory.spin), result)
    wheel_state = STATES[phase]
    if wheel_state == BETS_OPEN and motion is not None and motion.phase == "ball_in_rim":
        wheel_state = BALL_IN_RIM
    return memory, _status(memory, wheel_state, motion)


def _status(memory: WheelMemory, wheel_state: int, motion: ReceivedMotion | None) -> Status:
    number = None if memory.result is None else memory.result.number
    speed = 0 if motion is None or motion.rpm is None else min(round(motion.rpm * 10), MAX_SPEED)
    anticlockwise = motion is not None and motion.direction == DIRECTIONS[1]
    return Status(wheel_state, memory.spin, number, 0, speed, int(anticlockwise))


def _next_spin(spin: int) -> int:
    return spin % MAX_SPIN + 1
