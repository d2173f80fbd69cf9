"""Pages of play of boule and of the wheel of fortune: each script is what a table saw and heard, and beside it stands every
event that must come of it.

A script's first lines name what it shows, its game, its decree and its settings; a line of the expected events is an event,
or the reason why a command was refused. To see a script played: ``novamas play GAME --decree D SCRIPT``.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from controller.cli.decode import pair
from controller.games.game import Rejected
from controller.notation import read_input, write
from tests.controller.games.cells_play import Play

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"

RULES: dict[str, tuple[str, ...]] = {
    "boule/alone": (),
    "boule/ball-out": ("ARA02-034",),
    "boule/between": (),
    "boule/correction": (),
    "boule/evening": ("BAL05-039", "BAL05-040", "BAL05-041", "BAL05-042"),
    "boule/late-bet": ("EUS96-040",),
    "boule/minimum": (),
    "boule/out-of-order": ("ARA02-032",),
    "boule/silence": (),
    "boule/still-moving": ("BAL05-043",),
    "boule/thrown-twice": (),
    "boule/too-early": ("GAL07-032",),
    "boule/wrong-device": ("ARA02-028",),
    "fortune-wheel/between": ("BAL05-051",),
    "fortune-wheel/doubts": ("EUS96-047",),
    "fortune-wheel/evening": ("ARA02-150",),
    "fortune-wheel/jokers": ("BAL05-048", "BAL05-049", "BAL05-050"),
    "fortune-wheel/late-bet": ("GAL07-038",),
    "fortune-wheel/silence": (),
    "fortune-wheel/too-early": ("ARA02-150",),
    "fortune-wheel/too-few-turns": ("EUS96-044",),
    "fortune-wheel/turned-back": ("GAL07-039",),
    "fortune-wheel/wrong-device": ("BAL05-048",),
}
"""Script -> the rules it proves."""


def played(script: Path) -> list[bytes]:
    """What a script makes the table say, one line each."""
    lines = script.read_text(encoding="utf-8").splitlines()
    head = [line[2:].split(": ", 1) for line in lines if line.startswith("# ")]
    told = {name: text for name, text in (each for each in head if len(each) == 2) if name != "set"}
    settings = dict(pair(text) for name, text in (each for each in head if len(each) == 2) if name == "set")
    play = Play(told["game"], told["decree"], **settings)
    said = []
    for line in lines:
        if line.startswith("#"):
            continue
        try:
            said += [write(event) for event in play.take(read_input(line))]
        except Rejected as refusal:
            said.append(msgspec.json.encode({"refused": str(refusal)}))
    return said


def test_every_script_is_played() -> None:
    scripts = [path for game in ("boule", "fortune-wheel") for path in (SCRIPTS / game).glob("*.jsonl")]
    assert {f"{path.parent.name}/{path.stem}" for path in scripts} == set(RULES)


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.rule(*rules)) for name, rules in RULES.items()])
def test_script(name: str) -> None:
    expected = (SCRIPTS / f"{name}.events").read_bytes().splitlines()
    said = played(SCRIPTS / f"{name}.jsonl")
    assert [msgspec.json.decode(line) for line in said] == [msgspec.json.decode(line) for line in expected]
