"""Compares the results in a wheel's own log with the spins in the journal. Pure.

Both sequences begin at the same spin. A number of the journal is in the log, in order. An
unresolved or void round may have a number there or none. It counts as that of an unresolved round
only if it lies where the wheel's count of spins places it, between two numbers of the journal that
have only one place in the log. Otherwise the difference is ``ambiguous``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import msgspec

from common.cammegh_ss2_frames import MAX_SPIN
from common.contract.events import WheelDifferenceName
from common.readings import Number

MAX_CONTRADICTION_SPINS = 48
"""Maximum spins between the first and the last contradiction that are compared one by one."""


MAX_CONTEXT_SPINS = 8
"""Maximum spins before and after a contradiction that are compared with it."""


class LoggedSpin(msgspec.Struct, frozen=True, array_like=True):
    """A spin in the journal. ``number``: None if it is not known; ``round``: 0 if it belongs to no
    round; ``count``: the wheel's count of spins, 1 to 256.
    """

    number: Number | None
    session: int = 0
    round: int = 0
    is_void: bool = False
    count: int | None = None


class LogDifference(NamedTuple):
    """A part in which log and journal differ: the numbers in the log, and the spins in the journal.
    ``after``: the spin before it in the journal.
    """

    what: WheelDifferenceName
    wheel: tuple[Number, ...]
    spins: tuple[LoggedSpin, ...]
    after: LoggedSpin | None = None


class _Block(NamedTuple):
    """The numbers and spins between two spins of the journal that have only one place in the log:
    ``before`` and ``after``; None at the ends.
    """

    wheel: Sequence[Number]
    spins: Sequence[LoggedSpin]
    before: LoggedSpin | None
    after: LoggedSpin | None


def align(wheel: Sequence[Number], spins: Sequence[LoggedSpin]) -> list[LogDifference]:
    """Return the differences, oldest first; none: every spin has its number, and none is left."""
    known = [spin for spin in spins if spin.number is not None]
    first, last = _leftmost(wheel, known), _leftmost(wheel[::-1], known[::-1])
    if first is None or last is None:
        return list(_contradictions(wheel, spins))
    fixed = {
        id(spin): place
        for spin, place, mirrored in zip(known, first, reversed(last), strict=True)
        if place + mirrored == len(wheel) - 1
    }
    return [found for block in _blocks(wheel, spins, fixed) for found in _in_block(block)]


def _leftmost(wheel: Sequence[Number], known: Sequence[LoggedSpin]) -> list[int] | None:
    """Return the earliest place of each spin in the log; None if it does not have all in order."""
    places: list[int] = []
    at = 0
    for spin in known:
        while at < len(wheel) and spin.number != wheel[at]:
            at += 1
        if at == len(wheel):
            return None
        places.append(at)
        at += 1
    return places


def _blocks(
    wheel: Sequence[Number], spins: Sequence[LoggedSpin], fixed: Mapping[int, int]
) -> Iterator[_Block]:
    """Yield the blocks between the spins that have only one place, by their ids."""
    begin, place, before = 0, 0, None
    for index, spin in enumerate(spins):
        if (there := fixed.get(id(spin))) is not None:
            yield _Block(wheel[place:there], spins[begin:index], before, spin)
            begin, place, before = index + 1, there + 1, spin
    yield _Block(wheel[place:], spins[begin:], before, None)


def _in_block(block: _Block) -> Iterator[LogDifference]:
    """Yield the differences of a part of a log that has every number of the journal."""
    unresolved = [spin for spin in block.spins if spin.number is None and not spin.is_void]
    voids = tuple(spin for spin in block.spins if spin.number is None and spin.is_void)
    known = Counter(spin.number for spin in block.spins if spin.number is not None)
    surplus = len(block.wheel) - known.total()
    places: dict[int, LoggedSpin] = {}
    if unresolved and surplus:
        found = None if voids or known else _places(block, unresolved)
        if found is None:
            yield LogDifference(
                "ambiguous", tuple(block.wheel), (*unresolved, *voids), block.before
            )
            return
        places = found
    for spin in unresolved:
        number = tuple(block.wheel[place] for place, each in places.items() if each is spin)
        yield LogDifference("unresolved", number, (spin,), block.before)
    if surplus <= max(len(voids), len(places)):
        return  # each number that is left may be that of a void round
    left: list[Number] = []
    for place, number_left in enumerate(block.wheel):
        if place in places:
            continue
        if known[number_left]:
            known[number_left] -= 1
        else:
            left.append(number_left)
    yield LogDifference(
        "ambiguous" if voids else "missing_in_journal", tuple(left), voids, block.before
    )


def _places(block: _Block, unresolved: Sequence[LoggedSpin]) -> dict[int, LoggedSpin] | None:
    """Return the place of each unresolved round in the block, by the wheel's count of spins; None
    if it does not place each of them, or contradicts itself.
    """
    length = len(block.wheel)
    before = None if block.before is None else block.before.count
    after = None if block.after is None else block.after.count
    if before is None and after is not None:
        before = after - length - 1
    if before is None or length >= MAX_SPIN:
        return None
    if after is not None and (after - before - length - 1) % MAX_SPIN:
        return None
    places: dict[int, LoggedSpin] = {}
    for spin in unresolved:
        place = -1 if spin.count is None else (spin.count - before - 1) % MAX_SPIN
        if not 0 <= place < length or place in places:
            return None
        places[place] = spin
    return places


class _Step(NamedTuple):
    """A step of an alignment, with its count of numbers of the log and of spins of the journal."""

    what: WheelDifferenceName | None
    wheel: int
    spins: int
    cost: int


_MISSING_IN_JOURNAL = _Step("missing_in_journal", 1, 0, 1)
_MISSING_IN_WHEEL = _Step("missing_in_wheel", 0, 1, 1)
_NO_NUMBER = _Step(None, 0, 1, 0)
_ORDER = _Step("order", 2, 2, 1)


def _contradictions(
    wheel: Sequence[Number], spins: Sequence[LoggedSpin]
) -> Iterator[LogDifference]:
    """Yield the differences of a log that lacks a number of the journal. Nothing is offered for an
    unresolved round then. If there are several shortest explanations, all of the part that differs
    is one ambiguous difference.
    """
    begin, end = _contradicting_part(wheel, spins)
    part, spins_part = wheel[begin : len(wheel) - end], spins[begin : len(spins) - end]
    after = spins[begin - 1] if begin else None
    path = None
    if max(len(part), len(spins_part)) <= MAX_CONTRADICTION_SPINS:
        path = _only_shortest_path(part, spins_part)
    if path is None:
        yield LogDifference("ambiguous", tuple(part), tuple(spins_part), after)
        return
    at = index = 0
    for step in path:
        if step.what is not None:
            yield LogDifference(
                step.what,
                tuple(part[at : at + step.wheel]),
                tuple(spins_part[index : index + step.spins]),
                spins_part[index - 1] if index else after,
            )
        at, index = at + step.wheel, index + step.spins


def _contradicting_part(wheel: Sequence[Number], spins: Sequence[LoggedSpin]) -> tuple[int, int]:
    """Return how many spins at the beginning and at the end are the same in both. Those beside the
    part that differs belong to it if their numbers occur in it: one of them may be meant.
    """
    shorter, begin, end = min(len(wheel), len(spins)), 0, 0
    while begin < shorter and spins[begin].number == wheel[begin]:
        begin += 1
    while end < shorter - begin and spins[-1 - end].number == wheel[-1 - end]:
        end += 1
    numbers = {
        *wheel[begin : len(wheel) - end],
        *(spin.number for spin in spins[begin : len(spins) - end]),
    }
    for _ in range(MAX_CONTEXT_SPINS):
        begin -= begin > 0 and wheel[begin - 1] in numbers
        end -= end > 0 and wheel[-end] in numbers
    return begin, end


def _only_shortest_path(
    wheel: Sequence[Number], spins: Sequence[LoggedSpin]
) -> tuple[_Step, ...] | None:
    """Return the shortest path of steps, or None if there are several."""

    @cache
    def best(at: int, index: int) -> tuple[int, int, _Step | None]:
        """Return the cost from here to the end, the number of paths with it, and their step."""
        if at == len(wheel) and index == len(spins):
            return 0, 1, None
        costs = [
            (step.cost + cost, paths, step)
            for step in _steps(wheel, spins, at, index)
            for cost, paths, _ in (best(at + step.wheel, index + step.spins),)
        ]
        lowest = min(cost for cost, _, _ in costs)
        equal = [each for each in costs if each[0] == lowest]
        return lowest, sum(paths for _, paths, _ in equal), equal[0][2]

    if best(0, 0)[1] > 1:
        return None
    path: list[_Step] = []
    at = index = 0
    while (step := best(at, index)[2]) is not None:
        path.append(step)
        at, index = at + step.wheel, index + step.spins
    return tuple(path)


def _steps(
    wheel: Sequence[Number], spins: Sequence[LoggedSpin], at: int, index: int
) -> Iterator[_Step]:
    """Yield the possible steps from here."""
    if at < len(wheel):
        yield _MISSING_IN_JOURNAL
    if index == len(spins):
        return
    spin = spins[index]
    yield _NO_NUMBER if spin.number is None else _MISSING_IN_WHEEL
    if at == len(wheel):
        return
    if spin.number in (None, wheel[at]):
        yield _Step(None if spin.number is not None or spin.is_void else "ambiguous", 1, 1, 0)
    else:
        yield _Step("different", 1, 1, 1)
    if at + 1 < len(wheel) and index + 1 < len(spins):
        pair = spin.number, spins[index + 1].number
        if None not in pair and pair == (wheel[at + 1], wheel[at]) and pair[0] != pair[1]:
            yield _ORDER
