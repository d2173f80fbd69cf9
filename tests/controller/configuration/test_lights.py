"""What a light may be told to do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from controller.cli import CommandLineError
from controller.cli.sign import Section, display_settings
from tests.controller.configuration.test_outputs import BOULE, DEVICE
from tests.support.daemon.process import configuration, table
from tests.support.for_each import for_each

PAGES = Path(__file__).parents[3] / "docs/integrator"
SACN = 'protocol = "sacn"'
ARTNET = 'protocol = "artnet"\naddress = "10.0.0.9"'
RELAY = 'protocol = "relay"\naddress = "/dev/ttyUSB0"'
ZERO = 'table = "r1"\nnumbers = [0]\nseconds = 5\n'
CHANNELS = "channels = { 1 = 255, 512 = 0 }\n"


def written(folder: Path, *lights: str) -> Path:
    file = folder / "novamas.toml"
    text = configuration(1883, table("r1", None) + DEVICE, BOULE)
    file.write_text(text + "".join(f"\n[[light]]\n{light}\n" for light in lights))
    return file


def light(more: str, scene: str = ZERO + CHANNELS, name: str = "bar") -> str:
    return f'id = "{name}"\n{more}\n[[light.scene]]\n{scene}'


@for_each(
    "lights",
    [
        [light(SACN)],
        [light(ARTNET)],
        [light(RELAY, ZERO)],
        [light('protocol = "relay"\naddress = "rfc2217://nport:4001"', ZERO)],
        [light(SACN, 'jackpot = "gran"\nseconds = 5\n' + CHANNELS)],
        [light(SACN, ZERO.replace("r1", "b1") + CHANNELS)],
        [light(SACN), light(RELAY, ZERO, "siren")],
    ],
)
def test_lights_that_are_sound(lights: list[str], tmp_path: Path) -> None:
    settings = display_settings(written(tmp_path, *lights), "light")
    assert len(settings["lights"]) == len(lights)
    assert settings["lights"][0]["id"] == "bar"


@for_each(
    ("lights", "mistake"),
    [
        ([], r"no light is configured; add \[\[light\]\]"),
        ([light(SACN), light(ARTNET)], "another light has the id bar too"),
        ([f'id = "bar"\n{SACN}'], "no scene; add"),
        ([light(f"{SACN}\nuniverse = 0")], "sacn has the universes 1 to 63999"),
        ([light(f"{ARTNET}\nuniverse = 32768")], "artnet has the universes 0 to 32767"),
        ([light(f"{ARTNET}\npriority = 7")], "applies only to sacn; remove it"),
        ([light(f"{RELAY}\nrest = {{ 1 = 1 }}", ZERO)], "applies only to sacn and artnet"),
        ([light('protocol = "artnet"')], "Art-Net is not broadcast"),
        ([light(f'{SACN}\naddress = "lamp.local"')], "'lamp.local' is not an IPv4 address"),
        ([light(f'{SACN}\ninterface = "eth0"')], "'eth0' is not an IPv4 address"),
        ([light('protocol = "relay"', ZERO)], "write the path of a serial port, or rfc2217"),
        ([light(RELAY)], "a relay has no channels"),
        ([light(SACN, ZERO)], "no channel is set"),
        ([light(SACN, ZERO + "channels = { 513 = 1 }")], "a channel, 1 to 512"),
        ([light(SACN, ZERO + "channels = { 1 = 256 }")], "0 to 255"),
        ([light(SACN, "seconds = 5\n" + CHANNELS)], "name either a jackpot, or a table"),
        (
            [light(SACN, ZERO + 'jackpot = "gran"\n' + CHANNELS)],
            "name either a jackpot, or a table",
        ),
        (
            [light(SACN, 'table = "r1"\nseconds = 5\n' + CHANNELS)],
            "a scene of a table needs `numbers`",
        ),
        ([light(SACN, ZERO.replace("r1", "r2") + CHANNELS)], "no table 'r2'"),
        ([light(f"{SACN}\nsimulated = true")], "r1 is not simulated"),
        ([light(RELAY, ZERO), light(RELAY, ZERO, "siren")], "another section has the port"),
    ],
)
def test_a_mistake_is_named(lights: list[str], mistake: str, tmp_path: Path) -> None:
    with pytest.raises(CommandLineError, match=mistake):
        display_settings(written(tmp_path, *lights), "light")


@for_each(("page", "section"), [("lights", "light"), ("old-displays", "output")])
def test_the_example_of_the_page_is_sound(page: str, section: Section, tmp_path: Path) -> None:
    [example] = re.findall(r"```toml\n(.*?)```", (PAGES / f"{page}.md").read_text(), re.DOTALL)
    file = tmp_path / "novamas.toml"
    file.write_text(configuration(1883, table("ruleta-1", None) + DEVICE) + f"\n{example}")
    assert display_settings(file, section)[f"{section}s"]
