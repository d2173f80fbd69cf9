"""The roads of baccarat: how players write down the coups of a shoe. Each is a pure function of the
coups, so that a correction is drawn as if it had always been so.

The rules are those of the boards in casinos, as published by M. Shackleford, "Baccarat Score
Boards" (wizardofodds.com/games/baccarat/history), and T. Sülla, "Baccarat scoreboards" (medium.com,
2019); where they leave something open, the docstring says what we do.

A cell is a place of the grid that a coup has: column and row, both from 0, row 0 on top.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Literal

import msgspec

ROWS = 6
"""Rows of every road."""

Winner = Literal["player", "banker", "tie"]
Side = Literal["player", "banker"]
Mark = Literal["red", "blue"]


class Coup(msgspec.Struct, frozen=True):
    """One coup that counts. A void one, or one without result, is none."""

    winner: Winner
    pairs: tuple[Side, ...] = ()
    natural: bool = False
    corrected: bool = False


class Bead(msgspec.Struct, frozen=True):
    """A cell of the bead plate."""

    column: int
    row: int
    coup: Coup


class Run(msgspec.Struct, frozen=True):
    """A cell of the big road. ``ties``: those after it and before the next; ``winner`` None: ties
    before anybody has won.
    """

    column: int
    row: int
    winner: Side | None
    ties: int = 0
    pairs: tuple[Side, ...] = ()
    natural: bool = False


class Derived(msgspec.Struct, frozen=True):
    """A cell of a derived road."""

    column: int
    row: int
    mark: Mark


def bead_plate(coups: Iterable[Coup]) -> tuple[Bead, ...]:
    """Coup after coup, ties too, down each column and then in the next one (Shackleford, "Bead
    plate").
    """
    return tuple(Bead(index // ROWS, index % ROWS, coup) for index, coup in enumerate(coups))


def big_road(coups: Iterable[Coup]) -> tuple[Run, ...]:
    """A column for each run of wins of one side; a tie is noted at the win before it (Shackleford,
    "Big road").

    A run that finds the bottom, or a cell of the run before it, turns to the right and goes on in
    its row: a dragon tail. The next run begins in the column beside the beginning of this one,
    further right where that place is taken. Ties before the first win stand in the first cell,
    which the first win takes with them.
    """
    wins: list[Run] = []
    early: list[Coup] = []
    for coup in coups:
        if coup.winner == "tie":
            if not wins:
                early.append(coup)
                continue
            last = wins[-1]
            pairs = _pairs((*last.pairs, *coup.pairs))
            wins[-1] = msgspec.structs.replace(last, ties=last.ties + 1, pairs=pairs)
        else:
            before = () if wins else tuple(pair for tie in early for pair in tie.pairs)
            wins.append(
                Run(
                    0,
                    0,
                    coup.winner,
                    ties=0 if wins else len(early),
                    pairs=_pairs((*before, *coup.pairs)),
                    natural=coup.natural,
                )
            )
    if not wins:
        pairs = _pairs(pair for tie in early for pair in tie.pairs)
        return (Run(0, 0, None, len(early), pairs),) if early else ()
    runs = [list(run) for _, run in groupby(wins, key=lambda win: win.winner)]
    return tuple(
        msgspec.structs.replace(win, column=column, row=row)
        for win, (column, row) in zip(wins, _laid([len(run) for run in runs]), strict=True)
    )


def big_eye_boy(coups: Iterable[Coup]) -> tuple[Derived, ...]:
    """Each win compared with the run one to the left (Shackleford, "Big eye boy"). It begins with
    the second win of the second run, or else the first of the third.
    """
    return _derived(coups, 1)


def small_road(coups: Iterable[Coup]) -> tuple[Derived, ...]:
    """The same with the run two to the left (Shackleford, "Small road"). It begins with the second
    win of the third run, or else the first of the fourth.
    """
    return _derived(coups, 2)


def cockroach_road(coups: Iterable[Coup]) -> tuple[Derived, ...]:
    """The same with the run three to the left (Shackleford, "Cockroach pig"). It begins with the
    second win of the fourth run, or else the first of the fifth.
    """
    return _derived(coups, 3)


def marks(coups: Iterable[Coup], left: int) -> tuple[Mark, ...]:
    """The marks of a derived road in their order. Red: the big road repeats itself.

    A win that begins a run is red if the run before it is as long as that ``left`` further left. A
    win further down is blue if the run ``left`` to the left of its own ends in the row above it,
    and red if that run is longer, or ended before. Lengths are those of runs, whatever tail they
    have in the grid; ties count nowhere.
    """
    wins = (coup.winner for coup in coups if coup.winner != "tie")
    lengths = [len(list(run)) for _, run in groupby(wins)]
    found: list[Mark] = []
    for run, length in enumerate(lengths):
        for row in range(length):
            if run - left < (1 if row == 0 else 0):
                continue
            if row == 0:
                repeats = lengths[run - 1] == lengths[run - 1 - left]
            else:
                repeats = lengths[run - left] != row
            found.append("red" if repeats else "blue")
    return tuple(found)


def _derived(coups: Iterable[Coup], left: int) -> tuple[Derived, ...]:
    """The marks, laid out as the big road lays out wins: a column for each run of one colour."""
    found = marks(coups, left)
    lengths = [len(list(run)) for _, run in groupby(found)]
    return tuple(
        Derived(column, row, mark)
        for mark, (column, row) in zip(found, _laid(lengths), strict=True)
    )


def _laid(lengths: Sequence[int]) -> list[tuple[int, int]]:
    """The cells of runs of these lengths: down, and to the right where a cell below is taken or the
    bottom is reached.
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
                turned = turned or row + 1 == ROWS or below in taken
                column, row = (column + 1, row) if turned else below
            taken.add((column, row))
            cells.append((column, row))
    return cells


def _pairs(found: Iterable[Side]) -> tuple[Side, ...]:
    return tuple(side for side in ("player", "banker") if side in set(found))
