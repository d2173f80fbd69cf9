"""The comparison of results: every planted difference is found by name, and none is invented."""

from __future__ import annotations

from itertools import permutations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from controller.shadow.differences import Comparison, compare
from controller.shadow.results import DecidedRound, ListedResult
from tests.controller.shadow.planted import (
    BEGIN,
    DAY,
    PLANTS,
    TOLERANCE,
    found,
    list_of,
    plant,
    rounds_of,
)

KINDS = sorted(PLANTS)


def compared(played: list[DecidedRound], listed: list[ListedResult]) -> Comparison:
    lines = [replace(row, line=number) for number, row in enumerate(listed, 1)]
    return compare(played, lines, BEGIN, BEGIN + DAY, TOLERANCE)


def without_times(listed: list[ListedResult]) -> list[ListedResult]:
    return [replace(row, at=None) for row in listed]


@given(
    seed=st.integers(0, 10_000),
    count=st.integers(0, 120),
    offset=st.floats(-7200, 7200),
    drift=st.floats(-20, 20),
)
@settings(max_examples=40, deadline=None)
def test_equal_sides_have_no_difference(seed: int, count: int, offset: float, drift: float) -> None:
    random = Random(seed)
    played = rounds_of(random, count)
    listed = list_of(random, played, offset if count > 40 else 0.0, drift)
    for rows in (listed, without_times(listed)):
        outcome = compared(played, rows)
        assert (outcome.same, outcome.fits, outcome.differences) == (count, True, ())


@given(
    seed=st.integers(0, 10_000),
    kinds=st.lists(st.sampled_from(KINDS), min_size=1, max_size=12),
    offset=st.floats(-7200, 7200),
)
@settings(max_examples=60, deadline=None)
def test_planted_differences_are_found_and_no_others(
    seed: int, kinds: list[str], offset: float
) -> None:
    random = Random(seed)
    played = rounds_of(random, 200)
    listed = list_of(random, played)
    planted = plant(played, listed, kinds)
    moved = [replace(row, at=row.at + offset) for row in listed if row.at is not None]
    outcome = compared(played, moved)
    differences = [
        replace(each, rows=tuple(replace(row, at=(row.at or 0) - offset) for row in each.rows))
        for each in outcome.differences
    ]
    assert outcome.fits
    assert found(differences, played) == planted
    assert {round(each.seconds - offset) in range(-3, 4) for each in outcome.offsets} == {True}


@given(
    seed=st.integers(0, 10_000),
    at=st.integers(60, 140),
    seconds=st.floats(20, 7000),
    sign=st.sampled_from([-1, 1]),
)
@settings(max_examples=40, deadline=None)
def test_a_clock_that_was_set_is_found_where_it_was_and_nothing_else(
    seed: int, at: int, seconds: float, sign: int
) -> None:
    random = Random(seed)
    played = rounds_of(random, 200)
    listed = list_of(random, played, 100)
    for index in range(at, len(listed)):
        row = listed[index]
        listed[index] = replace(row, at=(row.at or 0) + sign * seconds)
    outcome = compared(played, listed)
    assert outcome.same == 200
    (step,) = outcome.differences
    assert step.kind == "clock_step"
    assert abs((step.seconds or 0) - sign * seconds) < 4
    assert [row.line for row in step.rows] == [at + 1]


def test_thirty_days_with_every_kind_of_difference() -> None:
    pairs = list(permutations(KINDS, 2))
    for day in range(30):
        random = Random(day)
        played = rounds_of(random, 400)
        listed = list_of(random, played, offset=day * 7.0, drift=3)
        kinds = [*KINDS, *pairs[day % len(pairs)]] if day % 5 else []
        planted = plant(played, listed, kinds)
        outcome = compared(played, listed)
        shifted = [
            replace(
                each, rows=tuple(replace(row, at=(row.at or 0) - day * 7.0) for row in each.rows)
            )
            for each in outcome.differences
        ]
        assert found(shifted, played) == planted, day
        assert all(each.kind != "clock_step" for each in outcome.differences)


