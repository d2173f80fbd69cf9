"""Scripts of play: inputs of a table, and beside each script all its expected events.

A script's first lines name its subject, its game, its decree and its settings; a line of the
expected events is an event, or the reason why a command was refused. ``also`` names other decrees
that print the same: there the script results in the same events, except for citations and calls.

To see a script played: ``novamas play GAME --decree D SCRIPT``.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from common.contract.notation import Input, read_input, write
from common.contract.refusals import RejectedError
from controller.cli.decode import parse_option
from controller.games.games import make_game
from controller.tables.card_secrecy import is_counted

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


class Script(NamedTuple):
    """A table and its inputs."""

    game: str
    decree: str
    settings: dict[str, Any]
    inputs: tuple[Input, ...]
    also: tuple[str, ...] = ()


PRINTED = ("law", "article", "announcement", "currency")
"""The fields of an event that have a decree's own words, or follow from the place."""

CITED = re.compile(r": (?=[A-Z]{3}\d\d-|Decreto |Ordre |277/1996 )")
"""Where a refusal begins to cite a law or an article."""


def scripts() -> set[str]:
    """All scripts, as ``folder/name``."""
    return {f"{path.parent.name}/{path.stem}" for path in SCRIPTS.glob("*/*.jsonl")}


def read(name: str) -> Script:
    """A script by its name. Settings are written as for ``novamas play --set``."""
    lines = (SCRIPTS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    head = [line[2:].split(": ", 1) for line in lines if line.startswith("# ") and ": " in line]
    told = {key: text for key, text in head if key != "set"}
    settings = dict(parse_option(text) for key, text in head if key == "set")
    return Script(
        told["game"],
        told["decree"],
        settings,
        tuple(read_input(line) for line in lines if not line.startswith("#")),
        tuple(filter(None, told.get("also", "").split(", "))),
    )


def played(script: Script) -> list[Any]:
    """The output of a script, as in JSON."""
    game = make_game(script.game, script.decree, script.settings)
    state, said, count = game.begin(), [], 0
    for each in script.inputs:
        before = state
        if game.face_down and is_counted(each):  # as its table does
            count += 1
            each = replace(each, reading=count)
        try:
            state, events = game.step(state, each)
        except RejectedError as refusal:
            said.append({"refused": str(refusal)})
        else:
            assert game.face_down or not game.confidential(before, each, events)
            said += [msgspec.json.decode(write(event)) for event in events]
    return said


def expected(name: str) -> list[Any]:
    """Its expected output."""
    return [
        msgspec.json.decode(line) for line in (SCRIPTS / f"{name}.events").read_bytes().splitlines()
    ]


def without_words(events: list[Any]) -> list[Any]:
    """The events without the decree's own words: a refusal ends where it cites a law."""
    return [
        {"refused": CITED.split(event["refused"])[0]}
        if "refused" in event
        else {name: value for name, value in event.items() if name not in PRINTED}
        for event in events
    ]
