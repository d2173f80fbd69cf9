"""What a table of roulette shows: the last number on its wheel, those before it, how often each
chance came.
"""

from __future__ import annotations

import msgspec

from controller.contract.messages.messages import word
from controller.contract.shown import RouletteShown
from subscribers.display.seen import Seen
from subscribers.display.spins import ZERO, WheelBody, even_chances, last, latest, results
from subscribers.display.statistics import (
    EXTREMES,
    WINDOWS,
    Extremes,
    extremes,
    shares,
    unheard,
)

RED = frozenset({1, 3, 5, 7, 9, 12, 14, 16, 18, 19, 21, 23, 25, 27, 30, 32, 34, 36})
"""The red numbers, by every decree."""
USUAL = (
    *(0, 32, 15, 19, 4, 21, 2, 25, 17, 34, 6, 27, 13, 36, 11, 30, 8, 23, 10),
    *(5, 24, 16, 33, 1, 20, 14, 31, 9, 22, 18, 29, 7, 28, 12, 35, 3, 26),
)
"""The order of the numbers around a wheel, where the table does not say another."""


class Pocket(msgspec.Struct, frozen=True):
    """A place of the wheel."""

    number: str
    colour: str


class RouletteBody(WheelBody, frozen=True, kw_only=True):
    """The body of the picture."""

    chances: tuple[str, ...]
    """What it wins besides, in words."""
    ring: tuple[Pocket, ...]
    """The wheel, clockwise."""
    extremes: tuple[Extremes, ...]
    """The most and the least frequent numbers."""


def body(seen: Seen, shown: RouletteShown) -> RouletteBody:
    """What the table shows now."""
    spins = results(seen.rounds)
    numbers = tuple(spin.number or "" for spin in spins)
    language = seen.language
    return RouletteBody(
        last=last(seen, shown, shown.last_colour or ZERO),
        chances=() if shown.last_number is None else _texts(str(shown.last_number), language),
        ring=tuple(Pocket(str(number), colour(number)) for number in order(shown)),
        spins=latest(seen.rounds),
        windows=shares(numbers, WINDOWS, _groups(language), chances),
        extremes=extremes(numbers, EXTREMES, [str(number) for number in range(37)]),
        unheard=unheard(seen.rounds, WINDOWS[-1]),
    )


def colour(number: int) -> str:
    """The colour of a number's pocket."""
    return ZERO if number == 0 else "red" if number in RED else "black"


def order(shown: RouletteShown) -> tuple[int, ...]:
    """The numbers around this table's wheel: as its settings have them, if that is a wheel."""
    told = shown.settings.get("pocket_order")
    if not isinstance(told, list) or not all(type(number) is int for number in told):
        return USUAL
    return tuple(told) if sorted(told) == sorted(USUAL) else USUAL


def chances(number: str) -> tuple[str, ...]:
    """The chances that a number wins beside itself; zero wins none, and has its colour. What is no
    number of the wheel wins nothing.
    """
    value = int(number) if number.isdecimal() else -1
    if value <= 0 or value > 36:
        return (ZERO,) if value == 0 else ()
    return (
        colour(value),
        "odd" if value % 2 else "even",
        "falta" if value <= 18 else "pasa",
        f"dozen {(value - 1) // 12 + 1}",
        f"column {(value - 1) % 3 + 1}",
    )


def _groups(language: str) -> dict[str, dict[str, str]]:
    twelves = {
        group: {f"{group} {name}": word(group, name, language) for name in ("1", "2", "3")}
        for group in ("dozen", "column")
    }
    return {**even_chances(language, ZERO), **twelves}


def _texts(number: str, language: str) -> tuple[str, ...]:
    texts = {name: said for group in _groups(language).values() for name, said in group.items()}
    return tuple(texts[chance] for chance in chances(number))
