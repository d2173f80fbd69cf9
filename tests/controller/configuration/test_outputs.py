"""What an output may be connected to."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.cli import CommandLineError
from controller.cli.sign import display_settings
from tests.support.daemon.process import configuration, table
from tests.support.for_each import for_each

DEVICE = """
[[table.device]]
id = "w"
driver = "cammegh-ss2"
link = "tcp://127.0.0.1:4001"
"""
BOULE = """
[[table]]
id = "b1"
game = "boule"
decree = "ARA02"
[[table.device]]
id = "w"
driver = "boule-board"
link = "tcp://127.0.0.1:4002"
"""
PORT = "/dev/ttyUSB0"


def written(folder: Path, *outputs: str) -> Path:
    file = folder / "novamas.toml"
    sections = "".join(f"\n[[output]]\n{one}\n" for one in outputs)
    file.write_text(configuration(1883, table("r1", None) + DEVICE, BOULE, sections))
    return file


def one(port: str = PORT, name: str = "r1", more: str = "") -> str:
    return f'port = "{port}"\ntable = "{name}"\n{more}'


@for_each("port", [PORT, "tcp://10.0.0.7:4001", "tcp://[fd00::7]:4001", "tcp://nport-3:4001"])
def test_settings_of_an_output(port: str, tmp_path: Path) -> None:
    settings = display_settings(written(tmp_path, one(port)), "output")
    assert settings["outputs"] == [{"port": port, "table": "r1", "baud": 9600, "simulated": False}]


@for_each(
    ("outputs", "mistake"),
    [
        ([], r"no output is configured; add \[\[output\]\]"),
        ([one(name="r2")], "no table 'r2'"),
        ([one(name="b1")], "b1 plays boule; displays of a Cammegh SS2 know roulette only"),
        ([one(more="simulated = true")], "r1 is not simulated; write it here too"),
        ([one(), one()], "another section has the port /dev/ttyUSB0 too"),
        *(
            ([one(port)], "write the path of a serial port")
            for port in (
                "ttyUSB0",
                "tcp://",
                "tcp://host",
                "tcp://host:0",
                "tcp://host:65536",
                "tcp://host:1/x",
                "tcp://user@host:1",
                "udp://host:1",
            )
        ),
    ],
)
def test_a_mistake_is_named(outputs: list[str], mistake: str, tmp_path: Path) -> None:
    with pytest.raises(CommandLineError, match=mistake):
        display_settings(written(tmp_path, *outputs), "output")
