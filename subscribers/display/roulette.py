"""The display of roulette: the last number, those before it, and how often each chance won."""

from __future__ import annotations

import msgspec

from common.contract.messages.messages import word
from common.contract.shown import RouletteShown
from subscribers.display.context import PictureContext
from subscribers.display.spins import (
    ZERO_COLOUR,
    WheelBody,
    even_chances,
    last_spin,
    latest_spins,
    spins_with_number,
)
from subscribers.display.statistics import (
    EXTREMES_SIZES,
    WINDOW_SIZES,
    Extremes,
    extremes,
    missing_rounds,
    shares,
)

RED_NUMBERS = frozenset({1, 3, 5, 7, 9, 12, 14, 16, 18, 19, 21, 23, 25, 27, 30, 32, 34, 36})
"""The red numbers, in every decree."""
DEFAULT_WHEEL_ORDER = (
    *(0, 32, 15, 19, 4, 21, 2, 25, 17, 34, 6, 27, 13, 36, 11, 30, 8, 23, 10),
    *(5, 24, 16, 33, 1, 20, 14, 31, 9, 22, 18, 29, 7, 28, 12, 35, 3, 26),
)
"""Order of the numbers around a wheel, unless the table's settings state another."""


class Pocket(msgspec.Struct, frozen=True):
    """A pocket of the wheel."""

    number: str
    colour: str


class RouletteBody(WheelBody, frozen=True, kw_only=True):
    """The body of the picture."""

    chances: tuple[str, ...]
    """The other chances that the last number wins, as text."""
    ring: tuple[Pocket, ...]
    """The wheel, clockwise."""
    extremes: tuple[Extremes, ...]
    """The most and least frequent numbers."""


def body(context: PictureContext, shown: RouletteShown) -> RouletteBody:
    """Return the body for the current state."""
    spins = spins_with_number(context.rounds)
    numbers = tuple(spin.number or "" for spin in spins)
    language = context.language
    return RouletteBody(
        last=last_spin(context, shown, shown.last_colour or ZERO_COLOUR),
        chances=() if shown.last_number is None else _texts(str(shown.last_number), language),
        ring=tuple(Pocket(str(number), colour(number)) for number in wheel_order(shown)),
        spins=latest_spins(context.rounds),
        windows=shares(numbers, WINDOW_SIZES, _groups(language), chances),
        extremes=extremes(numbers, EXTREMES_SIZES, [str(number) for number in range(37)]),
        unheard=missing_rounds(context.rounds, WINDOW_SIZES[-1]),
    )


def colour(number: int) -> str:
    """Return the colour of a number's pocket."""
    return ZERO_COLOUR if number == 0 else "red" if number in RED_NUMBERS else "black"


def wheel_order(shown: RouletteShown) -> tuple[int, ...]:
    """Return the numbers around this table's wheel, as set if the setting is valid."""
    setting = shown.settings.get("pocket_order")
    if not isinstance(setting, list) or not all(type(number) is int for number in setting):
        return DEFAULT_WHEEL_ORDER
    return tuple(setting) if sorted(setting) == sorted(DEFAULT_WHEEL_ORDER) else DEFAULT_WHEEL_ORDER


def chances(number: str) -> tuple[str, ...]:
    """Return the chances that a number wins besides itself: for zero only its colour, for an
    invalid number none.
    """
    value = int(number) if number.isdecimal() else -1
    if value <= 0 or value > 36:
        return (ZERO_COLOUR,) if value == 0 else ()
    return (
        colour(value),
        "odd" if value % 2 else "even",
        "falta" if value <= 18 else "pasa",
        f"dozen {(value - 1) // 12 + 1}",
        f"column {(value - 1) % 3 + 1}",
    )


def _groups(language: str) -> dict[str, dict[str, str]]:
    thirds = {
        group: {f"{group} {name}": word(group, name, language) for name in ("1", "2", "3")}
        for group in ("dozen", "column")
    }
    return {**even_chances(language, ZERO_COLOUR), **thirds}


def _texts(number: str, language: str) -> tuple[str, ...]:
    texts = {name: text for group in _groups(language).values() for name, text in group.items()}
    return tuple(texts[chance] for chance in chances(number))
