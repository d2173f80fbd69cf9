"""The effect of a throw on each bet: over all 36 throws, and over all sequences, with exact
fractions.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from controller.games.craps.bets import (
    Bets,
    all_names,
    highest,
    moved,
    next_point,
    parse,
    possible_bets,
    settle,
    settle_all,
    sevens_out,
)
from controller.games.craps.game import CrapsGame
from controller.games.games import make_game
from tests.support.for_each import for_each
from tests.support.games.craps_play import DECREES

THROWS = tuple(product(range(1, 7), repeat=2))
POINTS = (4, 5, 6, 8, 9, 10)
SITUATIONS = (None, *POINTS)
rule = pytest.mark.rule
every = pytest.mark.parametrize("decree", DECREES)


def bets_of(decree: str = "EUS96", **settings: Any) -> Bets:
    game = make_game("craps", decree, settings)
    assert isinstance(game, CrapsGame)
    return game.rules


def totals(bets: Bets, name: str, outcome: str, point: int | None = None) -> set[int]:
    """The totals that give a bet this outcome."""
    return {sum(dice) for dice in THROWS if settle(bets, name, dice, point).outcome == outcome}


def chain(bets: Bets, name: str, point: int | None = None) -> tuple[Counter[str], Fraction]:
    """The exact chances of a bet's outcomes, and its gain for each unit staked, over every sequence
    of throws.
    """
    ends: dict[str, Fraction] = {}
    brings, again = Fraction(0), Fraction(0)
    for dice in THROWS:
        own = settle(bets, name, dice, point)
        lies, marker = moved(bets, name, dice, point), next_point(POINTS, point, sum(dice))
        if own.outcome != "stays":
            ends[own.outcome] = ends.get(own.outcome, Fraction(0)) + Fraction(1, 36)
            if own.outcome == "win":
                assert own.pays is not None
                brings += Fraction(*own.pays) / 36
            elif own.outcome == "lose":
                brings -= Fraction(1, 36)
        elif lies == name and (marker == point or parse(bets, name)[0].on != "point"):
            again += Fraction(1, 36)
        else:
            assert lies is not None
            further, more = chain(bets, lies, marker)
            for outcome, chance in further.items():
                ends[outcome] = ends.get(outcome, Fraction(0)) + Fraction(chance) / 36
            brings += more / 36
    found: Any = Counter({outcome: chance / (1 - again) for outcome, chance in ends.items()})
    return found, brings / (1 - again)


# By the decree


def test_every_situation_has_its_bets() -> None:
    bets = bets_of()
    assert set(possible_bets(bets, None)) == set(all_names(bets)) - {
        "come",
        "dont_come",
        "win_odds",
        "dont_win_odds",
    }
    assert possible_bets(bets, 6) == all_names(bets)
    assert len(all_names(bets)) == 58


@pytest.mark.parametrize(
    ("decree", "name"),
    [
        pytest.param(decree, name, marks=rule(*ids.split()))
        for decree, name, ids in (
            ("BAL05", "win", "BAL05-056 BAL05-057"),
            ("ARA02", "win", "ARA02-129"),
            ("EUS96", "win", "EUS96-108 EUS96-110"),
            ("EUS96", "come", "EUS96-111"),
            ("GAL07", "win", "GAL07-138"),
            ("GAL07", "come", "GAL07-138"),
        )
    ],
)
def test_the_right_side_of_a_series(decree: str, name: str) -> None:
    bets = bets_of(decree)
    first = None if name == "win" else 5
    assert totals(bets, name, "win", first) == {7, 11}
    assert totals(bets, name, "lose", first) == {2, 3, 12}
    for point in POINTS:
        on = name if name == "win" else f"{name}:{point}"
        against = point if name == "win" else None
        assert totals(bets, on, "win", against) == {point}
        assert totals(bets, on, "lose", against) == {7}
        assert not totals(bets, on, "void", against)


@pytest.mark.parametrize(
    ("decree", "name"),
    [
        pytest.param(decree, name, marks=rule(*ids.split()))
        for decree, name, ids in (
            ("BAL05", "dont_win", "BAL05-058"),
            ("ARA02", "dont_win", "ARA02-131"),
            ("ARA02", "dont_come", "ARA02-131"),
            ("EUS96", "dont_win", "EUS96-109"),
            ("EUS96", "dont_come", "EUS96-111"),
            ("GAL07", "dont_win", "GAL07-139"),
            ("GAL07", "dont_come", "GAL07-139"),
        )
    ],
)
def test_the_wrong_side_of_a_series(decree: str, name: str) -> None:
    bets = bets_of(decree)
    first = None if name == "dont_win" else 5
    assert totals(bets, name, "win", first) == {2, 3}
    assert totals(bets, name, "lose", first) == {7, 11}
    assert totals(bets, name, "void", first) == {12}
    for point in POINTS:
        on = name if name == "dont_win" else f"{name}:{point}"
        against = point if name == "dont_win" else None
        assert totals(bets, on, "win", against) == {7}
        assert totals(bets, on, "lose", against) == {point}
        assert not totals(bets, on, "void", against)


@every
def test_come_lies_on_the_number_that_was_thrown(decree: str) -> None:
    bets = bets_of(decree)
    for name, dice, point in product(("come", "dont_come"), THROWS, POINTS):
        lies = moved(bets, name, dice, point)
        assert lies == (f"{name}:{sum(dice)}" if sum(dice) in POINTS else None)


@pytest.mark.parametrize(
    "decree",
    [
        pytest.param("BAL05", marks=rule("BAL05-064")),
        pytest.param("EUS96", marks=rule("EUS96-114")),
        pytest.param("GAL07", marks=rule("GAL07-140", "GAL07-144")),
    ],
)
def test_field(decree: str) -> None:
    bets = bets_of(decree)
    assert totals(bets, "field", "win") == {2, 3, 4, 9, 10, 11, 12}
    assert totals(bets, "field", "lose") == {5, 6, 7, 8}
    pays = {sum(dice): settle(bets, "field", dice, None).pays for dice in THROWS}
    assert (pays[2], pays[12], pays[3]) == ((2, 1), (2, 1), (1, 1))


def test_field_without_the_four_where_it_is_printed_so() -> None:
    assert totals(bets_of("ARA02"), "field", "lose") == {4, 5, 6, 7, 8}
    assert totals(bets_of("ARA02", field_four="wins"), "field", "lose") == {5, 6, 7, 8}


@pytest.mark.parametrize(
    "decree",
    [
        pytest.param("BAL05", marks=rule("BAL05-064", "BAL05-065")),
        "ARA02",
        "EUS96",
        pytest.param("GAL07", marks=rule("GAL07-145")),
    ],
)
def test_hard_ways(decree: str) -> None:
    bets = bets_of(decree)
    for total, pays in ((4, 7), (6, 9), (8, 9), (10, 7)):
        for dice in THROWS:
            own = settle(bets, f"hard_{total}", dice, None)
            if dice == (total // 2, total // 2):
                assert (own.outcome, own.pays) == ("win", (pays, 1))
            else:
                assert own.outcome == ("lose" if sum(dice) in (7, total) else "stays")


@pytest.mark.parametrize(
    "decree",
    [
        pytest.param("BAL05", marks=rule("BAL05-064")),
        "ARA02",
        pytest.param("EUS96", marks=rule("EUS96-114")),
        pytest.param("GAL07", marks=rule("GAL07-140")),
    ],
)
def test_bets_of_one_throw(decree: str) -> None:
    bets = bets_of(decree)
    for name, win in {
        "under_7": {2, 3, 4, 5, 6},
        "over_7": {8, 9, 10, 11, 12},
        "seven": {7},
        "eleven": {11},
        "any_craps": {2, 3, 12},
        "craps_2": {2},
        "craps_3": {3},
        "craps_12": {12},
        "horn": {2, 3, 11, 12},
    }.items():
        assert totals(bets, name, "win") == win
        assert totals(bets, name, "lose") == set(range(2, 13)) - win
    for name, number in {"big_6": 6, "big_8": 8}.items():
        assert (totals(bets, name, "win"), totals(bets, name, "lose")) == ({number}, {7})


@pytest.mark.parametrize(
    "decree",
    [
        pytest.param("BAL05", marks=rule("BAL05-064")),
        "ARA02",
        pytest.param("EUS96", marks=rule("EUS96-114")),
        pytest.param("GAL07", marks=rule("GAL07-140")),
    ],
)
def test_place_bets(decree: str) -> None:
    """The right one wins if its number comes before 7, the wrong one if 7 comes first; otherwise
    they stay.
    """
    bets = bets_of(decree)
    for number in POINTS:
        right, wrong = f"right:{number}", f"wrong:{number}"
        assert (totals(bets, right, "win"), totals(bets, right, "lose")) == ({number}, {7})
        assert (totals(bets, wrong, "win"), totals(bets, wrong, "lose")) == ({7}, {number})
        assert (
            totals(bets, right, "stays")
            == totals(bets, wrong, "stays")
            == set(range(2, 13)) - {7, number}
        )


def by_number(bet: str, *values: str) -> dict[str, str]:
    return {f"{bet}:{number}": value for number, value in zip(POINTS, values, strict=True)}


PAYS = {
    **dict.fromkeys(
        ("win", "dont_win", "come", "dont_come", "big_6", "big_8", "under_7", "over_7"), "1/1"
    ),
    **dict.fromkeys(("hard_4", "hard_10", "any_craps"), "7/1"),
    **dict.fromkeys(("hard_6", "hard_8"), "9/1"),
    **dict.fromkeys(("seven", "horn"), "4/1"),
    **dict.fromkeys(("eleven", "craps_3"), "15/1"),
    **dict.fromkeys(("craps_2", "craps_12"), "30/1"),
    **by_number("come", *["1/1"] * 6),
    **by_number("dont_come", *["1/1"] * 6),
    **by_number("come_odds", "2/1", "3/2", "6/5", "6/5", "3/2", "2/1"),
    **by_number("dont_come_odds", "1/2", "2/3", "5/6", "5/6", "2/3", "1/2"),
    **by_number("right", "9/5", "7/5", "7/6", "7/6", "7/5", "9/5"),
    **by_number("wrong", "5/11", "5/8", "4/5", "4/5", "5/8", "5/11"),
}


@pytest.mark.parametrize(
    "decree",
    [
        pytest.param("BAL05", marks=rule("BAL05-064", "BAL05-066")),
        "ARA02",
        pytest.param("EUS96", marks=rule("EUS96-114")),
        pytest.param("GAL07", marks=rule("GAL07-140")),
    ],
)
def test_pays(decree: str) -> None:
    """Every bet that wins pays what the decree prints, at every throw and in every situation; no
    other pays.
    """
    bets = bets_of(decree)
    for dice, point in product(THROWS, SITUATIONS):
        for own in settle_all(bets, dice, point):
            assert (own.pays is not None) == (own.outcome == "win")
            if own.pays is None or own.bet == "field":
                continue
            beside = own.bet in ("win_odds", "dont_win_odds")
            as_ = f"{own.bet.replace('win_odds', 'come_odds')}:{point}" if beside else own.bet
            assert f"{own.pays[0]}/{own.pays[1]}" == PAYS[as_], own


@pytest.mark.parametrize(
    "decree",
    [
        pytest.param("BAL05", marks=rule("BAL05-066")),
        "ARA02",
        "EUS96",
        pytest.param("GAL07", marks=rule("GAL07-141")),
    ],
)
def test_the_highest_stakes(decree: str) -> None:
    bets = bets_of(decree)
    for point, percent in zip(POINTS, (200, 150, 120, 120, 150, 200), strict=True):
        assert highest(bets, "dont_win_odds", point, 1000) == percent * 10
        assert highest(bets, f"dont_come_odds:{point}", None, 1000) == percent * 10
        assert highest(bets, "win_odds", point, 1000) == (None if decree == "EUS96" else 1000)
    assert bets["right"].maximum == {"4": 100, "5": 100, "6": 120, "8": 120, "9": 100, "10": 100}
    assert bets["wrong"].maximum == {"4": 220, "5": 160, "6": 125, "8": 125, "9": 160, "10": 220}


# By the settings


def test_times_the_bet_may_take_the_bet_in() -> None:
    taken_in = bets_of("GAL07", multiples="for_one")
    assert {word: bet.pays for word, bet in taken_in.items() if bet.kind == "multiple"} == {
        word: (bet.pays[0] - 1, 1)
        for word, bet in bets_of("GAL07").items()
        if bet.kind == "multiple"
    }
    layout = bets_of("GAL07", multiples="layout")
    assert [layout[word].pays for word in ("eleven", "craps_2", "hard_6", "seven")] == [
        (14, 1),
        (29, 1),
        (9, 1),
        (4, 1),
    ]


def test_the_layout_is_printed_in_galicia_alone() -> None:
    with pytest.raises(
        ValueError, match="multiples = 'layout': under this decree it may be to_one, for_one"
    ):
        bets_of("EUS96", multiples="layout")


@every
def test_the_eight_may_be_left_out_as_in_the_list(decree: str) -> None:
    bets = bets_of(decree, place_eight="absent")
    assert {"right:8", "wrong:8"} == set(all_names(bets_of(decree))) - set(all_names(bets))


@for_each(
    "name",
    ["", "pass", "come:7", "come:", "field:4", "right", "right:8x", "win:6", "come:٤", "hard_5"],
)
def test_invalid_bets_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"no bet '{name}'"):
        parse(bets_of(), name)


# By the books on probability


@every
@for_each(("name", "point"), [("win", None), ("come", 6)])
def test_the_pass_line_wins_244_of_495(decree: str, name: str, point: int | None) -> None:
    ends, brings = chain(bets_of(decree), name, point)
    assert ends == {"win": Fraction(244, 495), "lose": Fraction(251, 495)}
    assert brings == Fraction(-7, 495)


@every
@for_each(("name", "point"), [("dont_win", None), ("dont_come", 6)])
def test_do_not_pass_wins_949_of_1980(decree: str, name: str, point: int | None) -> None:
    ends, brings = chain(bets_of(decree), name, point)
    assert ends == {
        "win": Fraction(949, 1980),
        "lose": Fraction(976, 1980),
        "void": Fraction(55, 1980),
    }
    assert brings == Fraction(-3, 220)


EDGES = {
    "field": "-1/18",
    **dict.fromkeys(("big_6", "big_8", "hard_6", "hard_8"), "-1/11"),
    **dict.fromkeys(("under_7", "over_7", "seven", "horn"), "-1/6"),
    **dict.fromkeys(("hard_4", "hard_10", "eleven", "any_craps", "craps_3"), "-1/9"),
    **dict.fromkeys(("craps_2", "craps_12"), "-5/36"),
    **by_number("right", "-1/15", "-1/25", "-1/66", "-1/66", "-1/25", "-1/15"),
    **by_number("wrong", "-1/33", "-1/40", "-1/55", "-1/55", "-1/40", "-1/33"),
    **by_number("come_odds", *["0"] * 6),
    **by_number("dont_come_odds", *["0"] * 6),
}


@every
@for_each("name", EDGES)
def test_the_house_edge(decree: str, name: str) -> None:
    expected = "-2/9" if (decree, name) == ("ARA02", "field") else EDGES[name]
    assert chain(bets_of(decree), name)[1] == Fraction(expected)


@every
@for_each("point", POINTS)
def test_associated_bets_are_fair(decree: str, point: int) -> None:
    bets = bets_of(decree)
    right, wrong = chain(bets, "win_odds", point), chain(bets, "dont_win_odds", point)
    assert right[1] == wrong[1] == 0
    assert right[0]["win"] == wrong[0]["lose"]


# By the whole


@every
def test_bets_without_the_point_do_not_depend_on_it(decree: str) -> None:
    bets = bets_of(decree)
    for name in all_names(bets):
        if parse(bets, name)[0].on != "point":
            for dice in THROWS:
                assert len({settle(bets, name, dice, point) for point in SITUATIONS}) == 1


@every
def test_one_die_is_as_good_as_the_other(decree: str) -> None:
    bets = bets_of(decree)
    for (first, second), point in product(THROWS, SITUATIONS):
        assert settle_all(bets, (first, second), point) == settle_all(bets, (second, first), point)


@rule("BAL05-057", "EUS96-110", "GAL07-137")
def test_the_course_of_a_series() -> None:
    """Every two throws of a series: the point is set once, stays until it or 7 comes, and only such
    a 7 passes the dice.
    """
    for first, second in product(THROWS, THROWS):
        point = next_point(POINTS, None, sum(first))
        assert point == (sum(first) if sum(first) in POINTS else None)
        assert not sevens_out(None, sum(first))
        after = next_point(POINTS, point, sum(second))
        if point is not None:
            assert after == (None if sum(second) in (point, 7) else point)
            assert sevens_out(point, sum(second)) == (sum(second) == 7)
