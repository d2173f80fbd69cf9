"""What a table of trente et quarante shows: both rows with their points, and what won."""

from __future__ import annotations

import msgspec

from controller.contract.messages.messages import text, word
from controller.contract.shown import TrenteShown
from subscribers.display.baccarat import shoe_lines
from subscribers.display.hands import (
    Finish,
    Hand,
    finish,
    in_progress,
    result_of,
    settled_hand,
    shown_hand,
)
from subscribers.display.seen import Seen

ROWS = ("black", "red")


class TrenteBody(msgspec.Struct, frozen=True, kw_only=True):
    """The body of the picture."""

    rows: tuple[Hand, ...]
    """The black one first."""
    finish: Finish
    notes: tuple[str, ...]
    """Refaits in a row, and what may be done with a bet at one."""
    shoe: tuple[str, ...]


def body(seen: Seen, shown: TrenteShown) -> TrenteBody:
    """What the table shows now."""
    language = seen.language
    playing = in_progress(shown, shown.rows.values())
    over = finish(seen, shown, playing, shown.unresolved)
    result = result_of(over, seen, shown)
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
        finish=over,
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
