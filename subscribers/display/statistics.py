"""Frequencies: pure functions over the results of a table, newest first.

Only results count: not void rounds, nor unresolved ones until they are decided. A corrected round
counts as corrected. Shares are relative to the number of counted results, which every picture
states.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TypeVar

import msgspec

from subscribers.display.rounds import PlayedRound

WINDOW_SIZES = (37, 100, 500)
"""Numbers of results over which shares are shown: one turn of a wheel, and longer."""
EXTREMES_SIZES = (100, 500)
"""Numbers of results over which the most and least frequent are shown."""
MIN_RESULTS = 37
"""Minimum number of results for showing the most and least frequent."""
MAX_EXTREMES = 4
"""Number of most and of least frequent shown."""

T = TypeVar("T")


class Share(msgspec.Struct, frozen=True):
    """Frequency of one chance."""

    id: str
    text: str
    count: int
    percent: float
    """Percentage of the counted results, with one decimal."""


class Window(msgspec.Struct, frozen=True):
    """The latest results. ``counted``: their number, at most ``size``."""

    size: int
    counted: int
    groups: Mapping[str, tuple[Share, ...]]


class Frequency(msgspec.Struct, frozen=True):
    """How often something occurred."""

    what: str
    count: int


class Extremes(msgspec.Struct, frozen=True):
    """The most and least frequent of the latest results."""

    size: int
    counted: int
    hot: tuple[Frequency, ...]
    cold: tuple[Frequency, ...]


def shares(
    results: Sequence[T],
    sizes: Iterable[int],
    groups: Mapping[str, Mapping[str, str]],
    chances: Callable[[T], Iterable[str]],
) -> tuple[Window, ...]:
    """Return the frequency of each chance. ``results``: newest first. ``groups``: the chances of
    each group and their texts. ``chances``: those that a result wins. A size that would count no
    more results than the previous one is left out.
    """
    return tuple(
        _window(results[:size], size, groups, chances) for size in _different(sizes, len(results))
    )


def _different(sizes: Iterable[int], counted: int) -> Iterator[int]:
    """Yield the sizes that count other results than the previous one."""
    previous = 0
    for size in sizes:
        if previous == 0 or counted > previous:
            yield size
        previous = size


def _window(
    results: Sequence[T],
    size: int,
    groups: Mapping[str, Mapping[str, str]],
    chances: Callable[[T], Iterable[str]],
) -> Window:
    counts = Counter(chance for result in results for chance in chances(result))
    counted = len(results)
    return Window(
        size,
        counted,
        {
            group: tuple(
                Share(name, text, counts[name], percent(counts[name], counted))
                for name, text in members.items()
            )
            for group, members in groups.items()
        },
    )


def percent(count: int, counted: int) -> float:
    """Return the percentage, and 0 if nothing was counted."""
    return round(100 * count / counted, 1) if counted else 0.0


def extremes(
    results: Sequence[str], sizes: Iterable[int], possible: Sequence[str], shown: int = MAX_EXTREMES
) -> tuple[Extremes, ...]:
    """Return the most and least frequent. ``results``: newest first; ``possible``: all possible
    results.

    Among equally frequent ones the most recent is hotter, and the one longest ago, or never, is
    colder. A hot one has occurred; none is both. With fewer than :data:`MIN_RESULTS` results
    nothing is shown.
    """
    return tuple(
        _extremes(results[:size], size, possible, shown)
        for size in _different(sizes, len(results))
        if len(results) >= MIN_RESULTS
    )


def _extremes(results: Sequence[str], size: int, possible: Sequence[str], shown: int) -> Extremes:
    counts = Counter(results)
    last_seen: dict[str, int] = {}
    for index, result in enumerate(results):
        last_seen.setdefault(result, index)
    ordered = sorted(
        possible, key=lambda value: (-counts[value], last_seen.get(value, len(results)))
    )
    hot = [value for value in ordered[:shown] if counts[value]]
    cold = [value for value in reversed(ordered) if value not in hot][:shown]
    return Extremes(
        size,
        len(results),
        tuple(Frequency(value, counts[value]) for value in hot),
        tuple(Frequency(value, counts[value]) for value in cold),
    )


def missing_rounds(rounds: Sequence[PlayedRound], size: int) -> int:
    """Return the number of rounds missing among the latest ``size`` results, because the server was
    not connected. ``rounds``: oldest first.
    """
    results = [round_ for round_ in rounds if round_.kind == "result"][-size:]
    if not results:
        return 0
    start = results[0].session, results[0].round
    counted = [round_ for round_ in rounds if (round_.session, round_.round) >= start]
    return sum(
        round_.round - (previous.round if round_.session == previous.session else 0) - 1
        for previous, round_ in pairwise(counted)
    )
