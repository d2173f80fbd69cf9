"""The course of a table of circle poker, and what every circle has in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from controller.games.circle.arrivals import arrived, divert, hold, objection, place
from controller.games.circle.doubts import believed
from controller.games.circle.errors import REMEDIES
from controller.games.circle.moves import (
    belongs,
    check_shortage,
    close_betting,
    coming,
    deal,
    dealt,
    expect,
    lacks,
    leave,
    lose_place,
    new_round,
    next_street,
    open_betting,
    outcome_of,
    stage,
    win,
)
from controller.games.circle.state import MAX_WAITING_CARDS
from controller.games.circle.turn import CircleVariant
from controller.games.dealt.turn import Course, lose_late


def circle_course(advance: Callable[[Any], None]) -> Course:
    """The course of a family of variants."""
    return Course(
        stage=stage,
        belongs=belongs,
        objection=objection,
        faces_up=lambda *_: False,  # each place says it
        advance=advance,
        late=lose_late,
        lose_place=lose_place,
        leave=leave,
        outcome_of=outcome_of,
        max_held=MAX_WAITING_CARDS,
        new_round=new_round,
        lacks=lacks,
        arrived=arrived,
        divert=divert,
        hold=hold,
        place=place,
        expect=expect,
    )


EVERY_CIRCLE = CircleVariant(
    remedies=REMEDIES,
    coming=coming,
    next_street=next_street,
    check_shortage=check_shortage,
    deal=deal,
    dealt=dealt,
    believed=believed,
    open_betting=open_betting,
    close_betting=close_betting,
    win=win,
)
"""The moves of every circle; a family of variants replaces those that differ."""
