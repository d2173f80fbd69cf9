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
from tests.controller.games.chemin_play import GAMES, Play

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"

RULES: dict[str, tuple[str, ...]] = {
    "baccarat-two-cloths/back-to-the-first-cloth": ("ARA02-119",),
    "baccarat-two-cloths/basket-in-the-deal": ("ARA02-117",),
    "baccarat-two-cloths/both-words": ("GAL07-124",),
    "baccarat-two-cloths/irregular-deal": ("GAL07-127",),
    "baccarat-two-cloths/on-to-the-second-cloth": ("GAL07-123",),
    "baccarat-two-cloths/one-cloth-lies-down": ("ARA02-118",),
    "baccarat-two-cloths/rounds": ("BAL05-111", "BAL05-122"),
    "baccarat-two-cloths/second-cloth-and-bank": (),
    "baccarat-two-cloths/shown-by-the-banker": ("BAL05-123",),
    "baccarat-two-cloths/thrown-away": ("GAL07-116",),
    "chemin-de-fer/bank-in-basket": ("BAL05-121",),
    "chemin-de-fer/bank-out-of-turn": ("GAL07-115",),
    "chemin-de-fer/card-before-close": ("GAL07-057", "GAL07-100"),
    "chemin-de-fer/card-face-up": ("BAL05-108",),
    "chemin-de-fer/card-in-basket": ("ARA02-102",),
    "chemin-de-fer/card-on-floor": ("ARA02-092",),
    "chemin-de-fer/cards-stuck": ("EUS96-142",),
    "chemin-de-fer/cut-card": ("ARA02-087",),
    "chemin-de-fer/false-card": ("ARA02-105",),
    "chemin-de-fer/fifth-card": ("BAL05-119",),
    "chemin-de-fer/natural-forgotten": ("EUS96-138",),
    "chemin-de-fer/rounds": ("ARA02-093", "ARA02-094", "ARA02-096", "ARA02-098"),
    "chemin-de-fer/shown-by-the-banker": ("ARA02-104",),
    "chemin-de-fer/shown-by-the-croupier": ("GAL07-109",),
    "chemin-de-fer/silence": (),
    "chemin-de-fer/table-asked": ("BAL05-115",),
    "chemin-de-fer/three-first-cards": ("EUS96-145",),
    "chemin-de-fer/thrown-away": ("GAL07-120",),
    "chemin-de-fer/two-third-cards": ("GAL07-107",),
    "chemin-de-fer/unread-and-surplus": (),
    "chemin-de-fer/wrong-word": ("ARA02-095",),
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
    assert {f"{game}/{path.stem}" for game in GAMES for path in (SCRIPTS / game).glob("*.jsonl")} == set(RULES)


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.rule(*rules)) for name, rules in RULES.items()])
def test_script(name: str) -> None:
    expected = (SCRIPTS / f"{name}.events").read_bytes().splitlines()
    said = played(SCRIPTS / f"{name}.jsonl")
    assert [msgspec.json.decode(line) for line in said] == [msgspec.json.decode(line) for line in expected]
