"""Pages of play: each script is what a table saw and heard, and beside it stands every event that must come of it.

A script's first lines name what it shows, its game, its decree and its settings; a line of the expected events is an event,
or the reason why a command was refused. To see a script played: ``novamas play craps --decree D SCRIPT``.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from controller.games.game import Rejected
from controller.notation import read_input, write
from tests.controller.games.craps_play import Play

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts" / "craps"

RULES: dict[str, tuple[str, ...]] = {
    "correction": (),
    "dice-alone": ("BAL05-052", "BAL05-056", "BAL05-057"),
    "floor-die": ("ARA02-132", "ARA02-133"),
    "last-shooter": ("EUS96-115",),
    "null-throws": ("EUS96-103", "EUS96-104"),
    "series": ("GAL07-137", "GAL07-138", "GAL07-139", "GAL07-140"),
    "shooters": ("BAL05-063", "BAL05-067", "BAL05-068"),
    "silence": (),
    "too-early": ("GAL07-131",),
    "unread": (),
    "wrong-dice": ("BAL05-053", "BAL05-054", "BAL05-061", "BAL05-062"),
}
"""Script -> the rules it proves."""


def played(script: Path) -> list[bytes]:
    """What a script makes the table say, one line each."""
    lines = script.read_text(encoding="utf-8").splitlines()
    head = [line[2:].split(": ", 1) for line in lines if line.startswith("# ")]
    told = {name: text for name, text in (each for each in head if len(each) == 2) if name != "set"}
    settings = dict(text.split("=", 1) for name, text in (each for each in head if len(each) == 2) if name == "set")
    play = Play(told["decree"], **settings)
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
