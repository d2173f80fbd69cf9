"""The display of roulette: the last number, those before it, and how often each chance won."""

from __future__ import annotations

from collections import Counter

import msgspec

from common.contract.messages.messages import text, word
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
    Share,
    extremes,
    missing_rounds,
    percent,
    shares,
)

RED_NUMBERS = frozenset({1, 3, 5, 7, 9, 12, 14, 16, 18, 19, 21, 23, 25, 27, 30, 32, 34, 36})
"""The red numbers, in every decree."""
DEFAULT_WHEEL_ORDER = (
    *(0, 32, 15, 19, 4, 21, 2, 25, 17, 34, 6, 27, 13, 36, 11, 30, 8, 23, 10),
    *(5, 24, 16, 33, 1, 20, 14, 31, 9, 22, 18, 29, 7, 28, 12, 35, 3, 26),
)
"""Order of the numbers around a wheel, unless the table's settings state another."""


SECTORS = {
    "voisins": frozenset({22, 18, 29, 7, 28, 12, 35, 3, 26, 0, 32, 15, 19, 4, 21, 2, 25}),
    "orphelins": frozenset({17, 34, 6, 1, 20, 14, 31, 9}),
    "tiers": frozenset({27, 13, 36, 11, 30, 8, 23, 10, 5, 24, 16, 33}),
}
"""The sectors of a wheel in the default order: the neighbours of zero, the third opposite, and
what is between them.
"""
HEAT_SIZE = WINDOW_SIZES[1]
"""Number of results over which the frequency of each pocket, and of each sector, is shown."""
MIN_STREAK = 3
"""Minimum length of a streak that is shown."""


class Pocket(msgspec.Struct, frozen=True):
    """A pocket of the wheel."""

    number: str
    colour: str


class Heat(msgspec.Struct, frozen=True, kw_only=True):
    """How often each pocket came. ``counted``: the number of results, at most ``size``."""

    size: int
    counted: int
    counts: tuple[int, ...]
    """In the order of the wheel."""
    hot: tuple[str, ...]
    """The most frequent numbers; empty with few results, as the next."""
    cold: tuple[str, ...]


class Streak(msgspec.Struct, frozen=True):
    """A chance that the latest results have all won, or since when there was no zero, as text."""

    id: str
    text: str


class RouletteBody(WheelBody, frozen=True, kw_only=True):
    """The body of the picture."""

    chances: tuple[str, ...]
    """The other chances that the last number wins, as text."""
    ring: tuple[Pocket, ...]
    """The wheel, clockwise."""
    extremes: tuple[Extremes, ...]
    """The most and least frequent numbers."""
    heat: Heat
    sectors: tuple[Share, ...]
    """Frequency of each sector; empty if the wheel has another order than the default."""
    streaks: tuple[Streak, ...]


def body(context: PictureContext, shown: RouletteShown) -> RouletteBody:
    """Return the body for the current state."""
    spins = spins_with_number(context.rounds)
    numbers = tuple(spin.number or "" for spin in spins)
    language = context.language
    order = wheel_order(shown)
    found = extremes(numbers, EXTREMES_SIZES, [str(number) for number in range(37)])
    return RouletteBody(
        last=last_spin(context, shown, shown.last_colour or ZERO_COLOUR),
        chances=() if shown.last_number is None else _texts(str(shown.last_number), language),
        ring=tuple(Pocket(str(number), colour(number)) for number in order),
        spins=latest_spins(context.rounds),
        windows=shares(numbers, WINDOW_SIZES, _groups(language), chances),
        extremes=found,
        heat=heat(numbers[:HEAT_SIZE], order, found[:1]),
        sectors=sectors(numbers[:HEAT_SIZE], language) if order == DEFAULT_WHEEL_ORDER else (),
        streaks=streaks(numbers, language),
        unheard=missing_rounds(context.rounds, WINDOW_SIZES[-1]),
    )


def heat(numbers: tuple[str, ...], order: tuple[int, ...], found: tuple[Extremes, ...]) -> Heat:
    """Return how often each pocket came. ``numbers``: newest first; ``found``: the most and least
    frequent of them, if they are enough.
    """
    counts = Counter(numbers)
    return Heat(
        size=HEAT_SIZE,
        counted=len(numbers),
        counts=tuple(counts[str(number)] for number in order),
        hot=tuple(each.what for extremes_ in found for each in extremes_.hot),
        cold=tuple(each.what for extremes_ in found for each in extremes_.cold),
    )


def sectors(numbers: tuple[str, ...], language: str) -> tuple[Share, ...]:
    """Return the frequency of each sector of the wheel."""
    counts = {
        name: sum(int(number) in members for number in numbers if number.isdecimal())
        for name, members in SECTORS.items()
    }
    return tuple(
        Share(name, word("sector", name, language), count, percent(count, len(numbers)))
        for name, count in counts.items()
    )


def streaks(numbers: tuple[str, ...], language: str) -> tuple[Streak, ...]:
    """Return the even chances that won each of the latest spins, the longest streak first, and the
    number of spins since zero. ``numbers``: newest first.
    """
    texts = _chance_texts(language)
    lengths = {
        chance: next(
            (index for index, number in enumerate(numbers) if chance not in chances(number)),
            len(numbers),
        )
        for group in even_chances(language, ZERO_COLOUR).values()
        for chance in group
    }
    long = sorted(
        ((length, chance) for chance, length in lengths.items() if length >= MIN_STREAK),
        reverse=True,
    )
    zero = numbers.index("0") if "0" in numbers else 0
    since = [Streak("zero", text("display.zero_since", language, count=zero))] if zero else []
    return (*(Streak(chance, f"{texts[chance]} ×{length}") for length, chance in long), *since)


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
    texts = _chance_texts(language)
    return tuple(texts[chance] for chance in chances(number))


def _chance_texts(language: str) -> dict[str, str]:
    return {name: text_ for group in _groups(language).values() for name, text_ in group.items()}
