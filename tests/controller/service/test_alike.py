"""Configuration that must be the same on both machines of a pair."""

from __future__ import annotations

from pathlib import Path

from controller.configuration.file import load
from controller.service.alike import facts
from tests.support.daemon.pair import in_pair

TABLE = """
[[table]]
id = "r1"
game = "roulette-french"
decree = "ARA02"
[[table.device]]
id = "wheel"
driver = "cammegh-ss2"
link = "tcp://192.0.2.7:4001"
"""


def stated(folder: Path, name: str, text: str = TABLE, broker: str = "mqtt://b:1883") -> set[str]:
    """The statement of that machine, each key with its value."""
    place = folder / name
    place.mkdir(exist_ok=True)
    file = place / "novamas.toml"
    file.write_text(in_pair(["nats://n:4222"], name, broker, text))
    return {f"{what} {value}" for what, value in facts(load(file), None).items()}


def test_settings_of_one_machine_are_not_compared(tmp_path: Path) -> None:
    """Its name in the pair, and its file paths; everything else is."""
    north = stated(tmp_path, "north")
    own = '\n[metrics]\nlisten = "127.0.0.1:9"\n[journal]\npath = "/elsewhere/journal.sqlite3"\n'
    assert stated(tmp_path, "south", TABLE + own) == north
    for changed, what in (
        ({"text": TABLE.replace("4001", "4002")}, {"[table]"}),
        ({"broker": "mqtt://c:1883"}, {"[broker]"}),
        ({"text": TABLE + "\n[journal]\nkeep_days = 400\n"}, {"[journal]"}),
    ):
        differing = stated(tmp_path, "south", **changed) - north
        assert {each.split()[0] for each in differing} == what
