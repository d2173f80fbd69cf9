"""Poker with common cards, and with none of the moves that draw and stud have of their own."""

from __future__ import annotations

from controller.games.circle import moves
from controller.games.circle.course import EVERY_CIRCLE, circle_course
from controller.games.circle.turn import CircleTurn


class CommonTurn(CircleTurn):
    """One step of a table of poker with common cards."""

    course = circle_course(moves.advance)
    variant = EVERY_CIRCLE
