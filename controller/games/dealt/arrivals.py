"""Handling of an arriving card: refused, stored, held, diverted, placed, or stopping the table."""

from __future__ import annotations

from collections.abc import Iterable

from common.readings import AnyReading, CardDrawn, LinkGap, LinkLate, LinkUp
from controller.games.dealt.state import Held
from controller.games.dealt.turn import Turn


def on_card(turn: Turn, drawn: CardDrawn) -> None:
    """Handle a drawn card."""
    held = turn.course.arrived(turn, drawn)
    if held is None:
        return
    if drawn.late:
        turn.course.late(turn, held)
    elif turn.course.holds(turn):
        turn.course.wait(turn, held)
    else:
        follow(turn, held)


def follow(turn: Turn, held: Held) -> None:
    """Place the card where the next one belongs, or stop the table."""
    if turn.course.divert(turn, held):
        return
    if why := turn.course.objection(turn, held):
        turn.course.hold(turn, held, *why)
        return
    turn.course.ready(turn)
    to = turn.course.belongs(turn)
    if to is None:
        turn.course.unplaced(turn, held)
    else:
        turn.course.place(turn, held.given, to, count=held.packet or 1)


def follow_all(turn: Turn, cards: Iterable[Held]) -> None:
    """Handle several cards in order; those after one that stops the table wait behind it."""
    for held in cards:
        if turn.course.holds(turn):
            turn.course.wait(turn, held)
        else:
            follow(turn, held)


def on_silence(turn: Turn, reading: AnyReading) -> None:
    """Handle a silence of a device: a card may be missing."""
    is_back = isinstance(reading, LinkUp)
    if is_back and not turn.state.silent:
        return  # received for the first time
    if not isinstance(reading, LinkLate | LinkGap):
        turn.change(silent=() if is_back else turn.state.silent or (reading.device,))
    turn.course.lose_place(turn)
