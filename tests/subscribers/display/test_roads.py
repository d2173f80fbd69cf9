"""The roads of baccarat: answers found by hand, and what holds of every shoe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby, pairwise

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from subscribers.display.roads import (
    GRID_ROWS,
    Coup,
    DerivedRoadCell,
    bead_plate,
    big_eye_boy,
    big_road,
    cockroach_road,
    marks,
    small_road,
)
from tests.support.for_each import for_each

NAMES = {"P": "player", "B": "banker", "T": "tie"}
DERIVED: tuple[Callable[[Sequence[Coup]], tuple[DerivedRoadCell, ...]], ...] = (
    big_eye_boy,
    small_road,
    cockroach_road,
)


def coups(letters: str) -> list[Coup]:
    """``BBPT``: the winners of a shoe."""
    return [msgspec.convert({"winner": NAMES[letter]}, Coup) for letter in letters]


def colours(letters: str, left: int) -> str:
    return "".join(mark[0] for mark in marks(coups(letters), left))


shoes = st.text("PBT", max_size=90)
streaky = st.lists(st.tuples(st.sampled_from("PBT"), st.integers(1, 12)), max_size=14).map(
    lambda runs: "".join(letter * length for letter, length in runs)
)
any_shoe = shoes | streaky


# The bead plate


def test_beads_go_down_and_then_right() -> None:
    found = [(bead.column, bead.row, bead.coup.winner[0]) for bead in bead_plate(coups("BPTBBPP"))]
    assert found == [
        (0, 0, "b"),
        (0, 1, "p"),
        (0, 2, "t"),
        (0, 3, "b"),
        (0, 4, "b"),
        (0, 5, "p"),
        (1, 0, "p"),
    ]


# The big road


def cells(letters: str) -> str:
    """The big road as lines of text; a digit after a letter: ties."""
    found = {
        (run.row, run.column): (run.winner or "-")[0].upper() + (str(run.ties) if run.ties else "")
        for run in big_road(coups(letters))
    }
    wide = max((column for _, column in found), default=-1) + 1
    rows = max((row for row, _ in found), default=-1) + 1
    return "\n".join(
        " ".join(found.get((row, column), ".") for column in range(wide)) for row in range(rows)
    )


@for_each(
    ("letters", "drawn"),
    [
        ("", ""),
        ("B", "B"),
        ("BBPPPBPBB", "B P B P B\nB P . . B\n. P . . ."),
        ("BTTBTP", "B2 P\nB1 ."),
        # ties before anybody has won wait in the first cell
        ("TT", "-2"),
        ("TTPT", "P3"),
        # the seventh win turns right, and the next run begins beside the first of this one
        ("BBBBBBBBP", "B P .\nB . .\nB . .\nB . .\nB . .\nB B B"),
        # a run that finds the tail of another turns above it
        ("BBBBBBBBPPPPPPP", "B P . .\nB P . .\nB P . .\nB P . .\nB P P P\nB B B ."),
        # and so does one in the first row, so that the next run begins further right
        (
            "B" * 8 + "P" * 7 + "B" * 6 + "P" * 5 + "B" * 4 + "P" * 2 + "B",
            (
                "B P B P B P P B\n"
                "B P B P B B B .\n"
                "B P B P P P . .\n"
                "B P B B B . . .\n"
                "B P P P . . . .\n"
                "B B B . . . . ."
            ),
        ),
    ],
)
def test_the_big_road(letters: str, drawn: str) -> None:
    assert cells(letters) == drawn


def test_pairs_and_naturals_are_with_their_win_and_pairs_of_a_tie_with_the_win_before() -> None:
    shoe = [
        Coup("tie", pairs=("banker",)),
        Coup("player", natural=True),
        Coup("tie", pairs=("player",)),
        Coup("banker"),
    ]
    first, second = big_road(shoe)
    assert (first.pairs, first.ties, first.natural) == (("player", "banker"), 2, True)
    assert (second.pairs, second.ties, second.natural) == ((), 0, False)


@given(any_shoe)
def test_no_two_wins_have_one_cell_and_all_are_there(letters: str) -> None:
    found = big_road(coups(letters))
    assert len({(run.column, run.row) for run in found}) == len(found)
    assert all(0 <= run.row < GRID_ROWS and run.column >= 0 for run in found)
    won = letters.replace("T", "")
    assert [run.winner for run in found if run.winner] == [NAMES[each] for each in won]
    assert sum(run.ties for run in found) == letters.count("T")


@given(any_shoe)
def test_a_run_goes_down_and_then_right_and_each_begins_on_top(letters: str) -> None:
    found = [run for run in big_road(coups(letters)) if run.winner]
    tops = []
    for _, group in groupby(found, key=lambda run: run.winner):
        run = list(group)
        assert run[0].row == 0
        tops.append(run[0].column)
        for before, after in pairwise(run):
            step = after.column - before.column, after.row - before.row
            assert step in {(0, 1), (1, 0)}
        steps = [after.row - before.row for before, after in pairwise(run)]
        assert steps == sorted(steps, reverse=True), "once right, always right"
    assert tops == sorted(set(tops))


# The derived roads


@for_each(
    ("letters", "big_eye", "small", "cockroach"),
    [
        # lengths of the runs: 2 3 1 1 2
        ("BBPPPBPBB", "rbbbrb", "bbb", "br"),
        # choppy: every run is one long
        ("BPBPBPBP", "rrrrrr", "rrrrr", "rrrr"),
        # a run twice as long as that before: red, red, blue at its end, then red again
        ("BBBPPPPPP", "rrbrr", "", ""),
        # it begins with the second win of the second run, or else the first of the third
        ("B", "", "", ""),
        ("BP", "", "", ""),
        ("BPP", "b", "", ""),
        ("BPB", "r", "", ""),
        ("BPBB", "rb", "b", ""),
        ("BPBP", "rr", "r", ""),
        ("BPBPP", "rrb", "rb", "b"),
        # ties count nowhere
        ("TBTTPTPT", "b", "", ""),
    ],
)
def test_marks_of_the_derived_roads(letters: str, big_eye: str, small: str, cockroach: str) -> None:
    assert [colours(letters, left) for left in (1, 2, 3)] == [big_eye, small, cockroach]


def by_the_grid(letters: str, left: int) -> str:
    """The derived roads by the other published method: by looking at the cell to the left, and the
    one above that.
    """
    runs = [list(run) for _, run in groupby(letters.replace("T", ""))]
    there = {(column, row) for column, run in enumerate(runs) for row in range(len(run))}
    found = ""
    for column, run in enumerate(runs):
        for row in range(len(run)):
            if row and column >= left:
                beside, above = (column - left, row) in there, (column - left, row - 1) in there
                found += "r" if beside == above else "b"
            elif not row and column > left:
                found += "r" if len(runs[column - 1]) == len(runs[column - 1 - left]) else "b"
    return found


@given(any_shoe, st.integers(1, 3))
def test_both_published_ways_to_find_a_mark_agree(letters: str, left: int) -> None:
    assert colours(letters, left) == by_the_grid(letters, left)


@given(any_shoe, st.integers(1, 3))
def test_the_next_mark_is_the_other_one_if_the_other_side_wins(letters: str, left: int) -> None:
    now, player, banker = (colours(letters + more, left) for more in ("", "P", "B"))
    assert len(player) == len(banker)
    if len(player) > len(now):
        assert player[:-1] == banker[:-1] == now
        assert {player[-1], banker[-1]} == {"r", "b"}


@given(any_shoe)
def test_the_marks_are_in_columns_of_one_colour(letters: str) -> None:
    for left, road in enumerate(DERIVED, 1):
        found = road(coups(letters))
        assert "".join(cell.mark[0] for cell in found) == colours(letters, left)
        assert len({(cell.column, cell.row) for cell in found}) == len(found)
        for _, group in groupby(found, key=lambda cell: cell.mark):
            run = list(group)
            assert run[0].row == 0
            assert len({cell.column for cell in run}) == 1 or len(run) > 1


@given(any_shoe, st.data())
def test_what_a_correction_leaves_is_as_if_it_had_always_been_so(
    letters: str, data: st.DataObject
) -> None:
    """A road is built of the coups alone, and of those before a coup the same again."""
    if not letters:
        return
    place = data.draw(st.integers(0, len(letters) - 1))
    other = data.draw(st.sampled_from("PBT"))
    right = letters[:place] + other + letters[place + 1 :]
    for left in (1, 2, 3):
        before = colours(letters[:place], left)
        assert colours(right, left).startswith(before)
        assert colours(letters, left).startswith(before)
    wins = len(letters[:place].replace("T", ""))
    same = [(run.column, run.row) for run in big_road(coups(letters))][: max(0, wins)]
    assert [(run.column, run.row) for run in big_road(coups(right))][: max(0, wins)] == same
