"""The display of trente et quarante: both rows with their points, and the winner."""

from __future__ import annotations

import msgspec

from common.contract.messages.messages import text, word
from common.contract.shown import TrenteShown
from subscribers.display.baccarat import shoe_lines
from subscribers.display.context import PictureContext
from subscribers.display.hands import (
    FinishedRounds,
    HandPicture,
    finished_rounds,
    in_progress,
    result_of,
    settled_hand,
    shown_hand,
)

ROWS = ("black", "red")


class TrenteBody(msgspec.Struct, frozen=True, kw_only=True):
    """The body of the picture."""

    rows: tuple[HandPicture, ...]
    """The black one first."""
    finish: FinishedRounds
    notes: tuple[str, ...]
    """Consecutive refaits, and the choices for a bet at one."""
    shoe: tuple[str, ...]


def body(context: PictureContext, shown: TrenteShown) -> TrenteBody:
    """Return the body for the current state."""
    language = context.language
    playing = in_progress(shown, shown.rows.values())
    finished = finished_rounds(context, shown, playing, shown.unresolved)
    result = result_of(finished, context, shown)
    rows = shown.rows if playing else {}
    expected = shown.expected if playing else None
    choices = [word("refait_choice", choice, language) for choice in shown.refait_choices]
    refaits = shown.refaits
    return TrenteBody(
        rows=tuple(settled_hand(hand, language) for hand in result)
        if result
        else tuple(
            shown_hand(
                row,
                rows.get(row, ()),
                language,
                points=str(shown.points.get(row, 0)) if rows.get(row) else None,
                expected=expected,
            )
            for row in ROWS
        ),
        finish=finished,
        notes=(
            *((text("display.refaits", language, count=refaits),) if refaits else ()),
            *(
                (text("display.at_refait", language, choices=" / ".join(choices)),)
                if choices
                else ()
            ),
        ),
        shoe=shoe_lines(shown.shoe, language),
    )
