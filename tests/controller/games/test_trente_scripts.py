"""Pages of play: each script is what a table saw and heard, and beside it stands every event that must come of it.

A script's first lines name what it shows, its game, its decree and its settings; a line of the expected events is an event,
or the reason why a command was refused. To see a script played: ``novamas play trente-et-quarante --decree D SCRIPT``.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from controller.games.game import Rejected
from controller.notation import read_input, write
from tests.controller.games.trente_play import Play

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts" / "trente-et-quarante"

RULES: dict[str, tuple[str, ...]] = {
    "afresh": (),
    "coups": ("BAL05-087", "BAL05-088", "BAL05-089", "BAL05-090"),
    "cut-card": ("ARA02-043", "ARA02-044"),
    "cut-card-said": ("EUS96-095", "EUS96-096"),
    "silence": (),
    "tail-short": ("GAL07-049",),
    "too-early": (),
    "unread-card": (),
    "without-keys": (),
    "wrong-shoe": ("EUS96-089",),
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
