"""The display of boule: the last number, those before it, and how often each chance won."""

from __future__ import annotations

import msgspec

from common.contract.shown import BouleShown
from subscribers.display.context import PictureContext
from subscribers.display.spins import (
    NO_COLOUR,
    WheelBody,
    even_chances,
    last_spin,
    latest_spins,
    spins_with_number,
)
from subscribers.display.statistics import (
    WINDOW_SIZES,
    Share,
    missing_rounds,
    percent,
    shares,
)

MIDDLE_NUMBER = 5
"""The number without colour, parity or half."""
RED_NUMBERS = frozenset({2, 4, 7, 9})
"""The red numbers, in every decree."""
NUMBERS = tuple(str(number) for number in range(1, 10))


class NumberShare(msgspec.Struct, frozen=True):
    """A number and its frequency in the session."""

    share: Share
    colour: str


class BouleBody(WheelBody, frozen=True, kw_only=True):
    """The body of the picture."""

    chances: tuple[str, ...]
    """The other chances that the last number wins, as text."""
    places: tuple[NumberShare, ...]
    """The numbers with their frequency in the session."""
    counted: int
    """Number of results in the session."""


def body(context: PictureContext, shown: BouleShown) -> BouleBody:
    """Return the body for the current state."""
    numbers = tuple(spin.number or "" for spin in spins_with_number(context.rounds))
    groups = even_chances(context.language, NO_COLOUR)
    texts = {name: text for group in groups.values() for name, text in group.items()}
    counted = sum(shown.counts.values())
    return BouleBody(
        last=last_spin(context, shown, shown.last_colour or NO_COLOUR),
        chances=tuple(
            texts[chance]
            for chance in ("" if shown.last_number is None else chances(str(shown.last_number)))
        ),
        places=tuple(
            NumberShare(_share(number, shown.counts.get(number, 0), counted), colour(int(number)))
            for number in NUMBERS
        ),
        counted=counted,
        spins=latest_spins(context.rounds),
        windows=shares(numbers, WINDOW_SIZES, groups, chances),
        unheard=missing_rounds(context.rounds, WINDOW_SIZES[-1]),
    )


def colour(number: int) -> str:
    """Return the colour of a number."""
    return NO_COLOUR if number == MIDDLE_NUMBER else "red" if number in RED_NUMBERS else "black"


def chances(number: str) -> tuple[str, ...]:
    """Return the chances that a number wins besides itself: for the middle number only its colour,
    for an invalid number none.
    """
    if number not in NUMBERS:
        return ()
    value = int(number)
    if value == MIDDLE_NUMBER:
        return (NO_COLOUR,)
    return (
        colour(value),
        "odd" if value % 2 else "even",
        "falta" if value < MIDDLE_NUMBER else "pasa",
    )


def _share(number: str, count: int, counted: int) -> Share:
    return Share(number, number, count, percent(count, counted))
