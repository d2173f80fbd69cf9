"""What a table of boule shows: the last number, those before it, how often each chance came."""

from __future__ import annotations

import msgspec

from controller.contract.shown import BouleShown
from subscribers.display.seen import Seen
from subscribers.display.spins import PLAIN, WheelBody, even_chances, last, latest, results
from subscribers.display.statistics import (
    WINDOWS,
    Share,
    percent,
    shares,
    unheard,
)

MIDDLE = 5
"""The number without colour, parity or half."""
RED = frozenset({2, 4, 7, 9})
"""The red numbers, by every decree."""
NUMBERS = tuple(str(number) for number in range(1, 10))


class Place(msgspec.Struct, frozen=True):
    """A number, and how often it came in the session."""

    share: Share
    colour: str


class BouleBody(WheelBody, frozen=True, kw_only=True):
    """The body of the picture."""

    chances: tuple[str, ...]
    """What it wins besides, in words."""
    places: tuple[Place, ...]
    """The numbers, as often as they came in the session."""
    counted: int
    """Results of the session."""


def body(seen: Seen, shown: BouleShown) -> BouleBody:
    """What the table shows now."""
    numbers = tuple(spin.number or "" for spin in results(seen.rounds))
    groups = even_chances(seen.language, PLAIN)
    texts = {name: said for group in groups.values() for name, said in group.items()}
    counted = sum(shown.counts.values())
    return BouleBody(
        last=last(seen, shown, shown.last_colour or PLAIN),
        chances=tuple(
            texts[chance]
            for chance in ("" if shown.last_number is None else chances(str(shown.last_number)))
        ),
        places=tuple(
            Place(_share(number, shown.counts.get(number, 0), counted), colour(int(number)))
            for number in NUMBERS
        ),
        counted=counted,
        spins=latest(seen.rounds),
        windows=shares(numbers, WINDOWS, groups, chances),
        unheard=unheard(seen.rounds, WINDOWS[-1]),
    )


def colour(number: int) -> str:
    """The colour of a number."""
    return PLAIN if number == MIDDLE else "red" if number in RED else "black"


def chances(number: str) -> tuple[str, ...]:
    """The chances that a number wins beside itself; the middle one wins none, and has its colour.
    What is no number of the game wins nothing.
    """
    if number not in NUMBERS:
        return ()
    value = int(number)
    if value == MIDDLE:
        return (PLAIN,)
    return (
        colour(value),
        "odd" if value % 2 else "even",
        "falta" if value < MIDDLE else "pasa",
    )


def _share(number: str, count: int, counted: int) -> Share:
    return Share(number, number, count, percent(count, counted))