@given(seed=st.integers(0, 10_000), kinds=st.lists(st.sampled_from(KINDS), min_size=1, max_size=6))
@settings(max_examples=20, deadline=None)
def test_without_times_every_difference_is_found_where_the_numbers_allow_one_explanation(
    seed: int, kinds: list[str]
) -> None:
    random = Random(seed)
    played = rounds_of(random, 120)
    listed = list_of(random, played)
    planted = plant(played, listed, kinds)
    outcome = compared(played, without_times(listed))
    assert outcome.fits
    assert len(outcome.differences) <= len(planted)
    for each in outcome.differences:
        numbers = {one.number for one in each.rounds} | {one.number for one in each.rows}
        if each.kind == "missing_there":  # which of several equal ones is not known
            assert len(numbers) == 1
            assert len(each.rounds) == len(each.rows) + 1
        if each.kind == "missing_here":
            assert len(each.rows) == len(each.rounds) + 1


def test_of_equal_results_it_is_not_guessed_which_one_is_missing() -> None:
    played = rounds_of(Random(1), 20)
    for index in (9, 10):
        played[index] = replace(played[index], number="8")
    listed = without_times(list_of(Random(1), played))
    del listed[9]
    (difference,) = compared(played, listed).differences
    assert difference.kind == "missing_there"
    assert [each.round for each in difference.rounds] == [10, 11]
    assert [row.line for row in difference.rows] == [10]


@pytest.mark.parametrize(
    ("ours", "theirs", "kinds"),
    [
        ("12345678", "12359678", ["missing_there", "missing_here"]),
        ("12345678", "12395678", ["different"]),
        ("12345678", "12435678", ["swapped"]),
        ("12345678", "1234", ["missing_there"] * 4),
        # 4 may be missing before a wrong 5, or 5 after a wrong 4
        ("12345678", "1239678", ["ambiguous"]),
        ("121212345", "1212345", ["ambiguous"]),
    ],
)
def test_short_lists_without_times(ours: str, theirs: str, kinds: list[str]) -> None:
    played = [
        DecidedRound(session=1, round=index, at=BEGIN + 60 * index, kind="result", number=number)
        for index, number in enumerate(ours, 1)
    ]
    listed = [ListedResult(line=0, number=number) for number in theirs]
    assert [each.kind for each in compared(played, listed).differences] == kinds


def test_the_list_of_another_table_is_not_compared_result_by_result() -> None:
    played = rounds_of(Random(1), 200)
    listed = list_of(Random(2), rounds_of(Random(3), 200))
    outcome = compared(played, listed)
    assert not outcome.fits
    assert outcome.differences == ()
    assert outcome.offsets == ()


def test_results_at_the_ends_of_the_day_are_compared_with_what_lies_beyond() -> None:
    random = Random(5)
    played = [
        replace(each, at=each.at - 1200) for each in rounds_of(random, 120)
    ]  # begins before the day
    listed = list_of(random, played, offset=30)
    outcome = compared(played, listed)
    assert outcome.differences == ()
    early = [row for row in listed if (row.at or 0) - 30 >= BEGIN - 5]
    assert compared(played, early).differences == ()


def test_a_void_round_that_is_not_listed_is_no_difference() -> None:
    played = rounds_of(Random(1), 60)
    listed = list_of(Random(1), played)
    played[30] = replace(played[30], kind="void", number=None)
    del listed[30]
    assert compared(played, listed).differences == ()


@pytest.mark.parametrize("side", ["played", "listed"])
def test_a_side_without_results_differs_by_all_of_the_other(side: str) -> None:
    played = rounds_of(Random(1), 5)
    listed = list_of(Random(1), played)
    outcome = compared([] if side == "played" else played, [] if side == "listed" else listed)
    assert outcome.fits
    assert [each.kind for each in outcome.differences] == [
        "missing_here" if side == "played" else "missing_there"
    ] * 5
