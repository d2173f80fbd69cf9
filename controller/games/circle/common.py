"""Poker with common cards, and with none of the moves that draw and stud have of their own."""

from __future__ import annotations

from controller.games.circle import moves
from controller.games.circle.course import circle_course, circle_variant
from controller.games.circle.errors import REMEDIES
from controller.games.circle.turn import CircleTurn


class CommonTurn(CircleTurn):
    """One step of a table of poker with common cards."""

    course = circle_course(moves.advance)
    variant = circle_variant(remedies=REMEDIES)
