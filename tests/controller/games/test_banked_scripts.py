"""Pages of play: each script is what a table saw and heard, and beside it stands every event that must come of it.

A script's first lines name what it shows, its game, its decree and its settings; a line of the expected events is an event,
or the reason why a command was refused. To see a script played: ``novamas play pai-gow --decree D SCRIPT``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from controller.games.game import Rejected
from controller.notation import read_input, write
from tests.controller.games.banked_play import Play

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"

RULES: dict[str, tuple[str, ...]] = {
    "pai-gow/bank": ("EUS96-177", "EUS96-180"),
    "pai-gow/correction": (),
    "pai-gow/dice": ("BAL09-037", "BAL09-039"),
    "pai-gow/errors": (),
    "pai-gow/hands": ("EUS96-175", "EUS96-178", "EUS96-179"),
    "pai-gow/rounds": ("BAL09-033", "BAL09-034", "BAL09-063"),
    "texas-house/correction": (),
    "texas-house/misdeals": ("EUS96-163",),
    "texas-house/rounds": ("EUS96-159", "EUS96-169"),
    "texas-house/unread": (),
    "trijoker/correction": (),
    "trijoker/errors": ("BAL05-146", "BAL05-148"),
    "trijoker/rounds": ("BAL05-144", "BAL05-145", "BAL05-147"),
    "trijoker/seen-too-early": ("EUS96-161",),
}
"""Script -> the rules it proves."""


def played(script: Path) -> list[bytes]:
    """What a script makes the table say, one line each."""
    lines = script.read_text(encoding="utf-8").splitlines()
    head = [tuple(line[2:].split(": ", 1)) for line in lines if line.startswith("# ") and ": " in line]
    told = {pair[0]: pair[1] for pair in head if pair[0] != "set"}
    settings: dict[str, Any] = dict(pair[1].split("=", 1) for pair in head if pair[0] == "set")
    play = Play(told["game"], told["decree"], **{name: int(text) if text.isdigit() else text for name, text in settings.items()})
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
    assert {f"{path.parent.name}/{path.stem}" for game in games for path in SCRIPTS.glob(f"{game}/*.jsonl")} == set(RULES)


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.rule(*rules)) for name, rules in RULES.items()])
def test_script(name: str) -> None:
    expected = (SCRIPTS / f"{name}.events").read_bytes().splitlines()
    said = played(SCRIPTS / f"{name}.jsonl")
    assert [msgspec.json.decode(line) for line in said] == [msgspec.json.decode(line) for line in expected]
