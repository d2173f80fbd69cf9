"""The display of a wheel of fortune: the last symbol, those before it, and their frequency."""

from __future__ import annotations

from common.contract.messages.messages import word
from common.contract.shown import FortuneShown
from subscribers.display.context import PictureContext
from subscribers.display.spins import WheelBody, last_spin, latest_spins, spins_with_number
from subscribers.display.statistics import (
    WINDOW_SIZES,
    Share,
    missing_rounds,
    percent,
    shares,
)


class FortuneBody(WheelBody, frozen=True, kw_only=True):
    """The body of the picture. ``symbols``: the text of each symbol."""

    cell: int | None
    """Its cell, from 1; None if unknown."""
    ring: tuple[str, ...]
    """The symbols around the wheel, cell by cell; empty if the state does not list them."""
    symbols: dict[str, str]
    session: tuple[Share, ...]
    """Frequency of each symbol in the session."""
    counted: int
    """Number of results in the session."""


def body(context: PictureContext, shown: FortuneShown) -> FortuneBody:
    """Return the body for the current state."""
    spins = spins_with_number(context.rounds)
    numbers = tuple(spin.number or "" for spin in spins)
    names = {*map(str, shown.cells), *shown.counts, *numbers}
    if shown.last_number is not None:
        names.add(str(shown.last_number))
    symbols = {
        name: word("symbol", name, context.language) for name in sorted(names, key=_symbol_order)
    }
    counted = sum(shown.counts.values())
    return FortuneBody(
        last=last_spin(context, shown, None),
        cell=shown.last_cell,
        ring=tuple(map(str, shown.cells)),
        symbols=symbols,
        session=tuple(
            Share(name, text, count, percent(count, counted))
            for name, text in symbols.items()
            for count in (shown.counts.get(name, 0),)
        ),
        counted=counted,
        spins=latest_spins(context.rounds),
        windows=shares(numbers, WINDOW_SIZES, {"symbol": symbols}, lambda number: (number,)),
        unheard=missing_rounds(context.rounds, WINDOW_SIZES[-1]),
    )


def _symbol_order(symbol: str) -> tuple[bool, int, str]:
    """Sort key: numbers by value, then the others by name."""
    return (not symbol.isdecimal(), int(symbol) if symbol.isdecimal() else 0, symbol)
