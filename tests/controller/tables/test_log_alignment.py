"""The comparison of a wheel's log with the journal, beside one that tries every possibility."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hypothesis import given
from hypothesis import strategies as st

from common.readings import Number
from controller.tables.log_alignment import LogDifference, LoggedSpin, align
from tests.support.for_each import for_each

NUMBERS = st.integers(0, 3)
"""Few, so that several ways to place them are common."""


def spins_of(text: str) -> list[LoggedSpin]:
    """``5 ? v 9@4``: a number, an unresolved round, a void one, a number with the wheel's count;
    rounds count from 1, and so does the wheel unless it says otherwise. ``@0``: no count.
    """
    kinds = {"?": (None, False), "v": (None, True)}
    spins = []
    for round_, word in enumerate(text.split(), start=1):
        name, _, count = word.partition("@")
        number, is_void = kinds[name] if name in kinds else (int(name), False)
        counted = (int(count) or None) if count else round_
        spins.append(LoggedSpin(number, 1, round_, is_void, counted))
    return spins


def shown(difference: LogDifference) -> str:
    rounds = " ".join(str(spin.round) for spin in difference.spins)
    after = difference.after.round if difference.after else 0
    numbers = " ".join(map(str, difference.wheel))
    return f"{difference.what} {rounds or f'after {after}'}: {numbers}".strip()


@for_each(
    ("log", "journal", "differences"),
    [
        ("", "", []),
        ("5 9", "5 9", []),
        ("5 7 9", "5 ? 9", ["unresolved 2: 7"]),
        ("5 7 9", "5 9", ["missing_in_journal after 1: 7"]),
        ("7 8", "", ["missing_in_journal after 0: 7 8"]),
        ("5 7 8 9", "5 ? ? 9", ["unresolved 2: 7", "unresolved 3: 8"]),
        ("5 7 8 9", "5 ?@2 9@4", ["unresolved 2: 7", "missing_in_journal after 1: 8"]),
        ("5 7 8 9", "5 ?@3 9@4", ["unresolved 2: 8", "missing_in_journal after 1: 7"]),
        ("5 7 8 9", "5@256 ?@2 9@3", ["unresolved 2: 8", "missing_in_journal after 1: 7"]),
        ("5 7 9", "5 ?@0 9", ["ambiguous 2: 7"]),  # without a count
        ("5 7 9", "5 ? 9@1", ["ambiguous 2: 7"]),  # the count began again
        ("5 7 9", "5 ?@2 ?@2 9@3", ["ambiguous 2 3: 7"]),  # two rounds of one spin
        ("5 9", "5 ?@2 9@2", ["unresolved 2:"]),  # the log has no number for it
        ("5 7", "5 ?", ["unresolved 2: 7"]),
        ("7 9", "? 9", ["unresolved 1: 7"]),
        ("7", "?", ["ambiguous 1: 7"]),  # nothing to count from
        ("5 7 9", "5 v 9", []),  # the number of the void round
        ("5 9", "5 v 9", []),
        ("5 7 8 9", "5 v 9", ["ambiguous 2: 7 8"]),
        ("5 7 9", "5 ? v 9", ["ambiguous 2 3: 7"]),
        ("7 7", "7", ["missing_in_journal after 0: 7"]),
        ("5 5 8", "5 ?", ["ambiguous 2: 5 5 8"]),  # which 5 was seen?
        ("5 8 5", "5 ? 5", ["unresolved 2: 8"]),
        ("5", "5 9", ["missing_in_wheel 2:"]),
        ("5 8 9", "5 7 9", ["different 2: 8"]),
        ("5 9 7 1", "5 7 9 1", ["order 2 3: 9 7"]),
        ("7", "7 7", ["ambiguous 1 2: 7"]),  # which of the two is missing?
        ("5 8 6 9", "5 7 ? 9", ["different 2: 8", "ambiguous 3: 6"]),  # nothing is offered
        ("1 2", "3 4", ["different 1: 1", "different 2: 2"]),
    ],
)
def test_differences_by_name(log: str, journal: str, differences: list[str]) -> None:
    found = align([int(word) for word in log.split()], spins_of(journal))
    assert [shown(each) for each in found] == differences


def placements(
    wheel: Sequence[Number], known: Sequence[LoggedSpin], at: int = 0
) -> Iterator[dict[int, int]]:
    """Every way to place the known numbers in the log, in order: places by round."""
    if not known:
        yield {}
        return
    spin, *rest = known
    for place in range(at, len(wheel)):
        if spin.number == wheel[place]:
            for others in placements(wheel, rest, place + 1):
                yield {spin.round: place, **others}


SPIN = st.one_of(
    st.builds(LoggedSpin, NUMBERS, count=st.one_of(st.none(), st.integers(1, 9))),
    st.builds(LoggedSpin, st.none(), count=st.one_of(st.none(), st.integers(1, 9))),
    st.just(LoggedSpin(None, is_void=True)),
)


def numbered(spins: list[LoggedSpin]) -> list[LoggedSpin]:
    return [
        LoggedSpin(spin.number, 1, round_, spin.is_void, spin.count)
        for round_, spin in enumerate(spins, start=1)
    ]


@given(st.lists(NUMBERS, max_size=7), st.lists(SPIN, max_size=6).map(numbered))
def test_nothing_ambiguous_is_offered(wheel: list[Number], spins: list[LoggedSpin]) -> None:
    """A number that is offered lies where the count places it, in every way to place the others."""
    known = [spin for spin in spins if spin.number is not None]
    ways = list(placements(wheel, known))
    found = align(wheel, spins)
    for each in (each for each in found if each.what == "unresolved" and each.wheel):
        (spin,) = each.spins
        if (anchor := each.after) is not None and anchor.count is not None:
            assert spin.count is not None
            places = {way[anchor.round] + spin.count - anchor.count for way in ways}
            assert {wheel[place] for place in places} == set(each.wheel)
        assert ways
    if not ways:
        assert found
        assert not any(each.what == "unresolved" for each in found)
    if not found:  # reconciled: nothing is left over, except what a void round may have had
        voids = sum(spin.is_void for spin in spins)
        assert 0 <= len(wheel) - len(known) <= voids
        assert not any(spin.number is None and not spin.is_void for spin in spins)


@given(st.data(), st.lists(NUMBERS, max_size=30), st.integers(1, 256))
def test_what_the_daemon_missed_is_found(
    data: st.DataObject, played: list[Number], begin: int
) -> None:
    """Any spins are lost, unresolved or void, some rounds are unresolved without a spin, and not
    every count is known: none is invented, and what is certain is true.
    """
    spins: list[LoggedSpin] = []
    truth: dict[int, Number] = {}
    lost = 0
    for index, number in enumerate(played):
        fate = data.draw(st.sampled_from("kkkkluvb"))
        count = data.draw(st.sampled_from([(begin + index - 1) % 256 + 1, None]))
        round_ = len(spins) + 1
        if fate == "b":  # bets opened, and the link was lost before the ball was launched
            spins.append(LoggedSpin(None, 1, round_, count=count))
            round_ += 1
        if fate in "kb":
            spins.append(LoggedSpin(number, 1, round_, count=count))
        elif fate == "u":
            truth[round_] = number
            spins.append(LoggedSpin(None, 1, round_, count=count))
        elif fate == "v":
            spins.append(LoggedSpin(None, 1, round_, is_void=True, count=count))
        lost += fate == "l"
    found = align(played, spins)
    for each in found:
        if each.what == "unresolved":
            round_ = each.spins[0].round
            assert each.wheel == ((truth[round_],) if round_ in truth else ())
    assert not {each.what for each in found} & {"different", "order", "missing_in_wheel"}
    if not any(each.what == "ambiguous" or each.spins for each in found) and not any(
        spin.is_void for spin in spins
    ):
        assert sum(len(each.wheel) for each in found) == lost


@given(st.lists(NUMBERS, max_size=200), st.lists(NUMBERS, max_size=200))
def test_any_two_sequences_are_compared(wheel: list[Number], numbers: list[Number]) -> None:
    spins = [LoggedSpin(number, 1, at) for at, number in enumerate(numbers, start=1)]
    found = align(wheel, spins)
    assert (found == []) == (wheel == numbers)
