"""What a wheel of fortune shows: the last symbol on the wheel, those before it, how often each
came.
"""

from __future__ import annotations

from controller.contract.messages.messages import word
from controller.contract.shown import FortuneShown
from subscribers.display.seen import Seen
from subscribers.display.spins import WheelBody, last, latest, results
from subscribers.display.statistics import (
    WINDOWS,
    Share,
    percent,
    shares,
    unheard,
)


class FortuneBody(WheelBody, frozen=True, kw_only=True):
    """The body of the picture. ``symbols``: the text of each symbol."""

    cell: int | None
    """Its cell, from 1; None where nobody told it."""
    ring: tuple[str, ...]
    """The symbols around the wheel, cell by cell; empty where the state does not say them."""
    symbols: dict[str, str]
    session: tuple[Share, ...]
    """How often each symbol came in the session."""
    counted: int
    """Results of the session."""


def body(seen: Seen, shown: FortuneShown) -> FortuneBody:
    """What the wheel shows now."""
    spins = results(seen.rounds)
    numbers = tuple(spin.number or "" for spin in spins)
    found = {*map(str, shown.cells), *shown.counts, *numbers}
    if shown.last_number is not None:
        found.add(str(shown.last_number))
    symbols = {each: word("symbol", each, seen.language) for each in sorted(found, key=_place)}
    counted = sum(shown.counts.values())
    return FortuneBody(
        last=last(seen, shown, None),
        cell=shown.last_cell,
        ring=tuple(map(str, shown.cells)),
        symbols=symbols,
        session=tuple(
            Share(each, said, count, percent(count, counted))
            for each, said in symbols.items()
            for count in (shown.counts.get(each, 0),)
        ),
        counted=counted,
        spins=latest(seen.rounds),
        windows=shares(numbers, WINDOWS, {"symbol": symbols}, lambda number: (number,)),
        unheard=unheard(seen.rounds, WINDOWS[-1]),
    )


def _place(symbol: str) -> tuple[bool, int, str]:
    """Numbers by their value, then the others by their name."""
    return (not symbol.isdecimal(), int(symbol) if symbol.isdecimal() else 0, symbol)
