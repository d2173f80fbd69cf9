"""Pages of play: each script is what a table saw and heard, and beside it stands every event that must come of it.

A script's first lines name what it shows, its game, its decree and its settings; a line of the expected events is an event,
or the reason why a command was refused. To see a script played: ``novamas play GAME --decree D SCRIPT``.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from controller.games.game import Rejected
from controller.notation import read_input, write
from tests.controller.games.blackjack_play import Play

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts" / "blackjack"

RULES: dict[str, tuple[str, ...]] = {
    "anomalies": ("ARA02-057", "ARA02-067", "ARA02-068", "ARA02-069"),
    "evening": ("EUS96-060", "EUS96-062", "EUS96-072", "EUS96-074", "EUS96-075", "EUS96-076", "EUS96-078", "EUS96-081"),
    "nine-boxes": ("BAL05-071", "BAL05-077", "BAL05-081", "BAL05-083", "BAL05-084"),
    "silence": ("GAL07-068",),
    "triple": ("EUS96-084", "EUS96-085"),
    "without-keys": ("GAL07-063",),
}
"""Script -> the rules it proves."""


def played(script: Path) -> list[bytes]:
    """What a script makes the table say, one line each."""
    lines = script.read_text(encoding="utf-8").splitlines()
    head = [line[2:].split(": ", 1) for line in lines if line.startswith("# ")]
    told = [(each[0], each[1]) for each in head if len(each) == 2]
    settings = dict(text.split("=", 1) for name, text in told if name == "set")
    table = Play(dict(told)["decree"], dict(told)["game"], **{name: msgspec.json.decode(value) for name, value in settings.items()})
    said = []
    for line in lines:
        if line.startswith("#"):
            continue
        try:
            said += [write(event) for event in table.take(read_input(line))]
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
