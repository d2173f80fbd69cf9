"""Mypy checks the names and the types of all fields that a change of a struct gives."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.mypy_plugins.struct_changes import UNKNOWN, UNNAMED
from tests.project.test_project import ROOT

pytestmark = pytest.mark.usefixtures("programs")

PROGRAM = """
from typing import Any
from msgspec.structs import replace
from controller.games.banked.moves import Turn
from controller.games.blackjack.moves import BlackjackTurn
from controller.games.chemin.course import CheminTurn
from controller.games.circle.turn import CircleTurn
from controller.games.roulette.turn import RouletteTurn
from controller.games.stakes import StakedTable
from controller.games.talla import AtTheShoe
from common.readings import LinkUp

def right(black: BlackjackTurn, chemin: CheminTurn, circle: CircleTurn, wheel: RouletteTurn,
          banked: Turn, staked: StakedTable, shoe: AtTheShoe) -> None:
    replace(LinkUp(at=0.0), at=1.0)
    black.change(burn=3)
    black.change_current(closed=True)
    chemin.change_current(third=(0,))
    circle.change_current(street=1)
    circle.change_seat("seat-1", drawn=True)
    wheel.change(rotor=None)
    banked.change(checked=True)
    banked.change_current(closed=True)
    staked.change_current(bets=())
    shoe.change(shoe=None)

def wrong(black: BlackjackTurn, chemin: CheminTurn, circle: CircleTurn, wheel: RouletteTurn,
          banked: Turn, staked: StakedTable, shoe: AtTheShoe,
          known: dict[str, Any], some: Any) -> None:
    replace(LinkUp(at=0.0), when=1.0)  # name
    replace(LinkUp(at=0.0), at="now")  # type
    replace(LinkUp(at=0.0), **known)  # unnamed
    replace(some, at=1.0)  # unknown
    black.change(burned=3)  # name
    black.change(burn="three")  # type
    black.change(**known)  # unnamed
    black.change_current(shut=True)  # name
    black.change_current(closed="yes")  # type
    chemin.change_current(thirds=(0,))  # name
    chemin.change_current(third="yes")  # type
    circle.change_current(strete=1)  # name
    circle.change_current(round="one")  # type
    circle.change_seat("seat-1", fold=True)  # name
    circle.change_seat("seat-1", drawn="yes")  # type
    wheel.change(motor=None)  # name
    wheel.change(rotor=7)  # type
    banked.change(held=True)  # type
    banked.change_current(shut=True)  # name
    staked.change_current(bet=())  # name
    shoe.change(shoe=7)  # type
"""

SAYS = {
    "name": "Unexpected keyword argument",
    "type": "has incompatible type",
    "unnamed": UNNAMED,
    "unknown": UNKNOWN,
}


def test_a_wrong_field_and_a_wrong_type_are_errors(tmp_path: Path) -> None:
    program = tmp_path / "changes.py"
    program.write_text(PROGRAM)
    run = subprocess.run(
        [sys.executable, "-m", "mypy", str(program)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 1, run.stderr
    errors: dict[int, list[str]] = {}
    for line in run.stdout.splitlines():
        where, _, what = line.partition(": error: ")
        if what:
            errors.setdefault(int(where.rpartition(":")[2]), []).append(what)
    expected = {
        number: mark
        for number, line in enumerate(PROGRAM.splitlines(), 1)
        for _, found, mark in [line.partition("  # ")]
        if found
    }
    assert errors.keys() == expected.keys(), run.stdout
    for number, mark in expected.items():
        assert any(SAYS[mark] in what for what in errors[number]), errors[number]
