"""Pages of play: each script is what a table saw and heard, and beside it stands every event that must come of it.

A script's first lines name what it shows, its game, its decree and its settings; a line of the expected events is an event,
or the reason why a command was refused. To see a script played: ``novamas play three-card-poker --decree D SCRIPT``.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from controller.cli.decode import pair
from controller.games.game import Rejected
from controller.notation import read_input, write
from tests.controller.games.poker_play import Play

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"

RULES: dict[str, tuple[str, ...]] = {
    "poker-no-draw/bought": ("EUS96-174",),
    "poker-no-draw/correction": (),
    "poker-no-draw/jackpot": ("EUS96-194", "EUS96-188"),
    "poker-no-draw/misdeals": ("EUS96-160", "EUS96-155"),
    "poker-no-draw/packets": ("BAL05-130", "BAL05-132"),
    "poker-no-draw/reader": ("ARA02-135", "ARA02-137", "ARA02-138"),
    "poker-no-draw/shuffler": ("EUS96-156",),
    "poker-no-draw/silence": (),
    "poker-draw-house/draw": ("EUS96-165", "EUS96-166", "EUS96-191"),
    "three-card-poker/bonus": ("BAL09-068", "BAL09-069"),
    "three-card-poker/packets": ("EUS96-157",),
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
    games = {name.split("/")[0] for name in RULES}
    assert {f"{path.parent.name}/{path.stem}" for game in games for path in (SCRIPTS / game).glob("*.jsonl")} == set(RULES)


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.rule(*rules)) for name, rules in RULES.items()])
def test_script(name: str) -> None:
    expected = (SCRIPTS / f"{name}.events").read_bytes().splitlines()
    said = played(SCRIPTS / f"{name}.jsonl")
    assert [msgspec.json.decode(line) for line in said] == [msgspec.json.decode(line) for line in expected]
