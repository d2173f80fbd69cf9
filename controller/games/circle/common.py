"""Poker with common cards, and with none of the moves that draw and stud have of their own."""

from __future__ import annotations

from controller.games.circle import moves
from controller.games.circle.errors import REMEDIES
from controller.games.circle.moves import CircleTurn, CircleVariant


class CommonTurn(CircleTurn):
    """One step of a table of poker with common cards."""

    course = moves.course(moves.advance)
    variant = CircleVariant(remedies=REMEDIES)
