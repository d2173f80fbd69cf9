"""Days of play, the list that another system would have of them, and differences that are planted
into it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import NamedTuple

from msgspec.structs import replace

from controller.shadow.differences import ResultDifference
from controller.shadow.results import DecidedRound, ListedResult

BEGIN = 1_793_491_200.0
DAY = 86_400.0
TOLERANCE = 15.0
Day = tuple[list[DecidedRound], list[ListedResult]]


def rounds_of(random: Random, count: int) -> list[DecidedRound]:
    """Rounds of a roulette, each 45 to 80 s after the one before."""
    at, played = BEGIN + 600, []
    for number in range(1, count + 1):
        at += random.uniform(45, 80)
        played.append(
            DecidedRound(
                session=1, round=number, at=at, kind="result", number=str(random.randrange(37))
            )
        )
    return played


def list_of(
    random: Random, played: Sequence[DecidedRound], offset: float = 0.0, drift: float = 0.0
) -> list[ListedResult]:
    """The list of the same rounds by a clock that is ``offset`` ahead and gains ``drift`` a day."""
    return [
        ListedResult(
            line=0,
            number=str(each.number),
            at=each.at + offset + drift * (each.at - BEGIN) / DAY + random.uniform(-2, 2),
        )
        for each in played
    ]


def other(number: str | None) -> str:
    """Another number of the wheel."""
    return str((int(number or 0) + 11) % 37)


class Plant(NamedTuple):
    """Changes both sides at an index, and returns the round that the difference is about."""

    apply: Callable[[list[DecidedRound], list[ListedResult], int], int]


def _missing_there(played: list[DecidedRound], listed: list[ListedResult], at: int) -> int:
    del listed[at]
    return played[at].round


def _missing_here(played: list[DecidedRound], listed: list[ListedResult], at: int) -> int:
    missing = played.pop(at)
    return missing.round


def _different(played: list[DecidedRound], listed: list[ListedResult], at: int) -> int:
    listed[at] = replace(listed[at], number=other(listed[at].number))
    return played[at].round


def _swapped(played: list[DecidedRound], listed: list[ListedResult], at: int) -> int:
    if played[at].number == played[at + 1].number:
        played[at] = replace(played[at], number=other(played[at].number))
    first, second = str(played[at].number), str(played[at + 1].number)
    listed[at] = replace(listed[at], number=second)
    listed[at + 1] = replace(listed[at + 1], number=first)
    return played[at].round


def _doubled(played: list[DecidedRound], listed: list[ListedResult], at: int) -> int:
    again = listed[at]
    listed.insert(at + 1, replace(again, at=None if again.at is None else again.at + 4))
    return played[at].round


def _unresolved(played: list[DecidedRound], listed: list[ListedResult], at: int) -> int:
    played[at] = replace(played[at], kind="unresolved", number=None)
    return played[at].round


def _void(played: list[DecidedRound], listed: list[ListedResult], at: int) -> int:
    played[at] = replace(played[at], kind="void", number=None)
    return played[at].round


def _corrected(played: list[DecidedRound], listed: list[ListedResult], at: int) -> int:
    before = played[at].number
    played[at] = replace(played[at], number=other(before), before=before)
    return played[at].round


PLANTS: Mapping[str, Callable[[list[DecidedRound], list[ListedResult], int], int]] = {
    "missing_there": _missing_there,
    "missing_here": _missing_here,
    "different": _different,
    "swapped": _swapped,
    "doubled_there": _doubled,
    "unresolved_here": _unresolved,
    "void_here": _void,
    "corrected_here": _corrected,
}


def plant(played: list[DecidedRound], listed: list[ListedResult], kinds: Sequence[str]) -> set[str]:
    """Plant these differences, at equal distances from the end to the begin. Return each as its
    kind and round.
    """
    places = [(index + 1) * len(played) // (len(kinds) + 1) for index in range(len(kinds))]
    return {
        f"{kind} {PLANTS[kind](played, listed, at)}"
        for kind, at in sorted(zip(kinds, places, strict=True), key=lambda each: -each[1])
    }


def found(differences: Sequence[ResultDifference], played: Sequence[DecidedRound]) -> set[str]:
    """Each difference as its kind and the round that it is about. One that is missing here is
    named after the round that follows it, less one.
    """
    names = set()
    for each in differences:
        if each.kind == "clock_step":
            continue
        if each.rounds:
            number = each.rounds[0].round
        else:
            at = each.rows[0].at or 0.0
            number = next(one.round for one in played if one.at > at) - 1
        names.add(f"{each.kind} {number}")
    return names
