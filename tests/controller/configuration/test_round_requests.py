"""Which devices the daemon asks about a round: those of a profile that says so, where it may."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from controller.configuration.file import load
from controller.configuration.round_requests import round_requests
from controller.journal.setup import boot
from devices.codec import RoundRequest
from tests.support.devices.described import FOLDER

TEXT = """\
[site]
id = "casino"
[broker]
url = "embedded://127.0.0.1:1883"
[[table]]
id = "ruleta-1"
game = "roulette-french"
decree = "BAL05"
[[table.device]]
id = "wheel"
driver = "cammegh-ss2"
link = "tcp://127.0.0.1:4001"
commands = true
[[table.device]]
id = "camera"
driver = "profile"
link = "mqtt://127.0.0.1:1884/camera"
options = { file = "%s" }
commands = %s
witness = true
"""
DETECT = RoundRequest("detect", after=15.0, every=5.0, times=4)


@pytest.mark.parametrize(("commands", "wanted"), [("true", (DETECT,)), ("false", ())])
def test_only_where_commands_are_allowed(
    tmp_path: Path, commands: str, wanted: tuple[RoundRequest, ...]
) -> None:
    file = tmp_path / "novamas.toml"
    file.write_text(TEXT % (FOLDER / "idp-roulette.toml", commands))
    configuration = load(file)
    wheel, camera = configuration.table[0].device
    assert round_requests(wheel) == ()
    assert round_requests(camera) == wanted
    (table,) = json.loads(boot(configuration, None))["tables"]
    assert [device.get("requested", False) for device in table["devices"]] == [False, bool(wanted)]
