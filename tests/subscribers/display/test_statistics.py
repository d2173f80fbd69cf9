"""How often what came: counted as a person would count it."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.contract.messages.messages import LANGUAGES
from common.contract.outcomes import CrapsOutcome
from controller.games.boule import chances as boule_game
from controller.games.roulette import chances as roulette_game
from controller.games.roulette.wheel import EUROPEAN
from controller.rulebooks.rulebook import rulebook
from subscribers.display import boule, craps, roulette
from subscribers.display.rounds import PlayedRound
from subscribers.display.spins import spins_with_number
from subscribers.display.statistics import (
    MIN_RESULTS,
    WINDOW_SIZES,
    extremes,
    missing_rounds,
    percent,
    shares,
)
from tests.support.for_each import for_each
from tests.support.subscribers.real import after, scripted, spun

NUMBERS = st.lists(st.integers(0, 36), max_size=600)
DECREES = ("ARA02", "BAL05", "EUS96", "GAL07")


def counted(session: int, *numbers: int) -> list[PlayedRound]:
    """Results of these rounds of a session."""
    return [PlayedRound(session=session, round=number, kind="result") for number in numbers]


@given(NUMBERS)
def test_shares_are_those_of_the_latest_results(numbers: list[int]) -> None:
    groups = {"all": {str(number): str(number) for number in range(37)}}
    found = shares([str(each) for each in numbers], WINDOW_SIZES, groups, lambda number: (number,))
    for window in found:
        latest = numbers[: window.size]
        assert window.counted == len(latest)
        counts = {share.id: share.count for share in window.groups["all"]}
        assert counts == {str(number): latest.count(number) for number in range(37)}
        assert sum(counts.values()) == window.counted
        assert all(
            abs(share.percent - 100 * share.count / max(1, len(latest))) <= 0.05
            for share in window.groups["all"]
        )


@pytest.mark.parametrize(
    ("results", "sizes"), [(0, [37]), (37, [37]), (38, [37, 100]), (101, [37, 100, 500])]
)
def test_a_window_that_would_count_the_same_is_left_out(results: int, sizes: list[int]) -> None:
    found = shares(["1"] * results, WINDOW_SIZES, {"all": {"1": "1"}}, lambda number: (number,))
    assert [window.size for window in found] == sizes
    assert percent(0, 0) == 0.0


@given(st.lists(st.integers(0, 36), min_size=MIN_RESULTS, max_size=120))
def test_the_hottest_and_the_coldest(numbers: list[int]) -> None:
    possible = [str(number) for number in range(37)]
    for found in extremes([str(each) for each in numbers], (100, 500), possible):
        latest = [str(each) for each in numbers[: found.size]]
        counts = Counter(latest)
        hot, cold = [each.what for each in found.hot], [each.what for each in found.cold]
        assert all(each.count == counts[each.what] for each in (*found.hot, *found.cold))
        assert not {*hot} & {*cold}
        others = [counts[number] for number in possible if number not in hot]
        assert min(counts[number] for number in hot) >= max(others)
        rest = [counts[number] for number in possible if number not in (*hot, *cold)]
        assert max(counts[number] for number in cold) <= min(rest)


def test_of_equals_the_later_is_hotter_and_the_one_longest_away_colder() -> None:
    numbers = ["a", "b", "c"] * 13
    [found] = extremes(numbers, (100,), ["a", "b", "c", "d", "e"], shown=2)
    assert [each.what for each in found.hot] == ["a", "b"]
    assert [each.what for each in found.cold] == ["e", "d"]


def test_few_results_have_no_hot_and_cold_numbers() -> None:
    assert extremes(["1"] * (MIN_RESULTS - 1), (100, 500), ["1", "2"]) == ()


def test_missed_rounds_are_counted() -> None:
    assert missing_rounds([], 100) == 0
    assert missing_rounds(counted(1, 1, 2, 3), 100) == 0
    assert missing_rounds(counted(1, 1, 2, 5), 100) == 2
    assert missing_rounds([*counted(1, 8), *counted(2, 3)], 100) == 2
    assert missing_rounds(counted(1, 1, 7, 8), 2) == 0


@pytest.mark.parametrize("decree", DECREES)
def test_a_number_of_roulette_wins_as_in_the_decree(decree: str) -> None:
    book = rulebook(decree).roulette_french
    assert book is not None
    assert roulette.DEFAULT_WHEEL_ORDER == EUROPEAN
    for number in range(1, 37):
        own = roulette_game.chances(number, book)
        assert roulette.chances(str(number)) == (
            own.colour,
            own.parity,
            own.half,
            f"dozen {own.dozen}",
            f"column {own.column}",
        )
    assert roulette.chances("0") == ("green",)
    assert [roulette.chances(each) for each in ("37", "00", "-1", "x", "")] == [
        (),
        ("green",),
        (),
        (),
        (),
    ]


@pytest.mark.parametrize("decree", DECREES)
def test_a_number_of_boule_wins_as_in_the_decree(decree: str) -> None:
    book = rulebook(decree).boule
    assert book is not None
    for number in range(1, 10):
        own = boule_game.chances(number, book)
        said = tuple(chance for chance in (own.colour, own.parity, own.half) if chance)
        assert boule.chances(str(number)) == (said or ("plain",))
    assert boule.chances("0") == boule.chances("10") == boule.chances("x") == ()


@given(st.lists(st.integers(0, 36), min_size=1, max_size=12))
def test_a_picture_counts_the_numbers_that_came(numbers: list[int]) -> None:
    body = spun(numbers).shown().body
    assert body.last.number == str(numbers[-1])
    assert [spin.number for spin in body.spins] == [str(each) for each in reversed(numbers)]
    [window] = body.windows
    red = sum(number in roulette.RED_NUMBERS for number in numbers)
    assert {share.id: share.count for share in window.groups["colour"]} == {
        "red": red,
        "black": sum(number not in roulette.RED_NUMBERS and number > 0 for number in numbers),
        "green": numbers.count(0),
    }
    assert window.counted == len(numbers)
    assert body.unheard == 0


def test_void_and_unresolved_rounds_do_not_count() -> None:
    for table in scripted("roulette/null-spin"):
        body = table.shown().body
        assert body is None or sum(spin.kind == "result" for spin in body.spins) == (
            body.windows[0].counted
        )
    assert [spin.kind for spin in body.spins] == ["result", "void", "result"]
    assert body.windows[0].counted == 2


def test_a_corrected_round_counts_as_corrected() -> None:
    table = after("roulette/correction")
    *_, first = table.shown().body.spins
    assert (first.number, first.corrected) == ("26", True)
    assert spins_with_number(table.rounds)[-1] == first


@for_each("language", LANGUAGES)
@for_each("name", ["roulette/evening", "boule/evening", "fortune-wheel/jokers", "craps/series"])
def test_every_wheel_and_the_dice_have_a_picture_in_every_language(
    name: str, language: str
) -> None:
    for table in scripted(name):
        assert table.shown(language).body is not None


def test_the_wheel_of_fortune_counts_its_symbols() -> None:
    body = after("fortune-wheel/evening").shown().body
    assert body.last.number == "5"
    assert body.ring[body.cell - 1] == "5"
    assert {share.id: share.count for share in body.session} == {
        "1": 1,
        "2": 0,
        "5": 1,
        "10": 1,
        "20": 0,
        "40": 1,
    }


def test_the_dice_are_counted_and_named() -> None:
    body = after("craps/series").shown("es").body
    assert (body.on, body.point, body.shooter) == (False, None, "plaza 2")
    assert [(throw.dice, throw.total, throw.point, throw.ends) for throw in body.throws][:3] == [
        ((6, 6), 12, None, True),
        ((3, 4), 7, 6, True),
        ((6, 6), 12, 6, False),
    ]
    assert sum(share.count for share in body.totals) == body.counted == 6
    assert (craps.throw_name((4, 4), "es"), craps.throw_name((5, 3), "es")) == ("por dobles", "")


@given(st.integers(1, 6), st.integers(1, 6), st.sampled_from([None, 4, 5, 6, 8, 9, 10]))
def test_a_series_ends_as_at_the_table(one: int, other: int, point: int | None) -> None:
    total = one + other
    if point is None:
        assert craps.ends_series(total, point) == (total in (2, 3, 7, 11, 12))
    else:
        assert craps.ends_series(total, point) == (total in (7, point))
    outcome = CrapsOutcome(dice=(one, other), total=total, point=point)
    [found] = craps.throws([PlayedRound(session=1, round=1, kind="result", outcome=outcome)], "en")
    assert found.ends == craps.ends_series(total, point)
