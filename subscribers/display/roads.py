"""The roads of baccarat, in which players record the coups of a shoe. Each is a pure function of
the coups, so a correction is drawn as if it had always been there.

The rules are those of the boards in casinos, as published by M. Shackleford, "Baccarat Score
Boards" (wizardofodds.com/games/baccarat/history), and T. Sülla, "Baccarat scoreboards" (medium.com,
2019); where these leave something open, the docstring states the choice made here.

A cell is a coup's place in the grid: column and row, both from 0, row 0 on top.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Literal

import msgspec

GRID_ROWS = 6
"""Rows of every road."""

Winner = Literal["player", "banker", "tie"]
Side = Literal["player", "banker"]
Mark = Literal["red", "blue"]


class Coup(msgspec.Struct, frozen=True):
    """A valid coup with a winner."""

    winner: Winner
    pairs: tuple[Side, ...] = ()
    natural: bool = False
    corrected: bool = False


class BeadPlateCell(msgspec.Struct, frozen=True):
    """A cell of the bead plate."""

    column: int
    row: int
    coup: Coup


class BigRoadCell(msgspec.Struct, frozen=True):
    """A cell of the big road. ``ties``: ties after it and before the next cell; ``winner`` None:
    ties before the first win.
    """

    column: int
    row: int
    winner: Side | None
    ties: int = 0
    pairs: tuple[Side, ...] = ()
    natural: bool = False


class DerivedRoadCell(msgspec.Struct, frozen=True):
    """A cell of a derived road."""

    column: int
    row: int
    mark: Mark


def bead_plate(coups: Iterable[Coup]) -> tuple[BeadPlateCell, ...]:
    """Return the coups in order, including ties, filling column by column (Shackleford, "Bead
    plate").
    """
    return tuple(
        BeadPlateCell(index // GRID_ROWS, index % GRID_ROWS, coup)
        for index, coup in enumerate(coups)
    )


def big_road(coups: Iterable[Coup]) -> tuple[BigRoadCell, ...]:
    """Return a column for each run of wins of one side; a tie is noted at the win before it
    (Shackleford, "Big road").

    A run that reaches the bottom, or a cell of the previous run, turns right and continues in its
    row: a dragon tail. The next run starts in the column to the right of this one's start, or
    further right if that cell is taken. Ties before the first win are drawn in the first cell,
    together with the first win.
    """
    wins: list[BigRoadCell] = []
    early_ties: list[Coup] = []
    for coup in coups:
        if coup.winner == "tie":
            if not wins:
                early_ties.append(coup)
                continue
            last = wins[-1]
            pairs = _pairs((*last.pairs, *coup.pairs))
            wins[-1] = msgspec.structs.replace(last, ties=last.ties + 1, pairs=pairs)
        else:
            early_pairs = () if wins else tuple(pair for tie in early_ties for pair in tie.pairs)
            wins.append(
                BigRoadCell(
                    0,
                    0,
                    coup.winner,
                    ties=0 if wins else len(early_ties),
                    pairs=_pairs((*early_pairs, *coup.pairs)),
                    natural=coup.natural,
                )
            )
    if not wins:
        pairs = _pairs(pair for tie in early_ties for pair in tie.pairs)
        return (BigRoadCell(0, 0, None, len(early_ties), pairs),) if early_ties else ()
    runs = [list(run) for _, run in groupby(wins, key=lambda win: win.winner)]
    return tuple(
        msgspec.structs.replace(win, column=column, row=row)
        for win, (column, row) in zip(wins, _layout([len(run) for run in runs]), strict=True)
    )


def big_eye_boy(coups: Iterable[Coup]) -> tuple[DerivedRoadCell, ...]:
    """Compare each win with the run one to the left (Shackleford, "Big eye boy"). Starts with the
    second win of the second run, or else the first of the third.
    """
    return _derived(coups, 1)


def small_road(coups: Iterable[Coup]) -> tuple[DerivedRoadCell, ...]:
    """Compare each win with the run two to the left (Shackleford, "Small road"). Starts with the
    second win of the third run, or else the first of the fourth.
    """
    return _derived(coups, 2)


def cockroach_road(coups: Iterable[Coup]) -> tuple[DerivedRoadCell, ...]:
    """Compare each win with the run three to the left (Shackleford, "Cockroach pig"). Starts with
    the second win of the fourth run, or else the first of the fifth.
    """
    return _derived(coups, 3)


def marks(coups: Iterable[Coup], left: int) -> tuple[Mark, ...]:
    """Return the marks of a derived road in order. Red: the big road repeats itself.

    A win that starts a run is red if the previous run is as long as the one ``left`` runs before
    that. A later win is blue if the run ``left`` runs before ends in the row above it, and red if
    that run is longer, or ended earlier. Lengths are those of runs, regardless of tails in the
    grid; ties are not counted.
    """
    wins = (coup.winner for coup in coups if coup.winner != "tie")
    lengths = [len(list(run)) for _, run in groupby(wins)]
    marks_: list[Mark] = []
    for run, length in enumerate(lengths):
        for row in range(length):
            if run - left < (1 if row == 0 else 0):
                continue
            if row == 0:
                repeats = lengths[run - 1] == lengths[run - 1 - left]
            else:
                repeats = lengths[run - left] != row
            marks_.append("red" if repeats else "blue")
    return tuple(marks_)


def _derived(coups: Iterable[Coup], left: int) -> tuple[DerivedRoadCell, ...]:
    """Lay out the marks like the wins of the big road: a column for each run of one colour."""
    all_marks = marks(coups, left)
    lengths = [len(list(run)) for _, run in groupby(all_marks)]
    return tuple(
        DerivedRoadCell(column, row, mark)
        for mark, (column, row) in zip(all_marks, _layout(lengths), strict=True)
    )


def _layout(lengths: Sequence[int]) -> list[tuple[int, int]]:
    """Return the cells of runs of these lengths: down, and to the right once the cell below is
    taken or the bottom is reached.
    """
    taken: set[tuple[int, int]] = set()
    cells: list[tuple[int, int]] = []
    first = -1
    for length in lengths:
        first += 1
        while (first, 0) in taken:
            first += 1
        column, row, turned = first, 0, False
        for index in range(length):
            if index:
                below = (column, row + 1)
                turned = turned or row + 1 == GRID_ROWS or below in taken
                column, row = (column + 1, row) if turned else below
            taken.add((column, row))
            cells.append((column, row))
    return cells


def _pairs(sides: Iterable[Side]) -> tuple[Side, ...]:
    return tuple(side for side in ("player", "banker") if side in set(sides))
