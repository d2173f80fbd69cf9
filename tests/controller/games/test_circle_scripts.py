"""Pages of play: each script is what a table saw and heard, and beside it stands every event that must come of it.

A script's first lines name what it shows, its game, its decree and its settings; a line of the expected events is an event,
or the reason why a command was refused. To see a script played: ``novamas play texas-holdem --decree D SCRIPT``.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from controller.games.game import Rejected
from controller.notation import read_input, write
from tests.controller.games.circle_play import Play

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts" / "circle"

RULES: dict[str, tuple[str, ...]] = {
    "by-hand": ("BAL09-029", "BAL09-082"),
    "common-cards": ("ARA02-144", "ARA02-146", "ARA02-148"),
    "common-cards-2009": ("BAL09-031", "BAL09-032", "BAL09-050"),
    "correction": (),
    "dealt-again": ("BAL05-140", "BAL05-141"),
    "first-common-with-deal": (),
    "high-and-low": ("EUS96-208",),
    "irregular": ("BAL09-007", "BAL09-010", "BAL09-053", "BAL09-055"),
    "not-believed": ("EUS96-203",),
    "packets": ("EUS96-201", "EUS96-207"),
    "reader": ("EUS96-205", "EUS96-206"),
    "two-rows": ("EUS96-206",),
}
"""Script -> the rules it proves."""


def played(script: Path) -> list[bytes]:
    """What a script makes the table say, one line each."""
    lines = script.read_text(encoding="utf-8").splitlines()
    head = [line[2:].split(": ", 1) for line in lines if line.startswith("# ")]
    told = {name: text for name, text in (each for each in head if len(each) == 2) if name != "set"}
    settings = dict(text.split("=", 1) for name, text in (each for each in head if len(each) == 2) if name == "set")
    play = Play(told["decree"], told["game"], **settings)
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
    assert {path.stem for path in SCRIPTS.glob("*.jsonl")} == set(RULES)


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.rule(*rules)) for name, rules in RULES.items()])
def test_script(name: str) -> None:
    expected = (SCRIPTS / f"{name}.events").read_bytes().splitlines()
    said = played(SCRIPTS / f"{name}.jsonl")
    assert [msgspec.json.decode(line) for line in said] == [msgspec.json.decode(line) for line in expected]
