"""How often what came: pure functions over the results of a table, newest first.

Only results count. A void round has none, an unresolved one has none yet, and a corrected one
counts as corrected. Shares are of the results that were counted, which every picture says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TypeVar

import msgspec

from subscribers.display.rounds import Round

WINDOWS = (37, 100, 500)
"""Over how many results shares are told: once around a wheel, and longer."""
EXTREMES = (100, 500)
"""Over how many results the most and the least frequent are told."""
ENOUGH = 37
"""Results before the most and the least frequent say anything."""
SHOWN = 4
"""How many of the most and of the least frequent are told."""

T = TypeVar("T")


class Share(msgspec.Struct, frozen=True):
    """How often one chance came."""

    id: str
    text: str
    count: int
    percent: float
    """Of the results counted; one decimal."""


class Window(msgspec.Struct, frozen=True):
    """The latest results. ``counted``: how many there are, at most ``size``."""

    size: int
    counted: int
    groups: Mapping[str, tuple[Share, ...]]


class Often(msgspec.Struct, frozen=True):
    """How often something came."""

    what: str
    count: int


class Extremes(msgspec.Struct, frozen=True):
    """The most and the least frequent of the latest results."""

    size: int
    counted: int
    hot: tuple[Often, ...]
    cold: tuple[Often, ...]


def shares(
    results: Sequence[T],
    sizes: Iterable[int],
    groups: Mapping[str, Mapping[str, str]],
    chances: Callable[[T], Iterable[str]],
) -> tuple[Window, ...]:
    """How often each chance came. ``results``: newest first. ``groups``: of each group, its chances
    and their texts. ``chances``: those that a result wins. A size that would count no more results
    than the one before is left out.
    """
    return tuple(
        _window(results[:size], size, groups, chances) for size in _different(sizes, len(results))
    )


def _different(sizes: Iterable[int], counted: int) -> Iterator[int]:
    """The sizes that do not count the same results as the one before."""
    before = 0
    for size in sizes:
        if before == 0 or counted > before:
            yield size
        before = size


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
                Share(name, said, counts[name], percent(counts[name], counted))
                for name, said in members.items()
            )
            for group, members in groups.items()
        },
    )


def percent(count: int, counted: int) -> float:
    """The part of the whole; nothing of nothing is 0."""
    return round(100 * count / counted, 1) if counted else 0.0


def extremes(
    results: Sequence[str], sizes: Iterable[int], possible: Sequence[str], shown: int = SHOWN
) -> tuple[Extremes, ...]:
    """The most and the least frequent. ``results``: newest first; ``possible``: all that can come.

    Of what came equally often, the one that came last is hotter, and colder is the one that came
    longest ago, or never. A hot one has come; none is both. With fewer than :data:`ENOUGH` results
    nothing is told.
    """
    return tuple(
        _extremes(results[:size], size, possible, shown)
        for size in _different(sizes, len(results))
        if len(results) >= ENOUGH
    )


def _extremes(results: Sequence[str], size: int, possible: Sequence[str], shown: int) -> Extremes:
    counts = Counter(results)
    ago: dict[str, int] = {}
    for index, result in enumerate(results):
        ago.setdefault(result, index)
    ordered = sorted(possible, key=lambda each: (-counts[each], ago.get(each, len(results))))
    hot = [each for each in ordered[:shown] if counts[each]]
    cold = [each for each in reversed(ordered) if each not in hot][:shown]
    return Extremes(
        size,
        len(results),
        tuple(Often(each, counts[each]) for each in hot),
        tuple(Often(each, counts[each]) for each in cold),
    )


def unheard(rounds: Sequence[Round], size: int) -> int:
    """How many rounds are missing among those that the latest ``size`` results stand between: they
    were played while nobody here listened. ``rounds``: oldest first.
    """
    results = [each for each in rounds if each.kind == "result"][-size:]
    if not results:
        return 0
    first = results[0].session, results[0].round
    counted = [each for each in rounds if (each.session, each.round) >= first]
    return sum(
        each.round - (before.round if each.session == before.session else 0) - 1
        for before, each in pairwise(counted)
    )
